// A node of a Chakra execution trace as both of its forms give it, and the readers of the forms.
//
// Private to read_chakra. Numbers are those of mlcommons/chakra, schema/protobuf/et_def.proto.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/fabric/schedule/byte_stream.hh"
#include "control/fabric/schedule/schedule.hh"

namespace sluice::fabric::chakra {

enum class NodeType : std::uint8_t { invalid, metadata, load, store, compute, send, receive, collective };
constexpr std::uint64_t node_types = 8;

enum class CollectiveType : std::uint8_t {
    all_reduce,
    reduce,
    all_gather,
    gather,
    scatter,
    broadcast,
    all_to_all,
    reduce_scatter,
    reduce_scatter_block,
    barrier
};
// As people write them; of reduce_scatter_block as of reduce_scatter, because shares are equal here.
constexpr std::array<std::string_view, 10> collective_words{
    "all-reduce", "reduce",     "all-gather",     "gather",         "scatter",
    "broadcast",  "all-to-all", "reduce-scatter", "reduce-scatter", "barrier"};

// A value of a file. Lists are `none`: no attribute that counts here has them.
struct Value {
    enum class Kind : std::uint8_t { none, whole, real, text };
    Kind kind = Kind::none;
    std::uint64_t whole = 0;
    double real = 0;  // numbers that are negative or have a fraction, too
    std::string_view text;

    static Value none() { return {}; }
    static Value of(std::uint64_t whole) { return {Kind::whole, whole, static_cast<double>(whole), {}}; }
    static Value of_signed(std::int64_t number);
    static Value of_real(double real) { return {Kind::real, 0, real, {}}; }
    static Value of_text(std::string_view text) { return {Kind::text, 0, 0, text}; }
};
// A number from 0, perhaps as text: the JSON of protobuf has 64-bit numbers as such.
std::optional<std::uint64_t> whole_of(const Value& value);

struct Node {
    std::uint64_t id = 0;
    NodeType type = NodeType::invalid;
    std::vector<std::uint64_t> data_waits, control_waits;  // for nodes by their ids
    double microseconds = 0;                               // >= 0; 0: not known, too
    bool is_cpu_op = false;
    std::optional<std::uint64_t> collective;  // CollectiveType, or a larger one
    std::optional<std::uint64_t> bytes, source, destination, tag, root;
    std::string group;           // the name of the ranks that take part; empty: all
    std::string process_groups;  // JSON of those that the node defines
    bool has_operations = false, has_dimensions = false, has_priority = false;
    SourcePlace place;  // of JSON

    void clear() { *this = {}; }
    // The JSON of process groups within a node's inputs, as PyTorch has it: ['[{"pg_name": "0", ...}]'].
    void set_inputs(std::string_view text);
};

// The letters of a key without case and underscores: NodeType, node_type and nodeType are the same.
class PlainKey {
  public:
    explicit PlainKey(std::string_view key);
    bool operator==(std::string_view word) const { return view() == word; }
    std::string_view view() const { return {letters_.data(), size_}; }

  private:
    std::array<char, 32> letters_{};
    std::size_t size_ = 0;  // 0: the key is longer than all that count
};

// Returns what is wrong with the value, or nothing. Keys that do not count are skipped.
using MaybeWrong = std::optional<std::string>;
MaybeWrong set_type(Node& node, const Value& value);
MaybeWrong set_attribute(Node& node, std::string_view key, const Value& value);

constexpr std::size_t max_message_bytes = std::size_t{16} << 20U;  // of a node, or of a value of JSON

// Takes a node. False: there are enough errors.
using TakeNode = std::function<bool(const Node&)>;
void read_protobuf(ByteStream& stream, const TakeNode& take, ScheduleErrors& errors);
void read_json(ByteStream& stream, const TakeNode& take, ScheduleErrors& errors);
// What is wrong with a value of a node.
void refuse_value(const Node& node, std::string_view wrong, ScheduleErrors& errors);

// A text, so no protobuf: its messages have control characters among their first bytes, lengths and numbers.
bool is_text(std::string_view bytes);
// A text that begins as a JSON object.
bool is_json(std::string_view bytes);

}  // namespace sluice::fabric::chakra

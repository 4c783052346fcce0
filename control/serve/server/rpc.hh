// JSON-RPC 2.0 by line: the requests of a line, and the line that answers it. Knows no sockets.
//
// A line is one request or a batch of up to max_batch. Everything about it is hostile: length and nesting are
// bounded before it is parsed, unknown members and parameters are refused by name. A refusal has a code, a
// sentence, and in `data` the known ones of: path, value, allowed, do.
#pragma once

#include <fmt/format.h>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "control/config/schema/values.hh"

namespace sluice {

struct Config;

using Json = nlohmann::ordered_json;

constexpr int api_version = 1;
constexpr std::size_t max_line_bytes = 8U << 20;        // of a bulk method
constexpr std::size_t max_plain_line_bytes = 1U << 20;  // of any other
constexpr unsigned max_nesting = 32;
constexpr unsigned max_members = 256;  // of an object: the parser looks at all of them for each one more
constexpr std::size_t max_batch = 1000;

enum class RpcCode : int {
    parse_error = -32700,  // the five of JSON-RPC 2.0
    invalid_request = -32600,
    no_method = -32601,
    bad_parameters = -32602,
    internal = -32603,  // a fault of ours
    refused = -32000,   // understood, and not done
    not_now = -32001,   // the virtual clock runs by itself
    not_permitted = -32002,
    too_much = -32003,      // a limit
    not_taken_up = -32004,  // done and published, but a worker does not run it yet
};

// Thrown by methods; nothing has changed then, but for not_taken_up, which has `result` in its data.
struct RpcError {
    RpcCode code = RpcCode::refused;
    std::string message;
    Json data = Json::object();
};

// Bytes that a request of so long a line may allocate: SpareMemory holds them for it.
std::size_t max_memory(const Config& config, std::size_t line_bytes);
// Throws RpcError (refused) with the error's text, if there is one.
void refuse_if(std::string error);

// Refuses a parameter that is missing or wrong; `more` may have "allowed" and "do".
RpcError wrong_parameter(std::string_view name, std::string message, const Json& more = Json::object());

// The value of a string at this path of the parameters; throws RpcError (bad_parameters).
template <class T>
T parsed_parameter(const Json& json, const std::string& path, ParsedValue<T> (*parse)(std::string_view)) {
    if (!json.is_string()) throw wrong_parameter(path, path + ": must be a string");
    auto value = parse(json.get_ref<const std::string&>());
    if (value) return std::move(*value);
    const auto& [wrong, remedy] = value.error();
    throw wrong_parameter(path, fmt::format("{}: {} {}", path, in_quotes(json.get<std::string>()), wrong),
                          remedy.empty() ? Json::object() : Json{{"do", remedy}});
}

// A request's parameters, which its method has, each asked for by name; or an object inside one, whose path
// ("routes[0].") errors have before the name.
class RpcParameters {
  public:
    explicit RpcParameters(const Json& object, std::string path = {})
        : object_(object), path_(std::move(path)) {}

    bool has(const char* name) const { return object_.contains(name); }
    std::string text(const char* name);
    std::string text_or(const char* name, std::string fallback) {
        return has(name) ? text(name) : std::move(fallback);
    }
    bool boolean(const char* name);
    bool boolean_or(const char* name, bool fallback) { return has(name) ? boolean(name) : fallback; }
    std::uint64_t integer(const char* name, std::uint64_t low, std::uint64_t high);
    std::uint64_t integer_or(const char* name, std::uint64_t low, std::uint64_t high,
                             std::uint64_t fallback) {
        return has(name) ? integer(name, low, high) : fallback;
    }
    template <class T>
    T value(const char* name, ParsedValue<T> (*parse)(std::string_view)) {
        return parsed_parameter(any(name), path_ + name, parse);
    }
    const Json& any(const char* name);
    // Refuses an object with other members.
    void only(std::initializer_list<std::string_view> names) const;

  private:
    RpcError wrong(const char* name, std::string_view why, const Json& more = Json::object()) const;

    const Json& object_;
    std::string path_;
};

class Api;
struct RpcClient;

struct RpcMethod {
    // Bulk: it takes lines of max_line_bytes.
    enum class Kind : std::uint8_t { reads, changes, reads_bulk, changes_bulk };

    std::string_view name;  // "route.add"
    Kind kind;
    Json (*call)(Api&, RpcClient&, RpcParameters&);
    std::string_view
        parameters;           // "path: PATH, force?: BOOL", in the notation of openrpc.cc; others are refused
    std::string_view result;  // "{changed: NUMBER, generation: NUMBER}", likewise
    std::string_view sentence;
    bool has_changes() const { return kind == Kind::changes || kind == Kind::changes_bulk; }
    bool is_bulk() const { return kind == Kind::reads_bulk || kind == Kind::changes_bulk; }
};

// All there are, sorted by name.
std::span<const RpcMethod> rpc_methods();
// They as an OpenRPC document (spec.open-rpc.org): the answer of `rpc.discover` and the output of `sluiced
// --openrpc`.
Json openrpc_document();

// A line on its way to its answer, one request a step, so that a batch takes no longer at a time than its
// longest request. A batch is checked as a whole before its first request is answered.
class LineAnswer {
  public:
    explicit LineAnswer(std::string_view line) : line_(line) {}  // which stays where it is

    // Answers the next request. False: that was the last one. An exception of a method becomes the answer;
    // throws std::bad_alloc only, when even the refusal found no memory.
    bool step(Api& api, RpcClient& client);
    std::size_t bytes() const { return text_.size(); }  // so far
    // After the last step: the answer without its newline; empty when none is wanted (a notification).
    std::string take() { return std::move(text_); }

  private:
    void begin();
    bool refuse_rest();
    void answer_next(Api& api, RpcClient& client);

    std::string_view line_;
    std::string_view rest_;  // of a batch: requests to come
    bool begun_ = false;
    bool is_batch_ = false;
    std::string text_;
};

// All steps at once.
std::string answer_line(Api& api, RpcClient& client, std::string_view line);
// An answer for a line that cannot be looked at.
std::string refuse_line(RpcCode code, std::string_view message);
// Something that nobody asked for at this moment: an event, a figure watched.
std::string notification(std::string_view method, Json parameters);

}  // namespace sluice

// Chakra traces for tests: nodes as plain values, written in each of the forms, and schedules as text.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "control/fabric/schedule/schedule_readers.hh"

namespace sluice::chakra_traces {

using namespace sluice::fabric;
using Numbers = std::vector<std::uint64_t>;

enum Type : std::uint8_t { invalid, metadata, load, store, compute, send, receive, collective };
enum Collective : std::uint8_t {
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

struct TestNode {
    std::uint64_t id = 0;
    Type type = compute;
    std::uint64_t microseconds = 0;
    Numbers data, control;
    std::vector<std::pair<std::string, std::variant<std::uint64_t, bool, std::string>>> attributes;
    std::string inputs;
};
using Trace = std::vector<TestNode>;

// Nodes of each kind; those of the GPU without more.
inline TestNode coll(std::uint64_t id, Collective type, std::uint64_t bytes, const std::string& group = {},
                     Numbers data = {}) {
    TestNode node{
        id, collective, 0, std::move(data), {}, {{"comm_type", std::uint64_t{type}}, {"comm_size", bytes}},
        {}};
    if (!group.empty()) node.attributes.emplace_back("pg_name", group);
    return node;
}
inline TestNode rooted(std::uint64_t id, Collective type, std::uint64_t bytes, std::uint64_t root) {
    TestNode node = coll(id, type, bytes);
    node.attributes.emplace_back("root_rank", root);
    return node;
}
inline TestNode sends(std::uint64_t id, std::uint64_t to, std::uint64_t bytes, std::uint64_t tag,
                      Numbers data = {}) {
    return {id, send, 0, std::move(data), {}, {{"comm_dst", to}, {"comm_size", bytes}, {"comm_tag", tag}},
            {}};
}
inline TestNode receives(std::uint64_t id, std::uint64_t from, std::uint64_t bytes, std::uint64_t tag,
                         Numbers data = {}) {
    return {
        id, receive, 0, std::move(data), {}, {{"comm_src", from}, {"comm_size", bytes}, {"comm_tag", tag}},
        {}};
}
inline TestNode works(std::uint64_t id, std::uint64_t microseconds, Numbers data = {}, bool on_cpu = false) {
    return {id, compute, microseconds, std::move(data), {}, {{"is_cpu_op", on_cpu}}, {}};
}
inline TestNode with(TestNode node, std::string name, std::uint64_t value) {
    node.attributes.emplace_back(std::move(name), value);
    return node;
}
inline TestNode of_type(std::uint64_t id, Type type, std::uint64_t microseconds = 0) {
    return {id, type, microseconds, {}, {}, {}, {}};
}
inline TestNode defines(std::uint64_t id, std::string groups) {
    return {id, metadata, 0, {}, {}, {}, std::move(groups)};
}
inline TestNode controlled(TestNode node, Numbers control) {
    node.control = std::move(control);
    return node;
}

// The wire format.
inline std::string varint(std::uint64_t value) {
    std::string bytes;
    for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>(0x80 | (value & 0x7F));
    return bytes + static_cast<char>(value);
}
inline std::string field(unsigned number, std::uint64_t value) { return varint(number * 8) + varint(value); }
inline std::string field(unsigned number, std::string_view bytes) {
    return varint(number * 8 + 2) + varint(bytes.size()) + std::string(bytes);
}
inline std::string message(std::string_view bytes) { return varint(bytes.size()) + std::string(bytes); }
inline std::string packed(const Numbers& values) {
    std::string bytes;
    for (const std::uint64_t each : values) bytes += varint(each);
    return bytes;
}
inline std::string version() { return message(field(1, "1.0.0")); }

// Numbers of a packed list, and without those that are 0, as protobuf writes them.
inline std::string protobuf_node(const TestNode& node) {
    std::string bytes;
    if (node.id != 0) bytes += field(1, node.id);
    bytes += field(2, "name");
    if (node.type != invalid) bytes += field(3, std::uint64_t{node.type});
    if (!node.control.empty()) bytes += field(4, packed(node.control));
    if (!node.data.empty()) bytes += field(5, packed(node.data));
    if (node.microseconds != 0) bytes += field(7, node.microseconds);
    if (!node.inputs.empty()) bytes += field(8, field(1, node.inputs));
    for (const auto& [name, value] : node.attributes) {
        std::string attribute = field(1, name);
        if (const auto* number = std::get_if<std::uint64_t>(&value)) attribute += field(9, *number);
        if (const auto* flag = std::get_if<bool>(&value)) attribute += field(27, *flag ? 1 : 0);
        if (const auto* text = std::get_if<std::string>(&value)) attribute += field(29, *text);
        bytes += field(10, attribute);
    }
    return bytes;
}
inline std::string as_protobuf(const Trace& trace) {
    std::string bytes = version();
    for (const TestNode& each : trace) bytes += message(protobuf_node(each));
    return bytes;
}

inline std::string json_text(std::string_view text) {
    std::string out = "\"";
    for (const char each : text)
        out += each == '"' || each == '\\' ? fmt::format("\\{}", each) : std::string(1, each);
    return out + "\"";
}
// As Chakra's feeder of JSON reads it: attributes are members.
inline std::string as_graph(const Trace& trace) {
    std::string nodes;
    for (const TestNode& each : trace) {
        std::string members = fmt::format(
            R"("Id": {}, "Name": "n", "NodeType": {}, "ctrlDeps": [{}], "data_deps": [{}])", each.id,
            static_cast<int>(each.type), fmt::join(each.control, ", "), fmt::join(each.data, ", "));
        if (each.microseconds != 0) members += fmt::format(R"(, "runtime": {})", each.microseconds);
        if (!each.inputs.empty())
            members += fmt::format(R"(, "inputs": {{"values": {}}})", json_text(each.inputs));
        for (const auto& [name, value] : each.attributes) {
            members += fmt::format(R"(, "{}": )", name);
            if (const auto* number = std::get_if<std::uint64_t>(&value)) members += fmt::to_string(*number);
            if (const auto* flag = std::get_if<bool>(&value)) members += *flag ? "true" : "false";
            if (const auto* text = std::get_if<std::string>(&value)) members += json_text(*text);
        }
        nodes += fmt::format("{}{{{}}}", nodes.empty() ? "" : ",\n", members);
    }
    return fmt::format("{{\"workload_graph\": [\n{}\n], \"ngpus\": 8}}\n", nodes);
}
// As chakra_jsonizer writes it: an object for each message, 64-bit numbers as text.
inline std::string as_messages(const Trace& trace) {
    constexpr std::string_view types[] = {"INVALID_NODE",   "METADATA_NODE", "MEM_LOAD_NODE",
                                          "MEM_STORE_NODE", "COMP_NODE",     "COMM_SEND_NODE",
                                          "COMM_RECV_NODE", "COMM_COLL_NODE"};
    const auto list = [](const Numbers& ids) {
        return ids.empty() ? std::string() : fmt::format(R"("{}")", fmt::join(ids, R"(", ")"));
    };
    std::string text = "{\n  \"version\": \"1.0.0\"\n}";
    for (const TestNode& each : trace) {
        text += fmt::format(R"({{"name": "n", "type": "{}")", types[each.type]);
        if (each.id != 0) text += fmt::format(R"(, "id": "{}")", each.id);
        text += fmt::format(R"(, "ctrlDeps": [{}], "dataDeps": [{}])", list(each.control), list(each.data));
        if (each.microseconds != 0) text += fmt::format(R"(, "durationMicros": "{}")", each.microseconds);
        if (!each.inputs.empty())
            text += fmt::format(R"(, "inputs": {{"values": {}}})", json_text(each.inputs));
        text += ", \"attr\": [";
        for (const auto& [name, value] : each.attributes) {
            text += fmt::format(R"({}{{"name": "{}", )", text.back() == '[' ? "" : ", ", name);
            if (const auto* number = std::get_if<std::uint64_t>(&value))
                text += fmt::format(R"("int64Val": "{}"}})", *number);
            if (const auto* flag = std::get_if<bool>(&value))
                text += fmt::format(R"("boolVal": {}}})", *flag);
            if (const auto* word = std::get_if<std::string>(&value))
                text += fmt::format(R"("stringVal": {}}})", json_text(*word));
        }
        text += "]}";
    }
    return text;
}

// Files "0", "1" and so on, and the groups' file "groups".
inline ScheduleResult read(const std::vector<std::string>& texts, std::optional<std::string> groups = {},
                           ScheduleSettings settings = {}) {
    std::vector<ChakraFile> files;
    for (const std::string& each : texts)
        files.push_back({std::to_string(files.size()), TextLines::source_of(each)});
    std::optional<ChakraFile> file;
    if (groups) file = ChakraFile{"groups", TextLines::source_of(*groups)};
    if (texts.size() > 1 && settings.ranks < texts.size())
        settings.ranks = static_cast<std::uint32_t>(texts.size());
    return read_chakra(files, std::move(file), settings);
}
// A trace for each rank, as protobuf.
inline ScheduleResult read_all(const std::vector<Trace>& traces, std::optional<std::string> groups = {},
                               const ScheduleSettings& settings = {}) {
    std::vector<std::string> texts;
    for (const Trace& each : traces) texts.push_back(as_protobuf(each));
    return read(texts, std::move(groups), settings);
}

inline std::string errors_of(const ScheduleResult& result) {
    if (result) return "good";
    std::string text;
    for (const ConfigError& error : result.error()) text += error.text() + "\n";
    return text;
}
inline std::string notes_of(const ScheduleResult& result) {
    return result ? fmt::format("{}", fmt::join(result->notes, "\n")) : errors_of(result);
}

// "1 cpu 5us; 2 send>1 100 #7 after 1": numbers of nodes and what they wait for, in the program's order.
inline std::string shown(const roce::Program& program) {
    using Kind = roce::Program::Operation::Kind;
    constexpr std::string_view streams[] = {"cpu", "gpu", "message", "no"};
    std::vector<std::string> after(program.size());
    for (std::uint32_t n = 0; n < program.size(); ++n)
        for (std::uint32_t k = program.first[n]; k < program.first[n + 1]; ++k)
            after[program.next[k].operation] +=
                fmt::format("{}{}", after[program.next[k].operation].empty() ? " after " : "+",
                            program.operations[n].place);
    std::string text;
    for (std::uint32_t n = 0; n < program.size(); ++n) {
        const roce::Program::Operation& each = program.operations[n];
        text += fmt::format("{}{} ", n == 0 ? "" : "; ", each.place);
        if (each.kind == Kind::compute)
            text += fmt::format("{} {}us", streams[each.stream], static_cast<double>(each.amount) / 1e6);
        if (each.kind == Kind::send) text += fmt::format("send>{} {} #{}", each.peer, each.amount, each.tag);
        if (each.kind == Kind::receive)
            text += fmt::format("receive<{} {} #{}", each.peer, each.amount, each.tag);
        if (each.kind == Kind::collective) text += fmt::format("collective@{} {}", each.peer, each.amount);
        const bool is_message = each.kind == Kind::send || each.kind == Kind::receive;
        if (is_message && each.stream != 2) text += " in a stream of computations";
        text += after[n];
    }
    return text;
}
// All programs, and communications: "all-reduce of group 1 (0) 0,1 2,3".
inline std::string shown(const ScheduleResult& result) {
    if (!result) return errors_of(result);
    std::string text;
    for (const auto& each : result->programs)
        text += fmt::format("{}{}", text.empty() ? "" : " | ", shown(*each));
    for (const Communication& each : result->communications) {
        text += fmt::format(" [{} ({})", each.name, static_cast<int>(each.kind));
        for (const auto& group : each.groups) text += fmt::format(" {}", fmt::join(group, ","));
        text += "]";
    }
    return text;
}

}  // namespace sluice::chakra_traces

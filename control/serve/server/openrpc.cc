// The methods' tables as an OpenRPC document.
//
// They have parameters and results in a notation of their own: "path: PATH, force?: BOOL" are members, of
// which the second may be left out; {...} is an object of them, [T] a list, T|U either. A name in capitals is
// one of the types below, or of the components.

#include <fmt/format.h>

#include <array>
#include <stdexcept>

#include "control/serve/server/rpc.hh"
#include "lib/values/ids.hh"

namespace sluice {
namespace openrpc {
namespace {

struct Word {
    std::string_view name;
    std::string_view type;  // of JSON; empty: any
    std::string_view sentence;
};

constexpr std::array simple_types{
    Word{"TEXT", "string", {}},
    Word{"NAME", "string", "of a port, pool or host, as the configuration has it"},
    Word{"PATH", "string", "of a key or a figure: port.p0.mtu, ports.p0.pfc"},
    Word{"TIME", "string", "with its unit: 200ms"},
    Word{"WORDS", "string", "a command, as timed events give it: port p0 down"},
    Word{"ADDRESS", "string", "IPv4 or IPv6"},
    Word{"PLACE", "string", "a port, or a class of it: h1.3"},
    Word{"PREFIX", "string", "10.0.0.0/8"},
    Word{"MAC", "string", "02:00:00:00:00:01"},
    Word{"BOOL", "boolean", {}},
    Word{"NUMBER", "integer", "not negative"},
    Word{"CLASS", "integer", "0 to 7"},
    Word{"NULL", "null", {}},
    Word{"OBJECT", "object", "figures, as sluiced --figures explains them"},
    Word{"VALUE", {}, "any value"},
};

struct Component {
    std::string_view name;
    std::string_view type;
};

constexpr std::array components{
    Component{"HOP", "ADDRESS|{address: ADDRESS, weight?: NUMBER}"},
    Component{"ROUTE", "{prefix: PREFIX, via: TEXT|[HOP]}"},
    Component{"NEIGHBOR", "{address: ADDRESS, port: NAME, mac: MAC, vlan?: NUMBER}"},
    Component{"CHANGE", "{path: PATH, from: TEXT|NULL, to: TEXT|NULL, restart?: BOOL}"},
    Component{"FINDING",
              "{severity: TEXT, id: TEXT, path: TEXT, message: TEXT, do: TEXT, line?: NUMBER, forced?: BOOL, "
              "may_be_forced?: BOOL}"},
    Component{"APPLIED",
              "{changes: [CHANGE], generation: NUMBER, pending_cells: NUMBER, findings: [FINDING], "
              "confirm_by_ns?: NUMBER, waiting?: NUMBER, kept?: NUMBER}"},
    Component{"EVENT", "OBJECT"},
};

struct Error {
    RpcCode code;
    std::string_view message;
};

constexpr std::array errors{
    Error{RpcCode::parse_error, "the line is not JSON"},
    Error{RpcCode::invalid_request, "not a request of JSON-RPC 2.0"},
    Error{RpcCode::no_method, "no such method"},
    Error{RpcCode::bad_parameters, "a parameter is missing, unknown or wrong: data.path names it"},
    Error{RpcCode::internal, "a fault of the switch"},
    Error{RpcCode::refused, "understood, and not done: data has path, value, allowed, do, where known"},
    Error{RpcCode::not_now, "the virtual clock runs by itself"},
    Error{RpcCode::not_permitted, "not for this user"},
    Error{RpcCode::too_much, "a limit"},
    Error{RpcCode::not_taken_up, "done and published, but a worker does not run it yet: data.result"},
};

[[noreturn]] void fail(std::string_view type, const char* why) {
    throw std::logic_error(fmt::format("{}: {}", type, why));
}

// A pass over the text; every function leaves `rest` behind what it has read.
class Reader {
  public:
    explicit Reader(std::string_view text) : whole_(text), rest_(text) {}

    Json type() {
        Json first = one();
        if (!took('|')) return first;
        Json any = Json::array({std::move(first)});
        do any.push_back(one());
        while (took('|'));
        return {{"anyOf", std::move(any)}};
    }
    // Members until `end`; each with its name, whether it must be there, and its schema.
    struct Member {
        std::string name;
        bool required;
        Json schema;
    };
    std::vector<Member> members(char end) {
        std::vector<Member> list;
        while (!at(end)) {
            if (!list.empty() && !took(',')) fail(whole_, "a comma is missing");
            const std::string_view name = word();
            const bool optional = took('?');
            if (!took(':')) fail(whole_, "a colon is missing");
            list.push_back({std::string(name), !optional, type()});
        }
        return list;
    }
    void finish() {
        if (!at('\0')) fail(whole_, "more than a type");
    }

  private:
    bool at(char c) {
        while (rest_.starts_with(' ')) rest_.remove_prefix(1);
        return c == '\0' ? rest_.empty() : rest_.starts_with(c);
    }
    bool took(char c) {
        if (!at(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }
    std::string_view word() {
        at(' ');
        const std::string_view found = rest_.substr(0, rest_.find_first_of(" ?:,|]}"));
        if (found.empty()) fail(whole_, "a name is missing");
        rest_.remove_prefix(found.size());
        return found;
    }
    Json one() {
        if (took('[')) {
            Json list = {{"type", "array"}, {"items", type()}};
            if (!took(']')) fail(whole_, "] is missing");
            return list;
        }
        if (took('{')) {
            const auto list = members('}');
            if (!took('}')) fail(whole_, "} is missing");
            return object(list);
        }
        return named(word());
    }
    static Json object(const std::vector<Member>& list) {
        Json properties = Json::object();
        Json required = Json::array();
        for (const Member& member : list) {
            properties[member.name] = member.schema;
            if (member.required) required.push_back(member.name);
        }
        Json schema = {{"type", "object"}, {"properties", std::move(properties)}};
        if (!required.empty()) schema["required"] = std::move(required);
        return schema;
    }
    Json named(std::string_view name) const {
        for (const Component& component : components)
            if (component.name == name) return {{"$ref", fmt::format("#/components/schemas/{}", name)}};
        for (const Word& simple : simple_types) {
            if (simple.name != name) continue;
            Json schema = Json::object();
            if (!simple.type.empty()) schema["type"] = simple.type;
            if (simple.type == "integer") schema["minimum"] = 0;
            if (simple.name == "CLASS") schema["maximum"] = classes - 1;
            if (!simple.sentence.empty()) schema["description"] = simple.sentence;
            return schema;
        }
        fail(whole_, "an unknown type");
    }

    std::string_view whole_;
    std::string_view rest_;
};

Json error_of(const Error& error) {
    return {{"code", static_cast<int>(error.code)}, {"message", error.message}};
}

// Throws std::logic_error when the type is none: a fault of the table.
Json schema_of(std::string_view type) {
    Reader reader(type);
    Json schema = reader.type();
    reader.finish();
    return schema;
}

Json method_json(const RpcMethod& method) {
    Json parameters = Json::array();
    Reader reader(method.parameters);
    for (auto& member : reader.members('\0'))
        parameters.push_back(
            {{"name", member.name}, {"required", member.required}, {"schema", std::move(member.schema)}});
    Json list = Json::array();
    for (const Error& error : errors)
        list.push_back({{"$ref", fmt::format("#/components/errors/{}", -static_cast<int>(error.code))}});
    return {{"name", method.name},
            {"summary", method.sentence},
            {"paramStructure", "by-name"},
            {"params", std::move(parameters)},
            {"result", {{"name", "result"}, {"schema", schema_of(method.result)}}},
            {"errors", std::move(list)},
            {"x-changes", method.has_changes()},
            {"x-max-line-bytes", method.is_bulk() ? max_line_bytes : max_plain_line_bytes}};
}

}  // namespace
}  // namespace openrpc

Json openrpc_document() {
    using namespace openrpc;
    Json methods = Json::array();
    for (const RpcMethod& method : rpc_methods()) methods.push_back(method_json(method));
    Json schemas = Json::object();
    for (const Component& component : components)
        schemas[std::string(component.name)] = schema_of(component.type);
    Json known = Json::object();
    for (const Error& error : errors) known[std::to_string(-static_cast<int>(error.code))] = error_of(error);
    return {
        {"openrpc", "1.3.2"},
        {"info",
         {{"title", "sluice"},
          {"version", fmt::format("{}.0.0", api_version)},
          {"description",
           "The control socket of sluiced: JSON-RPC 2.0, one object a line, over a Unix stream socket. "
           "Notifications come after events.subscribe (`event`) and stats.watch (`stats`). Within version "
           "1 methods, optional parameters and members of results may be added; nothing is renamed, "
           "removed or given another meaning."}}},
        {"methods", std::move(methods)},
        {"components", {{"schemas", std::move(schemas)}, {"errors", std::move(known)}}}};
}

}  // namespace sluice

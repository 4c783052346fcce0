#include <algorithm>

#include "control/config/schema/schema_types.hh"

namespace sluice::schema {
namespace {

// One next hop of a route: a string, or {address = ..., port = ..., weight = ...}.
bool read_next_hop(const toml::node& node, Context& context, NextHopConfig& hop) {
    static const Type<IpAddress> address_type = address();
    static const Type<std::uint32_t> weight_type = integer<std::uint32_t>(min_hop_weight, max_hop_weight);
    static const Type<std::string> port_type = name("a port's name");
    const toml::table* table = node.as_table();
    if (table == nullptr) return address_type.read(node, context, hop.address);
    bool good = true, has_address = false;
    for (const auto& [key, value] : *table) {
        const Context::Inside inside(context, key.str());
        if (key.str() == "address") {
            has_address = true;
            good &= address_type.read(value, context, hop.address);
        } else if (key.str() == "port") {
            good &= port_type.read(value, context, hop.port);
        } else if (key.str() == "weight") {
            good &= weight_type.read(value, context, hop.weight);
        } else {
            context.refuse(key.source(), in_quotes(key.str()) + " is not a key of a next hop",
                           "address, port, weight", "correct its name or leave it out");
            good = false;
        }
    }
    if (!has_address) {
        context.refuse(node.source(), "a next hop without an address", "address, port, weight",
                       R"(write for example {address = "10.0.1.2", weight = 2})");
        good = false;
    }
    return good;
}

}  // namespace

Type<NextHops> next_hops() {
    Type<NextHops> type;
    type.name = "next hops";
    type.allowed = fmt::format(
        "\"blackhole\", one address, or a list of 1 to {}, each an address or {{address, port, weight}}",
        max_route_hops);
    type.example = R"(["10.0.1.2"])";
    type.read = [self = type](const toml::node& node, Context& context, NextHops& out) {
        out.clear();
        if (const auto* string = node.as_string(); string != nullptr && string->get() == "blackhole")
            return true;
        if (node.is_string() || node.is_table()) return read_next_hop(node, context, out.emplace_back());
        const toml::array* array = node.as_array();
        if (array == nullptr) return self.refuse(node, context, "is not a list of next hops");
        if (array->empty())
            return self.refuse(node, context, "is empty", "write via = \"blackhole\" to drop what matches");
        if (array->size() > max_route_hops)
            return self.refuse(node, context, fmt::format("has {} next hops", array->size()));
        bool good = true;
        for (std::size_t i = 0; i < array->size(); ++i) {
            const Context::Inside inside(context, i);
            good &= read_next_hop((*array)[i], context, out.emplace_back());
        }
        std::sort(out.begin(), out.end());
        return good;
    };
    type.print = [](const NextHops& hops, const NextHops*) -> std::string {
        if (hops.empty()) return "\"blackhole\"";
        std::string out;
        for (const NextHopConfig& hop : hops) {
            std::string text = toml_string(print_address(hop.address));
            std::string keys;
            if (!hop.port.empty()) keys += fmt::format(", port = {}", toml_string(hop.port));
            if (hop.weight != 1) keys += fmt::format(", weight = {}", hop.weight);
            if (!keys.empty()) text = fmt::format("{{address = {}{}}}", text, keys);
            append_item(out, ", ", text);
        }
        return fmt::format("[{}]", out);
    };
    return type;
}

}  // namespace sluice::schema

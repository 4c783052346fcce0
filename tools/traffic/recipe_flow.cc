#include "tools/traffic/recipe_keys.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"

namespace sluice::traffic {
namespace {

struct KindInfo {
    std::string_view name;
    Kind kind;
};
constexpr KindInfo kinds[] = {{"roce", Kind::roce},          {"cnp", Kind::cnp}, {"pfc", Kind::pfc},
                              {"pause", Kind::pause},        {"udp", Kind::udp}, {"tcp", Kind::tcp},
                              {"malformed", Kind::malformed}};

bool is_mac_control(Kind kind) { return kind == Kind::pfc || kind == Kind::pause; }

const IpAddress* address_of(const Host& host, bool is_v6) {
    const auto found = std::ranges::find(host.addresses, is_v6, &IpAddress::is_v6);
    return found == host.addresses.end() ? nullptr : &*found;
}

struct Target {
    const Host* host = nullptr;  // if it was named
    std::optional<IpAddress> address;
    bool is_v6 = false;
};

// `to` is an address or a host; of a host's addresses, the first of a family that the first sender has too.
std::optional<Target> read_target(TableReader& reader, const Recipe& recipe, const Host& sender) {
    const auto version = reader.integer("ip_version", 4, 6);
    if (version == 5) reader.refuse("ip_version", "must be 4 or 6");
    const auto to = reader.text("to");
    if (!to) {
        if (!reader.has("to")) reader.refuse("to", "is needed: a host's name or an IP address");
        return std::nullopt;
    }
    if (const auto address = parse_address(*to)) {
        if (version && (*version == 6) != address->is_v6)
            reader.refuse("ip_version", "contradicts the address in to");
        return Target{nullptr, *address, address->is_v6};
    }
    const auto host = std::ranges::find(recipe.hosts, *to, &Host::name);
    if (host == recipe.hosts.end()) {
        reader.refuse("to", fmt::format("'{}' is neither a host of this recipe nor an IP address", *to));
        return std::nullopt;
    }
    for (const IpAddress& address : host->addresses) {
        if (version && (*version == 6) != address.is_v6) continue;
        if (address_of(sender, address.is_v6) != nullptr) return Target{&*host, address, address.is_v6};
    }
    reader.refuse("to", fmt::format("{} and {} have no address of the same family", sender.name, host->name));
    return std::nullopt;
}

std::vector<std::size_t> read_senders(TableReader& reader, const Recipe& recipe) {
    std::vector<std::size_t> senders;
    const auto nodes = reader.one_or_more("from");
    if (nodes.empty() && !reader.has("from"))
        reader.refuse("from", "is needed: a host's name, or a list of them");
    for (const toml::node* node : nodes) {
        const auto host =
            std::ranges::find(recipe.hosts, node->value_exact<std::string>().value_or(""), &Host::name);
        if (host != recipe.hosts.end())
            senders.push_back(static_cast<std::size_t>(host - recipe.hosts.begin()));
        else
            reader.refuse(*node, "from", fmt::format("{} is not a host of this recipe", shown(*node)));
    }
    return senders;
}

std::optional<MacAddress> read_destination_mac(TableReader& reader) {
    const auto text = reader.text("to_mac");
    if (!text) return std::nullopt;
    if (const auto mac = parse_mac(*text)) return *mac;
    reader.refuse("to_mac", fmt::format("'{}' is not a MAC address", *text));
    return std::nullopt;
}

}  // namespace

void read_flow(const toml::table& table, const std::string& path, Recipe& recipe, ErrorList& errors) {
    TableReader reader{table, path, errors};
    Flow flow;
    const std::string kind = reader.text("kind").value_or("");
    const auto* info = std::ranges::find(kinds, kind, &KindInfo::name);
    if (info == std::end(kinds)) {
        reader.refuse("kind",
                      "must be \"roce\", \"cnp\", \"pfc\", \"pause\", \"udp\", \"tcp\" or \"malformed\"");
        return;
    }
    flow.kind = info->kind;
    const std::vector<std::size_t> senders = read_senders(reader, recipe);
    read_pacing(reader, flow);
    const auto to_mac = read_destination_mac(reader);
    std::optional<Target> target;
    std::optional<std::vector<Tag>> tags;
    if (is_mac_control(flow.kind)) {
        if (flow.kind == Kind::pfc)
            read_pfc(reader, flow);
        else
            flow.pause_quanta =
                static_cast<std::uint16_t>(reader.integer("quanta", 0, UINT16_MAX).value_or(UINT16_MAX));
    } else {
        if (!senders.empty()) target = read_target(reader, recipe, recipe.hosts[senders[0]]);
        if (reader.has("vlan")) tags = read_tags(reader);
        read_addressed(reader, flow);
        if (flow.kind == Kind::malformed) read_malformations(reader, flow, target && target->is_v6);
    }
    if (!senders.empty() && (target || is_mac_control(flow.kind)))
        reader.finish(fmt::format("unknown key, or without meaning for kind = \"{}\"", kind));

    for (const std::size_t sender : senders) {
        const Host& host = recipe.hosts[sender];
        flow.host = sender;
        flow.source_mac = host.mac;
        flow.destination_mac = to_mac.value_or(mac_control_address);
        if (target) {
            const IpAddress* source = address_of(host, target->is_v6);
            if (source == nullptr)
                reader.refuse("from",
                              fmt::format("{} has no IPv{} address", host.name, target->is_v6 ? 6 : 4));
            else
                flow.source = *source;
            flow.destination = *target->address;
            flow.tags = tags.value_or(host.tags);
            if (!to_mac && host.gateway_mac)
                flow.destination_mac = *host.gateway_mac;
            else if (!to_mac && target->host != nullptr)
                flow.destination_mac = target->host->mac;
            else if (!to_mac)
                reader.refuse("from", fmt::format("{} has no gateway_mac (or give to_mac)", host.name));
        }
        recipe.flows.push_back(flow);
    }
}

}  // namespace sluice::traffic

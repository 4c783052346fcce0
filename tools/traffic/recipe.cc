#include "tools/traffic/recipe.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "control/config/schema/values.hh"
#include "tools/traffic/failure.hh"
#include "tools/traffic/recipe_keys.hh"
#include "tools/traffic/table_reader.hh"

namespace sluice::traffic {
namespace {

constexpr std::size_t max_hosts = 256;
constexpr std::size_t max_flows = 65'536;
constexpr std::uint64_t latest_origin_ns =
    4'000'000'000ULL * 1'000'000'000;  // leaves 9 years of a pcap's 32 bits

bool is_file_name(std::string_view name) {
    return !name.empty() && name.size() <= 64 && name[0] != '.' && name[0] != '-' &&
           std::ranges::all_of(name, [](unsigned char c) {
               return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
           });
}

// A time that picoseconds cannot hold is read as one that is a thousand times shorter.
std::optional<std::uint64_t> read_nanoseconds(std::string_view text) {
    constexpr std::array<std::array<std::string_view, 2>, 4> units{
        {{"ns", "ps"}, {"us", "ns"}, {"ms", "us"}, {"s", "ms"}}};
    for (const auto& [unit, shorter] : units) {
        if (!text.ends_with(unit)) continue;
        const auto time = parse_time(fmt::format("{}{}", text.substr(0, text.size() - unit.size()), shorter));
        return time ? std::optional(static_cast<std::uint64_t>(time->ps)) : std::nullopt;
    }
    return std::nullopt;
}

void read_host(std::string_view name, const toml::node& node, Recipe& recipe, ErrorList& errors) {
    const std::string path = fmt::format("host.{}", name);
    const toml::table* table = node.as_table();
    if (table == nullptr) return errors.add(node.source(), path, "must be a table");
    TableReader reader{*table, path, errors};
    if (!is_file_name(name))
        reader.refuse_whole("a host's name is a file's name too: letters, digits, - _ . only, at most 64");
    Host host;
    host.name = name;
    if (const auto mac = reader.mac("mac"))
        host.mac = *mac;
    else if (!reader.has("mac"))
        reader.refuse("mac", "is needed");
    host.gateway_mac = reader.mac("gateway_mac");
    if (const auto speed = reader.rate("speed")) {
        host.speed = *speed;
        if (!speed->valid_port_speed())
            reader.refuse("speed", "must be from 1G to 800G, with a whole number of picoseconds a byte");
    }
    host.tags = read_tags(reader);
    for (const toml::node* each : reader.one_or_more("ip")) {
        const auto address = parse_address(each->value_exact<std::string>().value_or(""));
        if (address)
            host.addresses.push_back(*address);
        else
            reader.refuse(*each, "ip", fmt::format("{} is not an IP address", shown(*each)));
    }
    reader.finish();
    recipe.hosts.push_back(std::move(host));
}

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

// Adds a flow for each sender to `recipe.flows`.
void read_flow(const toml::table& table, const std::string& path, Recipe& recipe, ErrorList& errors) {
    TableReader reader{table, path, errors};
    Flow flow;
    if (!reader.has("kind")) reader.refuse("kind", "is needed: the kind of its frames, such as \"roce\"");
    if (!reader.choice("kind",
                       {{"roce", Kind::roce},
                        {"cnp", Kind::cnp},
                        {"pfc", Kind::pfc},
                        {"pause", Kind::pause},
                        {"udp", Kind::udp},
                        {"tcp", Kind::tcp},
                        {"malformed", Kind::malformed}},
                       flow.kind))
        return;
    const std::vector<std::size_t> senders = read_senders(reader, recipe);
    read_pacing(reader, flow);
    const auto to_mac = reader.mac("to_mac");
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
        reader.finish(fmt::format("unknown key, or without meaning for kind = \"{}\"",
                                  *table["kind"].value<std::string_view>()));

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

void read_hosts(TableReader& reader, Recipe& recipe, ErrorList& errors) {
    const toml::table* hosts = reader.table("host");
    if (hosts == nullptr || hosts->empty()) {
        if (!reader.has("host") || hosts != nullptr)
            reader.refuse("host", "is needed: at least one [host.NAME]");
        return;
    }
    if (hosts->size() > max_hosts) reader.refuse("host", fmt::format("at most {} hosts", max_hosts));
    for (const auto& [name, node] : *hosts) read_host(name.str(), node, recipe, errors);
}

void read_flows(TableReader& reader, Recipe& recipe, ErrorList& errors) {
    const toml::node* node = reader.node("flow");
    if (node == nullptr) return reader.refuse("flow", "is needed: at least one [[flow]]");
    const toml::array* flows = node->as_array();
    if (flows == nullptr || !flows->is_homogeneous<toml::table>())
        return reader.refuse("flow", "must be [[flow]] tables");
    for (std::size_t i = 0; i < flows->size(); ++i) {
        if (recipe.flows.size() > max_flows)
            return reader.refuse("flow", fmt::format("at most {} flows", max_flows));
        read_flow(*flows->get_as<toml::table>(i), fmt::format("flow[{}]", i), recipe, errors);
    }
}

}  // namespace

LoadedRecipe load_recipe(std::string_view text, std::string_view file_name) {
    LoadedRecipe loaded;
    ErrorList errors{file_name};
    toml::table root;
    try {
        root = toml::parse(text, file_name);
    } catch (const toml::parse_error& error) {
        std::string message{error.description()};
        std::ranges::replace(message, '\n', ' ');
        errors.add(error.source(), "", message);
        loaded.errors = errors.lines();
        return loaded;
    }
    TableReader reader{root, "", errors};
    Recipe& recipe = loaded.recipe;
    recipe.seed = reader.integer("seed", 0, INT64_MAX).value_or(1);
    if (const auto origin = reader.text("origin")) {
        const auto value = read_nanoseconds(*origin);
        if (value && *value <= latest_origin_ns)
            recipe.origin_ns = *value;
        else
            reader.refuse("origin", "must be a time from \"0s\" to \"4000000000s\" in whole nanoseconds");
    }
    read_hosts(reader, recipe, errors);
    read_flows(reader, recipe, errors);
    reader.finish();
    loaded.errors = errors.lines();
    return loaded;
}

LoadedRecipe load_recipe_file(const std::string& file) {
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored))
        throw Failure{fmt::format("{}: is a folder, not a recipe", file)};
    std::ifstream stream{file, std::ios::binary};
    std::ostringstream text;
    text << stream.rdbuf();
    if (!stream) throw Failure{fmt::format("{}: cannot be read", file)};
    return load_recipe(text.str(), file);
}

}  // namespace sluice::traffic

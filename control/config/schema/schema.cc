// The table of keys, one row each: here the keys at the top of a file, and the checks of the whole table. A
// new key is a member in config.hh and a row.
#include "control/config/schema/schema.hh"

#include "control/config/schema/buffer_profile.hh"
#include "control/config/schema/hosts.hh"
#include "control/config/schema/schema_sections.hh"
#include "control/config/schema/toml_text.hh"
#include "control/config/text/man_page.hh"

namespace sluice {
namespace schema {
namespace {

constexpr std::uint64_t any_64 = std::numeric_limits<std::uint64_t>::max();

// [default]: a port's keys (also as [default.port]), and [default.map], which is the map "default". A string
// `map` is the port's key.
bool read_default(const toml::node& node, Context& context, Config& config) {
    static const Rows<PortConfig> ports = port_rows();
    static const Rows<MapConfig> maps = map_rows();
    const toml::table* table = want_table(node, context, {});
    if (table == nullptr) return false;
    const toml::node* port = table->get("port");
    const toml::node* map = table->get("map");
    const bool has_map_table = map != nullptr && map->is_table();
    const std::array<std::string_view, 2> elsewhere{"port", has_map_table ? "map" : "port"};
    bool good = ports.read(*table, context, config.port_defaults, elsewhere);
    if (has_map_table) {
        const Context::Inside inside(context, "map");
        good &= maps.read(*map->as_table(), context, config.maps["default"]);
    }
    if (port == nullptr) return good;
    const Context::Inside inside(context, "port");
    const toml::table* port_table = want_table(*port, context, {});
    if (port_table == nullptr) return false;
    for (const auto& [name, value] : *port_table) {
        if (name.str() == "map" ? has_map_table || !map : !table->contains(name.str())) continue;
        const Context::Inside key_inside(context, name.str());
        good = context.refuse(name.source(), in_quotes(name.str()) + " is in [default] too", "one of them",
                              "leave one out");
    }
    return ports.read(*port_table, context, config.port_defaults) && good;
}

// The keys are the port's, so they are not described.
void add_default_section(Rows<Config>& rows) {
    Row& row = rows.nested("default", &Config::port_defaults, port_rows(), "The base of every port.");
    row.read = [](const toml::node& node, Context& context, void* config) {
        return read_default(node, context, *static_cast<Config*>(config));
    };
    row.describe = [](const std::string&, std::vector<KeyInfo>&) {};
}

MapConfig map_base(const Config& config, const std::string& name, bool saving) {
    const auto found = config.maps.find("default");
    const bool none = found == config.maps.end() || (saving && name == "default");
    return none ? MapConfig{} : found->second;
}

// The default MTU depends on the device, so that of an interface of the kernel is always saved.
PortConfig port_base(const Config& config, const std::string& name, bool saving) {
    PortConfig base = config.port_defaults;
    if (saving && on_kernel_interface(config.ports.at(name))) base.mtu = 0;
    return base;
}

template <class Child>
Child starts_fresh(const Config&, const std::string&, bool) {
    return {};
}

Rows<Config> virtual_clock_rows() {
    using C = Config;
    Rows<C> rows;
    rows.start_key("turn", &C::virtual_turn, time({}, seconds(1), "500ns"),
                   "Grid of the workers' turns under the virtual clock; 0: exact.");
    rows.start_key("rx_ring", &C::virtual_ring_frames, integer<unsigned>(32, 1U << 20),
                   "Frames that a port's receive ring holds between turns.");
    return rows;
}

Rows<Config> buffer_rows() {
    using C = Config;
    Rows<C> rows;
    // First, so that size and cell are read over its values.
    Row& profile = rows.start_key("profile", &C::buffer_profile, choice(buffer_profile_names()),
                                  "The real switch whose buffer this is: defaults of size, cell, pools, "
                                  "limits and headroom (conf/profiles).");
    profile.read = [read = profile.read](const toml::node& node, Context& context, void* config) {
        if (!read(node, context, config)) return false;
        start_from_profile(*static_cast<Config*>(config));
        return true;
    };
    rows.start_key("size", &C::buffer_size_bytes, size(1, max_buffer_bytes, "16MB"),
                   "Packet memory that all ports share.");
    rows.start_key("cell", &C::cell_bytes, stored_as<std::uint32_t>(size(64, 2048, "256")),
                   "Unit in which packet memory is given out; limits, headroom and WRED count whole cells of "
                   "each frame.");
    rows.start_key(
        "packet_buffer", &C::packet_buffer_bytes,
        optional_or(stored_as<std::uint32_t>(size(768, 16384, "16384")), "auto"),
        "Bytes of a DPDK packet buffer, one for each cell; a longer frame needs several, which some devices "
        "cannot fill. \"auto\": 2048 under the real clock; 768, or a cell, under the virtual one.");
    return rows;
}

Rows<Config> make_config_rows() {
    using C = Config;
    Rows<C> rows;
    rows.start_key("clock", &C::clock,
                   word<ClockKind>({{"virtual", ClockKind::virtual_time}, {"real", ClockKind::real_time}}),
                   "Virtual: simulated time, with reproducible results. Real: devices and the time of day.");
    rows.key("seed", &C::seed, integer_64(0, any_64), "Seed of every random decision.");
    rows.start_key("workers", &C::workers, integer<unsigned>(1, max_workers),
                   "Worker threads of the dataplane.");
    rows.start_key("cores", &C::cores, list_of(integer<unsigned>(0, 1023), max_workers),
                   "CPU of each worker under the real clock; empty: chosen.");
    rows.key("hash_seed", &C::hash_seed, integer_64(0, any_64),
             "Seed of the hash that picks among next hops.");
    rows.key("hash_roce_qp", &C::hash_roce_qp, boolean(),
             "The destination queue pair of RoCEv2 is part of that hash.");
    rows.start_key("eal", &C::eal, list_of(text("an EAL argument", 1, 256, "--log-level=6"), 64),
                   "Extra arguments for DPDK's EAL.");
    rows.key("turn_max", &C::turn_max, time(microseconds(1), milliseconds(10), "50us"),
             "Longest turn of a worker under the real clock; the headroom covers it.");
    rows.start_key("idle_sleep", &C::idle_sleep, time({}, milliseconds(10), "50us"),
                   "Sleep of a worker after 256 turns with nothing to do, under the real clock, at most half "
                   "of turn_max; 0: it polls.");
    rows.group("virtual", virtual_clock_rows(), "The virtual clock.");
    rows.group("buffer", buffer_rows(), "The shared buffer.");
    rows.nested("fib", &C::fib, fib_rows(), "The forwarding tables.");
    rows.nested("load_balance", &C::load_balance, load_balance_rows(),
                "How packets choose among the next hops of a group.");
    rows.nested("punt", &C::punt, punt_rows(), "Frames that go to control instead of being forwarded.");
    rows.nested("kernel", &C::kernel, kernel_rows(), "The kernel of the machine as control plane.");
    rows.nested("watchdog", &C::watchdog, watchdog_rows(),
                "The PFC watchdog of all ports that say nothing else.");
    rows.nested("trimming", &C::trimming, trimming_rows(),
                "Packet trimming: queues with on_full = \"trim\" cut the packets that they have no room for, "
                "and send their headers on.");
    rows.nested("decisions", &C::decisions, decision_rows(), "Decision records.");
    add_default_section(rows);
    rows.named("pool", &C::pools, pool_rows(), starts_fresh<PoolConfig>, 16,
               "A pool of the shared buffer; none: the preset's.");
    rows.named("wred", &C::wred, wred_rows(), starts_fresh<WredConfig>, 256,
               "A WRED and ECN profile; starts from linear: 100/400 KB at 25G, 20 %, in proportion to the "
               "speed, not below two packets of the MTU.");
    rows.named("map", &C::maps, map_rows(), map_base, 256, "Maps of a port; start from the map \"default\".");
    rows.named("port", &C::ports, port_rows(), port_base, max_ports, "A port of the switch.");
    add_host_section(rows);
    rows.named("wire", &C::wires, wire_rows(), starts_fresh<WireConfig>, max_wires,
               "Two ports joined, the one exception to routing.");
    rows.list("flow", &C::flows, flow_rows(), max_flows, "Messages between simulated hosts.");
    rows.list("neighbor", &C::neighbors, neighbor_rows(), max_routes, "A host or router behind a port.");
    rows.list("route", &C::routes, route_rows(), max_routes, "A route.");
    rows.named("mirror", &C::mirrors, mirror_rows(), starts_fresh<MirrorConfig>, max_mirrors,
               "Frames of drops, delays and pauses, written for Wireshark.");
    rows.list("event", &C::events, event_rows(), max_events, "A command at a moment.");
    rows.list("assert", &C::expectations, expectation_rows(), max_expectations,
              "A condition at the end of the run.");
    return rows;
}

}  // namespace

const Rows<Config>& config_rows() {
    static const Rows<Config> rows = make_config_rows();
    return rows;
}

}  // namespace schema

const std::vector<KeyInfo>& schema_keys() {
    static const std::vector<KeyInfo> keys = [] {
        std::vector<KeyInfo> all;
        schema::config_rows().describe({}, all);
        return all;
    }();
    return keys;
}

std::string schema_table(const std::string& heading, std::span<const KeyInfo> keys) {
    std::string out =
        "\n## " + heading + "\n\n| key | type | allowed | default | meaning |\n|---|---|---|---|---|\n";
    for (const KeyInfo& key : keys)
        out += fmt::format("| `{}` | {} | {} | {} | {}{} |\n", key.name, key.type, key.allowed, key.fallback,
                           key.sentence, key.restart ? " Takes effect at start." : "");
    return out;
}

std::string_view inherited_keys() {
    return "Keys of [port.NAME] may stand under [default] for all ports; [default.map] is the map "
           "\"default\". "
           "Those of [host.NAME] may stand under [host.default], but port, address and mac.";
}

std::vector<SchemaSection> schema_sections() {
    std::vector<SchemaSection> sections;
    const auto& keys = schema_keys();
    for (auto first = keys.begin(); first != keys.end();) {
        const auto last = std::find_if(first, keys.end(),
                                       [&](const KeyInfo& key) { return key.section != first->section; });
        std::string heading = "[" + first->section + "]";
        if (first->section.empty()) heading = "Top level";
        if (first->section.ends_with("[]"))
            heading = "[[" + first->section.substr(0, first->section.size() - 2) + "]]";
        sections.push_back({std::move(heading), {first, last}});
        first = last;
    }
    return sections;
}

std::string schema_reference() {
    std::string out = fmt::format("# Configuration keys\n\n{}\n", inherited_keys());
    for (const SchemaSection& section : schema_sections()) out += schema_table(section.heading, section.keys);
    return out;
}

void add_keys(ManPage& page, std::span<const SchemaSection> sections) {
    for (const SchemaSection& section : sections) {
        page.subheading(section.heading);
        for (const KeyInfo& key : section.keys) {
            page.entry(key.name, key.type,
                       fmt::format("{}{}", key.sentence, key.restart ? " Takes effect at start." : ""));
            if (!key.allowed.empty() && key.allowed != key.type) page.line_break("Allowed: " + key.allowed);
            page.line_break("Default: " + key.fallback);
        }
    }
}

std::string set_fault(FaultSettings& fault, std::string_view key, std::string_view value) {
    using namespace schema;
    static const Rows<FaultSettings> rows = fault_rows();
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const auto& known) { return known.info.name == key; });
    if (row == rows.end()) {
        std::string known;
        for (const auto& other : rows) append_item(known, ", ", other.info.name);
        return fmt::format("{} is not a fault; known: {}", in_quotes(key), known);
    }
    const auto document = parse_toml_value(value);
    const toml::node* node = document ? document->get("value") : nullptr;
    if (node == nullptr)
        return fmt::format("{} is not a value; allowed: {}", in_quotes(value), row->info.allowed);
    Context context("command");
    FaultSettings changed = fault;
    if (!row->read(*node, context, &changed)) {
        const ConfigError error = context.take_errors().front();
        return fmt::format("{}: {}; allowed: {}", key, error.wrong, error.allowed);
    }
    fault = changed;
    return {};
}

namespace {

// The configuration of a file that has the profile alone, but without its name, so that saving writes it.
Config base_of(const Config& config) {
    Config base;
    base.buffer_profile = config.buffer_profile;
    start_from_profile(base);
    base.buffer_profile = no_profile;
    return base;
}

}  // namespace

std::vector<ConfigValue> config_values(const Config& config, std::string_view path, bool whole) {
    const Config base = base_of(config);
    schema::Listing listing{path, {}};
    schema::config_rows().list_values(&config, whole ? nullptr : &base, {}, listing);
    return std::move(listing.values);
}

std::string config_key(std::string_view name) { return schema::toml_key(name); }

std::string to_toml(const Config& config) {
    const Config base = base_of(config);
    Config said = config;
    remove_host_neighbors(said);
    std::string out;
    schema::Listing listing{{}, {}, &out};
    schema::config_rows().list_values(&said, &base, {}, listing);
    return out;
}

}  // namespace sluice

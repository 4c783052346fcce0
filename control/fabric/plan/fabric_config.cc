#include "control/fabric/plan/fabric_config.hh"

#include <algorithm>
#include <array>
#include <utility>

#include "control/config/schema/schema_sections.hh"
#include "control/config/schema/toml_text.hh"
#include "control/fabric/plan/fabric_rows.hh"
#include "control/fabric/plan/like.hh"
#include "control/fabric/plan/set_paths.hh"
#include "control/fabric/plan/variants.hh"

namespace sluice::fabric {
namespace {

using schema::AnyRows;
using schema::Context;
using schema::Rows;

constexpr std::string_view defaults_name = "default";
constexpr std::size_t max_collectives = 64;
constexpr std::size_t max_workloads = 64;
constexpr std::size_t max_jobs = 64;
constexpr std::size_t max_phases = 64;
constexpr std::size_t max_asserts = 1'000;
constexpr std::size_t max_expected = 64;

// The keys at the top of the file.
Rows<FabricConfig> top_rows() {
    using F = FabricConfig;
    Rows<F> rows;
    rows.key("seed", &F::seed, schema::integer_64(0, std::numeric_limits<std::uint64_t>::max()),
             "Seed of every random decision, of all switches and hosts.");
    rows.key("name", &F::scenario, &ScenarioConfig::name, schema::text("a name", 0, 80, "incast"),
             "Name of the scenario.");
    rows.key("question", &F::scenario, &ScenarioConfig::question,
             schema::text("a sentence", 0, 1024, "Does it lose anything?"),
             "Question that the scenario answers.");
    rows.key("like", &F::like, schema::word<Like>({{"none", Like::none}, {"ns3", Like::ns3}}),
             "Defaults with which another simulator's results compare; what the file says goes before them.");
    rows.key(
        "expect", &F::expected_findings, schema::list_of(schema::name("a finding's name"), max_expected),
        "Warnings that the fabric is about, by their names: they are notes, and one that does not come is "
        "told.");
    return rows;
}

HostConfig unsaid_host() {
    HostConfig host;
    host.describes_payload = true;
    return host;
}

// The lists of tables that the file has, with the rows of one.
template <class Fabric, class Use>
void for_each_list(Fabric& fabric, const Use& use) {
    use("node", node_rows(), fabric.nodes, max_nodes);
    use("link", link_rows(), fabric.links, max_links);
    use("flow", drawn_rows(schema::flow_rows()), fabric.flows, max_flows);
    use("collective", collective_rows(), fabric.collectives, max_collectives);
    use("workload", workload_rows(), fabric.workloads, max_workloads);
    use("job", job_rows(), fabric.jobs, max_jobs);
    use("event", schema::event_rows(), fabric.events, max_events);
    use("phase", phase_rows(), fabric.scenario.phases, max_phases);
    use("assert", assert_rows(), fabric.scenario.asserts, max_asserts);
    use("variant", variant_rows(), fabric.scenario.variants, VariantConfig::max_variants);
}

// The keys of one file, read section by section: later ones start from earlier ones.
class Reader {
  public:
    Reader(const toml::table& document, FabricConfig& fabric, std::vector<ConfigError>& errors)
        : document_(document), fabric_(fabric), errors_(errors) {}

    void read() {
        Context context(fabric_.file);
        static constexpr std::array<std::string_view, 19> sections{
            "topology",   "routing",  "node", "link",   "switch", "host",   "flow",
            "collective", "workload", "job",  "event",  "phase",  "assert", "variant",
            "vary",       "find",     "goal", "advise", "results"};
        top_rows().read(document_, context, fabric_, sections);
        begin_like(fabric_);
        ScenarioConfig& scenario = fabric_.scenario;
        read_topology(context);
        with_table("routing", context, [&](const toml::node&, const toml::table& table) {
            routing_rows().read(table, context, fabric_.routing);
        });
        with_table("results", context, [&](const toml::node&, const toml::table& table) {
            results_rows().read(table, context, fabric_.results);
        });
        for_each_list(fabric_, [&]<class Child>(std::string_view name, const Rows<Child>& rows,
                                                std::vector<Child>& into, std::size_t limit) {
            read_list(name, rows, into, limit, context);
        });
        with("vary", context, [&](const toml::node& node) { read_vary(node, context, scenario); });
        with_table("find", context, [&](const toml::node& node, const toml::table& table) {
            scenario.find.emplace().place = schema::place_of(node.source());
            if (!find_rows().read(table, context, *scenario.find)) scenario.find.reset();
        });
        with_table("goal", context, [&](const toml::node& node, const toml::table& table) {
            scenario.goal.emplace().place = schema::place_of(node.source());
            if (!goal_rows().read(table, context, *scenario.goal)) scenario.goal.reset();
        });
        with_table("advise", context, [&](const toml::node& node, const toml::table& table) {
            scenario.advise.emplace().place = schema::place_of(node.source());
            if (!read_advise(table, context, *scenario.advise)) scenario.advise.reset();
        });
        check_scenario_keys(scenario, context, document_);
        with("host", context, [&](const toml::node& node) { read_hosts(node, context); });
        add(context, {});
        Context of_switches(fabric_.file);
        with("switch", of_switches, [&](const toml::node& node) {
            schema::read_named(node, of_switches, max_nodes,
                               [&](const std::string& name, const toml::node& at, const toml::table& table) {
                                   read_switch(name, at, table);
                                   return true;
                               });
        });
        add(of_switches, {});
        std::ranges::stable_sort(fabric_.events, {}, &EventConfig::at);
    }

    // What makes the nodes alone: [topology], [[node]] and [[link]].
    void read_topology(const std::string& file) {
        Context context(file);
        read_topology(context);
        read_list("node", node_rows(), fabric_.nodes, max_nodes, context);
        read_list("link", link_rows(), fabric_.links, max_links, context);
        add(context, {});
    }

  private:
    void read_topology(Context& context) {
        with_table("topology", context, [&](const toml::node&, const toml::table& table) {
            topology_rows().read(table, context, fabric_.topology.emplace());
        });
    }
    template <class Child>
    void read_list(std::string_view name, const Rows<Child>& rows, std::vector<Child>& into,
                   std::size_t limit, Context& context) {
        with(name, context, [&](const toml::node& node) {
            schema::read_list(node, context, limit, [&](const toml::node& at, const toml::table& table) {
                Child child;
                child.place = schema::place_of(at.source());
                const bool good = rows.read(table, context, child);
                if (good) into.push_back(std::move(child));
                return good;
            });
        });
    }
    void with(std::string_view name, Context& context, const auto& use) {
        const toml::node* node = document_.get(name);
        if (node == nullptr) return;
        const Context::Inside inside(context, name);
        use(*node);
    }
    void with_table(std::string_view name, Context& context, const auto& use) {
        with(name, context, [&](const toml::node& node) {
            if (const toml::table* table = schema::want_table(node, context, {})) use(node, *table);
        });
    }

    // Errors of a context whose keys lie in `section`.
    void add(Context& context, const std::string& section) {
        for (ConfigError& error : context.take_errors()) {
            if (!section.empty()) error.path = error.path.empty() ? section : section + "." + error.path;
            errors_.push_back(std::move(error));
        }
    }

    void read_hosts(const toml::node& node, Context& context) {
        static const Rows<HostConfig> rows = schema::common_host_rows();
        schema::read_named(node, context, max_nodes,
                           [&](const std::string& name, const toml::node& at, const toml::table& table) {
                               if (name == defaults_name)
                                   return rows.read(table, context, fabric_.host_default);
                               HostConfig host = fabric_.host_default;
                               host.place = schema::place_of(at.source());
                               const bool good = rows.read(table, context, host);
                               fabric_.hosts[name] = std::move(host);
                               return good;
                           });
    }

    // Its keys are a file of their own, whose places lint names.
    void read_switch(const std::string& name, const toml::node& at, const toml::table& table) {
        Context context(fabric_.file);
        Config config = fabric_.switch_default;
        // Places of the same key: the switch's own count.
        SourceMap before = std::move(config.source);
        const bool good = schema::config_rows().read(table, context, config);
        const std::string section = "switch." + config_key(name);
        add(context, section);
        if (!good) return;
        config.source = context.take_source();
        config.source.places.merge(before.places);
        refuse_foreign(config, section, schema::place_of(at.source()));
        sort_config(config);
        if (name == defaults_name)
            fabric_.switch_default = std::move(config);
        else
            fabric_.switches[name] = std::move(config);
    }

    // Sections of sluiced that are the fabric's here.
    void refuse_foreign(const Config& config, const std::string& section, SourcePlace place) {
        const auto refuse = [&](const char* key, const char* why, const char* remedy) {
            const SourcePlace own = config.source.find(key);
            errors_.push_back(
                {fabric_.file, own.line != 0 ? own : place, section + "." + key, why, {}, remedy});
        };
        if (!config.hosts.empty()) refuse("host", "hosts are the fabric's", "write [host.NAME] at the top");
        if (!config.flows.empty()) refuse("flow", "flows are the fabric's", "write [[flow]] at the top");
        if (!config.wires.empty()) refuse("wire", "a fabric has cables", "leave it out, or run sluiced");
        if (!config.mirrors.empty())
            refuse("mirror", "switches of a fabric have no mirrors", "leave it out, or run sluiced");
        if (!config.expectations.empty())
            refuse("assert", "assertions are the fabric's", "write [[assert]] at the top");
        if (config.clock != ClockKind::virtual_time)
            refuse("clock", "a fabric has the virtual clock", "leave it out");
        if (config.kernel.routes || config.kernel.has_taps())
            refuse("kernel", "the kernel has no part in a fabric", "leave it out");
    }

    const toml::table& document_;
    FabricConfig& fabric_;
    std::vector<ConfigError>& errors_;
};

// The switches of a document; an error's text.
tl::expected<std::vector<std::string>, std::string> switches_of(const toml::table& document,
                                                                const std::string& file) {
    FabricConfig fabric;
    std::vector<ConfigError> errors;
    Reader(document, fabric, errors).read_topology(file);
    if (!errors.empty()) return tl::unexpected(errors.front().text());
    if (!fabric.topology && fabric.nodes.empty()) return tl::unexpected(std::string("there is no topology"));
    const auto made =
        fabric.topology ? make_topology(*fabric.topology) : make_topology(fabric.nodes, fabric.links);
    if (!made) return tl::unexpected(made.error());
    return made->names(false);
}

tl::unexpected<std::vector<ConfigError>> refused(std::vector<ConfigError> errors) {
    return tl::unexpected<std::vector<ConfigError>>(std::move(errors));
}

struct ChosenDocument {
    toml::table document;
    ChosenSets sets;  // that were put over it
};

tl::expected<ChosenDocument, ConfigError> chosen_document(std::string_view text, const std::string& file,
                                                          const std::vector<std::string>& sets) {
    auto document = parse_toml(text, file);
    if (!document) return tl::unexpected(std::move(document.error()));
    auto chosen = ChosenSets::of(*document, file, sets);
    if (!chosen) return tl::unexpected(std::move(chosen.error()));
    const auto switches = [&](const toml::table& whole) { return switches_of(whole, file); };
    if (auto put = put_sets(*document, chosen->all(), switches); !put)
        return tl::unexpected(chosen->error_of_set(std::move(put.error())));
    return ChosenDocument{std::move(*document), std::move(*chosen)};
}

}  // namespace

tl::expected<toml::table, ConfigError> document_with_sets(std::string_view text, const std::string& file,
                                                          const std::vector<std::string>& sets) {
    auto chosen = chosen_document(text, file, sets);
    if (!chosen) return tl::unexpected(std::move(chosen.error()));
    return std::move(chosen->document);
}

FabricResult parse_fabric(std::string_view text, const std::string& file,
                          const std::vector<std::string>& sets) try {
    const auto chosen = chosen_document(text, file, sets);
    if (!chosen) return refused({chosen.error()});
    FabricConfig fabric;
    fabric.file = file;
    fabric.scenario.variant = chosen->sets.name();
    fabric.host_default = unsaid_host();
    std::vector<ConfigError> errors;
    Reader(chosen->document, fabric, errors).read();
    for (ConfigError& error : errors) chosen->sets.give_place(error);
    if (!errors.empty()) return refused(std::move(errors));
    return fabric;
} catch (const std::bad_alloc&) {
    return refused({{file, {}, {}, "there is not enough memory for it", {}, {}}});
}

FabricResult load_fabric(const std::string& file, const std::vector<std::string>& sets) {
    const auto text = read_config_file(file);
    if (!text) return refused({text.error()});
    return parse_fabric(*text, file, sets);
}

std::vector<ConfigChange> keys_asked(const FabricConfig& fabric) {
    std::vector<ConfigChange> keys;
    const auto add = [&](const AnyRows& rows, const void* object, const void* base, const std::string& path) {
        schema::Listing listing{{}, {}};
        rows.list_values(object, base, {path, path}, listing);
        for (ConfigValue& each : listing.values)
            keys.push_back({std::move(each.path), {}, std::move(each.value), true});
    };
    const auto add_switch = [&](const std::string& name, const Config& from, const Config& to) {
        for (ConfigChange& each : keys_asked(from, to)) {
            each.path = fmt::format("switch.{}.{}", name, each.path);
            keys.push_back(std::move(each));
        }
    };
    if (fabric.like != Like::none) keys.push_back({"like", {}, R"("ns3")", true});
    if (fabric.seed != FabricConfig{}.seed) keys.push_back({"seed", {}, std::to_string(fabric.seed), true});
    if (const std::string& variant = fabric.scenario.variant; !variant.empty())
        keys.push_back({std::string(variant_path), {}, toml_string(variant), true});
    if (fabric.topology) {
        keys.push_back({"topology", {}, "a topology", true});
        add(topology_rows(), &*fabric.topology, &schema::fresh<TopologySettings>(), "topology");
    }
    add(routing_rows(), &fabric.routing, &schema::fresh<RoutingConfig>(), "routing");
    add(results_rows(), &fabric.results, &schema::fresh<ResultsConfig>(), "results");
    for_each_list(fabric, [&]<class Child>(const std::string& kind, const Rows<Child>& rows,
                                           const std::vector<Child>& list, std::size_t) {
        for (std::size_t n = 0; kind != "assert" && kind != "variant" && n < list.size(); ++n)
            add(rows, &list[n], &schema::fresh<Child>(), fmt::format("{}.{}", kind, n));
    });
    add_switch(std::string(defaults_name), Config{}, fabric.switch_default);
    for (const auto& [name, config] : fabric.switches) add_switch(name, fabric.switch_default, config);
    const auto host_rows = schema::common_host_rows();
    const HostConfig no_host = unsaid_host();
    add(host_rows, &fabric.host_default, &no_host, "host.default");
    for (const auto& [name, host] : fabric.hosts) add(host_rows, &host, &fabric.host_default, "host." + name);
    std::ranges::sort(keys, NaturalOrder{}, &ConfigChange::path);
    return keys;
}

std::vector<SchemaSection> fabric_sections() {
    std::vector<SchemaSection> sections;
    const auto add = [&](const std::string& heading, const AnyRows& rows) {
        rows.describe({}, sections.emplace_back(SchemaSection{heading, {}}).keys);
    };
    add("Top level", top_rows());
    add("[topology]", topology_rows());
    add("[routing]", routing_rows());
    add("[[node]]", node_rows());
    add("[[link]]", link_rows());
    add("[[flow]]", drawn_rows());
    add("[[collective]]", collective_rows());
    add("[[workload]]", workload_rows());
    add("[[job]]", job_rows());
    add("[[phase]]", phase_rows());
    add("[[assert]]", assert_rows());
    add("[[variant]]", variant_rows());
    add("[find]", find_rows());
    add("[goal]", goal_rows());
    add("[advise]", advise_rows());
    sections.push_back(advise_range_section());
    add("[results]", results_rows());
    return sections;
}

std::string_view vary_help() {
    return "PATH = [values], or PATH = \"LOW..HIGH xN\", or \"LOW..HIGH xN log\": a sweep runs the cross "
           "product.\n"
           "`sample = N` runs N points of it, drawn by the seed; `seeds = N` runs each point with N seeds. A "
           "path `switch.leaf*.KEY` sets the key of each switch that matches. `variant = \"all\"`, or a list "
           "of "
           "names, runs each [[variant]].";
}

std::string fabric_reference() {
    std::string out;
    for (const SchemaSection& section : fabric_sections()) out += schema_table(section.heading, section.keys);
    return out + fmt::format("## [vary]\n\n{}\n", vary_help());
}

}  // namespace sluice::fabric

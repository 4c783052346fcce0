// The keys of what a fabric is made of: topology, routing, nodes and links; and of its results.
#include "control/config/schema/schema_sections.hh"
#include "control/fabric/plan/fabric_rows.hh"

namespace sluice::fabric {

using schema::Rows;

Rows<TopologySettings> topology_rows() {
    using T = TopologySettings;
    using schema::integer;
    Rows<T> rows;
    rows.required("kind", &T::kind,
                  schema::word<TopologyKind>({{"star", TopologyKind::star},
                                              {"dumbbell", TopologyKind::dumbbell},
                                              {"leaf-spine", TopologyKind::leaf_spine},
                                              {"rail", TopologyKind::rail},
                                              {"three-tier", TopologyKind::three_tier},
                                              {"ring", TopologyKind::ring}}),
                  "Shape of the fabric.");
    const auto count = schema::optional_or(integer<unsigned>(1, 16'384), "auto");
    rows.key("hosts", &T::hosts, count,
             "Hosts of a star, of a side of a dumbbell, of a leaf, rack or switch.");
    rows.key("leaves", &T::leaves, count, "Leaves, with leaf-spine.");
    rows.key("spines", &T::spines, count, "Spines, with leaf-spine and rail.");
    rows.key("pods", &T::pods, count, "Pods, with three-tier and rail.");
    rows.key("racks", &T::racks, count, "Top-of-rack switches of a pod, with three-tier.");
    rows.key("aggs", &T::aggs, count, "Aggregation switches of a pod, with three-tier.");
    rows.key("cores", &T::cores, count, "Core switches, with three-tier.");
    rows.key("rails", &T::rails, count, "NICs of a server, each at a switch of its own, with rail.");
    rows.key("servers", &T::servers, count, "Servers of a pod, with rail.");
    rows.key("switches", &T::switches, count, "Switches of a ring.");
    rows.key(
        "planes", &T::planes, integer<unsigned>(1, 16),
        "Whole networks side by side, with leaf-spine, rail and three-tier: a NIC has a port in each, so "
        "host h1 is p1h1 and p2h1, and traffic stays in its plane.");
    rows.key("links", &T::links, integer<unsigned>(1, 64), "Parallel cables between two switches.");
    rows.key("host_speed", &T::host_speed, schema::port_speed(), "Speed of hosts' links.");
    rows.key("speed", &T::speed, schema::optional_or(schema::port_speed(), "auto"),
             "Speed of links between switches; \"auto\": as oversubscription says, or that of hosts.");
    rows.key("oversubscription", &T::oversubscription,
             schema::optional_or(schema::integer<unsigned>(1, 64), "none"),
             "Capacity of a leaf's hosts for one of its uplinks', where the speed of these is left to it.");
    rows.key("host_cable", &T::host_cable_m, schema::length(1, 100'000), "Length of hosts' cables.");
    rows.key("cable", &T::cable_m, schema::length(1, 100'000), "Length of cables between switches.");
    rows.key("spine_cable", &T::spine_cable_m, schema::length(1, 100'000),
             "Of those to the top tier, with three-tier.");
    return rows;
}

Rows<RoutingConfig> routing_rows() {
    using R = RoutingConfig;
    Rows<R> rows;
    rows.key("policy", &R::policy,
             schema::word<RoutingConfig::Policy>({{"auto", R::Policy::automatic},
                                                  {"shortest", R::Policy::shortest},
                                                  {"up-down", R::Policy::up_down},
                                                  {"clockwise", R::Policy::clockwise},
                                                  {"by-hand", R::Policy::by_hand}}),
             "Paths: up-down where tiers allow it (\"auto\"), shortest, round a ring one way, or only the "
             "routes that switches are given.");
    rows.key("weights", &R::weights,
             schema::word<Weights>({{"capacity", Weights::capacity}, {"equal", Weights::equal}}),
             "Weights of next hops: what each can carry onward, or all the same.");
    rows.key("detection", &R::detection, schema::time({}, max_time, "1ms"),
             "From the moment that a cable is cut, or whole again, until both ends see it.");
    rows.key("convergence", &R::convergence, schema::time({}, max_time, "10ms"),
             "From there until all routes have been computed anew.");
    rows.key(
        "remote_quality", &R::remote_quality,
        schema::optional_or(schema::time(microseconds(1), max_time, "20us"), "none"),
        "How often a switch tells its neighbors how busy the ways behind it are, which load balancing beyond "
        "the hash then adds to its own links; \"none\": never.");
    rows.key("circles", &R::circles_allowed, schema::word<bool>({{"refuse", false}, {"allow", true}}),
             "Whether a fabric may run whose pauses can wait for each other in a circle.");
    return rows;
}

Rows<ResultsConfig> results_rows() {
    Rows<ResultsConfig> rows;
    rows.key("messages", &ResultsConfig::messages, schema::word<bool>({{"off", false}, {"csv", true}}),
             "With --out: messages.csv, a row for each message that has ended.");
    rows.key(
        "depths", &ResultsConfig::depths, schema::boolean(),
        "The report and its phases have depth_bytes: of each queue that held packets the mean, p50, p99 and "
        "most over time.");
    rows.key("alone", &ResultsConfig::alone, schema::boolean(),
             "Each [[job]] runs once more by itself, and the report says what others cost it, and where.");
    return rows;
}

Rows<NodeConfig> node_rows() {
    using N = NodeConfig;
    Rows<N> rows;
    rows.required("name", &N::name, schema::name("a node's name"), "Its name.");
    rows.key("kind", &N::is_host, schema::word<bool>({{"switch", false}, {"host", true}}), "What it is.");
    rows.key("tier", &N::tier, schema::optional_or(schema::integer<unsigned>(1, 16), "auto"),
             "Of a switch: spines are above leaves; \"auto\": by its distance from hosts.");
    return rows;
}

Rows<LinkConfig> link_rows() {
    using L = LinkConfig;
    Rows<L> rows;
    rows.required("ends", &L::ends, schema::list_of(schema::name("a node's name"), 2), "Two nodes.");
    rows.key("speed", &L::speed, schema::port_speed(), "Its speed.");
    rows.key("cable", &L::cable_m, schema::length(1, 100'000), "Length of its cable.");
    return rows;
}

}  // namespace sluice::fabric

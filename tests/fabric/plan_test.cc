// Topologies, addresses, routes of a file, and the errors of one.
#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

#include "control/config/compile/qos.hh"
#include "control/config/schema/values.hh"
#include "control/fabric/plan/fabric_lint.hh"
#include "control/fabric/plan/fabric_plan.hh"
#include "lib/values/rng.hh"
#include "tests/fabric/plans.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::plan_test {

using namespace sluice::fabric;

namespace {

const std::string leaf_spine = "[topology]\nkind = \"leaf-spine\"\nleaves = 3\nspines = 2\nhosts = 2\n";

using Tables = std::vector<std::vector<RouteConfig>>;  // by switch

// The links of the switch's next hops to the leaf.
std::vector<LinkId> hops_of(const FabricPlan& plan, const Tables& routes, NodeId node,
                            const AddressPlan::Leaf& leaf) {
    std::vector<LinkId> hops;
    for (const RouteConfig& route : routes[plan.switch_of[node]])
        for (const NextHopConfig& hop : route.via)
            for (const LinkId id : plan.topology.nodes[node].links)
                if (const unsigned far = 1 - plan.topology.links[id].end_at(node);
                    route.prefix == leaf.prefix && plan.addresses.address(id, far) == hop.address)
                    hops.push_back(id);
    return hops;
}

// Follows every next hop from `node` to the leaf; the longest way, or 1000 when it goes round in a circle.
unsigned longest_way(const FabricPlan& plan, const Tables& routes, NodeId node, const AddressPlan::Leaf& leaf,
                     unsigned hops = 0) {
    if (node == leaf.node) return hops;
    if (hops > plan.topology.nodes.size()) return 1000;
    unsigned most = 0;
    for (const LinkId hop : hops_of(plan, routes, node, leaf))
        most = std::max(
            most, longest_way(plan, routes, plan.topology.links[hop].beyond(node).node, leaf, hops + 1));
    return most;
}

// A way never goes up again once it has gone down, and never stays within a tier.
bool has_valley(const FabricPlan& plan, const Tables& routes, NodeId node, const AddressPlan::Leaf& leaf,
                bool down = false) {
    if (node == leaf.node) return false;
    for (const LinkId hop : hops_of(plan, routes, node, leaf)) {
        const NodeId next = plan.topology.links[hop].beyond(node).node;
        const unsigned here = plan.topology.nodes[node].tier, there = plan.topology.nodes[next].tier;
        const bool goes_down = there < here;
        if ((down && !goes_down) || there == here) return true;
        if (has_valley(plan, routes, next, leaf, goes_down)) return true;
    }
    return false;
}

// By search: the shortest way down, or else the nearest way up. `none`: there is no such way.
class UpDownSearch {
  public:
    static constexpr unsigned none = 1000;
    UpDownSearch(const Topology& topology, const std::vector<bool>& down, NodeId leaf)
        : topology_(topology), down_(down), leaf_(leaf) {}

    unsigned below(NodeId node) const {
        return node == leaf_ ? 0 : nearest(node, false, [&](NodeId next) { return below(next); });
    }
    unsigned distance(NodeId node) const {
        const unsigned ways_down = below(node);
        return ways_down != none ? ways_down
                                 : nearest(node, true, [&](NodeId next) { return distance(next); });
    }

  private:
    template <class Rest>
    unsigned nearest(NodeId node, bool up, Rest rest) const {
        unsigned best = none;
        for (const LinkId id : topology_.nodes[node].links) {
            const auto& ends = topology_.links[id].ends;
            const NodeId next = ends[ends[0].node == node ? 1 : 0].node;
            const unsigned here = topology_.nodes[node].tier, there = topology_.nodes[next].tier;
            if (down_[id] || topology_.nodes[next].is_host || (up ? there <= here : there >= here)) continue;
            if (const unsigned way = rest(next); way != none) best = std::min(best, way + 1);
        }
        return best;
    }

    const Topology& topology_;
    const std::vector<bool>& down_;
    NodeId leaf_;
};

}  // namespace

TEST_GROUP(FabricPlan){};

TEST(FabricPlan, WhatIsWrongIsNamedWithItsPlaceAndTheRemedy) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {"", "f.toml: topology: there is none; do: write [topology] with a kind, or [[node]] and [[link]]"},
        {"[topology]\nkind = \"torus\"\n", "f.toml:2:8: topology.kind: \"torus\" is not a known word"},
        {"[topology]\nkind = \"star\"\nhosts = 0\n", "f.toml:3:9: topology.hosts: 0 is too small"},
        {"[topology]\nkind = \"star\"\nhosts = 300\n", "sw1 has 300 ports, a switch has 256 at most"},
        {"[topology]\nkind = \"three-tier\"\ncores = 3\n", "topology.cores: 3 are not a multiple of the 2"},
        {"[topology]\nkind = \"ring\"\nplanes = 2\n", "topology.planes: only Clos networks have planes"},
        {"[topology]\nkind = \"leaf-spine\"\nplanes = 16\nleaves = 64\n",
         "topology: 1040 switches are too many"},
        {"[topology]\nkind = \"three-tier\"\npods = 16384\nracks = 16384\nhosts = 16384\n",
         "topology: 4398046511104 hosts are too many, at most 16384; do: make it smaller"},
        {"[topology]\nkind = \"ring\"\nswitches = 2000\n",
         "topology: 2000 switches are too many, at most 1024"},
        {"[topology]\nkind = \"leaf-spine\"\nleaves = 10\nhosts = 240\n[[flow]]\nfrom = \"all\"\nto = "
         "\"all\"\n",
         "flow[0]: flows have more than 1000000 queue pairs in all"},
        {leaf_spine + "[switch.leaf9]\nworkers = 1\n",
         "f.toml:7:11: switch.leaf9: there is no switch \"leaf9\"; do: write leaf1"},
        {leaf_spine + "[switch.leaf1.port.h9]\nmtu = 1500\n",
         "switch.leaf1.port.h9: the switch has no such port; do: write one of h1, h2, spine1, spine2"},
        {leaf_spine + "[switch.leaf1.port.h1]\nspeed = \"10G\"\n",
         "switch.leaf1.port.h1.speed: the topology decides it"},
        {leaf_spine + "[switch.leaf1.port.h1]\nmtu = 7\n",
         "f.toml:7:7: switch.leaf1.port.h1.mtu: 7 is too small"},
        {leaf_spine + "[switch.leaf1]\nclock = \"real\"\n",
         "switch.leaf1.clock: a fabric has the virtual clock"},
        {leaf_spine + "[[switch.leaf1.flow]]\nfrom = \"h1\"\nto = \"h2\"\n",
         "switch.leaf1.flow: flows are the fabric's"},
        {leaf_spine + "[switch.default.mirror.m]\non = [\"drop\"]\nfile = \"x.pcapng\"\n",
         "switch.default.mirror: switches of a fabric have no mirrors"},
        {leaf_spine + "[host.h9]\ncc = \"none\"\n", "host.h9: there is no host \"h9\"; do: write h1"},
        {leaf_spine + "[[flow]]\nfrom = \"h1\"\nto = \"h7..h2\"\n", "flow[0].to: there is no host \"h7\""},
        {leaf_spine + "[[flow]]\nfrom = \"h1\"\nto = \"h6..h2\"\n",
         "flow[0].to: \"h6..h2\" ends before it begins"},
        {leaf_spine + "[[node]]\nname = \"x\"\n", "topology: the file has nodes or links of its own, too"},
        {leaf_spine + "speed = \"1000G\"\n", "f.toml:6:9: topology.speed: "},
        {"[[node]]\nname = \"a\"\n[[link]]\nends = [\"a\", \"b\"]\n", "link a-b: there is no node b"},
        {"[[node]]\nname = \"a\"\n[[link]]\nends = [\"a\"]\n", "a link has two ends"},
        {"[[node]]\nname = \"a\"\n[[node]]\nname = \"a\"\n", "node a: another has the same name"},
        {"[[node]]\nname = \"a\"\n[[node]]\nname = \"h\"\nkind = \"host\"\n",
         "node h: a host has one link, this one has 0"},
        {"[[node]]\nname = \"a\"\n[[node]]\nname = \"b\"\n[[node]]\nname = \"h\"\nkind = "
         "\"host\"\n[[link]]\nends = [\"a\", \"h\"]\n",
         "node b: no host can reach it"},
    };
    std::string wrong;
    for (const auto& [text, expected] : cases)
        if (const std::string error = error_of(text); error.find(expected) == std::string::npos)
            wrong += text + "gave: " + error + "\nnot: " + expected + "\n\n";
    CHECK_TEXT(wrong.empty(), wrong.c_str());
}

TEST(FabricPlan, SetsOfTheCommandLineAreReadAsTheFile) {
    const auto set = [&](const std::string& what) { return parse_fabric(leaf_spine, "f.toml", {what}); };
    LONGS_EQUAL(7, set("topology.hosts=7")->topology->hosts.value());
    LONGS_EQUAL(4'000'000, set("switch.leaf2.buffer.size=4MB")->switches.at("leaf2").buffer_size_bytes);
    CHECK_FALSE(set("topology.hosts").has_value());
    CHECK_FALSE(set("topology.hosts=many").has_value());
    CHECK_FALSE(set("topology.kind.x=1").has_value());
    CHECK_FALSE(set("=1").has_value());
    CHECK_FALSE(parse_fabric(leaf_spine + "[[flow]]\nfrom = \"h1\"\nto = \"h2\"\n", "f", {"flow.1.qps=2"})
                    .has_value());
    LONGS_EQUAL(2, parse_fabric(leaf_spine + "[[flow]]\nfrom = \"h1\"\nto = \"h2\"\n", "f", {"flow.0.qps=2"})
                       ->flows[0]
                       .qps);
}

// Two networks side by side: each as one alone is, and no way between them.
TEST(FabricPlan, PlanesAreWholeNetworksApart) {
    const FabricPlan one = plan_of(leaf_spine);
    FabricPlan two = plan_of(leaf_spine + "planes = 2\n[[flow]]\nfrom = \"p1h1\"\nto = \"p1h6\"\n");
    LONGS_EQUAL(2 * one.switches.size(), two.switches.size());
    LONGS_EQUAL(2 * one.topology.links.size(), two.topology.links.size());
    for (std::size_t n = 0; n < one.switches.size(); ++n) {
        STRCMP_EQUAL(("p1" + one.switches[n].name).c_str(), two.switches[n].name.c_str());
        STRCMP_EQUAL(("p2" + one.switches[n].name).c_str(),
                     two.switches[n + one.switches.size()].name.c_str());
        LONGS_EQUAL(one.switches[n].config.routes->size(), two.switches[n].config.routes->size());
    }
    const auto errors_of = [](FabricPlan& plan) {
        std::string text;
        for (const FabricFinding& each : judge_plan(plan, false))
            if (each.finding.severity == Severity::error)
                text += each.finding.id + " " + each.finding.message;
        return text;
    };
    STRCMP_EQUAL("", errors_of(two).c_str());
    FabricPlan apart = plan_of(leaf_spine + "planes = 2\n[[flow]]\nfrom = \"p1h1\"\nto = \"p2h1\"\n");
    STRCMP_EQUAL("flow-planes p1h1 and p2h1 are in different planes", errors_of(apart).c_str());
}

TEST(FabricPlan, ALeafSpineHasItsNamesAddressesAndRoutes) {
    const FabricPlan plan = plan_of(leaf_spine);
    LONGS_EQUAL(5, plan.switches.size());
    LONGS_EQUAL(6 + 6, plan.topology.links.size());
    const Config& leaf = plan.switches[1].config;
    STRCMP_EQUAL("leaf2", plan.switches[1].name.c_str());
    STRCMP_EQUAL("10.0.2.0/31", print_prefix(leaf.ports.at("h3").address[0]).c_str());
    STRCMP_EQUAL("10.0.2.1", print_address(leaf.hosts.at("h3").address).c_str());
    LONGS_EQUAL(2, leaf.routes->size());
    LONGS_EQUAL(2, leaf.routes->begin()->via.size());
    CHECK_TRUE(leaf.hash_seed != plan.switches[0].config.hash_seed);
    LONGS_EQUAL(4, leaf.neighbors->size());
    const Config& spine = plan.switches[3].config;
    LONGS_EQUAL(3, spine.routes->size());
    LONGS_EQUAL(1, spine.routes->begin()->via.size());
}

TEST(FabricPlan, NoTwoPortsOfAFabricShareAnAddressOrAMac) {
    for (const std::string kind : {"star", "dumbbell", "leaf-spine", "rail", "three-tier", "ring"}) {
        const FabricPlan plan = plan_of(fmt::format("[topology]\nkind = \"{}\"\nhosts = 5\n", kind));
        std::set<IpAddress> addresses;
        std::set<std::array<std::uint8_t, 6>> macs;
        for (LinkId id = 0; id < plan.topology.links.size(); ++id)
            for (const unsigned end : {0U, 1U}) {
                CHECK_TRUE(addresses.insert(plan.addresses.address(id, end)).second);
                CHECK_TRUE(macs.insert(plan.addresses.mac(id, end).bytes).second);
            }
        std::set<std::string> names;
        for (const Link& link : plan.topology.links) CHECK_TRUE(names.insert(link.name).second);
    }
}

TEST(FabricPlan, WeightsFollowWhatANextHopCanCarryOnward) {
    // sw1 reaches sw4 by sw2 at 100G, and by sw3, from which it is 25G.
    const std::string nodes = R"(
[[node]]
name = "h1"
kind = "host"
[[node]]
name = "h2"
kind = "host"
[[node]]
name = "sw1"
[[node]]
name = "sw2"
[[node]]
name = "sw3"
[[node]]
name = "sw4"
[[link]]
ends = ["h1", "sw1"]
[[link]]
ends = ["h2", "sw4"]
[[link]]
ends = ["sw1", "sw2"]
[[link]]
ends = ["sw1", "sw3"]
[[link]]
ends = ["sw2", "sw4"]
[[link]]
ends = ["sw3", "sw4"]
speed = "25G"
)";
    const auto weights = [&](const std::string& more) {
        const FabricPlan plan = plan_of(nodes + more);
        std::vector<std::uint32_t> found;
        for (const NextHopConfig& hop : plan.switches[0].config.routes->begin()->via)
            found.push_back(hop.weight);
        return found;
    };
    CHECK_TRUE((weights("") == std::vector<std::uint32_t>{4, 1}));
    CHECK_TRUE((weights("[routing]\nweights = \"equal\"\n") == std::vector<std::uint32_t>{1, 1}));
}

TEST(FabricPlan, RoutesByHandStand) {
    const FabricPlan plan =
        plan_of(leaf_spine +
                "[[switch.leaf1.route]]\nprefix = \"10.0.3.0/24\"\nvia = [\"172.16.0.1\"]\n"
                "[routing]\npolicy = \"auto\"\n");
    LONGS_EQUAL(2, plan.switches[0].config.routes->size());
    LONGS_EQUAL(1, plan.switches[0].config.routes->find(*parse_prefix("10.0.3.0/24"))->via.size());
    LONGS_EQUAL(2, plan.switches[0].config.routes->find(*parse_prefix("10.0.2.0/24"))->via.size());
    LONGS_EQUAL(0,
                plan_of(leaf_spine + "[routing]\npolicy = \"by-hand\"\n").switches[0].config.routes->size());
}

TEST(FabricPlan, EveryPairIsReachedWithoutACircleAndWithoutAValleyWhateverIsDown) {
    for (const std::string kind : {"dumbbell", "leaf-spine", "rail", "three-tier", "ring"})
        for (std::uint64_t seed = 1; seed <= 12; ++seed) {
            std::uint64_t n = seed * 1000;
            const auto draw = [&](unsigned below) { return static_cast<unsigned>(scramble(++n) % below); };
            FabricPlan plan = plan_of(fmt::format(
                "[topology]\nkind = \"{}\"\nhosts = 2\nleaves = {}\nspines = {}\npods = {}\nracks = 2\n"
                "aggs = 2\nswitches = {}\nlinks = {}\n",
                kind, 2 + draw(4), 1 + draw(4), 1 + draw(3), 3 + draw(5), 1 + draw(2)));
            std::vector<bool> down(plan.topology.links.size());
            for (unsigned failures = 0; failures < 4; ++failures) {
                const Tables routes = routes_without(plan, down);
                for (const auto& leaf : plan.addresses.leaves())
                    for (const auto& other : plan.addresses.leaves()) {
                        const unsigned way = longest_way(plan, routes, other.node, leaf);
                        CHECK_TRUE(way <= plan.topology.nodes.size());
                        CHECK_TRUE(failures != 0 || way != 0 || leaf.node == other.node);
                        CHECK_TRUE(!is_up_down(plan) || !has_valley(plan, routes, other.node, leaf));
                        for (const LinkId hop : hops_of(plan, routes, other.node, leaf))
                            CHECK_FALSE(down[hop]);
                    }
                for (const auto& of_switch : routes)
                    for (const RouteConfig& route : of_switch)
                        for (const NextHopConfig& hop : route.via)
                            CHECK_TRUE(hop.weight >= 1 && hop.weight <= 256);
                if (kind == "ring") {
                    plan.file.routing.policy = RoutingConfig::Policy::clockwise;
                    const Tables round = routes_without(plan, down);
                    plan.file.routing.policy = RoutingConfig::Policy::automatic;
                    for (const auto& leaf : plan.addresses.leaves())
                        for (const SwitchPlan& each : plan.switches)
                            for (const LinkId hop : hops_of(plan, round, each.node, leaf))
                                CHECK_FALSE(down[hop]);
                }
                down[draw(static_cast<unsigned>(down.size()))] = true;
            }
        }
}

// Four tiers of two switches, joined by chance: also within a tier, and past one.
TEST(FabricPlan, WaysUpAndDownAreTheNearestThatTheLinksAllow) {
    unsigned found = 0, missing = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        std::uint64_t n = seed * 1000;
        const auto draw = [&](std::uint64_t below) { return scramble(++n) % below; };
        std::string text;
        for (unsigned at = 1; at <= 8; ++at) {
            text += fmt::format("[[node]]\nname = \"s{}\"\ntier = {}\n", at, (at + 1) / 2);
            text += fmt::format(
                "[[node]]\nname = \"h{0}\"\nkind = \"host\"\n[[link]]\nends = [\"h{0}\", \"s{0}\"]\n", at);
            for (unsigned other = 1; other < at; ++other)
                if (other == at - 1 || draw(2) == 0)
                    text += fmt::format("[[link]]\nends = [\"s{}\", \"s{}\"]\n", other, at);
        }
        FabricPlan plan = plan_of(text);
        plan.file.routing.policy = RoutingConfig::Policy::up_down;
        std::vector<bool> down(plan.topology.links.size());
        for (unsigned failures = draw(6); failures != 0; --failures) down[draw(down.size())] = true;
        const Tables routes = routes_without(plan, down);
        for (const auto& leaf : plan.addresses.leaves()) {
            const UpDownSearch search(plan.topology, down, leaf.node);
            for (const auto& other : plan.addresses.leaves()) {
                const unsigned way = search.distance(other.node);
                LONGS_EQUAL_TEXT(way == UpDownSearch::none ? 0 : way,
                                 longest_way(plan, routes, other.node, leaf), text.c_str());
                CHECK_FALSE(has_valley(plan, routes, other.node, leaf));
                ++(way == UpDownSearch::none ? missing : found);
            }
        }
    }
    CHECK_TRUE(found > 1000 && missing > 100);
}

TEST(FabricPlan, AHostOfAllToAllSendsToAllOthersAndSharesItsLoadAmongThem) {
    const std::string load = "message = \"10KB\"\nload = 50\nmessages = 1\n";
    const auto hosts = plan_of(leaf_spine + "[[flow]]\nfrom = \"all\"\nto = \"all\"\n" + load).host_specs();
    LONGS_EQUAL(6, hosts.size());
    std::optional<Duration> gap;
    for (const auto& [name, host] : hosts) {
        LONGS_EQUAL(10, host.queue_pairs.size());
        for (const roce::QpSettings& qp : host.queue_pairs) CHECK_FALSE(qp.peer == host.nic.address);
        for (const roce::FlowSettings& flow : host.flows) {
            if (!gap) gap = flow.arrivals.mean_gap;
            CHECK_TRUE(flow.arrivals.mean_gap == *gap);
        }
    }
    const auto pair = plan_of(leaf_spine + "[[flow]]\nfrom = \"h1\"\nto = \"h2\"\n" + load).host_specs();
    CHECK_TRUE(pair.at("h1").flows[0].arrivals.mean_gap * 5 == *gap);
}

TEST(FabricPlan, likeSetsDefaultsThatTheFileMayChange) {
    const std::string ns3 = "like = \"ns3\"\n" + leaf_spine;
    const FabricPlan plan = plan_of(ns3);
    const FabricPlan other = plan_of(ns3 +
                                     "[switch.default]\nbuffer.cell = \"128B\"\n"
                                     "[switch.leaf1.default.queue.3]\nsize = \"4KB\"\n"
                                     "[host.default]\ncnp_interval = \"4us\"\n");
    const SwitchPlan& leaf = plan.switches.front();
    LONGS_EQUAL(64, leaf.config.cell_bytes);
    LONGS_EQUAL(128, other.switches.front().config.cell_bytes);
    for (const EffectivePool& pool : effective_qos(leaf.config).pools) LONGS_EQUAL(0, pool.reserved_cells);
    LONGS_EQUAL(0, leaf.config.ports.at("h1").reaction->ps);
    const HostConfig& host = leaf.config.hosts.at("h1");
    CHECK_TRUE(host.cc == roce::CongestionControl::dcqcn_timer);
    LONGS_EQUAL(1, host.ring_frames);
    LONGS_EQUAL(0, host.cnp_interval.ps);
    LONGS_EQUAL(4, other.switches.front().config.hosts.at("h1").cnp_interval.ps / 1'000'000);
    // What holds is told, and what the file changed is not among it.
    const auto line_of = [](const FabricPlan& of) {
        const std::string text = plan_text(of);
        const std::size_t begin = text.find("like ns3: ");
        return begin == text.npos ? std::string() : text.substr(begin, text.find('\n', begin) - begin);
    };
    for (const char* key : {"switch.default.buffer.cell = \"64B\"", "host.default.cnp_interval = \"0ns\"",
                            "host.default.ring = 1", "queue.*.size = \"0B\""})
        CHECK_TEXT(line_of(plan).find(key) != std::string::npos, line_of(plan).c_str());
    CHECK_TRUE(line_of(other).find("buffer.cell") == std::string::npos);
    CHECK_TRUE(line_of(other).find("cnp_interval") == std::string::npos);
    CHECK_TRUE(line_of(other).find("host.default.ring = 1") != std::string::npos);
    CHECK_TRUE(line_of(plan_of(leaf_spine)).empty());
    CHECK_TRUE(plan_text(plan).find("pools of") != std::string::npos);
    STRCMP_CONTAINS("is not a known word", error_of("like = \"ns4\"\n" + leaf_spine).c_str());
}

}  // namespace sluice::plan_test

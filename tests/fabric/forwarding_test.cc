// Routes as sets of destinations: circles of pauses and ways of flows, against a slow search by destination
// and against what the run does. SLUICE_LONG=1 takes more seeds, SLUICE_SEED=N that one.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "control/config/compile/qos.hh"
#include "control/config/schema/values.hh"
#include "control/fabric/plan/deadlock.hh"
#include "control/fabric/plan/fabric_lint.hh"
#include "control/fabric/plan/forwarding.hh"
#include "lib/values/rng.hh"
#include "tests/fabric/checked_fabric.hh"
#include "tests/fabric/plans.hh"
#include "tests/fabric/slow_search.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::forwarding_test {

using namespace sluice::fabric;

namespace {

std::string route(const std::string& at, const std::string& prefix, const std::string& via) {
    return fmt::format("[[switch.{}.route]]\nprefix = \"{}\"\nvia = [\"{}\"]\n", at, prefix, via);
}

// sw1 to sw2 is 172.16.0.0 to .1, sw2 to sw3 .2 to .3, sw3 to sw1 .4 to .5.
const std::string by_hand = R"(
[topology]
kind = "ring"
switches = 3
hosts = 2
[routing]
policy = "by-hand"
)";
std::string clockwise(const std::string& prefix) {
    return route("sw1", prefix, "172.16.0.1") + route("sw2", prefix, "172.16.0.3") +
           route("sw3", prefix, "172.16.0.5");
}
// Each to the other two by the cable between them.
const std::string direct =
    route("sw1", "10.0.2.0/24", "172.16.0.1") + route("sw1", "10.0.3.0/24", "172.16.0.4") +
    route("sw2", "10.0.3.0/24", "172.16.0.3") + route("sw2", "10.0.1.0/24", "172.16.0.0") +
    route("sw3", "10.0.1.0/24", "172.16.0.5") + route("sw3", "10.0.2.0/24", "172.16.0.2");

std::string circles_of(const std::string& text) {
    const FabricPlan plan = plan_of(text);
    std::string all;
    for (const DependencyCycle& cycle : dependency_cycles(plan)) all += cycle_text(plan, cycle) + "\n";
    return all;
}
std::string circle_by(const std::string& prefixes) {
    return "pauses of class 3 can wait for each other in a circle: sw1 > sw2 > sw3 > sw1; closed by routes "
           "to " +
           prefixes + "\n";
}

// Errors and warnings about flows.
std::string flows_of(const std::string& text, bool force = false) {
    FabricPlan plan = plan_of(text);
    std::string all;
    for (const FabricFinding& each : judge_plan(plan, force))
        if (each.finding.id == "flow-route")
            all += fmt::format("{} {}: {}\n", each.finding.severity == Severity::error ? "error" : "warning",
                               each.finding.path, each.finding.message);
    return all;
}
std::string flow(const std::string& from, const std::string& to) {
    return fmt::format("[[flow]]\nfrom = [\"{}\"]\nto = [\"{}\"]\nmessages = 1\n", from, to);
}

// ---- Fabrics of a seed: a ring with chords; routes to all, to several leaves, to one, to a host, or none.

class Maker {
  public:
    explicit Maker(std::uint64_t seed) : seed_(scramble(seed)) {}

    // `locks`: small buffers, and every host sends to every other.
    std::string make(bool locks) {
        switches_ = 3 + below(3);
        std::string text = fmt::format("seed = {}\n", below(1000));
        for (std::uint64_t n = 1; n <= switches_; ++n) {
            text += fmt::format("[[node]]\nname = \"s{}\"\n", n);
            for (std::uint64_t host = 1 + below(2); host != 0; --host) {
                text += fmt::format(
                    "[[node]]\nname = \"h{}-{}\"\nkind = \"host\"\n[[link]]\nends = [\"h{}-{}\", "
                    "\"s{}\"]\n",
                    n, host, n, host, n);
            }
        }
        for (std::uint64_t n = 1; n <= switches_; ++n) join(text, n, n % switches_ + 1);
        for (std::uint64_t more = below(3); more != 0; --more) {
            const std::uint64_t one = 1 + below(switches_), other = 1 + below(switches_);
            if (one != other) join(text, one, other);
        }
        text += fmt::format("[routing]\npolicy = \"{}\"\ncircles = \"allow\"\n",
                            below(3) == 0 ? "shortest" : "by-hand");
        text += "[switch.default]\nbuffer.size = \"" + std::string(locks ? "2MB" : "12MB") + "\"\n";
        const FabricPlan plan = plan_of(text);
        if (locks) flows(text, plan);
        for (std::uint64_t n = 1; n <= switches_; ++n) routes(text, plan, n);
        if (!locks) classes(text, plan);
        return text;
    }

  private:
    std::uint64_t below(std::uint64_t end) { return (seed_ = scramble(seed_)) % end; }
    bool odds(unsigned per_cent) { return below(100) < per_cent; }
    static void join(std::string& text, std::uint64_t one, std::uint64_t other) {
        text += fmt::format("[[link]]\nends = [\"s{}\", \"s{}\"]\n", one, other);
    }

    static void flows(std::string& text, const FabricPlan& plan) {
        text +=
            "[host.default]\ncc = \"none\"\nretry_count = \"unlimited\"\ntimeout = \"20ms\"\n"
            "[switch.default.watchdog]\naction = \"alert\"\n";
        for (const Node& from : plan.topology.nodes)
            for (const Node& to : plan.topology.nodes)
                if (from.is_host && to.is_host && from.name != to.name)
                    text += fmt::format(
                        "[[flow]]\nname = \"{0} {1}\"\nfrom = \"{0}\"\nto = \"{1}\"\nmessage = "
                        "\"100KB\"\nmessages = 6\ndepth = 3\n",
                        from.name, to.name);
    }
    void routes(std::string& text, const FabricPlan& plan, std::uint64_t n) {
        const NodeId self = plan.nodes.at(fmt::format("s{}", n));
        std::set<std::string> prefixes;
        if (odds(50)) prefixes.insert(odds(50) ? "0.0.0.0/0" : "10.0.0.0/16");
        if (odds(30)) prefixes.insert(odds(50) ? "10.0.0.0/22" : "10.0.4.0/22");
        for (const auto& leaf : plan.addresses.leaves())
            if (leaf.node != self && odds(30)) prefixes.insert(print_prefix(leaf.prefix));
        for (const SwitchPlan& each : plan.switches)
            for (const auto& [name, host] : each.config.hosts)
                if (odds(10)) prefixes.insert(print_address(host.address) + "/32");
        for (const std::string& prefix : prefixes) {
            std::string via;
            if (!odds(4)) {
                append_item(via, ", ", in_quotes(neighbor(plan, self)));
                if (odds(25))
                    if (const std::string more = in_quotes(neighbor(plan, self)); more != via)
                        append_item(via, ", ", more);
            }
            text += fmt::format("[[switch.s{}.route]]\nprefix = \"{}\"\nvia = {}\n", n, prefix,
                                via.empty() ? "\"blackhole\"" : '[' + via + ']');
        }
    }
    // Mostly the next one round the ring: its cable is the node's second between switches, s1's first.
    std::string neighbor(const FabricPlan& plan, NodeId self) {
        std::vector<std::string> all;
        for (const LinkId id : plan.topology.nodes[self].links) {
            const auto& ends = plan.topology.links[id].ends;
            const unsigned far = ends[0].node == self ? 1 : 0;
            if (plan.topology.nodes[ends[far].node].is_host) continue;
            all.push_back(print_address(plan.addresses.address(id, far)));
            if (far == 1 && odds(60)) return all.back();
        }
        return all[below(all.size())];
    }
    void classes(std::string& text, const FabricPlan& plan) {
        for (const SwitchPlan& each : plan.switches) {
            if (odds(60)) continue;
            for (const auto& [name, port] : each.config.ports)
                if (odds(40))
                    text += fmt::format("[switch.{}.port.{}]\n{}\n", each.name, config_key(name),
                                        odds(40)   ? "pfc = [3, 4]"
                                        : odds(30) ? "qos = \"lossy\""
                                        : odds(50) ? "pfc_mode = \"asymmetric\""
                                                   : "pfc_mode = \"semi-lossless\"");
        }
    }

    std::uint64_t seed_;
    std::uint64_t switches_ = 0;
};

template <class Try>
void for_each_seed(const Tries& number, Try once) {
    if (const char* one = std::getenv("SLUICE_SEED")) return once(std::strtoull(one, nullptr, 10));
    for (std::uint64_t seed = 1; seed <= tries(number); ++seed) once(seed);
}

std::string label_of(std::uint64_t seed) { return fmt::format("SLUICE_SEED={}", seed); }

}  // namespace

TEST_GROUP(Forwarding){};

TEST(Forwarding, aRouteThatIsWiderThanALeafClosesACircleAsOneToTheLeafDoes) {
    STRCMP_EQUAL(
        circle_by("10.0.1.0/24, 10.0.2.0/24, 10.0.3.0/24").c_str(),
        circles_of(by_hand + clockwise("10.0.1.0/24") + clockwise("10.0.2.0/24") + clockwise("10.0.3.0/24"))
            .c_str());
    for (const std::string prefix : {"10.0.0.0/16", "10.0.0.0/22", "8.0.0.0/5", "0.0.0.0/0"})
        STRCMP_EQUAL(circle_by(prefix).c_str(), circles_of(by_hand + clockwise(prefix)).c_str());
    // Half of a circle of each.
    STRCMP_EQUAL(
        circle_by("0.0.0.0/0, 10.0.0.0/16, 10.0.0.0/22").c_str(),
        circles_of(by_hand + route("sw1", "0.0.0.0/0", "172.16.0.1") +
                   route("sw2", "10.0.0.0/22", "172.16.0.3") + route("sw3", "10.0.0.0/16", "172.16.0.5"))
            .c_str());
    // sw2 has no way on to sw3's hosts.
    STRCMP_EQUAL(
        "", circles_of(by_hand + route("sw1", "0.0.0.0/0", "172.16.0.1") +
                       route("sw2", "10.0.0.0/23", "172.16.0.3") + route("sw3", "10.0.0.0/16", "172.16.0.5"))
                .c_str());
}

TEST(Forwarding, theLongestPrefixCountsAndNoOther) {
    STRCMP_EQUAL("", circles_of(by_hand + clockwise("0.0.0.0/0") + direct).c_str());
    STRCMP_EQUAL("", circles_of(by_hand + direct).c_str());
    // Single hosts, beside routes to their leaves.
    STRCMP_EQUAL(circle_by("10.0.1.1/32, 10.0.2.1/32, 10.0.3.1/32").c_str(),
                 circles_of(by_hand + direct + clockwise("10.0.1.1/32") + clockwise("10.0.2.1/32") +
                            clockwise("10.0.3.1/32"))
                     .c_str());
    STRCMP_EQUAL("", circles_of(by_hand + direct + clockwise("10.0.1.1/32")).c_str());
    // No host is there.
    STRCMP_EQUAL("", circles_of(by_hand + direct + clockwise("10.0.9.0/24")).c_str());
    // A route that drops stands before a shorter one.
    STRCMP_EQUAL("", circles_of(by_hand + clockwise("0.0.0.0/0") +
                                "[[switch.sw1.route]]\nprefix = \"10.0.0.0/16\"\nvia = \"blackhole\"\n")
                         .c_str());
}

TEST(Forwarding, aClassIsPausedWhereOneEndSendsPausesAndTheOtherObeys) {
    const std::string ring = by_hand + clockwise("0.0.0.0/0");
    for (const std::string port : {"sw1.port.sw2", "sw1.port.sw3", "sw3.port.sw1"})
        for (const char* key : {"qos = \"lossy\"", "pfc_mode = \"off\"", "pfc = [4]"})
            STRCMP_EQUAL("", circles_of(ring + "[switch." + port + "]\n" + key + "\n").c_str());
    // It sends no pauses, and nobody sends them to it; the other way it obeys them all.
    STRCMP_EQUAL("", circles_of(ring + "[switch.sw1.port.sw3]\npfc_mode = \"semi-lossless\"\n").c_str());
    STRCMP_EQUAL(circle_by("0.0.0.0/0").c_str(),
                 circles_of(ring + "[switch.sw1.port.sw2]\npfc_mode = \"semi-lossless\"\n").c_str());
    STRCMP_EQUAL(circle_by("0.0.0.0/0").c_str(),
                 circles_of(ring + "[switch.sw1.port.sw2]\npfc_mode = \"asymmetric\"\n").c_str());
}

TEST(Forwarding, agreesWithASearchByDestinationWhateverIsDown) {
    std::uint64_t circles = 0, of_failures = 0, none = 0;
    for_each_seed({.in_long = 5000, .usual = 150, .sanitized = 50}, [&](std::uint64_t seed) {
        const std::string text = Maker(seed).make(false);
        const FabricPlan plan = plan_of(text);
        const auto found = dependency_cycles(plan);
        const SlowSearch slow(plan, {});
        bool any = false;
        for (ClassId n = 0; n < classes; ++n) {
            const bool has = slow.has_circle(n);
            any |= has;
            const auto named = std::ranges::count_if(found, [&](const DependencyCycle& cycle) {
                return cycle.priority == n && cycle.failed_link.empty();
            });
            CHECK_TEXT((named != 0) == has, label_of(seed).c_str());
        }
        std::set<std::pair<ClassId, std::vector<NodeId>>> known;
        for (const DependencyCycle& cycle : found) {
            std::optional<LinkId> down;
            for (LinkId id = 0; id < plan.topology.links.size(); ++id)
                if (plan.topology.links[id].name == cycle.failed_link) down = id;
            const SlowSearch then(plan, down);
            const auto& way = cycle.switches;
            for (std::size_t n = 0; n < way.size(); ++n)
                CHECK_TEXT(then.goes_on(way[n], way[(n + 1) % way.size()], way[(n + 2) % way.size()]),
                           label_of(seed).c_str());
            if (down) CHECK_TEXT(known.emplace(cycle.priority, way).second, label_of(seed).c_str());
        }
        // Flows between the first host and the others.
        std::string first_host;
        for (const Node& node : plan.topology.nodes) {
            if (!node.is_host) continue;
            if (first_host.empty()) first_host = node.name;
            if (node.name == first_host) continue;
            const auto there = slow.comes(first_host, node.name), back = slow.comes(node.name, first_host);
            const auto& worst = there.first ? back : there;  // the first that is told
            const std::string told = flows_of(text + flow(first_host, node.name));
            STRCMP_EQUAL_TEXT(worst.first    ? ""
                              : worst.second ? "warning"
                                             : "error",
                              told.substr(0, told.find(' ')).c_str(), (label_of(seed) + told).c_str());
        }
        circles += any ? 1 : 0;
        if (any) return;
        // The first link that makes one when it is down is named first.
        std::string first;
        for (LinkId id = 0; first.empty() && id < plan.topology.links.size(); ++id) {
            const auto& ends = plan.topology.links[id].ends;
            if (plan.topology.nodes[ends[0].node].is_host || plan.topology.nodes[ends[1].node].is_host)
                continue;
            const SlowSearch then(plan, id);
            for (ClassId n = 0; n < classes; ++n)
                if (then.has_circle(n)) first = plan.topology.links[id].name;
        }
        STRCMP_EQUAL_TEXT(first.c_str(), found.empty() ? "" : found[0].failed_link.c_str(),
                          label_of(seed).c_str());
        ++(first.empty() ? none : of_failures);
    });
    // It is a test only if all of that happened.
    if (std::getenv("SLUICE_SEED") == nullptr) CHECK_TRUE(circles > 10 && of_failures > 2 && none > 10);
}

TEST(Forwarding, aFabricThatLocksUpInARunHasACircleAndOneWithoutDeliversWhatCheckSays) {
    std::uint64_t locked = 0, delivered = 0, refused = 0;
    for_each_seed({.in_long = 400, .usual = 24, .sanitized = 24}, [&](std::uint64_t seed) {
        const std::string text = Maker(seed).make(true);
        FabricPlan plan = plan_of(text);
        const bool circle = !dependency_cycles(plan).empty();
        bool ways = true;
        for (const FabricFinding& each : judge_plan(plan, false)) ways &= each.finding.id != "flow-route";
        refused += ways ? 0 : 1;
        constexpr bool unchecked = false;
        CheckedFabric run(text, label_of(seed), unchecked);
        run.run_until(Time{} + milliseconds(12));
        const bool locks = std::ranges::any_of(run.fabric().pauses().cycles(), [](const PauseCycle& cycle) {
            return !cycle.dissolved.has_value();
        });
        CHECK_TEXT(circle || !locks, label_of(seed).c_str());
        locked += locks ? 1 : 0;
        const std::uint64_t lost = run.dropped(DropReason::no_route) + run.dropped(DropReason::blackhole) +
                                   run.dropped(DropReason::ttl_expired);
        if (!locks) CHECK_TEXT(ways == (lost == 0) || (!ways && lost == 0), label_of(seed).c_str());
        if (!ways || locks) return;
        ++delivered;
        for (NodeId node = 0; node < plan.topology.nodes.size(); ++node)
            if (plan.topology.nodes[node].is_host)
                for (const roce::QueuePair& pair : run.fabric().host(node).nic().queue_pairs())
                    if (pair.requester() != nullptr)
                        LONGS_EQUAL_TEXT(pair.flow().messages, pair.statistics.completed,
                                         label_of(seed).c_str());
    });
    if (std::getenv("SLUICE_SEED") == nullptr) CHECK_TRUE(locked > 0 && delivered > 1 && refused > 1);
}

TEST(Forwarding, flowsAndTheirAnswersNeedARoute) {
    STRCMP_EQUAL(
        "",
        flows_of(by_hand + direct + flow("sw1", "sw2") + flow("sw2", "sw3") + flow("sw3", "sw1")).c_str());
    STRCMP_EQUAL("error flow[0]: no route leads from h1 to h3: sw1, which has no route to 10.0.2.1\n",
                 flows_of(by_hand + flow("h1", "h3")).c_str());
    STRCMP_EQUAL("", flows_of(by_hand + flow("h1", "h2")).c_str());
    STRCMP_EQUAL("warning flow[0]: no route leads from h1 to h3: sw1, which has no route to 10.0.2.1\n",
                 flows_of(by_hand + flow("h1", "h3"), true).c_str());
    // There, and not back.
    const std::string there = by_hand + route("sw1", "0.0.0.0/0", "172.16.0.1");
    STRCMP_EQUAL("error flow[0]: no route leads from h3 to h1: sw2, which has no route to 10.0.1.1\n",
                 flows_of(there + flow("h1", "h3")).c_str());
    STRCMP_EQUAL("error flow[0]: no route leads from h1 to h5: sw1 > sw2, which has no route to 10.0.3.1\n",
                 flows_of(there + flow("h1", "h5")).c_str());
    STRCMP_EQUAL("error flow[0]: no route leads from h1 to h5: sw1 > sw2 > sw1, round and round\n",
                 flows_of(there + route("sw2", "0.0.0.0/0", "172.16.0.0") + flow("h1", "h5")).c_str());
    STRCMP_EQUAL(
        "error flow[1]: no route leads from h2 to h5: sw1, whose route 10.0.3.0/24 leads to no switch\n",
        flows_of(by_hand + clockwise("0.0.0.0/0") +
                 "[[switch.sw1.route]]\nprefix = \"10.0.3.0/24\"\nvia = \"blackhole\"\n" + flow("h1", "h3") +
                 flow("h2", "h5"))
            .c_str());
    // A next hop of two has no way on.
    STRCMP_EQUAL(
        "warning flow[0]: not every way leads from h1 to h5: sw1 > sw2, which has no route to 10.0.3.1\n",
        flows_of(by_hand +
                 "[[switch.sw1.route]]\nprefix = \"10.0.3.0/24\"\n"
                 "via = [\"172.16.0.1\", \"172.16.0.4\"]\n" +
                 route("sw3", "10.0.0.0/8", "172.16.0.5") + flow("h1", "h5"))
            .c_str());
    STRCMP_EQUAL(
        "error collective[0]: no route leads from h1 to h3: sw1, which has no route to 10.0.2.1\n",
        flows_of(by_hand + "[[collective]]\nkind = \"ring-allreduce\"\nhosts = [\"h1\", \"h3\"]\n").c_str());
}

}  // namespace sluice::forwarding_test

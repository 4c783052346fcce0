// Collectives in fabrics: what a file may say, and on an idle star the time of a step within 2 % of its
// closed form and every byte on every way.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "control/fabric/plan/fabric_plan.hh"
#include "control/fabric/report/collective_report.hh"
#include "control/fabric/report/fabric_report.hh"
#include "tests/fabric/checked_fabric.hh"
#include "tests/fabric/plans.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::collective_fabric_test {

using namespace sluice::fabric;

namespace {

constexpr std::uint64_t frame = 4096;  // payload bytes of one

std::string star(std::uint32_t hosts, const std::string& cable = "5m") {
    return fmt::format(
        "[topology]\nkind = \"star\"\nhosts = {}\nhost_speed = \"100G\"\nhost_cable = \"{}\"\n"
        "[switch.default]\nbuffer.size = \"16MB\"\n[host.default]\ncc = \"none\"\nmtu = {}\n",
        hosts, cable, frame);
}

// With `keys` as TOML lines.
std::string job(const std::string& kind, std::uint64_t bytes, const std::string& keys = {}) {
    return fmt::format("[[collective]]\nname = \"job\"\nhosts = \"all\"\nkind = \"{}\"\nbytes = {}\n{}", kind,
                       bytes, keys);
}

// Time of so many bytes on a link of 100 Gb/s: frames with their headers (58 bytes) and gap (24), and a first
// one of each message with RETH (16); a host that receives meanwhile acknowledges every 16 of them (86
// bytes).
double wire_ns(double bytes, bool acknowledges, double messages = 1) {
    const double frames = bytes / frame;
    return (bytes + frames * (58 + 24) + messages * 16 + (acknowledges ? frames / 16 * 86 : 0)) * 8 / 100;
}
constexpr double cable_ns = 5.0 / 198e6 * 1e9;
constexpr double ack_ns = 86 * 8 / 100.0 + 2 * cable_ns;

// A step of a collective of hosts that a switch connects, which passes frames on as they begin to come.
class ClosedForm {
  public:
    ClosedForm(std::uint32_t hosts, std::uint64_t bytes)
        : hosts_(hosts), bytes_(static_cast<double>(bytes)) {}

    double of(const std::string& kind) const {
        const double part = bytes_ / hosts_;
        if (kind == "ring-allreduce") return ring(2 * (hosts_ - 1), part);
        if (kind == "all-gather" || kind == "reduce-scatter") return ring(hosts_ - 1, part);
        if (kind == "all-to-all")
            return wire_ns((hosts_ - 1) * part, true, hosts_ - 1) + 2 * cable_ns + ack_ns;
        if (kind == "tree-allreduce") return tree(bytes_);
        if (kind == "double-tree-allreduce") return tree(bytes_ / 2);
        if (kind == "pipeline")  // of 8 parts: the first passes all stages, and the others follow
            return (hosts_ - 1) * message_ns(bytes_ / 8, false) + 7 * wire_ns(bytes_ / 8, hosts_ > 2) +
                   ack_ns;
        double halving = ack_ns;
        for (std::uint32_t apart = 2; apart <= hosts_; apart *= 2)
            halving += 2 * message_ns(bytes_ / apart, true);
        return halving;
    }
    double ring(std::uint32_t messages, double part) const {
        return messages * message_ns(part, true) + ack_ns;
    }

  private:
    static double message_ns(double bytes, bool acknowledges) {
        return wire_ns(bytes, acknowledges) + 2 * cable_ns;
    }

    // In one chunk. Two children share the way to their parent, and back.
    double tree(double bytes) const { return up(0, bytes) + down(0, bytes) + ack_ns; }
    double up(std::uint32_t place, double bytes) const {
        const auto children = roce::tree_place(hosts_, place, false).children;
        if (children.empty()) return 0;
        std::vector<double> ready;
        for (const std::uint32_t child : children) ready.push_back(up(child, bytes));
        std::ranges::sort(ready);
        double done = ready[0] + wire_ns(bytes, false);
        if (ready.size() == 2) done = std::max(done, ready[1]) + wire_ns(bytes, false);
        return done + 2 * cable_ns;
    }
    double down(std::uint32_t place, double bytes) const {
        const auto children = roce::tree_place(hosts_, place, false).children;
        double longest = 0;
        for (const std::uint32_t child : children) longest = std::max(longest, down(child, bytes));
        if (children.empty()) return 0;
        return static_cast<double>(children.size()) * wire_ns(bytes, false) + 2 * cable_ns + longest;
    }

    std::uint32_t hosts_;
    double bytes_;
};

struct Outcome {
    double step_ns = 0;
    std::map<std::pair<std::string, std::string>, std::uint64_t> delivered;  // from, to
};

Outcome outcome_of(const std::string& text) {
    CheckedFabric checked(text, text, false);
    checked.drain();
    const nlohmann::ordered_json made = collectives_json(checked.fabric())[0];
    STRCMP_EQUAL_TEXT("done", made["state"].get<std::string>().c_str(), text.c_str());
    Outcome outcome;
    outcome.step_ns = made["step_ns"]["mean"].get<double>();
    const std::vector<std::string>& hosts = checked.fabric().plan().collectives[0].hosts;
    for (const std::string& from : hosts)
        for (const std::string& to : hosts)
            if (from != to) outcome.delivered[{from, to}] = checked.delivered_bytes(from, to);
    LONGS_EQUAL(0, checked.lossless_lost());
    return outcome;
}

void check_near(double expected, double found, double share, const std::string& text) {
    const std::string words = fmt::format("{}: {:.1f} ns, expected {:.1f}", text, found, expected);
    CHECK_TEXT(found > expected * (1 - share) && found < expected * (1 + share), words.c_str());
}

// What each host sends to each, by the schedule.
void check_bytes(const std::string& text, const Outcome& outcome) {
    const FabricPlan plan = plan_of(text);
    const CollectivePlan& collective = plan.collectives[0];
    std::map<std::pair<std::string, std::string>, std::uint64_t> scheduled;
    for (const auto& [ways, bytes] : outcome.delivered) scheduled[ways] = 0;
    for (std::uint32_t rank = 0; rank < collective.settings.ranks; ++rank)
        for (const roce::Strand& strand : roce::strands_of(collective.settings, rank))
            for (std::uint32_t n = 0; n < strand.sends(); ++n) {
                const auto [peer, data] = strand.send(n);
                scheduled[{collective.hosts[rank], collective.hosts[strand.targets[peer]]}] += data.bytes;
            }
    CHECK_TEXT(scheduled == outcome.delivered, text.c_str());
}

}  // namespace

TEST_GROUP(CollectiveFabric){};

TEST(CollectiveFabric, aStepTakesItsClosedForm) {
    const std::string whole = "chunk = \"1GB\"\n";
    for (const std::string kind : {"ring-allreduce", "all-gather", "reduce-scatter", "all-to-all", "pipeline",
                                   "tree-allreduce", "halving-doubling", "double-tree-allreduce"})
        for (const std::uint32_t hosts : {2U, 3U, 5U, 6U, 8U}) {
            const bool wants_power = kind == "halving-doubling" || kind == "double-tree-allreduce";
            if (wants_power && (hosts & (hosts - 1)) != 0) continue;
            const std::uint64_t bytes = hosts * 128 * frame;
            const bool is_tree = kind.find("tree") != kind.npos;
            const std::string text = star(hosts) + job(kind, bytes, is_tree ? whole : "");
            const Outcome outcome = outcome_of(text);
            check_near(ClosedForm(hosts, bytes).of(kind), outcome.step_ns, 0.02, text);
            check_bytes(text, outcome);
        }
}

TEST(CollectiveFabric, everyWayCarriesItsBytes) {
    for (const std::string kind : {"ring-allreduce", "all-gather", "reduce-scatter", "tree-allreduce",
                                   "double-tree-allreduce", "hierarchical-allreduce"})
        for (const std::string keys : {"channels = 3\nqps = 2\n", "chunk = \"5KB\"\n", "skew = 1\n"}) {
            const std::string size = kind[0] == 'h' ? "group_size = 3\n" : "";
            const std::string text = star(6) + job(kind, 300'007, keys + size);
            check_bytes(text, outcome_of(text));
        }
}

TEST(CollectiveFabric, aServerTakesTimeAndNoNetwork) {
    for (const std::uint32_t hosts : {4U, 6U, 8U}) {
        const std::uint64_t bytes = hosts * 128 * frame;
        const std::string text =
            star(hosts) + job("hierarchical-allreduce", bytes,
                              "group_size = 2\nserver_bandwidth = \"800G\"\nserver_latency = \"3us\"\n"
                              "steps = 3\ncompute = \"10us\"\n");
        const Outcome outcome = outcome_of(text);
        const double in_server = 3000 + static_cast<double>(bytes) / 2 * 8 / 800;
        const std::uint32_t servers = hosts / 2;
        const double in_rings =
            ClosedForm(hosts, bytes).ring(2 * (servers - 1), static_cast<double>(bytes) / 2 / servers);
        check_near(2 * in_server + in_rings, outcome.step_ns, 0.02, text);
        LONGS_EQUAL(0, outcome.delivered.at({"h1", "h2"}));
        LONGS_EQUAL(3 * 2 * (servers - 1) * bytes / 2 / servers, outcome.delivered.at({"h1", "h3"}));
    }
}

TEST(CollectiveFabric, aSlowRailKeepsItsServersWaiting) {
    const std::string keys = "group_size = 2\nsteps = 4\n";
    const std::string slow = "[host.h2]\ndrain = \"25G\"\n";
    CheckedFabric checked(star(4) + slow + job("hierarchical-allreduce", 4'000'000, keys), "", false);
    checked.drain();
    const auto begun = [&](const std::string& host) {
        return checked.fabric().host(checked.node(host)).nic().ranks()[0].steps()[3].begun;
    };
    CHECK(begun("h1") == begun("h2"));
    CHECK(begun("h3") == begun("h4"));
}

TEST(CollectiveFabric, piecesHideTheLatencyOfARing) {
    // 2 km of cable are 20 us to a peer, and a chunk takes 42 us.
    const std::uint64_t bytes = 4 * 128 * frame;
    const double latency = 2 * 2000.0 / 198e6 * 1e9, chunk = wire_ns(128 * frame, true);
    const double ack = 86 * 8 / 100.0 + latency;
    const std::string ring = star(4, "2km");
    check_near(6 * (chunk + latency) + ack, outcome_of(ring + job("ring-allreduce", bytes)).step_ns, 0.02,
               "whole");
    const double in_pieces = outcome_of(ring + job("ring-allreduce", bytes, "chunk = \"131072\"\n")).step_ns;
    check_near(6 * chunk + latency + ack, in_pieces, 0.02, "pieces");
}

TEST(CollectiveFabric, chunksKeepATreesLinksBusy) {
    // An inner rank takes three times the data: from two children and its parent.
    const std::uint64_t bytes = 4096 * frame;
    const double one = outcome_of(star(8) + job("tree-allreduce", bytes, "chunk = \"64KB\"\n")).step_ns;
    check_near(wire_ns(3.0 * bytes, true), one, 0.1, "a tree");
    // Each of two trees has half of it, and a rank is inner in one only.
    const double two =
        outcome_of(star(8) + job("double-tree-allreduce", bytes, "chunk = \"64KB\"\n")).step_ns;
    check_near(wire_ns(2.0 * bytes, true), two, 0.1, "two trees");
}

TEST(CollectiveFabric, aHotRankTakesTheTimeOfItsLink) {
    const std::uint64_t bytes = 10 * 64 * frame;
    const Outcome outcome = outcome_of(star(8) + job("all-to-all", bytes, "skew = 3\n"));
    LONGS_EQUAL(3 * 64 * frame, outcome.delivered.at({"h8", "h1"}));
    LONGS_EQUAL(64 * frame, outcome.delivered.at({"h1", "h8"}));
    check_near(wire_ns(7 * 3 * 64 * frame, true, 7) + 2 * cable_ns + ack_ns, outcome.step_ns, 0.02, "skew");
}

TEST(CollectiveFabric, groupsTakeTheTimeOfOne) {
    const std::uint64_t bytes = 4 * 128 * frame;
    for (const std::string keys :
         {"group_size = 4\n", "groups = 2\n", "group_size = 4\ngroup_stride = 2\n"}) {
        const Outcome outcome = outcome_of(star(8) + job("ring-allreduce", bytes, keys));
        check_near(ClosedForm(4, bytes).of("ring-allreduce"), outcome.step_ns, 0.02, keys);
        const bool apart = keys.find("stride") != keys.npos;
        LONGS_EQUAL(apart ? 0 : 6 * 128 * frame, outcome.delivered.at({"h1", "h2"}));
        LONGS_EQUAL(apart ? 6 * 128 * frame : 0, outcome.delivered.at({"h1", "h3"}));
    }
}

TEST(CollectiveFabric, controlMessagesGoFirstInTheirClass) {
    const std::uint64_t bytes = 8 * 128 * frame;
    const std::string text = star(8) + job("ring-allreduce", bytes, "control = \"64B\"\ncontrol_class = 6\n");
    CheckedFabric checked(text, text, false);
    checked.drain();
    const double step = collectives_json(checked.fabric())[0]["step_ns"]["mean"].get<double>();
    // The first one goes ahead of the data, all others beside it.
    const double first = (58 + 24 + 16 + 64) * 8 / 100.0 + 2 * cable_ns;
    check_near(ClosedForm(8, bytes).of("ring-allreduce") + first, step, 0.02, text);
    const FabricPlan& plan = checked.fabric().plan();
    const std::uint32_t flow = *plan.collectives[0].control_flow;
    STRCMP_EQUAL("job-control", plan.file.flows[flow].name.c_str());
    for (const std::string host : {"h1", "h8"}) {
        std::uint64_t messages = 0;
        for (const roce::QueuePair& pair : checked.fabric().host(checked.node(host)).nic().queue_pairs()) {
            const bool is_control = pair.flow().id == flow;
            LONGS_EQUAL(is_control ? 6 : 3, pair.flow().data.priority);
            if (is_control && pair.settings().requests) messages += pair.statistics.completed;
        }
        LONGS_EQUAL(14, messages);
    }
}

TEST(CollectiveFabric, aWrongFileIsRefusedWithARemedy) {
    const std::string six = "6 hosts are no multiple of group_size times group_stride, ";
    const std::vector<std::pair<std::string, std::string>> cases{
        {job("ring-allreduce", 1'000'000, "group_size = 4\n"), six + "4; do: name 4 or 8 hosts"},
        {job("ring-allreduce", 1'000'000, "group_size = 3\ngroup_stride = 4\n"),
         six + "12; do: name 12 hosts"},
        {job("ring-allreduce", 1'000'000, "groups = 4\n"),
         "6 hosts are no 4 groups of one size, two hosts or more; do: name 8 or 12 hosts, or write fewer"},
        {job("ring-allreduce", 1'000'000, "groups = 6\n"), "do: name 12 or 18 hosts"},
        {job("ring-allreduce", 1'000'000, "groups = 2\ngroup_size = 3\n"), "do: leave one of them out"},
        {job("ring-allreduce", 1'000'000, "group_stride = 2\n"), "no groups; do: write group_size"},
        {job("ring-allreduce", 1'000'000, "group_size = 1\n"), "collective[0].group_size: 1 is too small"},
        {job("halving-doubling", 1'000'000, "groups = 2\n"), "do: write groups of 2 or 4, or write kind"},
        {job("hierarchical-allreduce", 1'000'000), "do: write group_size, the hosts (NICs) of a server"},
        {job("hierarchical-allreduce", 1'000'000, "group_size = 6\n"),
         "it has one server; do: write a smaller"},
        {job("hierarchical-allreduce", 1'000'000, "group_size = 3\ngroup_stride = 2\n"),
         "do: leave group_stride out"},
        {job("hierarchical-allreduce", 1'000'000, "group_size = 3\nserver_latency = \"1ns\"\n"),
         "is too short"},
        {job("hierarchical-allreduce", 5, "group_size = 3\n"),
         "6 chunks and 1 queue pairs; do: write 6 bytes"},
        {job("all-to-all", 1'000'000, "channels = 2\n"), "all-to-all has no channels; do: write qps"},
        {job("all-to-all", 1'000'000, "chunk = \"64KB\"\n"), "all-to-all has no chunk; do: leave it out"},
        {job("pipeline", 1'000'000, "chunk = \"64KB\"\n"), "pipeline has no chunk; do: write parts"},
        {job("ring-allreduce", 1'000'000, "chunk = 100\n"), "collective[0].chunk: 100 is too small"},
        {job("ring-allreduce", 1'000'000, "skew = 2\n"), "skew is of all-to-all; do: leave it out"},
        {job("all-to-all", 8, "skew = 4\n"), "9 chunks and 1 queue pairs; do: write 9 bytes or more"},
        {job("ring-allreduce", 1'000'000, "control_class = 5\n"), "do: write control = \"64B\""},
        {job("ring-allreduce", 1'000'000, "control = \"8B\"\ncontrol_class = 5\n"),
         "switch sw1 puts no DSCP of host h1 into class 5; do: map a DSCP to it there, or write another "
         "class"},
        {"[[flow]]\nname = \"job-control\"\nfrom = \"h1\"\nto = \"h2\"\n" +
             job("ring-allreduce", 1'000'000, "control = \"8B\"\n"),
         "another flow, collective or workload is called \"job-control\""}};
    std::string wrong;
    for (const auto& [text, wanted] : cases) {
        const auto plan = try_plan(star(6) + text);
        const std::string error = plan ? "good" : plan.error().front().text();
        if (error.find(wanted) == error.npos) wrong += fmt::format("{}\nlacks: {}\n", error, wanted);
    }
    STRCMP_EQUAL("", wrong.c_str());
}

}  // namespace sluice::collective_fabric_test

// [advise] of a fabric's file: what is refused, keys and starts, headroom, and what was advised as files.
#include <algorithm>
#include <string>
#include <vector>

#include "control/config/compile/qos.hh"
#include "control/config/lint/mark_bounds.hh"
#include "control/fabric/advise/export.hh"
#include "control/fabric/advise/grids.hh"
#include "control/fabric/advise/space.hh"
#include "control/fabric/advise/starts.hh"
#include "control/fabric/scenario/run_once.hh"
#include "tests/fabric/small_fabric.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::advise_space_test {
namespace {

using namespace sluice::fabric;
using Sets = std::vector<std::string>;

void expect_in(const std::string& text, const std::string& words) {
    if (!says(text, words)) FAIL(("no \"" + words + "\" in: " + text).c_str());
}
void same(const std::string& expected, const std::string& actual) {
    STRCMP_EQUAL(expected.c_str(), actual.c_str());
}

const std::string star = R"(
[topology]
kind = "star"
hosts = 5
[[flow]]
name = "in"
from = "h1..h4"
to = "h5"
message = "500KB"
stop = "300us"
)";
const std::string clos = R"(
[topology]
kind = "leaf-spine"
leaves = 2
spines = 2
hosts = 2
host_speed = "100G"
speed = "400G"
[[flow]]
name = "in"
from = ["h1", "h2"]
to = "h4"
message = "500KB"
stop = "300us"
)";

AdviseSpace space_of(const std::string& text, const Sets& sets = {}) {
    auto made = AdviseSpace::of(text, "f.toml", sets);
    if (!made) FAIL(made.error().front().c_str());
    return std::move(*made);
}
std::string refusal(const std::string& text, const Sets& sets = {}) {
    const auto made = AdviseSpace::of(text, "f.toml", sets);
    return made ? std::string("good") : made.error().front();
}
FabricPlan planned(const std::string& text, const Sets& sets = {}) {
    auto file = parse_fabric(text, "f.toml", sets);
    if (!file) FAIL(file.error().front().text().c_str());
    auto plan = make_plan(std::move(*file));
    if (!plan) FAIL(plan.error().front().text().c_str());
    return std::move(*plan);
}
const AdviseKey* key_of(const AdviseSpace& space, const std::string& path) {
    const auto found = std::ranges::find(space.keys(), path, &AdviseKey::path);
    return found == space.keys().end() ? nullptr : &*found;
}
std::string reason_of(const AdviseSpace& space, const std::string& name) {
    const auto found = std::ranges::find(space.left_out(), name, &AdviseLeftOut::name);
    return found == space.left_out().end() ? std::string() : found->reason;
}
const AdviseStart* start_of(const AdviseSpace& space, const std::string& name) {
    const auto found = std::ranges::find(space.starts(), name, &AdviseStart::name);
    return found == space.starts().end() ? nullptr : &*found;
}
Sets all_sets(const AdviseSpace& space, const AdvisePoint& point) {
    Sets sets = space.base_sets();
    for (std::string& each : space.sets(point)) sets.push_back(std::move(each));
    return sets;
}
// The report of a run but its configuration.
std::string figures(const std::string& text, const Sets& sets) {
    const auto outcome = run_once(planned(text, sets), {});
    if (!outcome) FAIL(outcome.error().texts.front().c_str());
    auto report = outcome->report;
    report.erase("configuration");
    report.erase("memory");
    for (auto& device : report["switches"]) device.erase("configuration");
    return report.dump();
}

}  // namespace

TEST_GROUP(AdviseSpace){};

TEST(AdviseSpace, WhatIsWrongInTheFileIsRefusedWithItsPlace) {
    const std::string range = "[advise.range]\n";
    for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
             {"[advise]\ngroups = [\"wredd\"]\n", "f.toml:12:11: advise.groups[0]: \"wredd\""},
             {"[advise]\ngroups = [\"wred\", \"wred\"]\n", "is in the list twice"},
             {"[advise]\nseeds = 4\n", "from 5 to 50"},
             {"[advise]\nseeds = 51\n", "from 5 to 50"},
             {"[advise]\nruns = 0\n", "runs"},
             {"[advise]\nrnus = 5\n", "rnus"},
             {"[advise]\nrange = 5\n", "advise.range"},
             {range + "\"topology.hosts\" = [5]\n", "has one value, so there is nothing to choose; "},
             {range + "\"topology.hosts\" = []\n", "has no value"},
             {range + "\"topology.hosts\" = [5, 5]\n", "5 is in the list twice"},
             {range + "\"topology.hosts\" = \"5..5\"\n", "5 is not below 5"},
             {range + "\"topology.hosts\" = \"5\"\n", "write LOW..HIGH"},
             {range + "\"topology.hosts\" = 5\n", "is neither a range nor a list"},
             {range + "\"topology.hosts\" = [5, {a = 1}]\n", "is not a value"},
             {range + "\"switch.default.default.priority_group.3.xoff\" = [\"50KB\", \"90KB\"]\n",
              "is headroom, of which a search finds less than the worst case needs; do: leave it out: the "
              "answer"},
             {range + "switch.default.default.priority_group.3.xoff = \"50KB..90KB\"\n", "is headroom"},
             {range + "\"switch.default.pool.a.shared_headroom\" = \"50KB..90KB\"\n", "is headroom"},
             {range + "\"seed\" = [1, 2]\n", "several seeds"},
             {range + "\"advise.seeds\" = [5, 6]\n", "says nothing of a run"},
             {range + "\"a=b\" = [5, 6]\n", "has a = in it"},
             {"[advise]\n[vary]\nseeds = 2\n", "advise: there is [vary], too"},
             {"[advise]\n[find]\nleast = \"topology.hosts\"\nwithin = \"2..4\"\nsuch_that = "
              "\"verdict.lossless\"\n",
              "advise: there is [find], too"},
             {"[vary]\n\"advise.seeds\" = [5, 6]\n", "says nothing of a run"}})
        expect_in(refusal(star + text), words);
    std::string many = range;
    for (int n = 0; n < 9; ++n) many += "\"flow.in." + std::to_string(n) + "\" = [1, 2]\n";
    expect_in(refusal(star + many), "is one key too many: at most 8");
}

TEST(AdviseSpace, APathOrAnEndThatTheFileRefusesIsRefused) {
    const auto with = [](const std::string& path, const std::string& values) {
        return star + "[advise.range]\n\"" + path + "\" = " + values + "\n";
    };
    expect_in(refusal(with("switch.default.bufer.size", "\"8MB..16MB\"")), "bufer");
    expect_in(refusal(with("switch.leaf7.buffer.size", "\"8MB..16MB\"")), "no switch matches \"leaf7\"");
    expect_in(refusal(with("switch.leaf*.buffer.size", "\"8MB..16MB\"")), "no switch matches \"leaf*\"");
    expect_in(refusal(with("host.h9.mtu", "[1024, 4096]")), "h9");
    expect_in(refusal(with("flow.out.message", "[\"1KB\", \"2KB\"]")), "flow.out.message");
    expect_in(refusal(with("switch.default.buffer.size", "\"8KB..16MB\"")),
              "f.toml:12:32: advise.range: \"switch.default.buffer.size\" = 8KB is refused: ");
    expect_in(refusal(with("host.default.mtu", "[1024, 5000]")), "\"host.default.mtu\" = 5000 is refused");
    // min above max in the file: of a range, and of today.
    const std::string profile =
        "[switch.default]\ndefault.queue.3.wred = \"mine\"\nwred.mine.green_min = \"100KB\"\n"
        "wred.mine.green_max = \"400KB\"\n";
    expect_in(refusal(star + profile +
                      "[advise.range]\n\"switch.default.wred.mine.green_min\" = "
                      "\"50KB..800KB\"\n"),
              "800KB is refused: ");
    expect_in(refusal(star + profile, {"switch.default.wred.mine.green_min=500KB"}),
              "is above its max of 400000");
    // Both in ranges go together.
    same("good", refusal(star + profile +
                         "[advise.range]\n\"switch.default.wred.mine.green_min\" = \"50KB..800KB\"\n"
                         "\"switch.default.wred.mine.green_max\" = \"50KB..1600KB\"\n"));
    expect_in(refusal(star + "[advise]\ngroups = []\n"), "nothing may change");
}

TEST(AdviseSpace, GroupsThatTheFileCannotHaveAreRefusedAndWithoutGroupsLeftOut) {
    const std::string none = "[switch.default]\ndefault.queue.3.wred = \"none\"\n";
    expect_in(refusal(star + none + "[advise]\ngroups = [\"wred\"]\n"), "queue 3 of h1 at sw1");
    expect_in(reason_of(space_of(star + none), "group wred"), "has no WRED profile");
    const std::string fixed = "[switch.default]\ndefault.priority_group.3.static_th = \"500KB\"\n";
    expect_in(refusal(star + fixed + "[advise]\ngroups = [\"alpha\"]\n"), "has a fixed limit, no alpha");
    const std::string still = "[host.default]\ncc = \"none\"\n";
    expect_in(refusal(star + still + "[advise]\ngroups = [\"dcqcn\"]\n"), "no host has congestion control");
    expect_in(refusal(clos + "[switch.leaf1]\ndefault.priority_group.3.dynamic_th = -1\n"
                             "[advise]\ngroups = [\"alpha\"]\n"),
              "has dynamic_th -1 at");
    // Six keys of marks, for there are two speeds, and four of hosts.
    expect_in(refusal(clos + "[advise]\ngroups = [\"wred\", \"dcqcn\"]\n"),
              "there are 10 keys, and a search has at most 8: switch.default.wred.advised-100G.green_min, ");
    expect_in(reason_of(space_of(clos), "group dcqcn"), "more than 8 keys");
}

TEST(AdviseSpace, KeysOfGroupsHaveTheirGridsAroundToday) {
    const AdviseSpace space = space_of(star);
    LONGS_EQUAL(8, space.keys().size());
    const AdviseKey* min = key_of(space, "switch.default.wred.advised.green_min");
    CHECK(min != nullptr);
    same("400KB", min->today);
    same("wred", min->group);
    // Two packets of 9100 bytes in cells of 256.
    same("18432", std::to_string(static_cast<int>(Quantity::read(min->low)->number)));
    const EffectiveQos qos = effective_qos(planned(star).switches[0].config);
    const std::uint64_t limit = mark_bounds(qos).at({"h1", 3}).limit_bytes;
    LONGS_EQUAL(limit / 256 * 256, Quantity::read(min->high)->number);
    same("1600KB", key_of(space, "switch.default.wred.advised.green_max")->today);
    same("20", key_of(space, "switch.default.wred.advised.green_probability")->today);
    const AdviseKey* alpha = key_of(space, "switch.default.default.priority_group.3.dynamic_th");
    CHECK(alpha != nullptr);
    same("0", alpha->today);
    same("-4", alpha->low);
    same("3", alpha->high);
    const AdviseKey* additive = key_of(space, "host.default.rate_ai");
    CHECK(additive != nullptr);
    same("100M", additive->today);  // a thousandth of the line
    same("25M", additive->low);
    same("400M", additive->high);
    CHECK_FALSE(additive->exported);
    CHECK(alpha->exported);
    const std::string timer = "[host.default]\ncc = \"dcqcn-timer\"\n";
    expect_in(reason_of(space_of(star + timer), "host.default.byte_counter"), "it is 0 today");
    // Each drawn point passes check.
    for (std::size_t n = 0; n < 6; ++n) planned(star, all_sets(space, space.drawn(n)));
}

TEST(AdviseSpace, APresetBecomesAProfileThatChangesNothing) {
    const std::string alike = std::string(clos).replace(clos.find("400G"), 4, "100G");
    for (const std::string& text :
         {star, clos, star + "[switch.default]\ndefault.qos = \"sonic-t0\"\n",
          alike + "[switch.leaf1]\ndefault.queue.3.wred = \"steep\"\n",
          star + "[switch.default]\ndefault.queue.3.wred = \"mine\"\nwred.mine.ect_max = \"900KB\"\n"
                 "wred.mine.mark_at = \"enqueue\"\nwred.mine.yellow_min = \"90KB\"\n"
                 "[switch.sw1]\nport.h5.queue.3.wred = \"linear\"\n"}) {
        const AdviseSpace space = space_of(text + "[advise]\ngroups = [\"wred\"]\n");
        CHECK_FALSE(space.base_sets().empty());
        const std::string before = figures(text, {});
        same(before, figures(text, space.base_sets()));
        same(before, figures(text, all_sets(space, space.starts().front().point)));
    }
    CHECK(figures(star, {}) != figures(star, {"switch.default.default.queue.3.wred=none"}));
}

TEST(AdviseSpace, AProfileOfTheFileIsChangedWhereItStands) {
    const std::string profile =
        star +
        "[switch.default]\ndefault.queue.3.wred = \"mine\"\nwred.mine.green_min = "
        "\"100KB\"\nwred.mine.green_max = \"400KB\"\nwred.mine.green_probability = 7\n";
    const AdviseSpace space = space_of(profile + "[advise]\ngroups = [\"wred\"]\n");
    CHECK(space.base_sets().empty());
    same("100KB", key_of(space, "switch.default.wred.mine.green_min")->today);
    same("7", key_of(space, "switch.default.wred.mine.green_probability")->today);
    // From 7 per cent to the grid's neighbors.
    const AdvisePoint today = space.starts().front().point;
    same("10", (*space.step(today, 2, true))[2]);
    same("5", (*space.step(today, 2, false))[2]);
}

TEST(AdviseSpace, StartsHaveTheirSourcesAndThoseThatDoNotFitTheirReasons) {
    const AdviseSpace space = space_of(star + "[advise]\ngroups = [\"wred\"]\n");
    same("today", space.starts().front().name);
    expect_in(reason_of(space, "preset linear"), "it is the same as today");
    const AdviseStart* steep = start_of(space, "preset steep");
    CHECK(steep != nullptr);
    CHECK((steep->point == AdvisePoint{"150KB", "1500KB", "100"}));
    CHECK((start_of(space, "a public configuration (950KB, 3000KB, 7 %)")->point ==
           AdvisePoint{"950KB", "3MB", "7"}));
    CHECK((start_of(space, "Microsoft's Azure Local (300KB, 300KB, 100 %)")->point ==
           AdvisePoint{"300KB", "300KB", "100"}));
    for (const AdviseStart& each : space.starts())
        if (each.name != "today") CHECK_TRUE_TEXT(each.source.ends_with('.'), each.name.c_str());
    // Lint has no note about the bound, and one about the next cell.
    const AdviseStart* bound = start_of(space, "lint's bound");
    CHECK(bound != nullptr);
    const EffectiveQos qos = effective_qos(planned(star).switches[0].config);
    const MarkBound lint = mark_bounds(qos).at({"h1", 3});
    LONGS_EQUAL(lint.first_mark_bytes / 256 * 256, Quantity::read(bound->point[0])->number);
    CHECK(5 * lint.first_mark_bytes < lint.limit_bytes);
    CHECK(5 * (lint.first_mark_bytes + 1) >= lint.limit_bytes);
    same("20", bound->point[2]);
    // 0.2 of some 2 us at 100 Gb/s is less than two packets.
    expect_in(reason_of(space, "0.2 and 0.8 of the bandwidth-delay product"), "below two packets of the MTU");
    const AdviseSpace small = space_of(star, {"switch.default.buffer.size=4MB"});
    expect_in(reason_of(small, "a public configuration (950KB, 3000KB, 7 %)"),
              "at which a lone sender is paused");
    const AdviseSpace others = space_of(star + "[advise]\ngroups = [\"alpha\"]\n");
    LONGS_EQUAL(1, others.starts().size());
    expect_in(reason_of(others, "presets and published sets"), "the group wred");
}

TEST(AdviseSpace, TheBandwidthDelayProductIsThatOfTheLongestWay) {
    const std::string far = "[topology]\nkind = \"star\"\nhosts = 3\nhost_cable = \"10km\"\n";
    const Duration trip = longest_round_trip(planned(far));
    // Four times 10 km, and some 1.2 kB twice.
    CHECK(trip > propagation_delay(40'000));
    CHECK(trip < propagation_delay(40'000) + microseconds(1));
    const AdviseSpace space = space_of(far + "[switch.default]\nbuffer.size = \"256MB\"\n");
    const AdviseStart* start = start_of(space, "0.2 and 0.8 of the bandwidth-delay product");
    CHECK(start != nullptr);
    const double product = static_cast<double>(trip.ps) / 80;  // bytes at 100 Gb/s
    DOUBLES_EQUAL(0.2 * product, Quantity::read(start->point[0])->number, 257);
    DOUBLES_EQUAL(0.8 * product, Quantity::read(start->point[1])->number, 257);
}

TEST(AdviseSpace, RangesTakeTheirValueOfTodayFromTheFile) {
    const AdviseSpace space = space_of(
        clos +
        "[advise.range]\n\"switch.leaf*.default.priority_group.3.dynamic_th\" = [1, -1, 0]\n"
        "\"switch.default.buffer.size\" = \"8MB..32MB\"\n\"flow.in.qps\" = [1, 2, 4]\n"
        "\"host.default.rate_ai\" = \"50M..200M x3\"\n\"host.default.cc\" = [\"dcqcn\", \"dcqcn-timer\"]\n");
    LONGS_EQUAL(5, space.keys().size());
    same("0", space.keys()[0].today);
    same("-1", space.keys()[0].low);
    same("16MB", space.keys()[1].today);
    same("1", space.keys()[2].today);
    same("100M", space.keys()[3].today);
    same("dcqcn", space.keys()[4].today);
    CHECK(space.keys()[0].exported);
    CHECK_FALSE(space.keys()[2].exported);
    same("host.default.cc=\"dcqcn\"", space.sets(space.starts().front().point)[4]);
    CHECK((*space.step(space.starts().front().point, 4, true))[4] == "dcqcn-timer");
    planned(clos, all_sets(space, space.drawn(3)));
    expect_in(refusal(clos + "[switch.leaf1]\nbuffer.size = \"20MB\"\n[advise.range]\n"
                             "\"switch.leaf*.buffer.size\" = \"18MB..32MB\"\n"),
              "different values today, 20MB at leaf1 and 16MB at leaf2");
    expect_in(refusal(star + "[advise]\ngroups = [\"alpha\"]\n[advise.range]\n"
                             "\"switch.default.default.priority_group.3.dynamic_th\" = [0, 1]\n"),
              "is a key of a group, too");
}

TEST(AdviseSpace, HeadroomIsComputedAsSluicedDoes) {
    const auto rows = space_of(clos).headroom();
    LONGS_EQUAL(2, rows.size());
    const FabricPlan plan = planned(clos);
    const EffectiveQos qos = effective_qos(plan.switches[0].config);
    for (const AdviseHeadroom& row : rows) {
        LONGS_EQUAL(row.today_bytes, row.computed_bytes);
        CHECK(row.edit.empty());
    }
    same("leaf1 h1 and 3 others, group 3", rows[0].port);
    LONGS_EQUAL(qos.ports.at("h1").headroom.xoff_bytes, rows[0].computed_bytes);
    const auto large =
        space_of(star, {"switch.sw1.port.h1.priority_group.3.xoff=1MB", "switch.default.buffer.size=32MB"})
            .headroom();
    LONGS_EQUAL(2, large.size());
    LONGS_EQUAL(1'000'192, large[0].today_bytes);
    expect_in(large[0].edit, "leave switch.sw1.port.h1.priority_group.3.xoff out: ");
    const auto small = space_of(star, {"switch.sw1.port.h1.priority_group.3.xoff=64KB",
                                       "switch.sw1.port.h1.small_xoff=true"})
                           .headroom();
    CHECK(small[0].today_bytes < small[0].computed_bytes);
    same("write switch.sw1.port.h1.priority_group.3.xoff = " + std::to_string(small[0].computed_bytes),
         small[0].edit);
}

TEST(AdviseSpace, TheRecommendedFileIsTheFileWithItsKeys) {
    const std::string text = star + "# a comment\n[advise]\ngroups = [\"wred\"]\n";
    const AdviseSpace space = space_of(text);
    const AdvisePoint point{"200KB", "800KB", "50"};
    const auto made = recommended_toml(text, "a/f.toml", all_sets(space, point));
    CHECK(made.has_value());
    expect_in(*made,
              "# \"f.toml\" with the values that sluice-fabric advise recommends; its comments are lost.");
    CHECK_FALSE(says(*made, "a comment"));
    same(figures(text, all_sets(space, point)), figures(*made, {}));
    // Its own space has these values as those of today, and needs no other profile.
    const AdviseSpace again = space_of(*made);
    CHECK(again.base_sets().empty());
    CHECK(again.starts().front().point == point);
    same(space.keys()[0].path, again.keys()[0].path);
    const auto wrong = recommended_toml(text, "f.toml", {"switch.default.wred.advised.green_min=9zB"});
    CHECK_FALSE(wrong.has_value());
    CHECK_FALSE(recommended_toml("[", "f.toml", {}).has_value());
    // Files beside the fabric's are named from the other folder.
    const auto moved = recommended_toml(
        "[topology]\nkind = \"star\"\nhosts = 3\n[[workload]]\nfile = \"w.csv\"\n", "a/f.toml", {}, "out/b");
    CHECK(moved.has_value());
    expect_in(*moved, "file = \"../../a/w.csv\"");
}

TEST(AdviseSpace, SwitchesGetTheirKeysAlone) {
    const std::string text = star + "[advise]\ngroups = [\"wred\", \"alpha\", \"dcqcn\"]\n";
    const AdviseSpace space = space_of(text);
    AdvisePoint point = space.starts().front().point;
    point[0] = "200KB";
    point[3] = "1";
    point[4] = "200M";
    const auto changes = switch_changes(planned(text), planned(text, all_sets(space, point)));
    LONGS_EQUAL(1, changes.size());
    const std::string toml = switch_toml(changes);
    CHECK_FALSE(says(toml, "rate_ai"));
    expect_in(toml, "# sw1\n");
    expect_in(toml, "[wred.advised]\ngreen_max = \"1600KB\"\ngreen_min = \"200KB\"\n");
    expect_in(toml, "[default.priority_group.3]\ndynamic_th = 1\n");
    // It is a part of sluiced's configuration, with these values.
    const auto parsed = parse_config(toml, "switch.toml");
    CHECK(parsed.has_value());
    LONGS_EQUAL(200'000, *parsed->wred.at("advised").green.min_bytes);
    same("advised", *parsed->port_defaults.queue[3].wred);
    const std::string command = trial_command(changes.front());
    CHECK(
        command.starts_with("sluicectl set --watch 10s default.priority_group.3.dynamic_th=1 "
                            "default.queue.3.wred=advised wred.advised."));
    expect_in(command, " wred.advised.green_min=200KB");
    CHECK(switch_changes(planned(text), planned(text)).empty());
    same("", switch_toml({}));
}

TEST(AdviseSpace, SwitchesThatChangeDifferentlyHavePartsOfTheirOwn) {
    const auto changes = switch_changes(
        planned(clos), planned(clos, {"switch.leaf*.default.priority_group.3.dynamic_th=1",
                                      "switch.spine1.default.pfc_quanta=1000", "switch.spine1.seed=4"}));
    LONGS_EQUAL(2, changes.size());
    const std::string toml = switch_toml(changes);
    expect_in(toml, "# leaf1, leaf2\n[default.priority_group.3]\ndynamic_th = 1\n");
    expect_in(toml, "# spine1\n");
    expect_in(toml, "pfc_quanta = 1000");
    expect_in(toml, "# Each part belongs into the configuration of the switches above it.");
    expect_in(trial_command(changes[1], "5s"), "sluicectl set --watch 5s default.pfc_quanta=1000");
}

}  // namespace sluice::advise_space_test

// --set over a fabric's file, with patterns of switches.
#include <string>
#include <vector>

#include "control/fabric/plan/fabric_config.hh"
#include "tests/fabric/small_fabric.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::set_paths_test {

using namespace sluice::fabric;

TEST_GROUP(SetPaths){};

namespace {

std::uint64_t buffer_of(const FabricConfig& file, const std::string& name) {
    return file.switch_config(name).buffer_size_bytes;
}
std::string set_error(const std::string& set, const std::string& text = small_fabric) {
    const auto file = parse_fabric(text, "f.toml", {set});
    CHECK(!file);
    return file ? std::string() : file.error().front().text();
}

}  // namespace

TEST(SetPaths, APatternSetsEachSwitchThatMatches) {
    const FabricConfig file = parsed("[switch.default]\nbuffer.size = \"4MB\"\n[switch.leaf1]\nseed = 5\n",
                                     {"switch.leaf*.buffer.size=2MB"});
    LONGS_EQUAL(2'000'000, buffer_of(file, "leaf1"));
    LONGS_EQUAL(2'000'000, buffer_of(file, "leaf2"));
    LONGS_EQUAL(4'000'000, buffer_of(file, "spine1"));
    LONGS_EQUAL(5, file.switch_config("leaf1").seed);
    // Not switch.default, and a later one goes over it.
    const FabricConfig all = parsed(
        {}, {"switch.*.buffer.size=2MB", "switch.leaf?.buffer.size=3MB", "switch.leaf2.buffer.size=5MB"});
    CHECK(all.switch_default.buffer_size_bytes == FabricConfig{}.switch_default.buffer_size_bytes);
    LONGS_EQUAL(3'000'000, buffer_of(all, "leaf1"));
    LONGS_EQUAL(5'000'000, buffer_of(all, "leaf2"));
    LONGS_EQUAL(2'000'000, buffer_of(all, "spine1"));
}

TEST(SetPaths, SwitchesAreThoseOfTheTopologyThatOtherSetsMake) {
    const FabricConfig file =
        parsed({}, {"switch.leaf3.buffer.size=1MB", "switch.leaf*.buffer.size=2MB", "topology.leaves=3"});
    LONGS_EQUAL(2'000'000, buffer_of(file, "leaf3"));
    const auto named = parse_fabric(
        "[[node]]\nname = \"tor-a\"\n[[node]]\nname = \"x\"\nkind = \"host\"\n[[link]]\nends = [\"x\", "
        "\"tor-a\"]\n",
        "f.toml", {"switch.tor*.buffer.size=2MB"});
    CHECK(named.has_value());
    LONGS_EQUAL(2'000'000, buffer_of(*named, "tor-a"));
}

TEST(SetPaths, APatternThatMatchesNothingIsRefused) {
    CHECK(says(set_error("switch.tor*.buffer.size=2MB"),
               "no switch matches \"tor*\"; there are: leaf1, leaf2, spine1"));
    CHECK(says(set_error("switch.leaf*.bufer.size=2MB"), "bufer"));
    CHECK(says(set_error("switch.leaf*=2MB"), "leaf*"));
    CHECK(says(set_error("switch.leaf*.buffer.size=2MB", "seed = 1\n"), "no switches to match"));
    CHECK(says(set_error("switch.leaf*.buffer.size=2MB", "[topology]\nkind = \"none\"\n"),
               "no switches to match"));
}

}  // namespace sluice::set_paths_test

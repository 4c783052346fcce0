// What buffer.profile makes of pools, groups and queues, and what the configuration's own keys change of it.
#include <fmt/format.h>

#include <string>

#include "control/config/compile/qos.hh"
#include "control/config/lint/judge.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::profile_qos_test {
namespace {

struct Made {
    Config config;
    EffectiveQos qos;
};

Made made(const std::string& text) {
    ConfigResult config = parse_config(text, "f");
    if (!config) FAIL(config.error().front().text().c_str());
    EffectiveQos qos = effective_qos(*config);
    return {std::move(*config), std::move(qos)};
}

std::string ports(unsigned count) {
    std::string text;
    for (unsigned n = 1; n <= count; ++n) text += fmt::format("[port.p{}]\n", n);
    return text;
}

std::string findings(const Made& of, const std::string& id) {
    std::string lines;
    for (const Finding& finding : lint_qos(of.config, of.qos))
        if (finding.id == id) lines += finding.text("f") + "\n";
    return lines;
}

}  // namespace

TEST_GROUP(ProfileQos){};

TEST(ProfileQos, spectrum2SharesWhatItsTemplateSays) {
    const Made of = made("buffer.profile = \"spectrum-2\"\n[default]\npfc = [3, 4]\n" + ports(32));
    CHECK_TRUE(of.qos.problems.empty());
    const EffectivePort& port = of.qos.ports.at("p1");
    LONGS_EQUAL((19'456 + 143) / 144, port.group[3].reserved_cells);
    LONGS_EQUAL((33'792 + 143) / 144, port.group[3].headroom_cells);
    LONGS_EQUAL(0, port.group[3].xon_offset_cells);
    CHECK_TRUE(port.group[3].threshold == Threshold::dynamic(0));
    CHECK_TRUE(port.group[0].threshold == Threshold::dynamic(3));
    LONGS_EQUAL(0, port.group[0].reserved_cells);
    CHECK_TRUE(port.queue[3].threshold == Threshold::none());
    CHECK_TRUE(port.queue[0].threshold == Threshold::dynamic(3));
    // 14542848 bytes, but for what rounding up to cells takes of 64 groups.
    const std::int64_t shared = of.qos.pools.front().shared_cells * 144;
    CHECK_TRUE(shared <= 14'542'848 && shared > 14'542'848 - 64 * 2 * 144);
}

TEST(ProfileQos, tomahawk3SharesAHeadroomAndOnePool) {
    const Made of = made("buffer.profile = \"tomahawk3\"\n[default]\nspeed = \"400G\"\n" + ports(4));
    CHECK_TRUE(of.qos.problems.empty());
    LONGS_EQUAL(2, of.qos.pools.size());
    STRCMP_EQUAL("lossless", of.qos.pools[0].name.c_str());
    LONGS_EQUAL(27'200'352 / 254, of.qos.pools[0].shared_headroom_cells);
    const EffectivePort& port = of.qos.ports.at("p1");
    CHECK_TRUE(port.group[3].threshold == Threshold::dynamic(-2));
    CHECK_TRUE(port.group[0].threshold == Threshold::none());
    LONGS_EQUAL(178'562 / 254, port.group[3].headroom_cells);
    LONGS_EQUAL(10, port.group[3].reserved_cells);
    CHECK_TRUE(port.queue[1].threshold == Threshold::dynamic(1));
    LONGS_EQUAL(7, port.queue[1].reserved_cells);
}

TEST(ProfileQos, itsOwnMemoryOfAGroupMayDifferBySpeed) {
    const Made of =
        made("buffer.profile = \"spectrum-3\"\n[port.p1]\nspeed = \"400G\"\n[port.p2]\nspeed = \"200G\"\n");
    LONGS_EQUAL((47'104 + 143) / 144, of.qos.ports.at("p1").group[3].reserved_cells);
    LONGS_EQUAL((19'456 + 143) / 144, of.qos.ports.at("p2").group[3].reserved_cells);
}

TEST(ProfileQos, theConfigurationGoesBeforeIt) {
    const Made of = made(
        "buffer.profile = \"tomahawk3\"\n[default.priority_group.3]\nxoff = 508000\ndynamic_th = 1\nsize = "
        "25400\nxon = 0\nxon_offset = 50800\n[default.queue.0]\ndynamic_th = 4\nsize = 254\n[port.p1]\n");
    const EffectivePort& port = of.qos.ports.at("p1");
    LONGS_EQUAL(2000, port.group[3].headroom_cells);
    CHECK_TRUE(port.group[3].threshold == Threshold::dynamic(1));
    LONGS_EQUAL(100, port.group[3].reserved_cells);
    LONGS_EQUAL(0, port.group[3].xon_cells);
    LONGS_EQUAL(200, port.group[3].xon_offset_cells);
    CHECK_TRUE(port.queue[0].threshold == Threshold::dynamic(4));
    LONGS_EQUAL(1, port.queue[0].reserved_cells);
    // A pool of the file stands instead of all of its direction, and of no other.
    const Made own = made(
        "buffer.profile = \"tomahawk3\"\n[pool.mine]\ndirection = \"ingress\"\nsize = \"20MB\"\n[port.p1]\n");
    LONGS_EQUAL(2, own.qos.pools.size());
    STRCMP_EQUAL("mine", own.qos.pools[0].name.c_str());
    STRCMP_EQUAL("egress-lossless", own.qos.pools[1].name.c_str());
}

TEST(ProfileQos, itsPoolsAreInProportionToAnotherBuffer) {
    const Made whole = made("buffer.profile = \"trident3\"\n[port.p1]\n");
    const Made half = made("buffer.profile = \"trident3\"\nbuffer.size = 16777216\n[port.p1]\n");
    CHECK_TRUE(half.qos.problems.empty());
    for (std::size_t n = 0; n < whole.qos.pools.size(); ++n) {
        LONGS_EQUAL(whole.qos.pools[n].size_cells / 2, half.qos.pools[n].size_cells);
        LONGS_EQUAL(whole.qos.pools[n].shared_headroom_cells / 2, half.qos.pools[n].shared_headroom_cells);
    }
    // The buffer that an error names is enough, and a cell less of it is not.
    const auto problem = [](std::uint64_t bytes) {
        const Made of = made(
            fmt::format("buffer.profile = \"spectrum\"\nbuffer.size = {}\n[port.p1]\n[port.p2]\n", bytes));
        return of.qos.problems.empty() ? std::string() : of.qos.problems.front().fix;
    };
    const std::string fix = problem(96'000);
    STRCMP_CONTAINS("write buffer.size = ", fix.c_str());
    const std::uint64_t enough = std::stoull(fix.substr(fix.find(" = ") + 3));
    STRCMP_EQUAL("", problem(enough).c_str());
    STRCMP_EQUAL(fix.c_str(), problem(enough - 96).c_str());
}

TEST(ProfileQos, aHeadroomBelowTheWorstCaseIsTakenWithAWord) {
    const std::string profile = "buffer.profile = \"tomahawk2\"\n";
    const Made of = made(profile + "[default]\npfc = [3, 4]\n" + ports(3));
    CHECK_TRUE(of.qos.problems.empty());
    const std::string said = findings(of, "profile-headroom");
    STRCMP_CONTAINS(
        "f:1:18: warning: buffer.profile: tomahawk2 has 54080 bytes of headroom for 100G and 5 m "
        "of cable, ",
        said.c_str());
    LONGS_EQUAL(1, std::count(said.begin(), said.end(), '\n'));
    STRCMP_EQUAL("", findings(made("[port.p1]\n"), "profile-headroom").c_str());
    // A headroom in the file is judged as any other.
    const Made own = made(profile + "[default.priority_group.3]\nxoff = 2080\n[port.p1]\n");
    STRCMP_EQUAL("", findings(own, "profile-headroom").c_str());
    STRCMP_CONTAINS("error: default.priority_group.3.xoff", findings(own, "headroom-small").c_str());
    // A speed that it says nothing of is computed as without it.
    const Made other = made(profile + "[port.p1]\nspeed = \"25G\"\n");
    STRCMP_EQUAL("", findings(other, "profile-headroom").c_str());
    LONGS_EQUAL(other.qos.ports.at("p1").headroom.xoff_cells,
                other.qos.ports.at("p1").group[3].headroom_cells);
}

TEST(ProfileQos, whatItGaveIsTold) {
    const Made of = made(
        "buffer.profile = \"tomahawk3\"\nbuffer.size = \"32MB\"\n[port.p1]\n[port.p2]\nspeed = \"40G\"\n");
    const std::string table = profile_table(of.config, of.qos);
    for (const char* line :
         {"buffer profile tomahawk3: Broadcom Tomahawk 3 (BCM56980), 32 x 400G\n",
          "buffer.size             67117468 (the file has 32000000)\n", "buffer.cell             254\n",
          "pool.lossless           66394076, shared_headroom 27200352 (in proportion to the file's",
          "lossless groups         size 2540, dynamic_th -2, xon 2540, xon_offset 2540\n",
          "headroom                100G, 5 m: 68580, for cables to 5 m  p1\n",
          "headroom                40G, 5 m: computed, the profile has none  p2\n"})
        STRCMP_CONTAINS(line, table.c_str());
    STRCMP_EQUAL("", profile_table(made("[port.p1]\n").config, made("[port.p1]\n").qos).c_str());
    STRCMP_CONTAINS(
        "note: buffer.profile: tomahawk3, Broadcom Tomahawk 3 (BCM56980), 32 x 400G: size 67117468 (the "
        "file has 32000000), cell 254, pool lossless 66394076; lossless groups: size 2540",
        findings(of, "buffer-profile").c_str());
}

}  // namespace sluice::profile_qos_test

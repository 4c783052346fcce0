// A configuration file that is changed keeps all other text: words, comments, order.

#include <array>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "control/config/schema/config_paths.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/toml_text.hh"
#include "control/config/schema/values.hh"
#include "lib/values/rng.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::config_edit_test {
namespace {

constexpr const char* lab = R"(# A switch in the lab.

clock = "virtual"
seed = 7            # lucky

# Memory
[buffer]
size = '32MB'       # as the old one

[default]
queue.3.wred = "steep"   # dotted
mtu=1500

[map.default]
dscp_to_tc = {"8" = 1}   # bulk
"cnp_tc" = 4

[port.h0]
device = "net_null0"     # left
pfc = [  # two
    3,   # RoCE
    4,
]

[port.h0.queue.3]
weight = 9

[port."a.b"]
mtu = 9000   # jumbo

[[neighbor]]
address = "10.0.0.2"
port = "h0"
mac = "02:00:00:00:00:01"

# Where the rest goes
[[route]]
prefix = "10.0.0.0/8"
via = ["10.0.0.2"]

[[route]]
prefix = "11.0.0.0/8"
via = "blackhole"

# the end
)";

Config parsed(const std::string& text) {
    const ConfigResult config = parse_config(text, "f");
    if (!config) FAIL(config.error().front().text().c_str());
    return *config;
}

Config changed(Config config, const std::vector<std::pair<std::string, std::string>>& values) {
    for (const auto& [path, value] : values) {
        auto next = with_value(config, path, value);
        if (!next) FAIL((path + ": " + next.error().text()).c_str());
        config = std::move(*next);
    }
    return config;
}

// Each of the words, put in the place of the other.
std::string with(std::string text, const std::vector<std::pair<std::string, std::string>>& pieces) {
    for (const auto& [old, fresh] : pieces) {
        const std::size_t at = text.find(old);
        if (at == std::string::npos) FAIL(old.c_str());
        text.replace(at, old.size(), fresh);
    }
    return text;
}

void becomes(const std::string& wanted, const std::string& text, const Config& config) {
    const auto got = edited(text, config);
    CHECK_TRUE(got.has_value());
    if (got) STRCMP_EQUAL(wanted.c_str(), got->c_str());
}

}  // namespace

TEST_GROUP(ConfigEdit){};

TEST(ConfigEdit, refusesWhatItCannotSay) {
    const Config config = parsed(lab);
    CHECK_FALSE(edited("seed = ", config).has_value());
    CHECK_FALSE(edited("nosuch = 1", config).has_value());
    // Sections that are to go, or are written as values.
    CHECK_FALSE(edited("[wred.mine]\ngreen_min = 5\n", Config{}).has_value());
    CHECK_FALSE(edited("buffer = {size = \"32MB\"}\n", Config{}).has_value());
    CHECK_FALSE(edited("port = {h0 = {mtu = 1500}}\n", changed(parsed("[port.h0]"), {{"port.h0.mtu", "68"}}))
                    .has_value());
}

TEST(ConfigEdit, leavesATextThatSaysItAlready) {
    becomes(lab, lab, parsed(lab));
    const std::string strange = "seed=1\r\n[ port . h0 ]#x\r\nmtu   =  1_500\r\n";
    becomes(strange, strange, parsed(strange));
    becomes("", "", Config{});
}

TEST(ConfigEdit, replacesValuesWhereTheyStand) {
    const Config config = changed(parsed(lab), {{"seed", "8"},
                                                {"buffer.size", "64MB"},
                                                {"default.queue.3.wred", "linear"},
                                                {"default.mtu", "1400"},
                                                {"map.default.dscp_to_tc.8", "2"},
                                                {"map.default.cnp_tc", "6"},
                                                {"port.h0.pfc", "[4]"},
                                                {"port.h0.queue.3.weight", "5"},
                                                {"port.a.b.mtu", "1400"}});
    becomes(with(lab, {{"seed = 7 ", "seed = 8 "},
                       {"'32MB'", "\"64MB\""},
                       {"\"steep\"", "\"preset\""},
                       {"mtu=1500", "mtu=1400"},
                       {"{\"8\" = 1}", "{\"8\" = 2}"},
                       {"\"cnp_tc\" = 4", "\"cnp_tc\" = 6"},
                       {"[  # two\n    3,   # RoCE\n    4,\n]", "[4]"},
                       {"weight = 9", "weight = 5"},
                       {"mtu = 9000", "mtu = 1400"}}),
            lab, changed(config, {{"default.queue.3.wred", "preset"}}));
}

TEST(ConfigEdit, addsWhatIsMissingWhereItBelongs) {
    const Config config = changed(parsed(lab), {{"workers", "2"},
                                                {"buffer.cell", "512"},
                                                {"default.queue.3.weight", "7"},
                                                {"map.default.dscp_to_tc.46", "3"},
                                                {"map.default.roce_tc", "3"},
                                                {"port.h0.speed", "25G"},
                                                {"port.h0.queue.4.weight", "6"},
                                                {"port.a.b.queue.0.weight", "2"},
                                                {"watchdog.action", "alert"}});
    becomes(with(lab, {{"# lucky\n", "# lucky\nworkers = 2\n"},
                       {"# as the old one\n", "# as the old one\ncell = \"512B\"\n"},
                       {"# dotted\n", "# dotted\nqueue.3.weight = 7\n"},
                       {"{\"8\" = 1}", "{\"8\" = 1, \"46\" = 3}"},
                       {"\"cnp_tc\" = 4\n", "\"cnp_tc\" = 4\nroce_tc = 3\n"},
                       {"    4,\n]\n", "    4,\n]\nspeed = \"25G\"\n"},
                       {"weight = 9\n", "weight = 9\n\n[port.h0.queue.4]\nweight = 6\n"},
                       {"# jumbo\n", "# jumbo\n\n[port.\"a.b\".queue.0]\nweight = 2\n"},
                       {"# the end\n", "# the end\n\n[watchdog]\naction = \"alert\"\n"}}),
            lab, config);
    becomes("# Title\n\nseed = 2\n\n[port.h0]", "# Title\n\n[port.h0]",
            changed(parsed("[port.h0]"), {{"seed", "2"}}));
    becomes("seed = 2\n\n# of h0\n[port.h0]", "# of h0\n[port.h0]",
            changed(parsed("[port.h0]"), {{"seed", "2"}}));
    becomes("[port.h0]\nmtu = 68\n", "[port.h0]", changed(parsed("[port.h0]"), {{"port.h0.mtu", "68"}}));
}

TEST(ConfigEdit, aPortThatSaysItsDefaultFollowsTheDefault) {
    const std::string text = "[default]\nmtu = 1500\n[port.h0]\nmtu = 1500  # said\n[port.h1]\n";
    const Config config = changed(parsed(text), {{"default.mtu", "1400"}});
    LONGS_EQUAL(1400, config.ports.at("h0").mtu);
    becomes("[default]\nmtu = 1400\n[port.h0]\nmtu = 1400  # said\n[port.h1]\n", text, config);
}

TEST(ConfigEdit, changesRoutesAndNeighborsOneByOne) {
    Config config = parsed(lab);
    config.routes = {};
    add(config, RouteConfig{*parse_network("10.0.0.0/8"), {}, {}});
    add(config, RouteConfig{*parse_network("12.0.0.0/8"), {}, {}});
    NeighborConfig neighbor{*parse_address("10.0.0.3"), "h0", *parse_mac("02:00:00:00:00:03"), {}, {}};
    add(config, neighbor);
    becomes(with(lab, {{"mac = \"02:00:00:00:00:01\"\n",
                        "mac = \"02:00:00:00:00:01\"\n\n[[neighbor]]\naddress = \"10.0.0.3\"\nport = "
                        "\"h0\"\nmac = \"02:00:00:00:00:03\"\n"},
                       {"via = [\"10.0.0.2\"]", "via = \"blackhole\""},
                       {"\n[[route]]\nprefix = \"11.0.0.0/8\"\nvia = \"blackhole\"\n",
                        "\n[[route]]\nprefix = \"12.0.0.0/8\"\nvia = \"blackhole\"\n"}}),
            lab, config);
}

constexpr unsigned many_changes = is_sanitized ? 20 : 300;

TEST(ConfigEdit, keepsEveryCommentWhateverIsSet) {
    std::vector<std::string> keys;
    for (const ConfigValue& value : config_values(parsed(lab), {}, true)) keys.push_back(value.path);
    unsigned done = 0;
    for (std::uint64_t seed = 0; seed < many_changes; ++seed) {
        Config config = parsed(lab);
        for (unsigned n = 0; n < 3; ++n) {
            const std::uint64_t draw = scramble(seed * 16 + n);
            constexpr std::array<std::string_view, 12> values{"1",   "3",   "100", "9000",  "10KB", "1ms",
                                                              "10G", "[3]", "off", "steep", "true", "h0"};
            auto next = with_value(config, keys[draw % keys.size()], values[(draw >> 32) % values.size()]);
            if (next) config = std::move(*next);
        }
        const auto text = edited(lab, config);
        const std::string label = "seed " + std::to_string(seed);
        CHECK_TRUE_TEXT(text.has_value(), label.c_str());
        if (!text) continue;
        CHECK_TRUE_TEXT(parsed(*text) == config, label.c_str());
        done += *text != lab ? 1U : 0U;
        for (const char* comment : {"# A switch in the lab.\n\n", "# lucky\n", "# Memory\n[buffer]",
                                    "# as the old one\n", "# dotted\n", "# bulk\n", "# left\n", "# jumbo\n",
                                    "# Where the rest goes\n[[route]]", "# the end\n"})
            CHECK_TRUE_TEXT(text->find(comment) != std::string::npos, (label + *text).c_str());
    }
    CHECK(done > many_changes / 3);
}

TEST(ConfigEdit, statementsStandWhereTheyAre) {
    const std::string text =
        "a = 1\n[b.\"c.d\"] # x\n'e f' . g = \"\"\"x\n\"y\"\"\"\" # = \n[[h]]\ni = [{a = 1}, '}', # ]\n]\n";
    const auto statements = toml_statements(text);
    CHECK_TRUE(statements.has_value());
    std::string told;
    for (const TomlStatement& s : *statements)
        told += s.path + "|" + text.substr(s.value_begin, s.value_end - s.value_begin) + "\n";
    STRCMP_EQUAL("a|1\nb.c.d|\nb.c.d.e f.g|\"\"\"x\n\"y\"\"\"\"\nh|\nh.i|[{a = 1}, '}', # ]\n]\n",
                 told.c_str());
    CHECK_FALSE(toml_statements("\"a\\u0062\" = 1\n").has_value());
    CHECK_FALSE(toml_statements("a = [1,").has_value());
}

}  // namespace sluice::config_edit_test

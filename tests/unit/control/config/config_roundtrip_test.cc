// A configuration written as TOML loads back equal, for any values.
#include <random>
#include <string>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::config_roundtrip_test {
namespace {

class Random {
  public:
    explicit Random(unsigned seed) : engine_(seed) {}
    std::uint64_t below(std::uint64_t n) { return engine_() % n; }
    bool once_in(unsigned n) { return below(n) == 0; }
    std::uint64_t number() { return engine_() >> below(64); }

    template <class T>
    T one_of(std::initializer_list<T> values) {
        return *(values.begin() + below(values.size()));
    }
    std::string name() {
        static constexpr std::string_view letters = "abzABZ0159_.-";
        std::string out;
        for (std::uint64_t i = 0, n = 1 + below(32); i < n; ++i) out += letters[below(letters.size())];
        return out;
    }
    std::string text(std::uint64_t low) {
        static constexpr std::string_view letters = "a \"\\'#={}[],.\xC3\xA9";
        std::string out;
        for (std::uint64_t i = 0, n = low + below(20); i < n; ++i) {
            const std::size_t at = below(letters.size() - 1);
            out += letters[at];
            if (letters[at] == '\xC3') out += '\xA9';
        }
        return out;
    }
    MacAddress mac() {
        MacAddress mac;
        for (auto& byte : mac.bytes) byte = static_cast<std::uint8_t>(below(256));
        mac.bytes[0] = static_cast<std::uint8_t>((mac.bytes[0] & 0xFCU) | 2U);
        return mac;
    }
    IpPrefix prefix() {
        IpPrefix prefix;
        prefix.address.is_v6 = once_in(2);
        for (int i = 0; i < (prefix.address.is_v6 ? 16 : 4); ++i)
            prefix.address.bytes[static_cast<std::size_t>(i)] =
                static_cast<std::uint8_t>(once_in(2) ? below(256) : 0);
        prefix.length = static_cast<std::uint8_t>(below(prefix.address.is_v6 ? 129 : 33));
        return prefix;
    }
    ClassId class_id() { return static_cast<ClassId>(below(classes)); }

  private:
    std::mt19937_64 engine_;
};

template <std::size_t size>
void scatter(std::array<ClassId, size>& map, Random& random) {
    for (std::uint64_t i = random.below(5); i > 0; --i) map[random.below(size)] = random.class_id();
}

MapConfig random_map(MapConfig map, Random& random) {
    scatter(map.dscp_to_tc, random);
    scatter(map.pcp_to_tc, random);
    scatter(map.tc_to_queue, random);
    scatter(map.tc_to_priority_group, random);
    scatter(map.pfc_priority_to_queue, random);
    if (random.once_in(3)) map.roce_tc = random.class_id();
    if (random.once_in(3)) map.cnp_tc.reset();
    return map;
}

PortConfig random_port(PortConfig port, Random& random) {
    if (random.once_in(2)) port.device = random.text(0);
    if (random.once_in(2))
        port.speed = random.one_of({gigabits(1), Rate{2'500'000'000}, gigabits(800), gigabits(100)});
    if (random.once_in(2)) port.cable_m = static_cast<std::uint32_t>(random.below(100'001));
    if (random.once_in(2)) port.mtu = static_cast<std::uint32_t>(68 + random.below(9216 - 67));
    if (random.once_in(3))
        port.mac = random.mac();
    else if (random.once_in(3))
        port.mac.reset();
    if (random.once_in(2)) port.address.clear();
    if (random.once_in(2)) port.address = {random.prefix()};
    port.promiscuous = random.once_in(2);
    port.peer = random.one_of<std::optional<PeerKind>>({std::nullopt, PeerKind::obey, PeerKind::ignore});
    if (random.once_in(2)) port.pfc.reset();
    if (random.once_in(2)) port.pfc = std::vector<ClassId>{1, static_cast<ClassId>(2 + random.below(6))};
    if (random.once_in(3)) port.pfc = std::vector<ClassId>{};
    port.pfc_mode = random.one_of<std::optional<PfcMode>>({std::nullopt, PfcMode::asymmetric, PfcMode::off});
    port.shaper.bits_per_second = random.below(3) * 1'500'000'000;
    if (random.once_in(2)) port.shaper_burst_bytes = random.below(1'000'001);
    if (random.once_in(3)) port.queue[random.below(classes)].max_burst_bytes = random.below(1'000'001);
    if (random.once_in(2)) port.microburst_bytes = random.below(1U << 30);
    if (random.once_in(3)) port.queue[random.below(classes)].microburst_bytes = random.below(1U << 30);
    port.trust = random.one_of({Trust::dscp, Trust::pcp, Trust::port});
    port.default_tc = random.class_id();
    if (random.once_in(2)) port.map = random.name();
    port.rx_queues = static_cast<std::uint16_t>(1 + random.below(max_receive_queues));
    if (random.once_in(3)) port.rx_workers = {15, static_cast<unsigned>(random.below(15))};
    port.worker = random.one_of<std::optional<unsigned>>({std::nullopt, 0U, 15U});
    if (random.once_in(3))
        port.watchdog.detection = milliseconds(100 + static_cast<std::int64_t>(random.below(4901)));
    if (random.once_in(3))
        port.watchdog.restoration = milliseconds(100 + static_cast<std::int64_t>(random.below(59'901)));
    if (random.once_in(3)) port.watchdog.action = static_cast<WatchdogAction>(random.below(4));
    for (std::uint64_t i = random.below(3); i > 0; --i)
        port.queue[random.below(classes)].weight = static_cast<std::uint8_t>(1 + random.below(255));
    for (std::uint64_t i = random.below(3); i > 0; --i) {
        PriorityGroupConfig& group = port.priority_group[random.below(classes)];
        if (random.once_in(2))
            group.dynamic_th = static_cast<int>(random.below(16)) - 8;
        else
            group.static_bytes = random.below(1U << 30);
        group.pool = random.name();
        group.lossless = random.once_in(2);
        group.xoff_bytes = random.below(1U << 30);
    }
    return port;
}

WredConfig random_wred(Random& random) {
    WredConfig wred;
    for (WredCurveConfig* curve : {&wred.green, &wred.yellow, &wred.red, &wred.ect}) {
        if (random.once_in(2)) curve->min_bytes = random.below(1U << 30);
        if (random.once_in(2)) curve->max_bytes = random.below(1U << 30);
        if (random.once_in(2))
            curve->probability = Chance::percent(static_cast<std::uint32_t>(random.below(101)));
    }
    if (random.once_in(2)) wred.sojourn_max = Duration{static_cast<std::int64_t>(random.below(1U << 30))};
    wred.mark_at = random.one_of({MarkAt::dequeue, MarkAt::enqueue, MarkAt::sojourn});
    wred.weight = static_cast<std::uint8_t>(random.below(16));
    wred.ecn = random.once_in(2);
    wred.drop_non_ect = random.one_of<std::optional<bool>>({std::nullopt, false, true});
    return wred;
}

DecisionsConfig random_decisions(Random& random) {
    DecisionsConfig decisions;
    decisions.record = random.one_of<std::optional<RecordMode>>(
        {std::nullopt, RecordMode::off, RecordMode::ready, RecordMode::on});
    if (random.once_in(2)) decisions.file = random.text(0);
    if (random.once_in(2)) decisions.ring = static_cast<std::uint32_t>(2 + random.below((1U << 24) - 1));
    if (random.once_in(2)) decisions.ports = {random.name()};
    if (random.once_in(2)) decisions.egress = {"p1", "p2"};
    if (random.once_in(2)) decisions.classes = {7, random.one_of<ClassId>({0, 3})};
    if (random.once_in(2)) decisions.verdicts = {Verdict::paused, Verdict::sent};
    if (random.once_in(2)) decisions.flow.source = network_of(random.prefix());
    if (random.once_in(2)) decisions.flow.destination_port = static_cast<std::uint16_t>(random.below(65'536));
    if (random.once_in(2)) decisions.flow.destination_qp = static_cast<std::uint32_t>(random.below(1U << 24));
    return decisions;
}

void add_tables(Config& config, Random& random) {
    for (std::uint64_t i = random.below(5); i > 0; --i) {
        const IpPrefix at = random.prefix();
        NeighborConfig neighbor{at.address, random.name(), random.mac(), {}, {}};
        if (random.once_in(2)) neighbor.vlan = static_cast<std::uint16_t>(1 + random.below(4094));
        add(config, neighbor);
        if (random.once_in(2)) {
            neighbor.port = random.name();
            add(config, neighbor);
        }
        RouteConfig route{network_of(random.prefix()), {}, {}};
        for (std::uint64_t hops = random.below(4); hops > 0; --hops)
            route.via.push_back({random.prefix().address, static_cast<std::uint32_t>(1 + random.below(256)),
                                 random.once_in(2) ? random.name() : std::string()});
        add(config, route);
        config.events.push_back(
            {Duration{static_cast<std::int64_t>(random.number() % 8'640'000'000'000'000'000ULL)},
             random.text(1),
             {}});
    }
}

Config random_config(unsigned seed) {
    Random random(seed);
    Config config;
    config.clock = random.one_of({ClockKind::virtual_time, ClockKind::real_time});
    config.seed = random.number();
    config.hash_seed = random.number();
    config.hash_roce_qp = random.once_in(2);
    config.workers = static_cast<unsigned>(1 + random.below(16));
    if (random.once_in(2))
        config.cores = {static_cast<unsigned>(512 + random.below(512)),
                        static_cast<unsigned>(random.below(512))};
    if (random.once_in(2)) config.eal = {random.text(1)};
    config.virtual_turn = Duration{static_cast<std::int64_t>(random.number() % 1'000'000'000'001ULL)};
    if (random.once_in(2)) config.buffer_profile = random.one_of({"spectrum-2", "tomahawk3", "trident3"});
    config.buffer_size_bytes = 1 + random.number() % (1ULL << 40);
    config.cell_bytes = static_cast<std::uint32_t>(64 + random.below(2048 - 63));
    if (random.once_in(2)) {
        const auto ms = [&](std::uint64_t low, std::uint64_t high) {
            return milliseconds(static_cast<std::int64_t>(low + random.below(high - low + 1)));
        };
        config.watchdog.detection = ms(100, 5'000);
        if (random.once_in(2)) config.watchdog.restoration = ms(100, 60'000);
        if (random.once_in(2)) config.watchdog.poll = ms(1, 5'000);
        config.watchdog.action = static_cast<WatchdogAction>(random.below(4));
    }
    if (random.once_in(2)) config.port_defaults = random_port({}, random);
    if (random.once_in(2)) config.maps["default"] = random_map({}, random);
    for (std::uint64_t i = random.below(4); i > 0; --i)
        config.maps[random.name()] = random_map(config.maps["default"], random);
    for (std::uint64_t i = random.below(6); i > 0; --i)
        config.ports[random.name()] = random_port(config.port_defaults, random);
    if (random.once_in(3)) config.ports["default"] = random_port({}, random);
    for (std::uint64_t i = random.below(3); i > 0; --i) config.wred[random.name()] = random_wred(random);
    if (random.once_in(2)) config.decisions = random_decisions(random);
    add_tables(config, random);
    sort_config(config);
    return config;
}

}  // namespace

TEST_GROUP(ConfigRoundTrip){};

TEST(ConfigRoundTrip, defaultsAreAnEmptyFile) { STRCMP_EQUAL("", to_toml(Config{}).c_str()); }

TEST(ConfigRoundTrip, saysWhatDiffersAndNothingElse) {
    Config config;
    config.seed = 7;
    config.buffer_size_bytes = 32'000'000;
    config.port_defaults.mtu = 1500;
    config.ports["a.b"] = config.ports["p10"] = config.ports["p2"] = config.port_defaults;
    config.ports["p2"].queue[3].weight = std::uint8_t{9};
    config.maps["default"].cnp_tc.reset();
    add(config, RouteConfig{*parse_network("10.0.0.0/8"),
                            {{*parse_address("10.0.1.2"), 2}, {*parse_address("10.0.2.2"), 1}},
                            {}});
    STRCMP_EQUAL(R"(seed = 7

[buffer]
size = "32MB"

[default]
mtu = 1500

[map.default]
cnp_tc = "dscp"

[port."a.b"]

[port.p2]

[port.p2.queue.3]
weight = 9

[port.p10]

[[route]]
prefix = "10.0.0.0/8"
via = [{address = "10.0.1.2", weight = 2}, "10.0.2.2"]
)",
                 to_toml(config).c_str());
}

TEST(ConfigRoundTrip, randomConfigurationsLoadBackEqual) {
    for (unsigned seed = 1; seed <= 500; ++seed) {
        const Config config = random_config(seed);
        const std::string text = to_toml(config);
        const ConfigResult back = parse_config(text, "f");
        const std::string label = "seed " + std::to_string(seed) + "\n" + text;
        if (!back) FAIL((back.error().front().text() + "\n" + label).c_str());
        CHECK_TRUE_TEXT(*back == config, label.c_str());
        STRCMP_EQUAL_TEXT(text.c_str(), to_toml(*back).c_str(), label.c_str());
    }
}

// Any bytes at all: an answer, never a crash. Mutations of a real file reach further than noise.
TEST(ConfigRoundTrip, damagedFilesAreRefusedOrAccepted) {
    Random random(99);
    for (unsigned seed = 1; seed <= 300; ++seed) {
        std::string text = to_toml(random_config(seed));
        for (std::uint64_t i = 1 + random.below(4); i > 0 && !text.empty(); --i) {
            const std::size_t at = random.below(text.size());
            if (random.once_in(3))
                text.erase(at, random.below(9));
            else if (random.once_in(2))
                text.insert(at, text.substr(random.below(text.size()), random.below(30)));
            else
                text[at] = static_cast<char>(random.below(256));
        }
        const ConfigResult result = parse_config(text, "f");
        if (result) continue;
        CHECK_FALSE(result.error().empty());
        for (const ConfigError& error : result.error())
            CHECK_TRUE_TEXT(error.text().find('\n') == std::string::npos, error.text().c_str());
    }
}

}  // namespace sluice::config_roundtrip_test

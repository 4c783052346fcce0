#include "lib/peer/faults.hh"

#include <algorithm>
#include <cmath>

#include "lib/values/class_mask.hh"

namespace sluice {
namespace {

// A stream of draws for each question; the numbers are part of a seed's meaning.
struct Streams {
    std::uint32_t drop, bad_fcs, duplicate, corrupt;
};
constexpr std::array<Streams, 3> streams_of_ways{
    {{0xFA01, 0xFA07, 0xFA04, 0xFA02}, {0xFB01, 0xFB07, 0xFB04, 0xFB02}, {0xFA05, 0, 0xFA06, 0}}};

}  // namespace

// 1 - (1 - rate)^bits.
bool FaultRule::has_bit_error(const DrawKey& key, std::uint32_t bytes) const {
    constexpr std::uint32_t min_bytes = 60, fcs_bytes = 4;
    const double bits = 8.0 * (std::max(bytes, min_bytes) + fcs_bytes);
    const double odds = -std::expm1(bits * std::log1p(-bit_error_rate));
    return std::ldexp(static_cast<double>(draw(key) >> 11), -53) < odds;
}

std::vector<FaultRule> rules_of(const FrameFaults& faults, LinkWay way) {
    const Streams& streams = streams_of_ways[static_cast<std::size_t>(way)];
    std::vector<FaultRule> rules;
    const auto add = [&](bool wanted, FaultAction action, std::uint32_t stream, const FrameChoice& choice) {
        if (wanted) rules.push_back({{}, choice, action, stream, faults.delay, 1, faults.ber, 0, {}, 0});
    };
    add(faults.drop_every != 0 || faults.drop_chance != Chance{}, FaultAction::drop, streams.drop,
        {faults.drop_every, 0, faults.drop_chance});
    add(faults.ber > 0, FaultAction::bad_fcs, streams.bad_fcs, {});
    add(faults.duplicate_chance != Chance{}, FaultAction::duplicate, streams.duplicate,
        {0, 0, faults.duplicate_chance});
    add(faults.corrupt_chance != Chance{}, FaultAction::corrupt, streams.corrupt,
        {0, 0, faults.corrupt_chance});
    add(faults.delay != Duration{}, FaultAction::delay, 0, {});
    return rules;
}

FrameFate fate_of(std::span<const FaultRule> rules, std::uint64_t seed, std::uint32_t port,
                  std::uint64_t number, std::uint32_t bytes) {
    FrameFate fate;
    for (const FaultRule& rule : rules) {
        if (!rule.takes(seed, port, number, bytes)) continue;
        if (rule.action == FaultAction::drop) fate.drop = true;
        if (rule.action == FaultAction::bad_fcs) fate.bad_fcs = true;
        if (fate.drop || fate.bad_fcs) break;
        if (rule.action == FaultAction::duplicate) fate.duplicate = true;
        if (rule.action == FaultAction::corrupt) fate.corrupt = rule.corrupt_draw(seed, port, number);
        if (rule.action == FaultAction::delay) fate.delay = rule.time;
    }
    return fate;
}

bool corrupt_bit(std::span<std::uint8_t> frame, std::uint64_t random, std::size_t from) {
    if (frame.size() <= from) return false;
    const std::uint64_t bit = random % ((frame.size() - from) * 8);
    frame[from + bit / 8] ^= static_cast<std::uint8_t>(1U << bit % 8);
    return true;
}

bool change_pfc(const FaultSettings& settings, std::span<std::uint8_t, pfc_frame_bytes> frame) {
    if (!settings.pfc_class_vector && !settings.pfc_quanta) return false;
    const auto vector = frame.subspan<offsetof(PfcFrame, class_enable), 2>();
    const auto quanta_at = [&](ClassId n) { return frame.data() + offsetof(PfcFrame, quanta) + 2U * n; };
    const unsigned before = load_be<std::uint16_t>(vector.data());
    const unsigned after = settings.pfc_class_vector.value_or(static_cast<std::uint16_t>(before));
    std::uint16_t meant = 0;
    for_each_class(before & 0xFFU,
                   [&](ClassId n) { meant = std::max(meant, load_be<std::uint16_t>(quanta_at(n))); });
    bool changed = after != before;
    store_be<std::uint16_t>(vector.data(), static_cast<std::uint16_t>(after));
    for_each_class(after & 0xFFU, [&](ClassId n) {
        const auto was = load_be<std::uint16_t>(quanta_at(n));
        const bool added = (before >> n & 1U) == 0;
        const std::uint16_t now = settings.pfc_quanta.value_or(added ? meant : was);
        changed |= now != was;
        store_be<std::uint16_t>(quanta_at(n), now);
    });
    return changed;
}

std::vector<std::string_view> faults_against_lossless(const FaultSettings& settings) {
    std::vector<std::string_view> names;
    const auto add = [&](bool broken, std::string_view name) {
        if (broken) names.push_back(name);
    };
    add(settings.received.duplicate_chance != Chance{}, "duplicate_chance");
    add(settings.received.delay != Duration{}, "delay");
    // These reach our PFC, too.
    add(settings.sent.drop_every != 0, "tx_drop_every");
    add(settings.sent.drop_chance != Chance{}, "tx_drop_chance");
    add(settings.sent.corrupt_chance != Chance{}, "tx_corrupt_chance");
    add(settings.sent.delay != Duration{}, "tx_delay");
    add(settings.sent.ber > 0, "tx_ber");
    add(settings.pfc.drop_every != 0, "pfc_lose_every");
    add(settings.pfc.drop_chance != Chance{}, "pfc_lose_chance");
    add(settings.pfc.delay != Duration{}, "pfc_delay");
    add(settings.pfc_class_vector.has_value(), "pfc_class_vector");
    add(settings.pfc_quanta.value_or(0xFFFF) != 0xFFFF, "pfc_quanta");
    add(settings.overshoot_bytes != 0, "overshoot");
    return names;
}

}  // namespace sluice

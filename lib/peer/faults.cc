#include "lib/peer/faults.hh"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "lib/values/class_mask.hh"

namespace sluice {
namespace {

// One stream of draws a question; the numbers are part of what a seed means.
enum Stream : std::uint32_t {
    stream_drop = 0xFA01,
    stream_corrupt,
    stream_corrupt_bit,
    stream_duplicate,
    stream_pfc_lose,
    stream_pfc_duplicate,
    stream_bit_error,
};
constexpr std::uint32_t streams_of_sent = 0x100;  // further on, for frames that we send

// By `every`, or by chance; with neither none.
bool takes(const FaultDice& dice, std::uint32_t stream, std::uint64_t number, Chance odds,
           std::uint64_t every = 0) {
    return FrameChoice{every, 0, odds}.takes({dice.seed, stream, dice.port, number});
}

// Any of the bits that the FCS covers, its own among them, is wrong: 1 - (1 - rate)^bits.
bool has_bit_error(const FaultDice& dice, std::uint32_t stream, double rate, std::uint64_t number,
                   std::uint32_t bytes) {
    if (rate <= 0) return false;
    constexpr std::uint32_t min_bytes = 60, fcs_bytes = 4;
    const double bits = 8.0 * (std::max(bytes, min_bytes) + fcs_bytes);
    const double odds = -std::expm1(bits * std::log1p(-rate));
    return std::ldexp(static_cast<double>(draw({dice.seed, stream, dice.port, number}) >> 11), -53) < odds;
}

FrameFate fate_of(const FaultDice& dice, const FrameFaults& faults, std::uint64_t number, std::uint32_t bytes,
                  std::uint32_t streams) {
    FrameFate fate;
    fate.drop = takes(dice, streams + stream_drop, number, faults.drop_chance, faults.drop_every);
    if (fate.drop) return fate;
    fate.bad_fcs = has_bit_error(dice, streams + stream_bit_error, faults.bit_error_rate, number, bytes);
    if (fate.bad_fcs) return fate;
    fate.duplicate = takes(dice, streams + stream_duplicate, number, faults.duplicate_chance);
    if (takes(dice, streams + stream_corrupt, number, faults.corrupt_chance))
        fate.corrupt = draw({dice.seed, streams + stream_corrupt_bit, dice.port, number});
    return fate;
}

}  // namespace

FrameFate FaultDice::frame(const FaultSettings& settings, std::uint64_t number, std::uint32_t bytes) const {
    return fate_of(*this, settings.of_received(), number, bytes, 0);
}

FrameFate FaultDice::sent(const FaultSettings& settings, std::uint64_t number, std::uint32_t bytes) const {
    return fate_of(*this, settings.of_sent(), number, bytes, streams_of_sent);
}

PfcFate FaultDice::pfc(const FaultSettings& settings, std::uint64_t number) const {
    PfcFate fate;
    fate.lose = takes(*this, stream_pfc_lose, number, settings.pfc_lose_chance, settings.pfc_lose_every);
    fate.duplicate = !fate.lose && takes(*this, stream_pfc_duplicate, number, settings.pfc_duplicate_chance);
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
    add(settings.duplicate_chance != Chance{}, "duplicate_chance");
    add(settings.delay != Duration{}, "delay");
    // These reach our PFC, too.
    add(settings.tx_drop_every != 0, "tx_drop_every");
    add(settings.tx_drop_chance != Chance{}, "tx_drop_chance");
    add(settings.tx_corrupt_chance != Chance{}, "tx_corrupt_chance");
    add(settings.tx_delay != Duration{}, "tx_delay");
    add(settings.tx_ber > 0, "tx_ber");
    add(settings.pfc_lose_every != 0, "pfc_lose_every");
    add(settings.pfc_lose_chance != Chance{}, "pfc_lose_chance");
    add(settings.pfc_delay != Duration{}, "pfc_delay");
    add(settings.pfc_class_vector.has_value(), "pfc_class_vector");
    add(settings.pfc_quanta.value_or(0xFFFF) != 0xFFFF, "pfc_quanta");
    add(settings.overshoot_bytes != 0, "overshoot");
    return names;
}

}  // namespace sluice

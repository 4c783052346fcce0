// The recorder's entries for a port: pauses sent and received, drops, microbursts, storms and link changes.
// Values only; times are the switch's, sizes cells.
//
// Consecutive events of a kind are one entry, a spell: pauses and microbursts that begin within `spell_gap`
// of the end of the one before, at the same group, priority or queue; drops for one reason.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "lib/frame/drop_reason.hh"
#include "lib/pfc/pfc_watchdog.hh"
#include "lib/record/decision_event.hh"
#include "lib/record/microburst.hh"
#include "lib/values/ids.hh"
#include "lib/values/port_mask.hh"
#include "lib/values/units.hh"

namespace sluice {

constexpr Duration spell_gap = milliseconds(1);

struct PauseSpell {
    Time first;               // beginning of the first pause
    Time last;                // of the last
    Duration paused{};        // the sum of those that have ended
    Duration longest{};       // of those that have ended
    std::uint64_t count = 0;  // pauses
    Duration last_paused{};   // length of the last, once it has ended
    ClassId number = 0;       // the group that sent it, or the priority that was received
    bool running = false;

    Time end() const { return last + last_paused; }  // of the last, where it does not run
};

// Cells of a queue by the ports that they came in by, most first.
struct QueueFeeders {
    static constexpr std::size_t most = 4;
    std::array<GroupPaused::Filler, most> from{};  // `queue`: the group there
    std::uint32_t others = 0;                      // cells
    std::uint32_t count = 0;
};

struct PauseSent {
    PauseSpell spell;
    // At its first XOFF: the group, and the queues that its counted cells were in.
    GroupPaused start;
    QueueFeeders feeders;             // of start.fillers[0]
    std::uint32_t peak_headroom = 0;  // cells, in all pauses that have ended
    std::uint32_t behind = 0;         // pauses for a worker that fell behind
    bool all_counted = false;         // else start.fillers and feeders are of a sample of the packets
};

struct DropSpell {
    Time first;
    Time last;
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::uint64_t lossless = 0;  // packets of lossless classes
    FlowKey flow;                // of the first
    PortMask from, to;           // ports by which they came in, and were to leave where that was known
    std::uint8_t classes = 0;    // masks
    std::uint8_t groups = 0;
    std::uint8_t queues = 0;
    DropReason reason = DropReason::none;
};

struct BurstSpell {
    Time first;        // beginning of the first microburst
    Time last;         // of the last
    Time end;          // of the last
    Duration above{};  // the sum of their lengths
    std::uint64_t count = 0;
    std::uint64_t marked = 0;   // packets
    std::uint64_t dropped = 0;  // packets
    PortMask fed_by;
    std::uint32_t peak_cells = 0;
    ClassId queue = 0;
};

struct PortNote {
    enum class Kind : std::uint8_t { link_up, link_down, storm_begins, storm_ends };
    Time at;
    std::uint64_t passed = 0;   // packets in the storm
    std::uint64_t dropped = 0;  // likewise
    Kind kind = Kind::link_up;
    ClassId queue = 0;  // of a storm
    WatchdogAction action{};
};

template <class Record>
constexpr bool fits_ring = std::is_trivially_copyable_v<Record> && sizeof(Record) % 8 == 0;
static_assert(fits_ring<PauseSpell> && fits_ring<PauseSent> && fits_ring<DropSpell> &&
              fits_ring<BurstSpell> && fits_ring<PortNote>);

}  // namespace sluice

// The effective buffer, queues and PFC: the preset, overridden by buffer.profile, and both by the
// configuration's keys; for compile, lint, `--check`'s tables and the report. All sizes in cells.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/config/compile/port_headroom.hh"
#include "control/config/schema/buffer_profile.hh"
#include "control/config/schema/config.hh"
#include "control/config/schema/finding.hh"
#include "lib/buffer/buffer_limits.hh"
#include "lib/buffer/cells.hh"
#include "lib/frame/trim.hh"
#include "lib/pfc/headroom.hh"
#include "lib/pfc/pfc_mode.hh"
#include "lib/queue/scheduler.hh"
#include "lib/queue/wred.hh"

namespace sluice {

// Sizes are within the buffer; a configuration that promises more cells than it has is refused.
struct EffectivePool {
    std::string name;
    PoolDirection direction = PoolDirection::ingress;
    std::uint8_t index = 0;  // within its direction
    std::uint32_t size_cells = 0;
    std::uint64_t reserved_cells = 0;  // of its groups or queues
    std::uint64_t headroom_cells = 0;  // private headrooms, or the shared one
    std::int64_t shared_cells = 0;     // S: the rest; not above 0: refused
    std::uint32_t shared_headroom_cells = 0;
};

struct EffectivePort {
    std::uint8_t lossless = 0;  // priorities, which are groups
    PfcMode mode = PfcMode::symmetric;
    PfcMasks masks;
    MapConfig map;
    std::array<GroupLimits, classes> group;
    std::array<QueueLimits, classes> queue;
    PortSchedule schedule;
    TrimPolicy trim;                        // of packets that leave here
    std::array<std::string, classes> wred;  // the profile of each queue, by name
    std::array<std::optional<WredProfile>, classes> wred_profile;
    Headroom headroom;                                  // of a lossless group, as computed
    std::array<bool, classes> headroom_is_given{};      // `xoff` stands in the configuration
    const ProfileHeadroom* profile_headroom = nullptr;  // what the profile has for its lossless groups
};

// With a port the key is one of the port's ("priority_group.3.xoff"), without one it is a whole path.
struct QosProblem {
    std::string port;
    std::string key;
    std::string wrong;
    std::string fix;
    FindingId id;        // of the finding that lint_qos makes of it
    std::string near{};  // the port to point at when the file does not have the key

    std::string path() const;
};

struct EffectiveQos {
    CellSize cell{256};
    std::uint32_t buffer_cells = 0;
    std::vector<EffectivePool> pools;  // ingress first, each in order of names
    std::map<std::string, EffectivePort, NaturalOrder> ports;
    std::vector<QosProblem> problems;   // reasons to refuse it; empty: it may be compiled
    std::vector<QosProblem> tolerated;  // reasons why it is not lossless, accepted by small_xoff or a profile
    const BufferProfile* profile = nullptr;  // of the configuration, which lives as long as the program

    const EffectivePool* pool(PoolDirection direction, unsigned index) const;
};

// The fields of a RoCE packet that decide its class.
struct PacketLabel {
    unsigned dscp;
    std::optional<std::uint8_t> pcp{};  // absent: untagged
    bool cnp = false;
    auto operator<=>(const PacketLabel&) const = default;
};

EffectiveQos effective_qos(const Config& config);
// The port's own classification: its map, or the one its preset brings.
MapConfig map_of(const Config& config, const PortConfig& port);

// The tables of `--check`: pools with their sums, then headroom term by term, once for ports that agree.
std::string qos_tables(const EffectiveQos& qos);
// The terms of a headroom, a line each.
std::string headroom_table(const Headroom& headroom);
// The values of buffer.profile as a sentence for lint's note ("tomahawk3, Broadcom Tomahawk 3 (BCM56980):
// size 67117468, cell 254, ..."), and as a table for --check; empty without a profile.
std::string profile_sentence(const Config& config, const BufferProfile& profile);
std::string profile_table(const Config& config, const EffectiveQos& qos);

}  // namespace sluice

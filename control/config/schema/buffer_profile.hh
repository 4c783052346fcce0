// Buffers of real switches: `buffer.profile = "tomahawk3"`.
//
// A profile is a file of conf/profiles, part of the binary: memory and cell, pools, and limits of groups and
// queues. The configuration's values override it, and it overrides the presets. Memory and cell are defaults
// of buffer.size and buffer.cell at parsing; compile/qos.hh looks the rest up.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/schema/config.hh"

namespace sluice {

// Limits of a priority group or a queue; absent: the preset's.
struct ProfileLimits : ThresholdConfig {
    std::optional<std::uint64_t> size_bytes;  // reserved
    std::optional<std::uint64_t> xon_bytes;
    std::optional<std::uint64_t> xon_offset_bytes;
};

// The headroom of a lossless group at this speed, for cables up to this length.
struct ProfileHeadroom {
    Rate speed{};
    std::uint32_t cable_m = 0;
    std::uint64_t xoff_bytes = 0;
    std::optional<std::uint64_t> size_bytes;  // reserved, instead of lossless_group's
    SourcePlace place;
};

struct BufferProfile {
    std::string name;
    std::string asic;
    std::string ports;  // of the switch that it is taken from, for people
    std::uint64_t size_bytes = 0;
    std::uint32_t cell_bytes = 0;
    std::map<std::string, PoolConfig> pools;  // by the names of the presets' pools
    ProfileLimits lossless_group, lossy_group, lossless_queue, lossy_queue;
    std::vector<ProfileHeadroom> headroom;

    // The row of the shortest cable that is long enough; null: there is none, and the headroom is computed.
    const ProfileHeadroom* headroom_of(Rate speed, std::uint32_t cable_m) const;
};

constexpr std::string_view no_profile = "none";

// "none" first.
std::vector<std::string> buffer_profile_names();
// Null for "none", and for a name that is not a profile's.
const BufferProfile* buffer_profile(std::string_view name);
// Sets buffer.size and buffer.cell to their defaults: the profile's, or the built-in ones.
void start_from_profile(Config& config);

// For tests, which parse each file.
tl::expected<BufferProfile, std::vector<ConfigError>> parse_buffer_profile(std::string_view text,
                                                                           std::string_view file);

}  // namespace sluice

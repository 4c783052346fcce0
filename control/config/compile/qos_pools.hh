// The presets (`qos = NAME` of a port), and the pools of an EffectiveQos: make_pools comes first; each group
// and queue then chooses its pool and adds its promise; check_pools comes last. Sizes round up to cells for a
// promise and down for a limit.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/compile/qos.hh"

namespace sluice {

struct Preset {
    std::uint8_t lossless;
    std::uint8_t roce;  // traffic classes
    PfcMode mode;
    std::array<std::uint8_t, classes> weight;  // 0: strict
    bool one_ingress_pool;
    std::string_view wred;   // of the queues of RoCE
    std::uint8_t trims = 0;  // queues
    std::optional<std::uint8_t> trim_dscp{};
};

// A name that is not a preset's is `lossless`.
Preset preset_of(const std::string& name);

enum class Round : std::uint8_t { up, down };  // a promise, a limit

// A size of the configuration. One above the buffer is a problem of its key, and counts as the whole buffer.
std::uint32_t configured_cells(EffectiveQos& qos, Round round, std::uint64_t bytes, const std::string& port,
                               const std::string& key);

// The cells of `buffer.size`; when it is too large, a problem and the maximum.
std::uint32_t buffer_cells(const Config& config, EffectiveQos& qos);

// The pools of the file, and of each direction without one the pools of the presets.
void make_pools(const Config& config, EffectiveQos& qos);

// The place of a key in a port. Only errors need its text, and a fabric has millions of keys.
struct PortKey {
    std::string_view kind;
    unsigned n;
    std::string_view key;

    operator std::string() const { return fmt::format("{}.{}.{}", kind, n, key); }
};

// The promises of a pool beside its shared part, for the finding when they exceed it.
struct PoolAccount {
    // The promises by one key of the file ("priority_group.3.size"); [default] gives one for all ports.
    struct Key {
        std::string port;  // the first
        std::uint64_t ports = 0;
        std::uint64_t cells = 0;  // of all
    };
    std::map<std::string, Key> keys;
    std::string full_at;  // the first port for which there is no room
};

// The pool that a group or queue names, or else the preset's for its kind, or else any of the direction.
// Null, and a problem: there is none of that name.
EffectivePool* choose_pool(EffectiveQos& qos, PoolDirection direction, const std::optional<std::string>& name,
                           bool lossless, const std::string& port, const PortKey& key);

// Sets each pool's shared part; a pool without one is a problem. `accounts`: by pool.
void check_pools(const Config& config, EffectiveQos& qos, const std::vector<PoolAccount>& accounts);

// True when the headroom of this group alone exceeds its pool's shared one.
bool exceeds_shared_headroom(const EffectiveQos& qos, const GroupLimits& group);

}  // namespace sluice

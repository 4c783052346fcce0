// The WRED and ECN profiles that queues name: those of the configuration and the built-in ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "control/config/compile/qos.hh"
#include "lib/queue/wred.hh"

namespace sluice {

// The built-in ones; [wred.NAME] of the same name overrides one.
//   linear  100/400 KB at 25G, in proportion to the speed, from two packets on, 20 % (the presets' default)
//   steep   150/1500 KB, 100 %
//   sonic   1 MiB/2 MiB, 5 % (SONiC's default)
//   none    neither marks nor drops
constexpr std::string_view wred_profile_names = "linear, steep, sonic, none";

// The profile `name` on a port of this speed and MTU; nothing for "none". A problem without a key: the name.
tl::expected<std::optional<WredProfile>, QosProblem> wred_profile(const Config& config,
                                                                  const std::string& name, Rate speed,
                                                                  std::uint32_t mtu);

// A curve before it is compiled: nothing below min, all from max on, and the chance just below max. Bytes.
struct CurveValues {
    std::uint64_t min_bytes = 0, max_bytes = 0;
    Chance probability;
    bool operator==(const CurveValues&) const = default;
};
// The curve of ECT packets, without a drop precedence, of such a profile; nothing: there is none.
std::optional<CurveValues> marking_curve(const Config& config, const std::string& name, Rate speed,
                                         std::uint32_t mtu);

}  // namespace sluice

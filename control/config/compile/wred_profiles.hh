// The WRED and ECN profiles that queues name: those of the configuration and the built-in ones.
#pragma once

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

}  // namespace sluice

// The tables of methods, by subject; rpc_methods() is all of them.
#pragma once

#include <span>

#include "control/serve/server/rpc.hh"
#include "control/switch/running/route_lookup.hh"

namespace sluice {

inline constexpr auto reads = RpcMethod::Kind::reads;
inline constexpr auto changes = RpcMethod::Kind::changes;

std::span<const RpcMethod> config_methods();  // methods_config.cc
std::span<const RpcMethod> qos_methods();     // methods_qos.cc
std::span<const RpcMethod> record_methods();  // methods_record.cc
std::span<const RpcMethod> route_methods();   // methods_routes.cc
std::span<const RpcMethod> worker_methods();  // methods_workers.cc

// The parameters of a question about a flow, as route.lookup has them; `finish` is the caller's.
FlowQuestion flow_question(RpcParameters& parameters);

}  // namespace sluice

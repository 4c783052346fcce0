// The tables of methods, by subject; rpc_methods() is all of them.
#pragma once

#include <span>

#include "control/serve/server/rpc.hh"
#include "control/switch/running/route_lookup.hh"

namespace sluice {

using enum RpcMethod::Kind;

std::span<const RpcMethod> config_methods();  // methods_config.cc
std::span<const RpcMethod> qos_methods();     // methods_qos.cc
std::span<const RpcMethod> record_methods();  // methods_record.cc
std::span<const RpcMethod> route_methods();   // methods_routes.cc

// The parameters of a question about a flow, as route.lookup has them; `finish` is the caller's.
FlowQuestion flow_question(RpcParameters& parameters);

}  // namespace sluice

// The addresses of the machine that the switch runs on: what goes to them on an XDP port stays with the
// kernel.
#pragma once

#include <set>

#include "dataplane/bpf/steer.hh"

namespace sluice {

// Of every interface of this network namespace, IPv4 mapped into IPv6.
std::set<Steering::Address> machine_addresses();

}  // namespace sluice

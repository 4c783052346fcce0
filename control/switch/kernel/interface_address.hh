// Addresses of an interface of the kernel that is ours (rtnetlink(7)).
#pragma once

#include <string>

#include "lib/frame/ip_address.hh"

namespace sluice {

// It has the address, with its subnet's length, from now on, or has it no more; also when that was so before.
// The interface is up and nobody else's, so an IPv6 address is not asked for first. An error's text, or
// empty.
std::string set_interface_address(int interface, const IpPrefix& address, bool there);

// The interface of that name has the address, whatever the length of its subnet.
bool has_interface_address(const std::string& interface, const IpAddress& address);

}  // namespace sluice

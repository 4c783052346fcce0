// What a driver of DPDK says of itself: each has it in its library, for dpdk-pmdinfo.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

// Arguments of a software device ("net_null0,foo=1") of which its driver knows nothing, as a part of an
// error: what is wrong, and what there is. Empty: none, or the driver does not say which it takes.
std::string unknown_arguments(std::string_view device);

// Likewise, of a driver that says this ("size=<int> copy=<int>").
std::string unknown_arguments(std::string_view device, std::string_view driver, std::string_view takes);

}  // namespace sluice

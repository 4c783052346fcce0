// What a driver of DPDK says of the arguments that it takes: most have it in their library, for dpdk-pmdinfo.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

// Arguments of a software device ("net_null0,foo=1") of which its driver knows nothing, as a part of an
// error: what is wrong, and what there is. Empty: none, or the driver does not say which it takes.
std::string unknown_arguments(std::string_view device);

// Of a card that started ("03:00.0,foo=1"): drivers of cards leave out without a word what they do not know.
// What is to be said of that, or empty.
std::string ignored_arguments(std::string_view device, std::string_view driver);

}  // namespace sluice

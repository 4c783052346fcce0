#include "control/machine_addresses.hh"

#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace sluice {

std::set<Steering::Address> machine_addresses() {
    std::set<Steering::Address> addresses;
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return addresses;
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
        if (entry->ifa_addr == nullptr) continue;
        Steering::Address address{};
        if (entry->ifa_addr->sa_family == AF_INET6) {
            sockaddr_in6 v6{};
            std::memcpy(&v6, entry->ifa_addr, sizeof v6);
            std::memcpy(address.data(), &v6.sin6_addr, 16);
        } else if (entry->ifa_addr->sa_family == AF_INET) {
            sockaddr_in v4{};
            std::memcpy(&v4, entry->ifa_addr, sizeof v4);
            address = Steering::mapped(reinterpret_cast<const std::uint8_t*>(&v4.sin_addr));
        } else {
            continue;
        }
        addresses.insert(address);
    }
    freeifaddrs(list);
    return addresses;
}

}  // namespace sluice

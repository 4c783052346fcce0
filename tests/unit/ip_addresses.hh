// Addresses that tests give to hosts and ports.
#pragma once

#include <cstdint>

#include "lib/frame/ip_address.hh"
#include "lib/values/endian.hh"

namespace sluice {

// In host order.
inline IpAddress v4(std::uint32_t address) {
    IpAddress out;
    store_be(out.bytes.data(), address);
    return out;
}

// 2001:db8::`last`.
inline IpAddress v6(std::uint8_t last) {
    IpAddress out;
    out.is_v6 = true;
    out.bytes = {0x20, 1, 0xD, 0xB8};
    out.bytes[15] = last;
    return out;
}

}  // namespace sluice

// A network card: the settings and questions to it through DPDK, in order, and the port's capabilities by its
// answers. The card has been probed and is not yet started. Called by control.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "dataplane/base/packet.hh"
#include "dataplane/ports/port_capabilities.hh"
#include "lib/frame/headers.hh"
#include "lib/values/units.hh"

namespace sluice {

struct NicSpec {
    std::uint16_t mtu = 9100;
    rte_mempool* pool = nullptr;
    Rate speed = gigabits(100);
    Duration turn_max{};              // longest time between two looks at the receive ring
    Duration ring{};                  // time that may wait in the transmit ring
    std::optional<MacAddress> mac{};  // the port's, where the configuration names one
    std::uint16_t receive_queues = 1;
};

// `what` could not be done; `error` is 0 when it says all, else -errno.
struct NicError {
    std::string what;
    int error = 0;
};

// Configures and starts it: one transmit queue, receive queues as rss.hh says, no offload but frames of
// several packet buffers where they are needed, no flow control by the NIC, MAC control frames to us, rings
// as ring_size.hh says.
tl::expected<PortCapabilities, NicError> start_nic(std::uint16_t id, const NicSpec& spec);

}  // namespace sluice

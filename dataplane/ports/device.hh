// A port's device string taken apart: the kind of device, the files of a capture, the interface of the
// kernel.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace sluice {

struct DeviceText {
    std::string driver;  // "net_pcap", "net_null", ...; "xdp"; "pci" for a PCI address; empty: no device
    std::vector<std::string> rx_pcaps;  // net_pcap only: one for each receive queue
    std::string tx_pcap;
    bool infinite_rx = false;
    std::string pci_address;  // in full; of "pci" only
    std::string interface;    // of "xdp:NAME", and of net_af_packet's iface
    std::string sends_by;     // the interface that frames leave by: that one, or net_pcap's tx_iface
    bool has(std::string_view name) const { return driver == name; }
};

// Never fails: unknown arguments are left to the driver, which judges them.
DeviceText parse_device(std::string_view text);

}  // namespace sluice

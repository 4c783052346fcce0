// A port's device string taken apart: the kind of device, the files of a capture, the interface of the
// kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

struct DeviceText {
    std::string driver;  // "net_pcap", "net_null", ...; "xdp"; "pci" for a PCI address; empty: no device
    std::vector<std::string> rx_pcaps;  // net_pcap only: one for each receive queue
    std::string tx_pcap;
    bool infinite_rx = false;
    std::string pci_address;  // in full; of "pci" only
    std::string interface;    // of "xdp:NAME", and of net_af_packet's iface
    std::string sends_by;     // the egress interface: that one, or net_pcap's tx_iface
    bool has(std::string_view name) const { return driver == name; }
};

// Never fails: unknown arguments are left to the driver, which judges them.
DeviceText parse_device(std::string_view text);

// The refusal of a software device whose frames do not fit its packet buffers, known from its device string.
// A start and `--check` refuse by it.
struct FramesRefused {
    std::string wrong;  // follows the device in a sentence
    std::string remedy;
};

// `device`: the text that `text` was made of. `data_bytes`: of a packet buffer.
std::optional<FramesRefused> refused_frames(const DeviceText& text, const std::string& device,
                                            std::uint32_t data_bytes);

// The arguments that a driver of DPDK takes: most list them in their library, for dpdk-pmdinfo.
//
// Part of an error: arguments of a software device ("net_null0,foo=1") that its driver does not take, and
// those that it takes. Empty: none, or the driver does not list them.
std::string unknown_arguments(std::string_view device);

// A warning about arguments of a started card ("03:00.0,foo=1") that its driver silently ignores, or empty.
std::string ignored_arguments(std::string_view device, std::string_view driver);

}  // namespace sluice

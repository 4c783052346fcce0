// A port's device string taken apart: the kind of device, the files of a capture, the interface of the
// kernel.
#pragma once

#include <cstdint>
#include <optional>
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

// The frames of a software device that its packet buffers do not take, by its device string: a fact known
// before it is started. A start refuses by this, and `--check` likewise.
struct FramesRefused {
    std::string wrong;  // follows the device in a sentence
    std::string remedy;
};

// `device`: the text that `text` was made of. `data_bytes`: of a packet buffer.
std::optional<FramesRefused> refused_frames(const DeviceText& text, const std::string& device,
                                            std::uint32_t data_bytes);

// What a driver of DPDK says of the arguments that it takes: most have it in their library, for dpdk-pmdinfo.
//
// Arguments of a software device ("net_null0,foo=1") of which its driver knows nothing, as a part of an
// error: what is wrong, and what there is. Empty: none, or the driver does not say which it takes.
std::string unknown_arguments(std::string_view device);

// Of a card that started ("03:00.0,foo=1"): drivers of cards leave out without a word what they do not know.
// What is to be said of that, or empty.
std::string ignored_arguments(std::string_view device, std::string_view driver);

}  // namespace sluice

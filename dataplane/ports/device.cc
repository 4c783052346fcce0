#include "dataplane/ports/device.hh"

#include <algorithm>
#include <cctype>
#include <utility>

#include "lib/values/pci_address.hh"

namespace sluice {

DeviceText parse_device(std::string_view text) {
    DeviceText device;
    const std::string_view name = text.substr(0, text.find(','));
    constexpr std::string_view xdp = "xdp:";
    if (name.starts_with(xdp)) {
        device.driver = "xdp";
        device.interface = device.sends_by = name.substr(xdp.size());
        return device;
    }
    std::string_view driver = name;
    while (!driver.empty() && std::isdigit(static_cast<unsigned char>(driver.back())) != 0)
        driver.remove_suffix(1);
    device.driver = driver;
    if (auto address = full_pci_address(name)) {
        device.driver = "pci";
        device.pci_address = std::move(*address);
    }
    std::string_view rest = name.size() < text.size() ? text.substr(name.size() + 1) : std::string_view{};
    while (!rest.empty()) {
        const std::string_view argument = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), argument.size() + 1));
        const auto equals = argument.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string_view key = argument.substr(0, equals);
        const std::string_view value = argument.substr(equals + 1);
        if (key == "rx_pcap" && !value.empty()) device.rx_pcaps.emplace_back(value);
        if (key == "tx_pcap") device.tx_pcap = value;
        if (key == "iface") device.interface = value;
        if (key == "iface" || key == "tx_iface") device.sends_by = value;
        if (key == "infinite_rx") device.infinite_rx = value == "1";
    }
    return device;
}

}  // namespace sluice

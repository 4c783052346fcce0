#include "dataplane/ports/device.hh"

#include <link.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <string_view>
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

namespace {

// net_null fills a mbuf with `size` bytes, whether they fit or not.
std::uint64_t null_frame_bytes(const std::string& device) {
    constexpr std::string_view key = ",size=";
    std::uint64_t most = 0;
    for (std::size_t at = device.find(key); at != std::string::npos; at = device.find(key, at + 1))
        most = std::max<std::uint64_t>(most, std::strtoull(device.c_str() + at + key.size(), nullptr, 0));
    return most;
}

struct DriverSought {
    std::string head;   // how its information begins
    std::string found;  // what it takes
};

// The quoted text behind "params".
std::string params_in(std::string_view information) {
    information = information.substr(0, information.find('}'));
    constexpr std::string_view key = "\"params\": \"";
    const std::size_t at = information.find(key);
    if (at == information.npos) return {};
    information.remove_prefix(at + key.size());
    return std::string(information.substr(0, information.find('"')));
}

// Libraries of DPDK alone.
int look_into(dl_phdr_info* object, std::size_t, void* context) {
    auto& sought = *static_cast<DriverSought*>(context);
    if (object->dlpi_name == nullptr || std::strstr(object->dlpi_name, "librte_") == nullptr) return 0;
    for (unsigned n = 0; n < object->dlpi_phnum; ++n) {
        const auto& part = object->dlpi_phdr[n];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_R) == 0) continue;
        const std::string_view bytes(reinterpret_cast<const char*>(object->dlpi_addr + part.p_vaddr),
                                     part.p_filesz);
        const std::size_t at = bytes.find(sought.head);
        if (at == bytes.npos) continue;
        sought.found = params_in(bytes.substr(at));
        return 1;
    }
    return 0;
}

// The driver's own list: "size=<int> copy=<int>"; empty: it has none.
std::string arguments_of(std::string_view driver) {
    DriverSought sought{"PMD_INFO_STRING= {\"name\": \"" + std::string(driver) + "\"", {}};
    dl_iterate_phdr(look_into, &sought);
    return sought.found;
}

// The first argument of a device that is not among those; empty: there is none. Drivers list theirs with or
// without a space between.
std::string_view first_unknown(std::string_view device, std::string_view takes) {
    constexpr std::array of_dpdk{"representor", "class"};  // whatever the driver
    std::string_view rest = device.substr(std::min(device.find(','), device.size()));
    while (!rest.empty()) {
        rest.remove_prefix(1);
        const std::string_view argument = rest.substr(0, rest.find(','));
        rest.remove_prefix(argument.size());
        const std::string_view key = argument.substr(0, argument.find('='));
        if (takes.find(std::string(key) + "=") == takes.npos &&
            std::find(of_dpdk.begin(), of_dpdk.end(), key) == of_dpdk.end())
            return key;
    }
    return {};
}

}  // namespace

std::optional<FramesRefused> refused_frames(const DeviceText& text, const std::string& device,
                                            std::uint32_t data_bytes) {
    if (text.has("net_null") && null_frame_bytes(device) > data_bytes)
        return FramesRefused{
            "makes frames larger than a packet buffer",
            "set size to at most " + std::to_string(data_bytes) + ", or buffer.packet_buffer to more"};
    return std::nullopt;
}

std::string unknown_arguments(std::string_view device) {
    std::string_view driver = device.substr(0, device.find(','));
    driver = driver.substr(0, driver.find_last_not_of("0123456789") + 1);
    const std::string takes = arguments_of(driver);
    const std::string_view unknown = first_unknown(device, takes);
    if (takes.empty() || unknown.empty()) return {};
    return "; its driver " + std::string(driver) + " has no argument \"" + std::string(unknown) +
           "\"; do: write of these: " + takes;
}

std::string ignored_arguments(std::string_view device, std::string_view driver) {
    const std::string takes = arguments_of(driver);
    const std::string_view unknown = first_unknown(device, takes);
    if (unknown.empty()) return {};
    const std::string which = "\"" + std::string(unknown) + "\"";
    const std::string its = "its driver " + std::string(driver);
    if (takes.empty())
        return its + " does not say which arguments it takes, and may ignore " + which +
               "; do: leave it out, unless DPDK's documentation of the driver has it";
    return its + " has no argument " + which + " and ignores it; do: write of these, or none: " + takes;
}

}  // namespace sluice

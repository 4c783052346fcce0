#include "dataplane/ports/driver_arguments.hh"

#include <link.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace sluice {
namespace {

struct DriverSought {
    std::string head;   // how its information begins
    std::string found;  // what it takes
};

// What stands in quotation marks behind "params".
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

// What the driver takes, as it says it: "size=<int> copy=<int>"; empty: it does not say.
std::string arguments_of(std::string_view driver) {
    DriverSought sought{"PMD_INFO_STRING= {\"name\": \"" + std::string(driver) + "\"", {}};
    dl_iterate_phdr(look_into, &sought);
    return sought.found;
}

// The first argument of a device that is not among those; empty: there is none. Drivers write theirs one
// behind the other, with a space between or without.
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

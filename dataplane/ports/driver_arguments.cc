#include "dataplane/ports/driver_arguments.hh"

#include <link.h>

#include <algorithm>
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

}  // namespace

std::string unknown_arguments(std::string_view device, std::string_view driver, std::string_view takes) {
    const auto is_known = [&](std::string_view key) {
        const std::string wanted = std::string(key) + "=";
        for (std::size_t at = takes.find(wanted); at != takes.npos; at = takes.find(wanted, at + 1))
            if (at == 0 || takes[at - 1] == ' ' || takes[at - 1] == ',') return true;
        return false;
    };
    std::string_view rest = device.substr(std::min(device.find(','), device.size()));
    while (!takes.empty() && !rest.empty()) {
        rest.remove_prefix(1);
        const std::string_view argument = rest.substr(0, rest.find(','));
        rest.remove_prefix(argument.size());
        const std::string_view key = argument.substr(0, argument.find('='));
        if (!is_known(key))
            return "; its driver " + std::string(driver) + " has no argument \"" + std::string(key) +
                   "\"; do: write of these: " + std::string(takes);
    }
    return {};
}

std::string unknown_arguments(std::string_view device) {
    std::string_view driver = device.substr(0, device.find(','));
    driver = driver.substr(0, driver.find_last_not_of("0123456789") + 1);
    DriverSought sought{"PMD_INFO_STRING= {\"name\": \"" + std::string(driver) + "\"", {}};
    dl_iterate_phdr(look_into, &sought);
    return unknown_arguments(device, driver, sought.found);
}

}  // namespace sluice

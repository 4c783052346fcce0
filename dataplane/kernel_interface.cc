#include "dataplane/kernel_interface.hh"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <filesystem>

#include "dataplane/file_descriptor.hh"

namespace sluice {

std::optional<KernelInterface> KernelInterface::named(const std::string& name) {
    const unsigned index = if_nametoindex(name.c_str());
    if (index == 0) return std::nullopt;
    return KernelInterface(static_cast<int>(index));
}

bool KernelInterface::is_card(const std::string& name, const std::string& folder) {
    std::error_code error;
    return std::filesystem::exists(folder + "/" + name + "/device", error);
}

std::string KernelInterface::name() const {
    std::array<char, IF_NAMESIZE> text{};
    return if_indextoname(static_cast<unsigned>(index_), text.data()) != nullptr ? text.data() : "";
}

bool KernelInterface::is_running() const {
    const std::string now = name();
    const FileDescriptor any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request{};
    if (now.empty() || !any) return false;
    std::memcpy(request.ifr_name, now.c_str(), now.size());
    if (ioctl(any.get(), SIOCGIFFLAGS, &request) != 0) return false;
    constexpr short wanted = IFF_UP | IFF_RUNNING;
    return (request.ifr_flags & wanted) == wanted;
}

}  // namespace sluice

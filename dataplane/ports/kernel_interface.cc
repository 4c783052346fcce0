#include "dataplane/ports/kernel_interface.hh"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cstring>
#include <filesystem>

#include "dataplane/base/file_descriptor.hh"

namespace sluice {
namespace {

// Whether the kernel has answered. One socket for all questions of a thread: each interface is asked some
// times in each of control's rounds, and a socket costs more than the question.
bool ask(unsigned long what, ifreq& request) {
    static thread_local FileDescriptor any;
    if (!any) any = FileDescriptor(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    return any && ioctl(any.get(), what, &request) == 0;
}

// Nothing where there is no interface of that name.
std::optional<ifreq> ask(const std::string& name, unsigned long what) {
    ifreq request{};
    if (name.empty()) return std::nullopt;
    std::memcpy(request.ifr_name, name.c_str(), name.size());
    return ask(what, request) ? std::optional(request) : std::nullopt;
}

}  // namespace

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
    ifreq request{};
    request.ifr_ifindex = index_;
    return ask(SIOCGIFNAME, request) ? request.ifr_name : "";
}

bool KernelInterface::is_up() const {
    const auto answer = ask(name(), SIOCGIFFLAGS);
    return answer && (answer->ifr_flags & IFF_UP) != 0;
}

LinkCause KernelInterface::link() const {
    const auto answer = ask(name(), SIOCGIFFLAGS);
    // The kernel finds no interface by its name while it gives it another one, which takes milliseconds, and
    // for which it has to be down.
    if (!answer) return name().empty() ? LinkCause::interface_gone : LinkCause::interface_down;
    if ((answer->ifr_flags & IFF_UP) == 0) return LinkCause::interface_down;
    return (answer->ifr_flags & IFF_RUNNING) != 0 ? LinkCause::none : LinkCause::no_carrier;
}

unsigned KernelInterface::mtu() const {
    const auto answer = ask(name(), SIOCGIFMTU);
    return answer ? static_cast<unsigned>(answer->ifr_mtu) : 0;
}

MacAddress KernelInterface::mac() const {
    MacAddress mac;
    if (const auto answer = ask(name(), SIOCGIFHWADDR))
        std::memcpy(mac.bytes.data(), answer->ifr_hwaddr.sa_data, sizeof mac);
    return mac;
}

}  // namespace sluice

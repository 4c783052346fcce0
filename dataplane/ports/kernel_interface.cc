#include "dataplane/ports/kernel_interface.hh"

#include <fcntl.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

namespace sluice {
namespace {

// True when the kernel has answered. All requests of a thread use one socket, which costs more than a
// request.
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

// Empty where /proc does not tell the namespace.
std::string claim_path(unsigned index, const std::string& folder) {
    struct stat network {};
    if (stat("/proc/self/ns/net", &network) != 0) return {};
    return folder + "/sluice-netns-" + std::to_string(network.st_ino) + "-interface-" + std::to_string(index);
}

// The process that has locked a file, as this one sees it; empty: unknown.
std::string lock_owner(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return {};
    std::ifstream locks("/proc/locks");  // "1: FLOCK  ADVISORY  WRITE 4711 00:19:1234 0 EOF"
    for (std::string line; std::getline(locks, line);) {
        unsigned long process = 0, inode = 0;
        unsigned major_number = 0, minor_number = 0;
        if (std::sscanf(line.c_str(), "%*u: FLOCK %*s %*s %lu %x:%x:%lu", &process, &major_number,
                        &minor_number, &inode) == 4 &&
            inode == status.st_ino && makedev(major_number, minor_number) == status.st_dev)
            return std::to_string(process);
    }
    return {};
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
    // During a rename, for which it has to be down, the kernel finds it by no name for milliseconds.
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

tl::expected<InterfaceClaim, std::string> InterfaceClaim::take(const KernelInterface& interface,
                                                               const std::string& folder) {
    InterfaceClaim claim;
    claim.path_ = claim_path(static_cast<unsigned>(interface.index()), folder);
    if (claim.path_.empty()) return claim;
    // First without O_CREAT, which the kernel refuses for another user's file in a sticky folder.
    claim.file_ = open_locked(claim.path_, O_RDONLY);
    if (!claim.file_ && errno == ENOENT) claim.file_ = open_locked(claim.path_, O_RDONLY | O_CREAT);
    if (claim.file_ || errno != EWOULDBLOCK) return claim;
    return tl::unexpected(taken_text(interface.name(), lock_owner(claim.path_)));
}

std::string InterfaceClaim::owner(unsigned index, const std::string& folder) {
    return lock_owner(claim_path(index, folder));
}

std::string InterfaceClaim::taken_text(const std::string& interface, const std::string& owner) {
    return "interface " + interface + " is a port of a switch that runs" +
           (owner.empty() ? "" : ", process " + owner) +
           "; do: end that one first, or name another interface";
}

InterfaceClaim& InterfaceClaim::operator=(InterfaceClaim&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(file_, other.file_);
    return *this;
}

InterfaceClaim::~InterfaceClaim() {
    if (file_) static_cast<void>(std::remove(path_.c_str()));
}

}  // namespace sluice

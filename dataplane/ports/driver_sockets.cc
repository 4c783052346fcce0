#include "dataplane/ports/driver_sockets.hh"

#include <dlfcn.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace sluice {
namespace {

bool is_bound_to(int interface, int socket) {
    sockaddr_ll address{};
    socklen_t size = sizeof address;
    return getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
           address.sll_ifindex == interface;
}

}  // namespace
}  // namespace sluice

extern "C" int setsockopt(int socket, int level, int option, const void* value, socklen_t size) noexcept {
    static const auto libcs = reinterpret_cast<decltype(&setsockopt)>(dlsym(RTLD_NEXT, "setsockopt"));
    // The group's number in the lower half; in the upper one its type and flags.
    std::uint32_t fanout = 0;
    if (level == SOL_PACKET && option == PACKET_FANOUT && size == sizeof fanout) {
        std::memcpy(&fanout, value, sizeof fanout);
        fanout &= ~(std::uint32_t{PACKET_FANOUT_FLAG_DEFRAG} << 16);
        value = &fanout;
    }
    return libcs(socket, level, option, value, size);
}

namespace sluice {

std::vector<int> open_descriptors() {
    std::vector<int> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error))
        found.push_back(std::atoi(entry.path().filename().c_str()));
    return found;
}

bool is_socket_of(int domain, int descriptor) {
    int its = 0;
    socklen_t size = sizeof its;
    return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &its, &size) == 0 && its == domain;
}

PacketSockets::PacketSockets(int interface) {
    for (const int descriptor : open_descriptors())
        if (is_socket_of(AF_PACKET, descriptor) && is_bound_to(interface, descriptor))
            sockets_.insert(descriptor);
    beyond_ring();  // of other interfaces, before they were bound
    count_ = 0;
}

std::uint64_t PacketSockets::beyond_ring() {
    for (const int socket : sockets_) {
        tpacket_stats counted{};
        socklen_t size = sizeof counted;
        if (getsockopt(socket, SOL_PACKET, PACKET_STATISTICS, &counted, &size) == 0)
            count_ += counted.tp_drops;
    }
    return count_;
}

}  // namespace sluice

#include "dataplane/driver_sockets.hh"

#include <linux/if_packet.h>
#include <sys/socket.h>

#include <cstdlib>
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

#include "dataplane/bpf/xdp_socket.hh"

#include <linux/if_xdp.h>
#include <sys/socket.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace sluice {

std::set<int> xdp_sockets() {
    std::set<int> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
        const int descriptor = std::atoi(entry.path().filename().c_str());
        int domain = 0;
        socklen_t size = sizeof domain;
        if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_XDP)
            found.insert(descriptor);
    }
    return found;
}

std::uint64_t beyond_full_ring(int socket) {
    xdp_statistics counted{};
    socklen_t size = sizeof counted;
    return getsockopt(socket, SOL_XDP, XDP_STATISTICS, &counted, &size) == 0 ? counted.rx_ring_full : 0;
}

}  // namespace sluice

#include "dataplane/ports/bpf/xdp_socket.hh"

#include <linux/if_xdp.h>
#include <sys/socket.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

namespace sluice {

namespace {

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

bool is_bpf_object(int descriptor) {
    std::error_code error;
    const std::string target =
        std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(descriptor), error).string();
    return target.starts_with("anon_inode:") &&
           (target.find("bpf") != target.npos || target.find("btf") != target.npos);
}

}  // namespace

std::set<int> xdp_descriptors() {
    std::set<int> found;
    for (const int descriptor : open_descriptors())
        if (is_socket_of(AF_XDP, descriptor) || is_bpf_object(descriptor)) found.insert(descriptor);
    return found;
}

std::uint64_t beyond_full_ring(int socket) {
    xdp_statistics counted{};
    socklen_t size = sizeof counted;
    return getsockopt(socket, SOL_XDP, XDP_STATISTICS, &counted, &size) == 0 ? counted.rx_ring_full : 0;
}

}  // namespace sluice

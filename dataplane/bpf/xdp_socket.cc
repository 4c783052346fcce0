#include "dataplane/bpf/xdp_socket.hh"

#include <linux/if_xdp.h>
#include <sys/socket.h>

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace sluice {

namespace {

bool is_xdp_socket(int descriptor) {
    int domain = 0;
    socklen_t size = sizeof domain;
    return getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size) == 0 && domain == AF_XDP;
}

bool is_bpf_object(const std::filesystem::path& link) {
    std::error_code error;
    const std::string target = std::filesystem::read_symlink(link, error).string();
    return target.starts_with("anon_inode:") &&
           (target.find("bpf") != target.npos || target.find("btf") != target.npos);
}

}  // namespace

std::set<int> xdp_descriptors() {
    std::set<int> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
        const int descriptor = std::atoi(entry.path().filename().c_str());
        if (is_xdp_socket(descriptor) || is_bpf_object(entry.path())) found.insert(descriptor);
    }
    return found;
}

std::uint64_t beyond_full_ring(int socket) {
    xdp_statistics counted{};
    socklen_t size = sizeof counted;
    return getsockopt(socket, SOL_XDP, XDP_STATISTICS, &counted, &size) == 0 ? counted.rx_ring_full : 0;
}

}  // namespace sluice

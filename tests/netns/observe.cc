// observe INTERFACE...: writes each frame at these interfaces, both ways, as a line of JSON, until its
// standard input ends. The first line says that it listens, the last one how many frames it could not keep.
#include "tests/netns/observe.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "dataplane/base/file_descriptor.hh"

namespace {

using sluice::FileDescriptor;

int print(void*, void* data, std::size_t) {
    const auto& frame = *static_cast<const observed*>(data);
    char name[IF_NAMESIZE] = "";
    if_indextoname(frame.interface, name);
    std::printf(R"({"ns": %llu, "at": "%s", "sent": %s, "bytes": %u)", frame.time_ns, name,
                frame.outgoing != 0 ? "true" : "false", frame.bytes);
    if (frame.kind == observed_ip)
        std::printf(R"(, "dscp": %d, "ecn": %d, "udp_port": %u)", frame.tos >> 2, frame.tos & 3,
                    frame.udp_port);
    if (frame.kind == observed_pfc) {
        std::printf(R"(, "classes": %d, "quanta": [)", frame.classes);
        for (int n = 0; n < 8; ++n) std::printf("%s%u", n == 0 ? "" : ", ", frame.quanta[n]);
        std::printf("]");
    }
    std::printf("}\n");
    return 0;
}

int fail(const std::string& what) {
    std::fprintf(stderr, "observe: %s: %s\n", what.c_str(), std::strerror(errno));
    return 1;
}

// A socket at `name` that hears of every frame and, by the filter, takes none.
FileDescriptor watch(const char* name, int program) {
    FileDescriptor made(socket(AF_PACKET, SOCK_RAW, 0));
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(if_nametoindex(name));
    if (!made || address.sll_ifindex == 0 ||
        setsockopt(made.get(), SOL_SOCKET, SO_ATTACH_BPF, &program, sizeof program) != 0 ||
        bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        return {};
    return made;
}

}  // namespace

int main(int argc, char** argv) {
    bpf_object* object = bpf_object__open_file(SLUICE_OBSERVE_OBJECT, nullptr);
    if (object == nullptr || bpf_object__load(object) != 0) return fail("the program is not loaded");
    const int program = bpf_program__fd(bpf_object__next_program(object, nullptr));
    ring_buffer* ring =
        ring_buffer__new(bpf_object__find_map_fd_by_name(object, "frames"), print, nullptr, nullptr);
    if (ring == nullptr) return fail("no ring");
    std::vector<FileDescriptor> sockets;
    for (int n = 1; n < argc; ++n) {
        sockets.push_back(watch(argv[n], program));
        if (!sockets.back()) return fail(argv[n]);
    }
    std::printf("{\"listens\": true}\n");
    std::fflush(stdout);
    pollfd ends[] = {{STDIN_FILENO, POLLIN, 0}, {ring_buffer__epoll_fd(ring), POLLIN, 0}};
    while (poll(ends, 2, -1) >= 0 || errno == EINTR) {
        ring_buffer__consume(ring);
        if (ends[0].revents != 0) break;
    }
    std::uint64_t lost = 0;
    const std::uint32_t first = 0;
    bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(object, "lost"), &first, &lost);
    std::printf("{\"lost\": %llu}\n", static_cast<unsigned long long>(lost));
    ring_buffer__free(ring);
    bpf_object__close(object);
    return 0;
}

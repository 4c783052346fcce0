#include "tools/traffic/interface.hh"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>

#include "tools/traffic/failure.hh"

namespace sluice::traffic {
void fail(const std::string& what) { throw Failure(fmt::format("{}: {}", what, std::strerror(errno))); }

std::uint64_t now_ns() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * second_ns + static_cast<std::uint64_t>(time.tv_nsec);
}

Interface::Interface(const std::string& name) : socket_(socket(AF_PACKET, SOCK_RAW, 0)) {
    if (!socket_) fail("no packet socket");
    ifreq request{};
    name.copy(request.ifr_name, sizeof request.ifr_name - 1);
    if (ioctl(socket_.get(), SIOCGIFHWADDR, &request) != 0) fail(name);
    std::copy_n(reinterpret_cast<const std::uint8_t*>(request.ifr_hwaddr.sa_data), mac_.bytes.size(),
                mac_.bytes.begin());
    sockaddr_ll address{};
    address.sll_family = AF_PACKET;
    address.sll_protocol = htons(ETH_P_ALL);
    address.sll_ifindex = static_cast<int>(if_nametoindex(name.c_str()));
    const int yes = 1;
    const int room = 1 << 26;  // for frames that arrive while this process waits for a CPU
    setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
    if (setsockopt(socket_.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes) != 0 ||
        bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        fail(name);
}

bool Interface::send(std::span<const std::uint8_t> frame) {
    if (::send(socket_.get(), frame.data(), frame.size(), MSG_DONTWAIT) >= 0) return true;
    if (errno != ENOBUFS && errno != EAGAIN && errno != ENETDOWN) fail("a frame is not sent");
    return false;
}

std::span<const std::uint8_t> Interface::receive() {
    const ssize_t got = recv(socket_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
    if (got < 0 && errno != EAGAIN && errno != ENETDOWN) fail("nothing can be received");
    return std::span{buffer_}.first(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
}

std::uint64_t Interface::missed() {
    tpacket_stats counted{};
    socklen_t length = sizeof counted;
    getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &counted, &length);
    return missed_ += counted.tp_drops;  // reading them sets them to zero
}

FileDescriptor occupy_roce_port() {
    FileDescriptor made(socket(AF_INET6, SOCK_DGRAM, 0));
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(4791);
    const int least = 1;
    setsockopt(made.get(), SOL_SOCKET, SO_RCVBUF, &least, sizeof least);
    setsockopt(made.get(), SOL_SOCKET, SO_REUSEPORT, &least, sizeof least);
    if (!made || bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        fail("UDP port 4791");
    return made;
}

bool wait_for_frame_or_input(const Interface& interface, const std::uint64_t* until_ns) {
    std::array<pollfd, 2> wait{{{interface.descriptor(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
    const std::uint64_t now = now_ns();
    const std::uint64_t left = until_ns != nullptr && *until_ns > now ? *until_ns - now : 0;
    const timespec time{static_cast<time_t>(left / second_ns), static_cast<long>(left % second_ns)};
    if (ppoll(wait.data(), wait.size(), until_ns != nullptr ? &time : nullptr, nullptr) < 0 && errno != EINTR)
        fail("nothing to wait for");
    return wait[1].revents != 0;
}

std::size_t InputLines::read_some(std::span<char> some) {
    return static_cast<std::size_t>(std::max<ssize_t>(::read(STDIN_FILENO, some.data(), some.size()), 0));
}

}  // namespace sluice::traffic

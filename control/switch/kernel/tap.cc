#include "control/switch/kernel/tap.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "control/config/schema/values.hh"

namespace sluice {
namespace {

constexpr std::size_t min_frame_bytes = 60;

ifreq named(const std::string& name) {
    ifreq request{};
    std::memcpy(request.ifr_name, name.data(), std::min<std::size_t>(name.size(), IFNAMSIZ - 1));
    return request;
}

tl::unexpected<std::string> failed(const std::string& name, std::string_view what, int error) {
    std::string text = fmt::format("TAP {}: {}: {}", name, what, std::strerror(error));
    if (error == EBUSY || error == EINVAL)
        text += fmt::format("; do: rename the port, or the interface {} that there is already", name);
    if (error == EPERM || error == EACCES || error == ENOENT)
        text += "; do: run as root (CAP_NET_ADMIN) with /dev/net/tun, or write kernel.taps = false";
    return tl::unexpected(text);
}

// Adds an address with its subnet's length to the interface, or removes it (rtnetlink(7)); succeeds if that
// was so before. The interface is ours, so IPv6 addresses need no duplicate detection. An error's text.
std::string set_interface_address(int interface, const IpPrefix& address, bool there) {
    const FileDescriptor socket(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    if (!socket) return std::strerror(errno);
    alignas(nlmsghdr) std::array<char, 256> bytes{};
    nlmsghdr* message = mnl_nlmsg_put_header(bytes.data());
    message->nlmsg_type = there ? RTM_NEWADDR : RTM_DELADDR;
    message->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
    if (there) message->nlmsg_flags |= NLM_F_CREATE | NLM_F_REPLACE;
    const bool v6 = address.address.is_v6;
    auto* header = static_cast<ifaddrmsg*>(mnl_nlmsg_put_extra_header(message, sizeof(ifaddrmsg)));
    header->ifa_family = v6 ? AF_INET6 : AF_INET;
    header->ifa_prefixlen = address.length;
    header->ifa_flags = v6 ? IFA_F_NODAD : 0;
    header->ifa_scope = RT_SCOPE_UNIVERSE;
    header->ifa_index = static_cast<unsigned>(interface);
    for (const std::uint16_t what : {IFA_LOCAL, IFA_ADDRESS})
        mnl_attr_put(message, what, v6 ? 16 : 4, address.address.bytes.data());
    if (send(socket.get(), message, message->nlmsg_len, 0) < 0) return std::strerror(errno);
    // The kernel has answered when `send` returns.
    alignas(nlmsghdr) std::array<char, 1024> answer{};
    const ssize_t got = recv(socket.get(), answer.data(), answer.size(), MSG_DONTWAIT);
    if (got < static_cast<ssize_t>(sizeof(nlmsghdr) + sizeof(nlmsgerr))) return "the kernel does not answer";
    const auto* reply = reinterpret_cast<const nlmsghdr*>(answer.data());
    if (reply->nlmsg_type != NLMSG_ERROR) return "the kernel does not answer";
    const int error = -static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(reply))->error;
    if (error == 0 || (!there && error == EADDRNOTAVAIL)) return {};
    return std::strerror(error);
}

}  // namespace

tl::expected<std::unique_ptr<Tap>, std::string> Tap::open(const std::string& name, const MacAddress& mac,
                                                          unsigned mtu) {
    FileDescriptor file(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
    if (!file) return failed(name, "/dev/net/tun", errno);
    ifreq request = named(name);
    // Exclusive: not a TAP of this name that somebody else made.
    request.ifr_flags = static_cast<short>(IFF_TAP | IFF_NO_PI | IFF_TUN_EXCL);
    if (ioctl(file.get(), TUNSETIFF, &request) != 0) return failed(name, "cannot be made", errno);

    const FileDescriptor any(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    request = named(name);
    request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
    std::memcpy(request.ifr_hwaddr.sa_data, mac.bytes.data(), mac.bytes.size());
    if (ioctl(any.get(), SIOCSIFHWADDR, &request) != 0) return failed(name, "its MAC address", errno);
    request = named(name);
    request.ifr_mtu = static_cast<int>(mtu);
    if (ioctl(any.get(), SIOCSIFMTU, &request) != 0) return failed(name, "its MTU", errno);
    request = named(name);
    if (ioctl(any.get(), SIOCGIFFLAGS, &request) != 0) return failed(name, "its flags", errno);
    request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
    if (ioctl(any.get(), SIOCSIFFLAGS, &request) != 0) return failed(name, "it does not come up", errno);
    const unsigned index = if_nametoindex(name.c_str());
    if (index == 0) return failed(name, "its index", errno);
    return std::unique_ptr<Tap>(new Tap(std::move(file), static_cast<int>(index)));
}

bool Tap::is_there() const {
    ifreq request{};
    return ioctl(file_.get(), TUNGETIFF, &request) == 0;
}

std::string Tap::set_addresses(const std::vector<IpPrefix>& addresses) {
    std::string errors;
    const auto change = [&](const IpPrefix& address, bool there) {
        const std::string error = set_interface_address(index_, address, there);
        if (!error.empty()) append_item(errors, "; ", fmt::format("{}: {}", print_prefix(address), error));
        return error.empty();
    };
    const std::set<IpPrefix> wanted(addresses.begin(), addresses.end());
    if (wanted == addresses_) return errors;
    std::erase_if(addresses_,
                  [&](const IpPrefix& known) { return !wanted.contains(known) && change(known, false); });
    // All again: with the first address of a subnet the kernel removes the others.
    for (const IpPrefix& address : wanted)
        if (change(address, true)) addresses_.insert(address);
    return errors;
}

bool Tap::write(std::span<const std::uint8_t> frame) {
    return ::write(file_.get(), frame.data(), frame.size()) == static_cast<ssize_t>(frame.size());
}

std::size_t Tap::read(std::span<std::uint8_t> frame) {
    const ssize_t got = ::read(file_.get(), frame.data(), frame.size());
    if (got < static_cast<ssize_t>(sizeof(EthernetHeader))) return 0;
    const auto bytes = static_cast<std::size_t>(got);
    if (bytes >= min_frame_bytes) return bytes;
    std::fill(frame.begin() + got, frame.begin() + min_frame_bytes, std::uint8_t{0});
    return min_frame_bytes;
}

void Tap::set_carrier(bool up) {
    if (carrier_ == up) return;
    const int on = up ? 1 : 0;
    if (ioctl(file_.get(), TUNSETCARRIER, &on) == 0) carrier_ = up;
}

}  // namespace sluice

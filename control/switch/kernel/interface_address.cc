#include "control/switch/kernel/interface_address.hh"

#include <ifaddrs.h>
#include <libmnl/libmnl.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "dataplane/base/file_descriptor.hh"

namespace sluice {

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
    // The kernel has done it, and answered, when `send` returns.
    alignas(nlmsghdr) std::array<char, 1024> answer{};
    const ssize_t got = recv(socket.get(), answer.data(), answer.size(), MSG_DONTWAIT);
    if (got < static_cast<ssize_t>(sizeof(nlmsghdr) + sizeof(nlmsgerr))) return "the kernel does not answer";
    const auto* reply = reinterpret_cast<const nlmsghdr*>(answer.data());
    if (reply->nlmsg_type != NLMSG_ERROR) return "the kernel does not answer";
    const int error = -static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(reply))->error;
    if (error == 0 || (!there && error == EADDRNOTAVAIL)) return {};
    return std::strerror(error);
}

bool has_interface_address(const std::string& interface, const IpAddress& address) {
    ifaddrs* all = nullptr;
    if (getifaddrs(&all) != 0) return true;  // nothing is known against it
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(all, freeifaddrs);
    for (const ifaddrs* each = all; each != nullptr; each = each->ifa_next) {
        const sockaddr* own = each->ifa_addr;
        if (own == nullptr || interface != each->ifa_name) continue;
        if (address.is_v6 && own->sa_family == AF_INET6 &&
            std::memcmp(&reinterpret_cast<const sockaddr_in6*>(own)->sin6_addr, address.bytes.data(), 16) ==
                0)
            return true;
        if (!address.is_v6 && own->sa_family == AF_INET &&
            std::memcmp(&reinterpret_cast<const sockaddr_in*>(own)->sin_addr, address.bytes.data(), 4) == 0)
            return true;
    }
    return false;
}

}  // namespace sluice

#include "dataplane/ports/bpf/attached_program.hh"

#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>

#include "dataplane/base/file_descriptor.hh"

namespace sluice {
namespace {

using Attributes = std::span<const std::byte>;

// The payload of the first attribute of a kind; empty: there is none.
Attributes payload_of(Attributes attributes, unsigned kind) {
    constexpr unsigned kind_bits = 0x3FFF;
    rtattr head{};
    while (attributes.size() >= sizeof head) {
        std::memcpy(&head, attributes.data(), sizeof head);
        if (head.rta_len < sizeof head || head.rta_len > attributes.size()) return {};
        if ((head.rta_type & kind_bits) == kind)
            return attributes.subspan(sizeof head, head.rta_len - sizeof head);
        attributes = attributes.subspan(std::min<std::size_t>(RTA_ALIGN(head.rta_len), attributes.size()));
    }
    return {};
}

template <class Value>
Value value_of(Attributes attributes, unsigned kind) {
    Value value{};
    const Attributes payload = payload_of(attributes, kind);
    if (payload.size() >= sizeof value) std::memcpy(&value, payload.data(), sizeof value);
    return value;
}

// Where programs are attached in several ways the driver's comes first.
AttachedProgram first_of(Attributes xdp) {
    struct Way {
        unsigned kind;
        std::uint32_t mode;
    };
    for (const auto [kind, mode] :
         {Way{IFLA_XDP_DRV_PROG_ID, XDP_FLAGS_DRV_MODE}, Way{IFLA_XDP_SKB_PROG_ID, XDP_FLAGS_SKB_MODE},
          Way{IFLA_XDP_HW_PROG_ID, XDP_FLAGS_HW_MODE}})
        if (const auto id = value_of<std::uint32_t>(xdp, kind); id != 0) return {id, mode};
    return {};
}

}  // namespace

std::optional<AttachedProgram> attached_program(int interface) {
    struct {
        nlmsghdr head;
        ifinfomsg link;
        rtattr mask_head;
        std::uint32_t mask;
    } question{};
    question.head.nlmsg_len = sizeof question;
    question.head.nlmsg_type = RTM_GETLINK;
    question.head.nlmsg_flags = NLM_F_REQUEST;
    question.link.ifi_index = interface;
    question.mask_head = {sizeof question.mask_head + sizeof question.mask, IFLA_EXT_MASK};
    question.mask = RTEXT_FILTER_SKIP_STATS;
    const FileDescriptor kernel(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    alignas(nlmsghdr) std::array<std::byte, 32768> answer;
    if (!kernel || send(kernel.get(), &question, sizeof question, 0) < 0) return std::nullopt;
    const ssize_t bytes = recv(kernel.get(), answer.data(), answer.size(), 0);
    if (bytes < static_cast<ssize_t>(sizeof(nlmsghdr))) return std::nullopt;
    nlmsghdr head{};
    std::memcpy(&head, answer.data(), sizeof head);
    if (head.nlmsg_type == NLMSG_ERROR) {
        nlmsgerr error{};
        std::memcpy(&error, answer.data() + NLMSG_HDRLEN, sizeof error);
        errno = -error.error;
        return std::nullopt;
    }
    constexpr std::size_t before = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(ifinfomsg));
    const std::size_t size = std::min<std::size_t>(head.nlmsg_len, static_cast<std::size_t>(bytes));
    if (head.nlmsg_type != RTM_NEWLINK || size < before) return std::nullopt;
    return first_of(payload_of(Attributes(answer).subspan(before, size - before), IFLA_XDP));
}

}  // namespace sluice

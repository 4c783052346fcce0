#include "dataplane/ports/bpf/steer.hh"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <vector>

#include "steer_object.h"  // made by Meson from steer.bpf.c

namespace sluice {
namespace {

// The XDP program at an interface of the kernel.
struct AttachedProgram {
    std::uint32_t id = 0;    // 0: there is none
    std::uint32_t mode = 0;  // XDP_FLAGS_DRV_MODE, ...: the way it is attached
};

using Attributes = std::array<const nlattr*, IFLA_MAX + 1>;  // by type

int keep(const nlattr* attribute, void* into) {
    auto& all = *static_cast<Attributes*>(into);
    if (mnl_attr_get_type(attribute) < all.size()) all[mnl_attr_get_type(attribute)] = attribute;
    return MNL_CB_OK;
}

// Asks about one interface only: libbpf asks about all, which costs too much several times a second for each
// of many ports. Nothing: no answer (errno), as for an interface that is gone.
std::optional<AttachedProgram> attached_program(int interface) {
    alignas(nlmsghdr) std::array<char, 32768> buffer;
    nlmsghdr* message = mnl_nlmsg_put_header(buffer.data());
    message->nlmsg_type = RTM_GETLINK;
    message->nlmsg_flags = NLM_F_REQUEST;
    static_cast<ifinfomsg*>(mnl_nlmsg_put_extra_header(message, sizeof(ifinfomsg)))->ifi_index = interface;
    mnl_attr_put_u32(message, IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
    const FileDescriptor kernel(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
    if (!kernel || send(kernel.get(), message, message->nlmsg_len, 0) < 0) return std::nullopt;
    const ssize_t bytes = recv(kernel.get(), buffer.data(), buffer.size(), 0);
    if (bytes < 0 || !mnl_nlmsg_ok(message, static_cast<int>(bytes))) return std::nullopt;
    if (message->nlmsg_type == NLMSG_ERROR) {
        errno = -static_cast<const nlmsgerr*>(mnl_nlmsg_get_payload(message))->error;
        return std::nullopt;
    }
    if (message->nlmsg_type != RTM_NEWLINK) return std::nullopt;
    Attributes link{}, xdp{};
    mnl_attr_parse(message, sizeof(ifinfomsg), keep, &link);
    if (link[IFLA_XDP] != nullptr) mnl_attr_parse_nested(link[IFLA_XDP], keep, &xdp);
    struct Way {
        int kind;
        std::uint32_t mode;
    };
    for (const auto [kind, mode] :  // the driver's program comes first
         {Way{IFLA_XDP_DRV_PROG_ID, XDP_FLAGS_DRV_MODE}, Way{IFLA_XDP_SKB_PROG_ID, XDP_FLAGS_SKB_MODE},
          Way{IFLA_XDP_HW_PROG_ID, XDP_FLAGS_HW_MODE}})
        if (xdp[kind] != nullptr && mnl_attr_get_u32(xdp[kind]) != 0)
            return AttachedProgram{mnl_attr_get_u32(xdp[kind]), mode};
    return AttachedProgram{};
}

constexpr bool to_switch = true;
constexpr bool to_kernel = false;

// A program's name; empty where the kernel does not show it.
std::string program_name(const FileDescriptor& program) {
    bpf_prog_info info{};
    std::uint32_t size = sizeof info;
    return program && bpf_obj_get_info_by_fd(program.get(), &info, &size) == 0 ? info.name : "";
}

// Takes that program off, but not another in its place.
bool detach(int interface, std::uint32_t mode, int program) {
    bpf_xdp_attach_opts only{};
    only.sz = sizeof only;
    only.old_prog_fd = program;
    return bpf_xdp_detach(interface, mode, &only) == 0;
}

// With these limits; null: it cannot be read.
bpf_object* opened_with(const steer_limits& limits) {
    const auto [bytes, size] = steer_object();
    bpf_object* object = bpf_object__open_mem(bytes, size, nullptr);
    if (object == nullptr) return nullptr;
    bpf_program* program = bpf_object__find_program_by_name(object, STEER_PROGRAM);
    bpf_map* place = bpf_object__find_map_by_name(object, STEER_LIMITS_SECTION);
    const std::uint32_t flags = limits.several_buffers != 0 ? BPF_F_XDP_HAS_FRAGS : 0;
    if (program != nullptr && bpf_program__set_flags(program, flags) == 0 && place != nullptr &&
        bpf_map__set_initial_value(place, &limits, sizeof limits) == 0)
        return object;
    bpf_object__close(object);
    return nullptr;
}

}  // namespace

const std::array<SteerVerdict, steer_counters> steer_catalogue{{
#define STEER_ROW(name, where, what) SteerVerdict{#name, where, what},
    STEER_VERDICTS(STEER_ROW)
#undef STEER_ROW
        SteerVerdict{"no_socket", to_kernel, "of these, those that came while no switch listened"},
    SteerVerdict{"too_long", to_kernel, "of these, those longer than the port takes, which are lost"},
}};

SteerObject steer_object() { return {steer_object_bytes, sizeof steer_object_bytes}; }

void silence_libbpf() {
    libbpf_set_print([](libbpf_print_level, const char*, va_list) { return 0; });
}

SteerCounts read_counts(int map) {
    SteerCounts sums{};
    const int processors = libbpf_num_possible_cpus();
    if (map < 0 || processors <= 0) return sums;
    std::vector<std::uint64_t> values(static_cast<std::size_t>(processors));
    for (std::uint32_t n = 0; n < steer_counters; ++n)
        if (bpf_map_lookup_elem(map, &n, values.data()) == 0)
            for (const std::uint64_t value : values) sums[n] += value;
    return sums;
}

void Steering::Close::operator()(bpf_object* object) const { bpf_object__close(object); }

std::string Steering::load(const std::string& interface, int index, std::uint32_t longest_frame) {
    silence_libbpf();
    interface_ = interface;
    index_ = index;
    if (std::string error = look_for_others(); !error.empty()) return "interface " + interface + ": " + error;
    // Frames of several buffers, where the kernel knows such programs.
    for (const unsigned several_buffers : {1U, 0U}) {
        object_.reset(opened_with({longest_frame, several_buffers}));
        if (!object_) return because("the steering program cannot be read");
        if (bpf_object__load(object_.get()) == 0) return {};
    }
    return because("the kernel does not take the steering program (CAP_BPF, CAP_NET_ADMIN)");
}

std::string Steering::look_for_others() {
    const auto found = attached_program(index_);
    if (!found) return because("its XDP program cannot be asked for");
    if (found->id == 0) return {};
    left_ = FileDescriptor(bpf_prog_get_fd_by_id(found->id));
    left_mode_ = found->mode;
    const std::string name = program_name(left_);
    if (name == STEER_PROGRAM) return {};
    left_ = FileDescriptor();
    return "it has the XDP program \"" + name + "\" (id " + std::to_string(found->id) +
           ") of somebody else; do: ip link set dev " + interface_ + " xdp off";
}

int Steering::program() const {
    return bpf_program__fd(bpf_object__find_program_by_name(object_.get(), STEER_PROGRAM));
}

int Steering::map(const char* name) const {
    return object_ ? bpf_object__find_map_fd_by_name(object_.get(), name) : -1;
}

std::string Steering::listen(std::uint32_t queue, int socket) {
    if (bpf_map_update_elem(map(STEER_SOCKET_MAP), &queue, &socket, BPF_ANY) == 0) return {};
    return because("the steering program does not take the socket of queue " + std::to_string(queue));
}

std::string Steering::attach() {
    if (left_ && !detach(index_, left_mode_, left_.get()))
        return because("the program of a switch that has ended cannot be taken off");
    left_ = FileDescriptor();
    for (const std::uint32_t mode : {XDP_FLAGS_DRV_MODE, XDP_FLAGS_SKB_MODE}) {
        mode_ = mode;
        attached_ = bpf_xdp_attach(index_, program(), XDP_FLAGS_UPDATE_IF_NOEXIST | mode, nullptr) == 0;
        if (attached_) break;
        if (errno != EOPNOTSUPP) return why_refused();
    }
    bpf_prog_info info{};
    std::uint32_t size = sizeof info;
    if (!attached_ || bpf_obj_get_info_by_fd(program(), &info, &size) != 0) return why_refused();
    id_ = info.id;
    place_ = SteerPlace::here;
    return {};
}

std::string Steering::why_refused() const {
    const bool queues = errno == ENOSPC;  // of a veth whose peer sends by more than it has
    return because("interface " + interface_ + " takes no XDP program") +
           (queues ? "; do: give both ends of its cable as many queues (numtxqueues 1 numrxqueues 1)"
                   : "; do: set its MTU to what its driver can do with XDP (ip link set " + interface_ +
                         " mtu 1500)") +
           ", or use net_af_packet0,iface=" + interface_;
}

bool Steering::is_native() const { return mode_ == XDP_FLAGS_DRV_MODE; }

SteerPlace Steering::check_place() {
    const auto found = attached_program(index_);
    if (!found || !object_) return place_;
    other_id_ = found->id == id_ ? 0 : found->id;
    place_ = found->id == id_ ? SteerPlace::here
             : found->id == 0 ? SteerPlace::removed
                              : SteerPlace::replaced;
    return place_;
}

std::string Steering::other() const {
    if (other_id_ == 0) return {};
    const std::string name = program_name(FileDescriptor(bpf_prog_get_fd_by_id(other_id_)));
    return (name.empty() ? "" : "\"" + name + "\" ") + "(id " + std::to_string(other_id_) + ")";
}

void Steering::let_go() {
    counted_before_ = counters();
    known_.clear();
    if (attached_) static_cast<void>(detach(index_, mode_, program()));
    attached_ = false;
    left_ = FileDescriptor();
    object_.reset();
}

steer_prefix Steering::key_of(const IpPrefix& prefix) {
    steer_prefix key{prefix.length, {}};
    if (prefix.address.is_v6) {
        std::memcpy(key.bytes, prefix.address.bytes.data(), sizeof key.bytes);
    } else {
        constexpr unsigned before = 12;
        key.bits += before * 8;
        key.bytes[10] = key.bytes[11] = 0xFF;
        std::memcpy(key.bytes + before, prefix.address.bytes.data(), sizeof key.bytes - before);
    }
    return key;
}

std::string Steering::set_local(const std::set<IpPrefix>& prefixes) {
    if (prefixes.size() > STEER_MAX_PREFIXES)
        return std::to_string(prefixes.size()) +
               " addresses and prefixes of this machine; the steering program takes " +
               std::to_string(STEER_MAX_PREFIXES);
    const int local = map(STEER_LOCAL_MAP);
    if (local < 0) return {};
    const std::uint8_t present = 1;
    // Remove prefixes first: the map may be full.
    for (auto known = known_.begin(); known != known_.end();)
        if (prefixes.contains(*known)) {
            ++known;
        } else {
            const steer_prefix key = key_of(*known);
            bpf_map_delete_elem(local, &key);
            known = known_.erase(known);
        }
    for (const IpPrefix& prefix : prefixes) {
        if (known_.contains(prefix)) continue;
        const steer_prefix key = key_of(prefix);
        if (bpf_map_update_elem(local, &key, &present, BPF_ANY) != 0)
            return because("the steering program does not take an address");
        known_.insert(prefix);
    }
    return {};
}

std::uint64_t Steering::too_long() const { return read_counts(map(STEER_COUNTER_MAP))[steer_too_long]; }

SteerCounts Steering::counters() const {
    SteerCounts sums = read_counts(map(STEER_COUNTER_MAP));
    for (std::uint32_t n = 0; n < steer_counters; ++n) sums[n] += counted_before_[n];
    return sums;
}

}  // namespace sluice

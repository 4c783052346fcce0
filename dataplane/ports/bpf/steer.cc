#include "dataplane/ports/bpf/steer.hh"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <net/if.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "dataplane/ports/bpf/loaded_objects.hh"
#include "dataplane/ports/bpf/xdp_socket.hh"
#include "steer_object.h"  // made by Meson from steer.bpf.c

namespace sluice {
namespace {

constexpr bool to_switch = true;
constexpr bool to_kernel = false;

std::string because(const std::string& what) { return what + ": " + std::strerror(errno); }

struct Attached {
    std::uint32_t id = 0;
    FileDescriptor program;
    bpf_prog_info info{};
};

// The program at an interface; id 0: none.
tl::expected<Attached, std::string> attached_to(int interface) {
    Attached found;
    if (bpf_xdp_query_id(interface, 0, &found.id) != 0)
        return tl::unexpected(because("its XDP program cannot be asked for"));
    if (found.id == 0) return found;
    found.program = FileDescriptor(bpf_prog_get_fd_by_id(found.id));
    std::uint32_t size = sizeof found.info;
    if (!found.program || bpf_obj_get_info_by_fd(found.program.get(), &found.info, &size) != 0)
        return tl::unexpected(
            because("its XDP program " + std::to_string(found.id) + " cannot be looked at"));
    return found;
}

std::string make_way(const std::string& name, int interface) {
    const auto found = attached_to(interface);
    if (!found) return found.error();
    if (found->id == 0) return {};
    if (std::string_view(found->info.name) != STEER_PROGRAM)
        return "it has the XDP program \"" + std::string(found->info.name) + "\" (id " +
               std::to_string(found->id) + ") of somebody else; do: ip link set dev " + name + " xdp off";
    if (bpf_xdp_detach(interface, 0, nullptr) != 0)
        return because("the program of a switch that has ended cannot be taken off");
    return {};
}

}  // namespace

const std::array<SteerVerdict, steer_counters> steer_catalogue{{
#define STEER_ROW(name, where, what) SteerVerdict{#name, where, what},
    STEER_VERDICTS(STEER_ROW)
#undef STEER_ROW
        SteerVerdict{"no_socket", to_kernel, "of these, those that came while no switch listened"},
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

tl::expected<Steering, std::string> Steering::prepare(const std::string& interface) {
    silence_libbpf();
    Steering made;
    made.interface_ = static_cast<int>(if_nametoindex(interface.c_str()));
    if (made.interface_ == 0)
        return tl::unexpected("there is no interface " + interface + "; do: name one that ip link shows");
    if (std::string error = make_way(interface, made.interface_); !error.empty())
        return tl::unexpected("interface " + interface + ": " + error);
    made.object_ = FileDescriptor(memfd_create("sluice_steer", MFD_CLOEXEC));
    const auto [bytes, size] = steer_object();
    if (!made.object_ || write(made.object_.get(), bytes, size) != static_cast<ssize_t>(size))
        return tl::unexpected(because("the steering program cannot be handed to the driver"));
    made.others_ = xdp_descriptors();
    return made;
}

std::string Steering::object_path() const { return "/proc/self/fd/" + std::to_string(object_.get()); }

std::string Steering::find_maps() {
    drivers_ = xdp_descriptors();
    std::erase_if(drivers_, [this](int descriptor) { return others_.contains(descriptor); });
    const auto found = attached_to(interface_);
    if (!found) return found.error();
    if (found->id == 0) return "the steering program is not attached";
    std::vector<std::uint32_t> maps(found->info.nr_map_ids);
    bpf_prog_info wanted{};
    wanted.nr_map_ids = static_cast<std::uint32_t>(maps.size());
    wanted.map_ids = reinterpret_cast<std::uintptr_t>(maps.data());
    std::uint32_t wanted_size = sizeof wanted;
    if (bpf_obj_get_info_by_fd(found->program.get(), &wanted, &wanted_size) != 0)
        return because("the steering program does not tell its maps");
    for (const std::uint32_t id : maps) {
        FileDescriptor map(bpf_map_get_fd_by_id(id));
        bpf_map_info info{};
        std::uint32_t size = sizeof info;
        if (!map || bpf_obj_get_info_by_fd(map.get(), &info, &size) != 0) continue;
        if (std::string_view(info.name) == STEER_LOCAL_MAP)
            local_ = std::move(map);
        else if (std::string_view(info.name) == STEER_COUNTER_MAP)
            counters_ = std::move(map);
    }
    if (!local_ || !counters_) return "the steering program lacks one of its maps";
    return {};
}

XdpPackets Steering::packets_left() const {
    for (const int descriptor : drivers_)  // one of them is a socket
        if (XdpPackets found = packets_in(rings_of(descriptor)); !found.places.empty()) return found;
    return {};
}

void Steering::let_go() {
    counted_before_ = counters();
    local_ = {};
    counters_ = {};
    known_.clear();
    close_loaded_objects(drivers_);
    // A descriptor that the driver has closed may be in use again by now, but hardly for XDP: only control
    // opens any.
    const auto open = xdp_descriptors();
    for (const int descriptor : drivers_)
        if (open.contains(descriptor)) close(descriptor);
    drivers_.clear();
}

std::uint64_t Steering::beyond_ring() const {
    std::uint64_t count = 0;
    for (const int socket : drivers_) count += beyond_full_ring(socket);
    return count;
}

std::string Steering::set_local(const std::set<Address>& addresses) {
    if (addresses.size() > STEER_MAX_ADDRESSES)
        return std::to_string(addresses.size()) + " addresses of this machine; the steering program takes " +
               std::to_string(STEER_MAX_ADDRESSES);
    if (!local_) return {};
    const std::uint8_t present = 1;
    // Remove addresses first: the map may be full.
    for (auto address = known_.begin(); address != known_.end();)
        if (addresses.contains(*address)) {
            ++address;
        } else {
            bpf_map_delete_elem(local_.get(), address->data());
            address = known_.erase(address);
        }
    for (const Address& address : addresses) {
        if (known_.contains(address)) continue;
        if (bpf_map_update_elem(local_.get(), address.data(), &present, BPF_ANY) != 0)
            return because("the steering program does not take an address");
        known_.insert(address);
    }
    return {};
}

SteerCounts Steering::counters() const {
    SteerCounts sums = read_counts(counters_.get());
    for (std::uint32_t n = 0; n < steer_counters; ++n) sums[n] += counted_before_[n];
    return sums;
}

}  // namespace sluice

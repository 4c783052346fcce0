#include "tools/traffic/router_sides.hh"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tools/traffic/text.hh"

namespace sluice::traffic {
namespace {

constexpr std::size_t max_seen = 1'000'000;
constexpr std::size_t max_named = 8;
constexpr std::size_t v4_ttl = 8, v6_hops = 7;

// Without what a router changes: class and ECN, TTL, the checksum over them.
std::uint64_t hash_of(std::span<const std::uint8_t> packet, bool v6) {
    std::vector<std::uint8_t> bytes(packet.begin(), packet.end());
    if (v6) {
        bytes[0] = bytes[1] = bytes[v6_hops] = 0;
    } else {
        bytes[1] = bytes[v4_ttl] = bytes[10] = bytes[11] = 0;
    }
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325;  // FNV-1a
    for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100'0000'01B3;
    return hash;
}

}  // namespace

void RouterSides::see(std::span<const std::uint8_t> frame, const Dissection& d) {
    if (d.ip_version == 0 || d.ip_end <= d.network) return;
    const bool v6 = d.ip_version == 6;
    const auto packet = frame.subspan(d.network, std::min(d.ip_end, frame.size()) - d.network);
    Seen now{packet[v6 ? v6_hops : v4_ttl], {}};
    std::copy_n(frame.begin() + 6, 6, now.source.bytes.begin());
    const std::uint64_t hash = hash_of(packet, v6);
    const auto before = seen_.find(hash);
    if (before == seen_.end()) {
        if (seen_.size() < max_seen) seen_.emplace(hash, now);
        return;
    }
    if (before->second.ttl == now.ttl || before->second.source == now.source) return;
    ++twice_;
    const MacAddress& behind = now.ttl < before->second.ttl ? now.source : before->second.source;
    if (senders_.size() < max_named) senders_.insert(behind);
}

std::string RouterSides::note() const {
    if (twice_ == 0) return {};
    std::string filter;
    for (const MacAddress& mac : senders_)
        filter += fmt::format("{}ether src {}", filter.empty() ? "" : " or ", to_text(mac));
    return fmt::format(
        "{} packet{} came twice, with another TTL from another MAC: the capture has both sides of a router, "
        "and such packets are switched twice; do: tcpdump -r CAPTURE -w ONE-SIDE 'not ({})'",
        twice_, twice_ == 1 ? "" : "s", filter);
}

}  // namespace sluice::traffic

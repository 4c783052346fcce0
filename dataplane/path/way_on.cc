#include "dataplane/path/way_on.hh"

#include "dataplane/path/fib.hh"
#include "dataplane/path/load_balance.hh"
#include "lib/frame/classify.hh"
#include "lib/frame/flow_hash.hh"
#include "lib/route/ecmp.hh"

namespace sluice {

std::optional<WayOn> way_on(const Policy& policy, const Shared& shared, PortId ingress, const Parsed& parsed,
                            const std::uint8_t* l3) {
    const std::uint32_t number = policy.fib->lookup(destination_of(parsed.kind == FrameKind::ipv6, l3));
    const NextHopGroup& group = policy.next_hop_groups[number];
    if (group.drop != DropReason::none) return std::nullopt;
    const std::uint32_t hash = group.log2_buckets == 0 ? 0 : flow_hash(parsed, l3, policy.hash);
    const std::uint32_t hop = pick_member(
        policy.buckets.data() + group.first_bucket, group.log2_buckets, hash, [&](std::uint32_t member) {
            return shared.link_up[policy.next_hops[member].port].load(std::memory_order_relaxed);
        });
    if (hop == no_member) return std::nullopt;
    const ClassId tc = traffic_class(parsed, policy.ports[ingress].map);
    return WayOn{
        policy.next_hops[hop].port,
        group.log2_buckets == 0 || load_balance_of(policy.balance, group, tc, parsed) == LoadBalance::hash};
}

}  // namespace sluice

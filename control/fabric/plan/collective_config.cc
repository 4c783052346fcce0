#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "control/config/schema/schema_sections.hh"
#include "control/fabric/plan/fabric_rows.hh"
#include "lib/roce/requester.hh"
#include "lib/values/rng.hh"

namespace sluice::fabric {
namespace {

using roce::CollectiveKind;

constexpr std::array<std::pair<std::string_view, CollectiveKind>, 6> kind_words{
    {{"ring-allreduce", CollectiveKind::ring_allreduce},
     {"halving-doubling", CollectiveKind::halving_doubling},
     {"all-to-all", CollectiveKind::all_to_all},
     {"all-gather", CollectiveKind::all_gather},
     {"reduce-scatter", CollectiveKind::reduce_scatter},
     {"pipeline", CollectiveKind::pipeline}}};
constexpr std::size_t max_ranks = 1024;
constexpr std::uint32_t rank_order_stream = 0x52414E4B;  // of draws

// "topology", "random", or a list.
schema::Type<std::vector<std::string>> order_of_ranks() {
    auto type = schema::names_of_hosts();
    type.name = "order";
    type.allowed = R"("topology", "random", or the list of hosts)";
    type.example = R"("topology")";
    return type;
}

}  // namespace

std::string_view to_string(CollectiveKind kind) {
    const auto found =
        std::ranges::find(kind_words, kind, &std::pair<std::string_view, CollectiveKind>::second);
    return found->first;
}

schema::Rows<CollectiveConfig> collective_rows() {
    using C = CollectiveConfig;
    using schema::integer;
    schema::Rows<C> rows;
    rows.required("kind", &C::kind, schema::word<CollectiveKind>({kind_words.begin(), kind_words.end()}),
                  "Collective; rings and pipelines send to the next rank, halving-doubling wants a power of "
                  "two of hosts, all-to-all sends to all at once.");
    rows.required("hosts", &C::hosts, schema::names_of_hosts(), "Hosts, each with one rank.");
    rows.key("name", &C::name, schema::text("a name", 0, 64, "gradients"),
             "Its name in reports; empty: its kind.");
    rows.key(
        "bytes", &C::bytes, schema::size(1, roce::max_message_bytes, "100MB"),
        "Buffer of a rank, as nccl-tests counts it: with all-gather the whole result, with pipeline what "
        "a stage hands on.");
    rows.key("parts", &C::parts, integer<std::uint32_t>(1, 1024),
             "With pipeline: parts of it (microbatches), each handed on when it has come.");
    rows.key("qps", &C::queue_pairs, integer<std::uint32_t>(1, 64),
             "Queue pairs to each peer, which share a message.");
    rows.key("steps", &C::steps, integer<std::uint32_t>(1, 10'000), "How often it is done.");
    rows.key("compute", &C::compute, schema::time({}, max_time, "1ms"),
             "Time that a rank computes between two steps.");
    rows.key("start", &C::start, schema::time({}, max_time, "1ms"), "When the first step begins.");
    rows.key(
        "rank_order", &C::rank_order, order_of_ranks(),
        "Order of ranks: as hosts are listed (\"topology\"), drawn by the seed (\"random\"), or a list.");
    return rows;
}

std::string order_ranks(CollectiveConfig& collective, std::uint64_t seed) {
    std::vector<std::string>& hosts = collective.hosts;
    if (hosts.size() < 2) return "it has one host; do: name two or more in hosts";
    if (hosts.size() > max_ranks)
        return fmt::format("it has {} hosts, {} at most; do: name fewer", hosts.size(), max_ranks);
    if (collective.kind == CollectiveKind::halving_doubling && !std::has_single_bit(hosts.size()))
        return fmt::format(
            "halving-doubling wants a power of two of hosts, and it has {}; do: name {} or {}, or "
            "write kind = \"ring-allreduce\"",
            hosts.size(), std::bit_floor(hosts.size()), std::bit_ceil(hosts.size()));
    collective.ranks = static_cast<std::uint32_t>(hosts.size());
    const std::uint64_t least = std::uint64_t{collective.chunks()} * collective.queue_pairs;
    if (collective.bytes < least)
        return fmt::format(
            "{} bytes are less than one for each of {} chunks and {} queue pairs; do: write {} "
            "bytes or more",
            collective.bytes, collective.chunks(), collective.queue_pairs, least);
    const auto& order = collective.rank_order;
    if (order == std::vector<std::string>{"random"}) {
        for (std::size_t n = hosts.size() - 1; n != 0; --n)
            std::swap(hosts[n], hosts[draw({seed, rank_order_stream, 0, n}) % (n + 1)]);
    } else if (order != std::vector<std::string>{"topology"}) {
        if (!std::ranges::is_permutation(order, hosts))
            return "rank_order names other hosts than hosts does; do: name each of them once, or write "
                   "\"topology\" or \"random\"";
        hosts = order;
    }
    return {};
}

FlowConfig flow_of(const CollectiveConfig& collective) {
    FlowConfig flow;
    flow.name = collective.name;
    flow.qps = collective.queue_pairs;
    flow.message.min_bytes = flow.message.max_bytes =
        static_cast<std::uint32_t>(collective.bytes / collective.chunks() / collective.queue_pairs);
    flow.messages = 1;
    flow.start = collective.start;
    flow.place = collective.place;
    return flow;
}

}  // namespace sluice::fabric

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

constexpr std::array<std::pair<std::string_view, CollectiveKind>, 9> kind_words{
    {{"ring-allreduce", CollectiveKind::ring_allreduce},
     {"halving-doubling", CollectiveKind::halving_doubling},
     {"all-to-all", CollectiveKind::all_to_all},
     {"all-gather", CollectiveKind::all_gather},
     {"reduce-scatter", CollectiveKind::reduce_scatter},
     {"pipeline", CollectiveKind::pipeline},
     {"tree-allreduce", CollectiveKind::tree_allreduce},
     {"double-tree-allreduce", CollectiveKind::double_tree_allreduce},
     {"hierarchical-allreduce", CollectiveKind::hierarchical_allreduce}}};
constexpr std::uint32_t max_ranks = 1024;
constexpr std::uint64_t least_chunk = 4096;
constexpr std::uint64_t max_control_bytes = 4096;
constexpr std::uint32_t rank_order_stream = 0x52414E4B;  // of draws

// "topology", "random", or a list.
schema::Type<std::vector<std::string>> order_of_ranks() {
    auto type = schema::names_of_hosts();
    type.name = "order";
    type.allowed = R"("topology", "random", or the list of hosts)";
    type.example = R"("topology")";
    return type;
}

// Multiples of `unit` next to `count`.
std::string multiples_near(std::size_t count, std::size_t unit) {
    const std::size_t below = count / unit * unit;
    return below == 0 ? fmt::format("{}", unit) : fmt::format("{} or {}", below, below + unit);
}

// Sets ranks and group_size.
std::string make_groups(CollectiveConfig& collective) {
    const std::size_t hosts = collective.hosts.size();
    collective.ranks = static_cast<std::uint32_t>(hosts);
    if (collective.group_size && collective.groups != 1)
        return "it has both groups and group_size; do: leave one of them out";
    const std::size_t least = 2 * std::size_t{collective.groups};
    if (hosts < least || hosts % collective.groups != 0)
        return fmt::format(
            "{} hosts are no {} groups of one size, two hosts or more; do: name {} hosts, or write fewer "
            "groups",
            hosts, collective.groups, multiples_near(std::max(hosts, least), collective.groups));
    if (collective.groups != 1) collective.group_size = static_cast<std::uint32_t>(hosts / collective.groups);
    if (!collective.group_size && collective.is_hierarchical())
        return "it names no servers; do: write group_size, the hosts (NICs) of a server";
    if (collective.group_stride != 1 && (!collective.group_size || collective.is_hierarchical()))
        return collective.is_hierarchical()
                   ? "the hosts of a server follow each other; do: leave group_stride out"
                   : "it has a group_stride and no groups; do: write group_size";
    const std::size_t unit = collective.group_size.value_or(collective.ranks) * collective.group_stride;
    if (hosts % unit != 0)
        return fmt::format(
            "{} hosts are no multiple of group_size times group_stride, {}; do: name {} hosts, or "
            "write another group_size",
            hosts, unit, multiples_near(hosts, unit));
    if (collective.is_hierarchical() && collective.group().size < 2)
        return "it has one server; do: write a smaller group_size, or kind = \"ring-allreduce\"";
    return {};
}

// Keys that a kind does not have.
std::string check_keys(const CollectiveConfig& collective) {
    if (!has_channels(collective.kind)) {
        const std::string_view kind = to_string(collective.kind);
        if (collective.channels != 1)
            return fmt::format("{} has no channels; do: write qps, or a ring or a tree", kind);
        if (collective.chunk_bytes)
            return fmt::format("{} has no chunk; do: {}", kind,
                               collective.kind == CollectiveKind::pipeline
                                   ? "write parts"
                                   : "leave it out, or write a ring or a tree");
    }
    if (collective.skew != 1 && collective.kind != CollectiveKind::all_to_all)
        return "skew is of all-to-all; do: leave it out, or write kind = \"all-to-all\"";
    if (collective.control_class && collective.control_bytes == 0)
        return "it has a control_class and no control messages; do: write control = \"64B\"";
    return {};
}

}  // namespace

bool has_channels(CollectiveKind kind) {
    return kind != CollectiveKind::halving_doubling && kind != CollectiveKind::all_to_all &&
           kind != CollectiveKind::pipeline;
}

std::string_view to_string(CollectiveKind kind) {
    const auto found =
        std::ranges::find(kind_words, kind, &std::pair<std::string_view, CollectiveKind>::second);
    return found->first;
}

schema::Rows<CollectiveConfig> collective_rows() {
    using C = CollectiveConfig;
    using schema::integer;
    schema::Rows<C> rows;
    rows.required(
        "kind", &C::kind, schema::word<CollectiveKind>({kind_words.begin(), kind_words.end()}),
        "Collective; rings and pipelines send to the next rank, halving-doubling wants a power of "
        "two of hosts, all-to-all sends to all at once, trees reduce upward and broadcast downward, "
        "the double tree has half of the data in each of two, and hierarchical-allreduce has rings "
        "between servers.");
    rows.key("hosts", &C::hosts, schema::names_of_hosts(),
             "Hosts, each with one rank; those of its job where it has one.");
    rows.key(
        "group_size", &C::group_size, schema::optional_or(integer<std::uint32_t>(2, max_ranks), "all"),
        "Hosts of a group, in the order of ranks; all groups run the collective at the same time, each by "
        "itself. With hierarchical-allreduce: hosts (NICs) of a server.");
    rows.key("groups", &C::groups, integer<std::uint32_t>(1, max_ranks / 2),
             "Groups of one size, instead of group_size.");
    rows.key(
        "group_stride", &C::group_stride, integer<std::uint32_t>(1, max_ranks / 2),
        "From a host of a group to its next, in ranks: 1 for tensor groups, their size for data groups.");
    rows.key("name", &C::name, schema::text("a name", 0, 64, "gradients"),
             "Its name in reports; empty: its kind.");
    rows.key(
        "bytes", &C::bytes, schema::size(1, roce::max_message_bytes, "100MB"),
        "Buffer of a rank, as nccl-tests counts it: with all-gather the whole result, with pipeline what "
        "a stage hands on.");
    rows.key("parts", &C::parts, integer<std::uint32_t>(1, 1024),
             "With pipeline: parts of it (microbatches), each handed on when it has come.");
    rows.key("channels", &C::channels, integer<std::uint32_t>(1, 32),
             "With rings and trees: that many side by side, each with its share of the bytes and its own "
             "queue pairs, over the same ranks in the same order.");
    rows.key(
        "chunk", &C::chunk_bytes,
        schema::optional_or(schema::size(least_chunk, roce::max_message_bytes, "256KB"), "auto"),
        "With rings and trees: size of a message at most, handed on when it has come; \"auto\": 512 KiB, "
        "halved down to 32 KiB until a tree has 8 for each of its levels, and in a ring the bytes over "
        "its hosts.");
    rows.key("skew", &C::skew, integer<std::uint32_t>(1, 1000),
             "With all-to-all: the first host of each group gets so many times as much as another; what a "
             "host sends in all stays.");
    rows.key("qps", &C::queue_pairs, integer<std::uint32_t>(1, max_collective_qps),
             "Queue pairs to each peer (of each channel), which share a message.");
    rows.key(
        "control", &C::control_bytes,
        schema::converted<std::uint32_t, std::optional<std::uint64_t>>(
            schema::optional_or(schema::size(1, max_control_bytes, "64B"), "none"),
            [](const auto& said) { return static_cast<std::uint32_t>(said.value_or(0)); },
            [](const std::uint32_t& bytes) {
                return bytes == 0 ? std::nullopt : std::optional<std::uint64_t>(bytes);
            }),
        "Clear-to-send messages: a receiver sends one for each message, up to 8 of a sender ahead of its "
        "data, and the sender waits for it.");
    rows.key("control_class", &C::control_class, schema::optional_or(schema::class_id(), "host"),
             "Their traffic class; \"host\": by the host's dscp.");
    rows.key("server_bandwidth", &C::server_bandwidth, schema::rate(1'000'000'000, 100'000'000'000'000),
             "With hierarchical-allreduce: from a host of a server to another, not over the network.");
    rows.key("server_latency", &C::server_latency, schema::time(microseconds(1), seconds(1), "1us"),
             "Likewise: of each of the steps of its rings.");
    rows.key("steps", &C::steps, integer<std::uint32_t>(1, 10'000), "How often it is done.");
    rows.key("compute", &C::compute, schema::time({}, max_time, "1ms"),
             "Time that a rank computes between two steps.");
    rows.key("overlap", &C::overlap, schema::time({}, max_time, "1ms"),
             "Time that a rank computes beside each step, from its beginning on.");
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
    if (std::string wrong = make_groups(collective); !wrong.empty()) return wrong;
    if (std::string wrong = check_keys(collective); !wrong.empty()) return wrong;
    const std::uint32_t size = collective.group().size;
    if (collective.kind == CollectiveKind::halving_doubling && !std::has_single_bit(size))
        return fmt::format(
            "halving-doubling wants a power of two of hosts, and it has {}; do: {} {} or {}, or "
            "write kind = \"ring-allreduce\"",
            size, collective.group_size ? "write groups of" : "name", std::bit_floor(size),
            std::bit_ceil(size));
    const std::uint64_t shares = collective.shares();
    if (collective.bytes < shares * collective.queue_pairs)
        return fmt::format(
            "{} bytes are less than one for each of {} chunks and {} queue pairs; do: write {} "
            "bytes or more",
            collective.bytes, shares, collective.queue_pairs, shares * collective.queue_pairs);
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
        static_cast<std::uint32_t>(collective.message_bytes() / collective.queue_pairs);
    flow.messages = 1;
    flow.start = collective.start;
    flow.place = collective.place;
    return flow;
}

FlowConfig control_flow_of(const CollectiveConfig& collective) {
    FlowConfig flow = flow_of(collective);
    flow.name += "-control";
    flow.qps = 1;
    flow.message.min_bytes = flow.message.max_bytes = collective.control_bytes;
    return flow;
}

}  // namespace sluice::fabric

#include "dataplane/ports/receive_losses.hh"

#include <rte_ethdev.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

namespace sluice {
namespace {

using namespace std::string_view_literals;

// Counters of MACs that rte_eth_stats leaves out (v22.11.11, drivers/net): mlx5, bnxt and hns3.
constexpr std::array counted_apart{
    "rx_phy_crc_errors"sv,      "rx_phy_symbol_errors"sv, "rx_phy_in_range_len_errors"sv,
    "rx_phy_discard_packets"sv, "rx_fcs_err_frames"sv,    "rx_align_err_frames"sv,
    "rx_stat_discard"sv,        "mac_rx_bad_pkt_num"sv};

// Beginnings of words in a name that mean lost frames, and of those that mean something else: bytes,
// checksums of frames that are handed over, symbols, frames that are not the port's.
constexpr std::array of_loss{"drop"sv, "discard"sv, "err"sv, "overrun"sv, "overflow"sv, "trunc"sv, "bad"sv};
constexpr std::array of_no_loss{"tx"sv,    "byte"sv,       "oct"sv,    "checksum"sv, "csum"sv,
                                "cksum"sv, "xsum"sv,       "sym"sv,    "filter"sv,   "fcoe"sv,
                                "mgmt"sv,  "management"sv, "illegal"sv};

bool begins_with_one(std::string_view word, std::span<const std::string_view> words) {
    return std::ranges::any_of(words, [&](std::string_view each) { return word.starts_with(each); });
}

// Counters of several queues get one name.
std::string without_numbers(std::string_view name) {
    std::string text;
    for (const char c : name)
        if (std::isdigit(static_cast<unsigned char>(c)) == 0)
            text += c;
        else if (!text.ends_with('#'))
            text += '#';
    return text;
}

// "rx_q3_errors", "rxq_3_err_pkts": 3.
std::optional<unsigned> queue_of(std::string_view name) {
    for (const std::string_view head : {"rx_q"sv, "rxq_"sv, "rxq"sv}) {
        unsigned queue = 0;
        if (name.starts_with(head) &&
            std::from_chars(name.data() + head.size(), name.data() + name.size(), queue).ec == std::errc{})
            return queue;
    }
    return std::nullopt;
}

}  // namespace

LossCounter loss_counter(std::string_view xstat) {
    if (std::ranges::find(counted_apart, xstat) != counted_apart.end()) return LossCounter::apart;
    std::string name;
    for (const char c : xstat) name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    bool received = false, lost = false;
    for (std::string_view rest = name; !rest.empty();) {
        const std::string_view word = rest.substr(0, rest.find('_'));
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
        if (begins_with_one(word, of_no_loss)) return LossCounter::none;
        received |= word.starts_with("rx");
        lost |= begins_with_one(word, of_loss);
    }
    return received && lost ? LossCounter::seen : LossCounter::none;
}

void ReceiveLosses::follow(std::uint16_t device) {
    device_ = device;
    before_ = count_;
    at_before_ = at_;
    ids_.clear();
    named_.clear();
    std::vector<std::string> sums;
    const std::vector<std::string> known = extended_names(device);
    for (std::size_t id = 0; id < known.size(); ++id) {
        const LossCounter kind = loss_counter(known[id]);
        if (kind == LossCounter::none) continue;
        Named named{std::nullopt, queue_of(known[id])};
        if (kind == LossCounter::seen) {
            const std::string name = without_numbers(known[id]);
            named.sum = static_cast<std::size_t>(std::ranges::find(sums, name) - sums.begin());
            if (*named.sum == sums.size()) sums.push_back(name);
        }
        ids_.push_back(id);
        named_.push_back(named);
    }
    sums_ = sums.size();
}

void ReceiveLosses::read() {
    // First the extended counters: frames that are missed in between are then in `missed`, too.
    const std::vector<std::uint64_t> values = extended_values(device_, ids_);
    rte_eth_stats stats{};
    if (rte_eth_stats_get(device_, &stats) != 0) return;
    std::uint64_t apart = 0, by_queues = 0;
    std::vector<std::uint64_t> seen(sums_), at(RTE_ETHDEV_QUEUE_STAT_CNTRS);
    for (std::size_t queue = 0; queue < at.size(); ++queue) by_queues += at[queue] = stats.q_errors[queue];
    for (std::size_t n = 0; n < values.size(); ++n) {
        const Named& each = named_[n];
        (each.sum ? seen[*each.sum] : apart) += values[n];
        if (each.queue && *each.queue < at.size()) at[*each.queue] = std::max(at[*each.queue], values[n]);
    }
    const std::uint64_t missed = stats.imissed + stats.rx_nombuf;
    std::uint64_t errors = std::max(stats.ierrors, by_queues);
    for (const std::uint64_t sum : seen) errors = std::max(errors, sum - std::min(sum, missed));
    count_.missed = std::max(count_.missed, before_.missed + missed);
    count_.errors = std::max(count_.errors, before_.errors + errors + apart);
    at_.resize(at.size());
    at_before_.resize(at.size());
    for (std::size_t queue = 0; queue < at.size(); ++queue)
        at_[queue] = std::max(at_[queue], at_before_[queue] + at[queue]);
}

std::vector<std::string> extended_names(std::uint16_t device) {
    const int count = rte_eth_xstats_get_names(device, nullptr, 0);
    std::vector<rte_eth_xstat_name> known(static_cast<std::size_t>(std::max(count, 0)));
    if (known.empty() ||
        rte_eth_xstats_get_names(device, known.data(), static_cast<unsigned>(known.size())) != count)
        return {};
    std::vector<std::string> names;
    for (const rte_eth_xstat_name& each : known) names.emplace_back(each.name);
    return names;
}

std::vector<std::uint64_t> extended_values(std::uint16_t device, std::span<const std::uint64_t> ids) {
    std::vector<std::uint64_t> values(ids.size());
    const auto size = static_cast<unsigned>(ids.size());
    if (ids.empty() ||
        rte_eth_xstats_get_by_id(device, ids.data(), values.data(), size) != static_cast<int>(size))
        return {};
    return values;
}

}  // namespace sluice

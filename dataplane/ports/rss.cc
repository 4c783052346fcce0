#include "dataplane/ports/rss.hh"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

namespace sluice {
namespace {

constexpr std::uint64_t wanted = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP;

// A queue without a poller keeps its frames.
bool spreads_by_itself(std::string_view driver) { return driver == "net_pcap"; }

}  // namespace

ReceiveSpread::ReceiveSpread(const rte_eth_dev_info& info, std::uint16_t queues) : queues_(queues) {
    const std::string_view driver = info.driver_name != nullptr ? info.driver_name : "";
    const std::uint16_t has = std::max<std::uint16_t>(info.max_rx_queues, 1);
    if (queues > has || (spreads_by_itself(driver) && queues != has)) {
        const bool all = spreads_by_itself(driver);
        wrong_ = "it has " + std::to_string(has) + (has == 1 ? " receive queue" : " receive queues") +
                 (all && has > 1 ? ", which all get frames" : "") + "; do: set rx_queues to " +
                 (all ? "" : "at most ") + std::to_string(has);
        return;
    }
    if (queues == 1 || spreads_by_itself(driver)) return;
    hash_ = info.flow_type_rss_offloads & wanted;
    if (hash_ == 0) {
        wrong_ = "it has no hash by which a flow stays on one receive queue; do: set rx_queues to 1";
        return;
    }
    table_ = info.reta_size;
    if (info.hash_key_size <= key_.size()) key_bytes_ = info.hash_key_size;
    for (std::size_t i = 0; i < key_bytes_; ++i) key_[i] = i % 2 == 0 ? 0x6D : 0x5A;
}

void ReceiveSpread::ask_for(rte_eth_conf& conf) {
    conf.rxmode.mq_mode = hash_ != 0 ? RTE_ETH_MQ_RX_RSS : RTE_ETH_MQ_RX_NONE;
    if (hash_ == 0) return;
    conf.rx_adv_conf.rss_conf.rss_key = key_bytes_ != 0 ? key_.data() : nullptr;
    conf.rx_adv_conf.rss_conf.rss_key_len = key_bytes_;
    conf.rx_adv_conf.rss_conf.rss_hf = hash_;
}

int ReceiveSpread::fill_table(std::uint16_t id) const {
    if (hash_ == 0 || table_ == 0) return 0;
    constexpr unsigned group = RTE_ETH_RETA_GROUP_SIZE;
    std::vector<rte_eth_rss_reta_entry64> table((table_ + group - 1U) / group);
    for (unsigned i = 0; i < table_; ++i) {
        table[i / group].mask |= std::uint64_t{1} << i % group;
        table[i / group].reta[i % group] = static_cast<std::uint16_t>(i % queues_);
    }
    const int result = rte_eth_dev_rss_reta_update(id, table.data(), table_);
    return result == -ENOTSUP ? 0 : result;
}

std::string ReceiveSpread::text() const {
    if (queues_ == 1) return "1 queue";
    std::string by;
    const auto add = [&](std::uint64_t kinds, const char* name) {
        if ((hash_ & kinds) != 0) by += (by.empty() ? " by RSS of " : ", ") + std::string(name);
    };
    add(RTE_ETH_RSS_IP, "ip");
    add(RTE_ETH_RSS_UDP, "udp");
    add(RTE_ETH_RSS_TCP, "tcp");
    return std::to_string(queues_) + " queues" + (by.empty() ? " by the device itself" : by);
}

}  // namespace sluice

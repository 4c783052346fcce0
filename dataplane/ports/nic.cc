#include "dataplane/ports/nic.hh"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "dataplane/ports/ring_size.hh"

namespace sluice {
namespace {

// NICs fill a packet buffer in steps of this.
constexpr std::uint32_t buffer_step = 1024;

struct Segments {
    std::uint32_t frame_bytes;   // of the largest frame
    std::uint32_t buffer_bytes;  // that a NIC is sure to fill
    bool needed() const { return frame_bytes > buffer_bytes; }
    std::uint32_t count() const { return (frame_bytes + buffer_bytes - 1) / buffer_bytes; }
};

Segments segments_of(const NicSpec& spec) {
    const std::uint32_t room = data_bytes_of(spec.pool);
    return {spec.mtu + link_header_bytes, room < buffer_step ? room : room / buffer_step * buffer_step};
}

// The largest MTU with packet buffers as they are.
std::uint16_t largest_mtu(const rte_eth_dev_info& info, const Segments& segments) {
    const bool both = (info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) != 0 &&
                      (info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0;
    const std::uint32_t most = info.tx_desc_lim.nb_mtu_seg_max;
    const std::uint32_t buffers = !both ? 1 : most == 0 ? 255 : most;
    return static_cast<std::uint16_t>(
        std::min<std::uint32_t>(info.max_mtu, buffers * segments.buffer_bytes - link_header_bytes));
}

// Why the device does not take frames of this MTU; empty: it does.
std::string too_long(const rte_eth_dev_info& info, const NicSpec& spec, const Segments& segments) {
    if (spec.mtu > info.max_mtu)
        return "it takes an MTU of at most " + std::to_string(info.max_mtu) + "; do: set mtu to at most " +
               std::to_string(info.max_mtu);
    if (!segments.needed() || spec.mtu <= largest_mtu(info, segments)) return {};
    std::string can;
    if ((info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) == 0)
        can = "it receives a frame into one packet buffer";
    else if ((info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) == 0)
        can = "it sends a frame from one packet buffer";
    else
        can = "it sends a frame from at most " + std::to_string(info.tx_desc_lim.nb_mtu_seg_max) +
              " packet buffers";
    const std::uint32_t wanted = (segments.frame_bytes + buffer_step - 1) / buffer_step * buffer_step;
    return can + ", of which it fills " + std::to_string(segments.buffer_bytes) + " bytes, and one of MTU " +
           std::to_string(spec.mtu) + " takes " + std::to_string(segments.frame_bytes) +
           "; do: set mtu to at most " + std::to_string(largest_mtu(info, segments)) +
           ", or buffer.packet_buffer to " + std::to_string(wanted);
}

bool has_flag(const rte_eth_dev_info& info, std::uint32_t flag) {
    return info.dev_flags != nullptr && (*info.dev_flags & flag) != 0;
}

struct Rings {
    std::uint16_t receive;
    std::uint16_t transmit;
};

// A driver rounds these sizes up; with its step known, the result is no larger than wanted.
Rings wanted_rings(const rte_eth_dev_info& info, const NicSpec& spec) {
    const RingSizes sizes = ring_sizes(spec.speed, spec.turn_max, spec.ring, data_bytes_of(spec.pool));
    const std::uint32_t step = std::max<std::uint32_t>(info.tx_desc_lim.nb_align, 1);
    return {static_cast<std::uint16_t>(sizes.receive),
            static_cast<std::uint16_t>(std::max(sizes.transmit / step * step, step))};
}

// Stops at the first step that fails; `rings` get their actual sizes.
std::optional<NicError> start_queues(std::uint16_t id, rte_eth_conf& conf, const NicSpec& spec,
                                     ReceiveSpread& spread, Rings& rings) {
    spread.ask_for(conf);
    int result = rte_eth_dev_configure(id, spec.receive_queues, 1, &conf);
    if (result != 0) return NicError{"it takes no configuration", result};
    if ((result = rte_eth_dev_adjust_nb_rx_tx_desc(id, &rings.receive, &rings.transmit)) != 0)
        return NicError{"its rings have no size", result};
    const int socket = rte_eth_dev_socket_id(id);
    const unsigned node = socket < 0 ? 0 : static_cast<unsigned>(socket);
    for (std::uint16_t n = 0; n < spec.receive_queues; ++n)
        if ((result = rte_eth_rx_queue_setup(id, n, rings.receive, node, nullptr, spec.pool)) != 0)
            return NicError{"it takes no receive ring", result};
    if ((result = rte_eth_tx_queue_setup(id, 0, rings.transmit, node, nullptr)) != 0)
        return NicError{"it takes no transmit ring", result};
    if ((result = rte_eth_dev_start(id)) != 0) return NicError{"it does not start", result};
    if ((result = spread.fill_table(id)) != 0)
        return NicError{"it takes no table of its receive queues", result};
    return std::nullopt;
}

struct Filter {
    std::string name;
    int own_result = 0;    // of frames to the port's MAC
    int group_result = 0;  // of those to PFC's group address
};

// Receives frames to any MAC, as the configuration may give the port another; else to its own and PFC's group
// address.
Filter open_filter(std::uint16_t id, const NicSpec& spec) {
    if (rte_eth_promiscuous_enable(id) == 0) return {"promiscuous"};
    Filter filter{"own MAC"};
    if (spec.mac) {
        rte_ether_addr own{};
        std::memcpy(own.addr_bytes, spec.mac->bytes.data(), sizeof own.addr_bytes);
        filter.own_result = rte_eth_dev_default_mac_addr_set(id, &own);
    }
    rte_ether_addr group{{0x01, 0x80, 0xC2, 0x00, 0x00, 0x01}};
    if (rte_eth_dev_set_mc_addr_list(id, &group, 1) == 0)
        filter.name += " and 01:80:C2:00:00:01";
    else if ((filter.group_result = rte_eth_allmulticast_enable(id)) == 0)
        filter.name += " and all multicast";
    return filter;
}

// Once started: drivers write the registers behind this at start.
void ask_for_mac_control(std::uint16_t id, PfcAnswers& answers) {
    rte_eth_fc_conf wanted{};
    if (rte_eth_dev_flow_ctrl_get(id, &wanted) != 0) wanted = {};
    wanted.mode = RTE_ETH_FC_NONE;
    wanted.mac_ctrl_frame_fwd = 1;
    answers.forward_result = rte_eth_dev_flow_ctrl_set(id, &wanted);
    if (answers.forward_result != 0) {
        wanted.mac_ctrl_frame_fwd = 0;  // then at least no PAUSE by the NIC, which stops every class
        static_cast<void>(rte_eth_dev_flow_ctrl_set(id, &wanted));
        return;
    }
    rte_eth_fc_conf now{};
    answers.forward_is_on = rte_eth_dev_flow_ctrl_get(id, &now) == 0 && now.mode == RTE_ETH_FC_NONE &&
                            now.mac_ctrl_frame_fwd != 0;
}

}  // namespace

tl::expected<PortCapabilities, NicError> start_software_device(std::uint16_t id, const NicSpec& spec) {
    rte_eth_dev_info info{};
    if (const int result = rte_eth_dev_info_get(id, &info); result != 0)
        return tl::unexpected(NicError{"it says nothing of itself", result});
    ReceiveSpread spread(info, spec.receive_queues);
    if (!spread.wrong().empty()) return tl::unexpected(NicError{spread.wrong()});
    rte_eth_conf conf{};
    conf.rxmode.mtu = std::clamp<std::uint32_t>(spec.mtu, info.min_mtu, info.max_mtu);
    conf.rxmode.offloads = info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER;
    conf.txmode.offloads = info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
    Rings rings{ring_descriptors, ring_descriptors};
    if (auto failed = start_queues(id, conf, spec, spread, rings)) return tl::unexpected(std::move(*failed));

    PortCapabilities can;
    can.driver = info.driver_name != nullptr ? info.driver_name : "unknown";
    can.pfc = pfc_ability(can.driver, {});
    can.max_mtu = info.max_mtu;
    can.receive_queues = info.max_rx_queues;
    can.receive_spread = spread.text();
    can.receive_ring = can.transmit_ring = ring_descriptors;
    return can;
}

tl::expected<PortCapabilities, NicError> start_nic(std::uint16_t id, const NicSpec& spec) {
    rte_eth_dev_info info{};
    if (const int result = rte_eth_dev_info_get(id, &info); result != 0)
        return tl::unexpected(NicError{"it says nothing of itself", result});
    const Segments segments = segments_of(spec);
    if (std::string why = too_long(info, spec, segments); !why.empty())
        return tl::unexpected(NicError{std::move(why)});
    ReceiveSpread spread(info, spec.receive_queues);
    if (!spread.wrong().empty()) return tl::unexpected(NicError{spread.wrong()});
    Rings rings = wanted_rings(info, spec);
    rte_eth_conf conf{};
    conf.rxmode.mtu = std::max<std::uint32_t>(spec.mtu, info.min_mtu);
    conf.rxmode.offloads = segments.needed() ? RTE_ETH_RX_OFFLOAD_SCATTER : 0;
    conf.txmode.offloads = segments.needed() ? RTE_ETH_TX_OFFLOAD_MULTI_SEGS : 0;
    // With the link interrupt on, DPDK reports the state at the last one and never asks the driver; some
    // cards raise none: 82574L, vmxnet3, a card without MSI-X under vfio-pci.
    conf.intr_conf.lsc = 0;
    conf.intr_conf.rmv = has_flag(info, RTE_ETH_DEV_INTR_RMV) ? 1 : 0;
    if (auto failed = start_queues(id, conf, spec, spread, rings)) return tl::unexpected(std::move(*failed));
    const Filter filter = open_filter(id, spec);
    if (filter.own_result != 0)
        return tl::unexpected(NicError{
            "it is neither promiscuous nor takes the port's mac; do: leave mac out", filter.own_result});

    PfcAnswers answers;
    answers.is_virtual = false;
    answers.group_result = filter.group_result;
    ask_for_mac_control(id, answers);
    rte_eth_pfc_queue_info by_queue{};
    answers.pfc_by_queue =
        rte_eth_dev_priority_flow_ctrl_queue_info_get(id, &by_queue) == 0 && by_queue.tc_max != 0;

    PortCapabilities can;
    can.driver = info.driver_name != nullptr ? info.driver_name : "unknown";
    can.is_virtual = false;
    can.pfc = pfc_ability(can.driver, answers);
    can.max_mtu = largest_mtu(info, segments);
    can.scattered_receive = (info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_SCATTER) != 0;
    can.multi_segment_transmit = (info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0;
    if (segments.needed())
        can.whole_mtu = static_cast<std::uint16_t>(segments.buffer_bytes - link_header_bytes);
    can.receive_queues = info.max_rx_queues;
    can.transmit_queues = info.max_tx_queues;
    can.receive_spread = spread.text();
    can.receive_ring = rings.receive;
    can.transmit_ring = rings.transmit;
    can.paced = std::uint64_t{rings.transmit} * wire_bytes(data_bytes_of(spec.pool)) >
                bytes_in_time(spec.speed, spec.ring);
    can.tells_ring_fill =
        rte_eth_rx_descriptor_status(id, 0, static_cast<std::uint16_t>(rings.receive / 2)) >= 0;
    can.removal_interrupt = has_flag(info, RTE_ETH_DEV_INTR_RMV);
    can.filter = filter.name;
    return can;
}

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

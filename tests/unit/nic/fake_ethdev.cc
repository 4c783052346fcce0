#include "tests/unit/nic/fake_ethdev.hh"

#include <rte_log.h>
#include <rte_mbuf.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace fake {

namespace {

std::uint16_t receive(void* queue, rte_mbuf** packets, std::uint16_t room) {
    const Card::Queue& from = *static_cast<Card::Queue*>(queue);
    Card& card = *from.card;
    ++card.polls;
    const std::lock_guard lock(card.mutex);
    if (card.removed) ++card.polls_when_gone;
    card.sent_when_polled = card.sent.size();
    std::vector<rte_mbuf*>& arrived = card.arrived_at(from.number);
    const auto count = static_cast<std::uint16_t>(std::min<std::size_t>(room, arrived.size()));
    std::copy_n(arrived.begin(), count, packets);
    arrived.erase(arrived.begin(), arrived.begin() + count);
    return count;
}

std::uint16_t transmit(void* queue, rte_mbuf** packets, std::uint16_t count) {
    Card& card = *static_cast<Card::Queue*>(queue)->card;
    const std::lock_guard lock(card.mutex);
    if (card.removed) ++card.polls_when_gone;
    const std::uint16_t taken = std::min(count, card.takes);
    card.sent.insert(card.sent.end(), packets, packets + taken);
    return taken;
}

int descriptor_status(void* queue, std::uint16_t offset) {
    const Card::Queue& of = *static_cast<Card::Queue*>(queue);
    Card& card = *of.card;
    const std::lock_guard lock(card.mutex);
    if (card.removed) ++card.polls_when_gone;
    if (!card.tells_ring_fill) return -ENOTSUP;
    if (offset >= card.rx_ring) return -EINVAL;
    return offset < card.arrived_at(of.number).size() ? RTE_ETH_RX_DESC_DONE : RTE_ETH_RX_DESC_AVAIL;
}

Card* card_of(std::uint16_t id) {
    return Machine::current != nullptr ? Machine::current->probed(id) : nullptr;
}

void free_all(std::vector<rte_mbuf*>& packets) {
    for (rte_mbuf* packet : packets) rte_pktmbuf_free(packet);
    packets.clear();
}

}  // namespace
}  // namespace fake

using fake::Card;
using fake::Forwarding;

// NOLINTBEGIN(bugprone-reserved-identifier): these are DPDK's names.
#define FAKE_CARD_OR_FAIL(id)             \
    Card* const card = fake::card_of(id); \
    if (card == nullptr) return -ENODEV;  \
    if (const int wrong = card->answer(__func__); wrong != 0) return wrong

extern "C" {

int rte_dev_probe(const char* devargs) {
    const std::string text(devargs);
    Card* const card = fake::Machine::current->find(text.substr(0, text.find(',')));
    if (card == nullptr) return -ENODEV;
    if (const int wrong = card->answer(__func__); wrong != 0) return wrong;
    if (card->probed) return -EEXIST;
    card->probed = true;
    card->id = fake::Machine::current->next_id++;
    return 0;
}

int rte_dev_remove(struct rte_device* device) {
    for (std::uint16_t id = 0; id < RTE_MAX_ETHPORTS; ++id)
        if (Card* card = fake::card_of(id);
            card != nullptr && reinterpret_cast<rte_device*>(card->rte_device_bytes.data()) == device) {
            card->calls.emplace_back(__func__);
            card->probed = false;
            return 0;
        }
    return -ENODEV;
}

int rte_dev_event_callback_register(const char* name, rte_dev_event_cb_fn function, void* argument) {
    fake::Machine::current->find(name)->device_callbacks.emplace_back(function, argument);
    return 0;
}

int rte_dev_event_callback_unregister(const char* name, rte_dev_event_cb_fn, void*) {
    fake::Machine::current->find(name)->device_callbacks.clear();
    return 1;
}

int rte_eth_dev_get_port_by_name(const char* name, uint16_t* id) {
    Card* const card = fake::Machine::current->find(name);
    if (card == nullptr || !card->probed) return -ENODEV;
    if (const int wrong = card->answer(__func__); wrong != 0) return wrong;
    *id = card->id;
    return 0;
}

int rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info* info) {
    Card* const card = fake::card_of(id);
    if (card == nullptr) return -ENODEV;
    *info = {};
    info->device = reinterpret_cast<rte_device*>(card->rte_device_bytes.data());
    card->calls.emplace_back(__func__);
    if (const auto found = card->fails.find(__func__); found != card->fails.end()) return found->second;
    info->driver_name = card->driver.c_str();
    info->min_mtu = card->min_mtu;
    info->max_mtu = card->max_mtu;
    info->dev_flags = &card->flags;
    info->rx_offload_capa = card->rx_offloads;
    info->tx_offload_capa = card->tx_offloads;
    info->rx_desc_lim = card->rx_limits;
    info->tx_desc_lim = card->tx_limits;
    info->max_rx_queues = card->max_rx_queues;
    info->flow_type_rss_offloads = card->rss;
    info->reta_size = card->table_size;
    info->hash_key_size = card->key_bytes;
    info->max_tx_queues = 32;
    return 0;
}

// Refuses the same calls as DPDK.
int rte_eth_dev_configure(uint16_t id, uint16_t rx, uint16_t tx, const struct rte_eth_conf* conf) {
    FAKE_CARD_OR_FAIL(id);
    const auto has = [&](std::uint32_t flag) { return (card->flags & flag) != 0; };
    const struct rte_eth_rss_conf& rss = conf->rx_adv_conf.rss_conf;
    const bool spreads = (conf->rxmode.mq_mode & RTE_ETH_MQ_RX_RSS_FLAG) != 0;
    if (rx < 1 || rx > card->max_rx_queues || tx != 1 || (rss.rss_hf & ~card->rss) != 0 ||
        (rss.rss_key != nullptr && rss.rss_key_len != card->key_bytes) || spreads != (rss.rss_hf != 0) ||
        (conf->rxmode.offloads & ~card->rx_offloads) != 0 ||
        (conf->txmode.offloads & ~card->tx_offloads) != 0 || conf->rxmode.mtu > card->max_mtu ||
        conf->rxmode.mtu < card->min_mtu || (conf->intr_conf.lsc != 0 && !has(RTE_ETH_DEV_INTR_LSC)) ||
        (conf->intr_conf.rmv != 0 && !has(RTE_ETH_DEV_INTR_RMV)))
        return -EINVAL;
    card->conf = *conf;
    card->rss_key.clear();
    if (rss.rss_key != nullptr) card->rss_key.assign(rss.rss_key, rss.rss_key + rss.rss_key_len);
    card->conf.rx_adv_conf.rss_conf.rss_key = nullptr;  // the caller's
    card->rx_queues = rx;
    card->rx_queues_set = 0;
    card->configured = true;
    return 0;
}

int rte_eth_dev_adjust_nb_rx_tx_desc(uint16_t id, uint16_t* rx, uint16_t* tx) {
    FAKE_CARD_OR_FAIL(id);
    const auto adjust = [](uint16_t& n, const rte_eth_desc_lim& limits) {
        std::uint32_t wide = n;
        if (limits.nb_align != 0) wide = RTE_ALIGN_CEIL(wide, limits.nb_align);
        if (limits.nb_max != 0) wide = std::min<std::uint32_t>(wide, limits.nb_max);
        n = static_cast<uint16_t>(std::max<std::uint32_t>(wide, limits.nb_min));
    };
    adjust(*rx, card->rx_limits);
    adjust(*tx, card->tx_limits);
    return 0;
}

int rte_eth_dev_socket_id(uint16_t) { return -1; }

int rte_eth_rx_queue_setup(uint16_t id, uint16_t queue, uint16_t ring, unsigned, const struct rte_eth_rxconf*,
                           struct rte_mempool* pool) {
    FAKE_CARD_OR_FAIL(id);
    const rte_eth_desc_lim& limits = card->rx_limits;
    if (queue != card->rx_queues_set || queue >= card->rx_queues || !card->configured ||
        ring > limits.nb_max || ring < limits.nb_min || ring % limits.nb_align != 0)
        return -EINVAL;
    const bool scatters = (card->conf.rxmode.offloads & RTE_ETH_RX_OFFLOAD_SCATTER) != 0;
    if (!scatters &&
        card->conf.rxmode.mtu + 22 > static_cast<std::uint32_t>(rte_pktmbuf_data_room_size(pool)))
        return -EINVAL;
    card->rx_ring = ring;
    card->pool = pool;
    ++card->rx_queues_set;
    return 0;
}

int rte_eth_tx_queue_setup(uint16_t id, uint16_t queue, uint16_t ring, unsigned,
                           const struct rte_eth_txconf*) {
    FAKE_CARD_OR_FAIL(id);
    const rte_eth_desc_lim& limits = card->tx_limits;
    if (queue != 0 || ring > limits.nb_max || ring < limits.nb_min || ring % limits.nb_align != 0)
        return -EINVAL;
    card->tx_ring = ring;
    return 0;
}

int rte_eth_dev_start(uint16_t id) {
    FAKE_CARD_OR_FAIL(id);
    if (card->rx_queues_set != card->rx_queues || card->tx_ring == 0) return -EINVAL;
    card->started = true;
    card->told_link = card->link;
    if (!card->logs_at_start.empty()) RTE_LOG(ERR, EAL, "%s\n", card->logs_at_start.c_str());
    for (std::uint16_t n = 0; n < card->queues.size(); ++n) {
        card->queues[n] = {card, n};
        card->queue_data[n] = &card->queues[n];
    }
    struct rte_eth_fp_ops& path = rte_eth_fp_ops[id];
    path.rx_pkt_burst = fake::receive;
    path.tx_pkt_burst = fake::transmit;
    path.rx_descriptor_status = fake::descriptor_status;
    path.rxq.data = path.txq.data = card->queue_data.data();
    path.rxq.clbk = path.txq.clbk = card->no_callbacks.data();
    return 0;
}

int rte_eth_dev_stop(uint16_t id) {
    FAKE_CARD_OR_FAIL(id);
    card->started = false;
    return 0;
}

int rte_eth_dev_close(uint16_t id) {
    Card* const card = fake::card_of(id);
    if (card == nullptr) return -ENODEV;
    card->calls.emplace_back(__func__);
    const std::lock_guard lock(card->mutex);
    card->started = card->configured = false;
    card->rx_ring = card->tx_ring = 0;
    fake::free_all(card->arrived);
    for (auto& [queue, arrived] : card->more) fake::free_all(arrived);
    fake::free_all(card->sent);
    // A poll from here on is a crash, as it would be of a device that is gone.
    rte_eth_fp_ops[id] = {};
    return 0;
}

int rte_eth_dev_rss_reta_update(uint16_t id, struct rte_eth_rss_reta_entry64* table, uint16_t size) {
    FAKE_CARD_OR_FAIL(id);
    if (!card->started || size != card->table_size) return -EINVAL;
    card->table.clear();
    for (unsigned n = 0; n < size; ++n) {
        const struct rte_eth_rss_reta_entry64& group = table[n / RTE_ETH_RETA_GROUP_SIZE];
        if ((group.mask >> n % RTE_ETH_RETA_GROUP_SIZE & 1U) == 0) return -EINVAL;
        card->table.push_back(group.reta[n % RTE_ETH_RETA_GROUP_SIZE]);
    }
    return 0;
}

int rte_eth_promiscuous_enable(uint16_t id) {
    FAKE_CARD_OR_FAIL(id);
    card->filter = "promiscuous";
    return 0;
}

int rte_eth_allmulticast_enable(uint16_t id) {
    FAKE_CARD_OR_FAIL(id);
    card->filter = "multicast";
    return 0;
}

int rte_eth_dev_set_mc_addr_list(uint16_t id, struct rte_ether_addr* list, uint32_t count) {
    FAKE_CARD_OR_FAIL(id);
    if (count != 1) return -EINVAL;
    char text[RTE_ETHER_ADDR_FMT_SIZE];
    rte_ether_format_addr(text, sizeof text, list);
    card->filter = text;
    return 0;
}

int rte_eth_dev_default_mac_addr_set(uint16_t id, struct rte_ether_addr* mac) {
    FAKE_CARD_OR_FAIL(id);
    std::copy_n(mac->addr_bytes, 6, card->new_mac.begin());
    return 0;
}

int rte_eth_macaddr_get(uint16_t id, struct rte_ether_addr* mac) {
    FAKE_CARD_OR_FAIL(id);
    std::copy_n(card->mac.begin(), 6, mac->addr_bytes);
    return 0;
}

int rte_eth_dev_flow_ctrl_get(uint16_t id, struct rte_eth_fc_conf* conf) {
    FAKE_CARD_OR_FAIL(id);
    *conf = card->flow_control;
    if (card->forwarding != Forwarding::reads_back) conf->mac_ctrl_frame_fwd = 0;
    return 0;
}

int rte_eth_dev_flow_ctrl_set(uint16_t id, struct rte_eth_fc_conf* conf) {
    FAKE_CARD_OR_FAIL(id);
    if (!card->started) return -EBUSY;
    if (card->forwarding == Forwarding::refuses && conf->mac_ctrl_frame_fwd != 0) return -EINVAL;
    // As igb does: other settings stay.
    if (conf->autoneg != card->flow_control.autoneg || conf->high_water != card->flow_control.high_water)
        return -ENOTSUP;
    const rte_eth_fc_mode before = card->flow_control.mode;
    card->flow_control = *conf;
    if (card->keeps_pausing) card->flow_control.mode = before;
    if (card->forwarding == Forwarding::ignores) card->flow_control.mac_ctrl_frame_fwd = 0;
    return 0;
}

int rte_eth_dev_priority_flow_ctrl_queue_info_get(uint16_t id, struct rte_eth_pfc_queue_info* info) {
    FAKE_CARD_OR_FAIL(id);
    if (card->pfc_traffic_classes == 0xFF) return -ENOTSUP;
    *info = {card->pfc_traffic_classes, RTE_ETH_FC_FULL};
    return 0;
}

int rte_eth_link_get_nowait(uint16_t id, struct rte_eth_link* link) {
    FAKE_CARD_OR_FAIL(id);
    const std::lock_guard lock(card->mutex);
    *link = card->conf.intr_conf.lsc != 0 && card->started ? card->told_link : card->link;
    return 0;
}

int rte_eth_stats_get(uint16_t id, struct rte_eth_stats* stats) {
    FAKE_CARD_OR_FAIL(id);
    *stats = {};
    stats->imissed = card->imissed;
    stats->rx_nombuf = card->rx_nombuf;
    stats->ierrors = card->ierrors;
    std::copy(card->q_errors.begin(), card->q_errors.end(), stats->q_errors);
    return 0;
}

int rte_eth_dev_callback_register(uint16_t id, enum rte_eth_event_type event, rte_eth_dev_cb_fn function,
                                  void* argument) {
    FAKE_CARD_OR_FAIL(id);
    const std::lock_guard lock(card->mutex);
    card->callbacks.push_back({event, function, argument});
    return 0;
}

int rte_eth_dev_callback_unregister(uint16_t id, enum rte_eth_event_type event, rte_eth_dev_cb_fn, void*) {
    Card* const card = fake::card_of(id);
    if (card == nullptr) return -EINVAL;
    // Once, it is being called just now.
    card->calls.emplace_back(__func__);
    if (card->count(__func__) == 1) return -EAGAIN;
    const std::lock_guard lock(card->mutex);
    std::erase_if(card->callbacks, [&](const auto& callback) { return callback.event == event; });
    return 0;
}

int rte_eth_xstats_get_names(uint16_t id, struct rte_eth_xstat_name* names, unsigned size) {
    FAKE_CARD_OR_FAIL(id);
    for (std::size_t n = 0; n < std::min<std::size_t>(size, card->xstats.size()); ++n) {
        names[n] = {};
        card->xstats[n].first.copy(static_cast<char*>(names[n].name), RTE_ETH_XSTATS_NAME_SIZE - 1);
    }
    return static_cast<int>(card->xstats.size());
}

int rte_eth_xstats_get_by_id(uint16_t id, const uint64_t* ids, uint64_t* values, unsigned size) {
    FAKE_CARD_OR_FAIL(id);
    for (unsigned n = 0; n < size; ++n) values[n] = card->xstats.at(ids[n]).second;
    return static_cast<int>(size);
}

int rte_eth_dev_get_module_info(uint16_t id, struct rte_eth_dev_module_info* info) {
    FAKE_CARD_OR_FAIL(id);
    if (card->module.empty()) return -ENOTSUP;
    *info = {RTE_ETH_MODULE_SFF_8472, static_cast<std::uint32_t>(card->module.size())};
    return 0;
}

int rte_eth_dev_get_module_eeprom(uint16_t id, struct rte_dev_eeprom_info* info) {
    FAKE_CARD_OR_FAIL(id);
    if (info->offset != 0 || info->length > card->module.size()) return -EINVAL;
    std::copy_n(card->module.begin(), info->length, static_cast<std::uint8_t*>(info->data));
    return 0;
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)

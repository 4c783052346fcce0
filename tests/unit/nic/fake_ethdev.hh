// Network cards that are not there: DPDK's functions for devices, defined here, so that a test program has
// these instead of those of the library. A test says what its cards can do and answer, and which call fails;
// afterwards it sees what they were told.
//
// The library has no driver SDK on Debian (ethdev_driver.h), so a driver of our own is not to be had; and
// what the product calls is what is tested, without a table of functions between.
#pragma once

#include <rte_dev.h>
#include <rte_ethdev.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fake {

// A driver's answer to a request for MAC control frames.
enum class Forwarding { refuses, ignores, grants, reads_back };

struct Card {
    explicit Card(std::string pci_address) : address(std::move(pci_address)) {}
    std::string address;
    std::uint16_t id = 0;  // while probed

    // Its capabilities.
    std::string driver = "net_ixgbe";
    std::uint16_t min_mtu = 68;
    std::uint16_t max_mtu = 9702;
    std::uint64_t rx_offloads = RTE_ETH_RX_OFFLOAD_SCATTER | RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
    std::uint64_t tx_offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS | RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE;
    rte_eth_desc_lim rx_limits{4096, 32, 8, 0, 0};
    rte_eth_desc_lim tx_limits{4096, 32, 8, 40, 40};
    std::uint16_t max_rx_queues = 64;
    std::uint64_t rss = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_L2_PAYLOAD;
    std::uint16_t table_size = 128;  // of its receive queues; 0: not to be written
    std::uint8_t key_bytes = 40;     // 0: its own key
    std::uint32_t flags = RTE_ETH_DEV_INTR_LSC;
    Forwarding forwarding = Forwarding::reads_back;
    bool keeps_pausing = false;            // its own flow control stays on
    std::uint8_t pfc_traffic_classes = 0;  // by queue
    bool tells_ring_fill = true;
    std::array<std::uint8_t, 6> mac{0x02, 0xAA, 0, 0, 0, 0x01};
    rte_eth_link link{100'000, 1, 1, 1};
    bool link_interrupt_comes = true;
    rte_eth_link told_link{};   // as the last interrupt left it, or the start: DPDK's answer while it is on
    std::string logs_at_start;  // as EAL's error
    std::vector<std::pair<std::string, std::uint64_t>> xstats;
    std::vector<std::uint8_t> module;  // EEPROM; empty: none
    std::map<std::string, int> fails;  // "rte_eth_dev_start": -EIO

    // The calls that it got.
    std::vector<std::string> calls;  // in order
    rte_eth_conf conf{};
    std::uint16_t rx_ring = 0, tx_ring = 0;
    std::uint16_t rx_queues = 0;      // configured
    std::uint16_t rx_queues_set = 0;  // set up
    std::vector<std::uint8_t> rss_key;
    std::vector<std::uint16_t> table;
    rte_eth_fc_conf flow_control{};
    std::string filter;
    std::array<std::uint8_t, 6> new_mac{};
    bool probed = false, configured = false, started = false, removed = false;

    // Frames: those to be received, and what was sent. Only the switch's worker while it runs.
    rte_mempool* pool = nullptr;
    std::vector<rte_mbuf*> arrived;                        // at the first queue
    std::map<std::uint16_t, std::vector<rte_mbuf*>> more;  // at others
    std::vector<rte_mbuf*>& arrived_at(std::uint16_t queue) { return queue == 0 ? arrived : more[queue]; }
    std::vector<rte_mbuf*> sent;
    std::size_t sent_when_polled = 0;  // frames of `sent`, at the last poll
    std::uint16_t takes = 0xFFFF;      // frames of a burst to be sent
    std::atomic<std::uint64_t> polls{0};
    std::atomic<std::uint64_t> polls_when_gone{0};
    std::uint64_t imissed = 0, rx_nombuf = 0, ierrors = 0;
    std::array<std::uint64_t, RTE_ETHDEV_QUEUE_STAT_CNTRS> q_errors{};

    int answer(const char* function);  // records the call; 0 or what it fails with
    std::size_t count(const std::string& function) const;
    void set_link(bool up, std::uint32_t mbps = 100'000);  // and tells, where it can
    void pull();                                           // out of its slot, and tells
    void request();                                        // the kernel asks for it back

    struct Callback {
        rte_eth_event_type event;
        rte_eth_dev_cb_fn function;
        void* argument;
    };
    std::vector<Callback> callbacks;
    std::vector<std::pair<rte_dev_event_cb_fn, void*>> device_callbacks;
    void tell(rte_eth_event_type event);
    struct Queue {
        Card* card = nullptr;
        std::uint16_t number = 0;
    };
    std::array<Queue, 64> queues{};
    std::array<void*, 64> queue_data{};
    std::array<void*, 64> no_callbacks{};
    std::array<char, 64> rte_device_bytes{};  // an address for info.device
    mutable std::recursive_mutex mutex;
};

// The slots of one machine: cards, and a folder as the kernel shows them.
class Machine {
  public:
    Machine();
    ~Machine();
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    // Bound to vfio-pci.
    Card& plug(const std::string& address);
    void unplug(const std::string& address);  // only what the kernel shows; see Card::pull
    void replug(const std::string& address);
    void bind(const std::string& address, const std::string& driver, const std::string& interface = {});
    void set_class(const std::string& address, const std::string& value);
    std::string folder() const { return folder_.string(); }

    static Machine* current;
    Card* find(const std::string& address);
    Card* probed(std::uint16_t id);
    std::uint16_t next_id = 20;

  private:
    std::filesystem::path folder_;
    std::vector<std::unique_ptr<Card>> cards_;
};

}  // namespace fake

#include "dataplane/ports/physical.hh"

#include <rte_ethdev.h>

#include <algorithm>

#include "dataplane/ports/extended_counters.hh"
#include "dataplane/ports/module_eeprom.hh"

namespace sluice {
namespace {

struct Named {
    std::string_view xstat;  // '#' stands for the digit of a priority
    Physical kind;
};

// Names in DPDK v22.11.11, drivers/net: of ixgbe, i40e, ice, igb, igc, txgbe, mlx5, bnxt and hns3.
constexpr std::array names{
    Named{"rx_crc_errors", Physical::crc_errors},
    Named{"rx_phy_crc_errors", Physical::crc_errors},       // mlx5
    Named{"rx_fcs_err_frames", Physical::crc_errors},       // bnxt
    Named{"mac_rx_fcs_err_pkt_num", Physical::crc_errors},  // hns3
    Named{"rx_symbol_errors", Physical::symbol_errors},
    Named{"rx_illegal_byte_errors", Physical::symbol_errors},
    Named{"rx_phy_symbol_errors", Physical::symbol_errors},
    Named{"rx_pcs_symbol_err", Physical::symbol_errors},  // bnxt
    Named{"rx_align_errors", Physical::alignment_errors},
    Named{"rx_align_err_frames", Physical::alignment_errors},
    Named{"rx_length_errors", Physical::length_errors},
    Named{"rx_len_errors", Physical::length_errors},  // ice
    Named{"rx_phy_in_range_len_errors", Physical::length_errors},
    Named{"rx_undersize_errors", Physical::undersize_frames},
    Named{"rx_undersized_errors", Physical::undersize_frames},
    Named{"rx_undrsz_frames", Physical::undersize_frames},
    Named{"mac_rx_undersize_pkt_num", Physical::undersize_frames},
    Named{"rx_oversize_errors", Physical::oversize_frames},
    Named{"rx_oversize_cnt", Physical::oversize_frames},  // txgbe
    Named{"rx_ovrsz_frames", Physical::oversize_frames},
    Named{"mac_rx_oversize_pkt_num", Physical::oversize_frames},
    Named{"rx_fragment_errors", Physical::fragments},
    Named{"rx_fragmented_errors", Physical::fragments},
    Named{"rx_frag_frames", Physical::fragments},
    Named{"mac_rx_fragment_pkt_num", Physical::fragments},
    Named{"rx_jabber_errors", Physical::jabbers},
    Named{"rx_jbr_frames", Physical::jabbers},
    Named{"mac_rx_jabber_pkt_num", Physical::jabbers},
    Named{"mac_local_errors", Physical::local_faults},
    Named{"mac_remote_errors", Physical::remote_faults},
    Named{"rx_phy_discard_packets", Physical::mac_discards},
    Named{"rx_stat_discard", Physical::mac_discards},  // bnxt
    Named{"rx_out_of_buffer", Physical::no_buffer_drops},
    Named{"rx_xoff_packets", Physical::rx_pause},
    Named{"rx_pause_frames", Physical::rx_pause},
    Named{"mac_rx_mac_pause_num", Physical::rx_pause},
    Named{"tx_xoff_packets", Physical::tx_pause},
    Named{"tx_pause_frames", Physical::tx_pause},
    Named{"mac_tx_mac_pause_num", Physical::tx_pause},
    Named{"rx_priority#_xoff_packets", Physical::rx_pfc},
    Named{"rx_pfc_ena_frames_pri#", Physical::rx_pfc},
    Named{"mac_rx_pfc_pri#_pkt_num", Physical::rx_pfc},
    Named{"tx_priority#_xoff_packets", Physical::tx_pfc},
    Named{"tx_pfc_ena_frames_pri#", Physical::tx_pfc},
    Named{"mac_tx_pfc_pri#_pkt_num", Physical::tx_pfc},
    Named{"rx_prio#_buf_discard_packets", Physical::rx_priority_discards},  // mlx5
};

// The priority in `name` where `pattern` has '#', 0 where it has none; nothing when they differ.
std::optional<ClassId> match(std::string_view pattern, std::string_view name) {
    if (pattern.size() != name.size()) return std::nullopt;
    ClassId priority = 0;
    for (std::size_t i = 0; i < name.size(); ++i) {
        if (pattern[i] == '#' && name[i] >= '0' && name[i] < static_cast<char>('0' + classes))
            priority = static_cast<ClassId>(name[i] - '0');
        else if (pattern[i] != name[i] || pattern[i] == '#')
            return std::nullopt;
    }
    return priority;
}

}  // namespace

std::string_view to_string(Physical kind) {
    constexpr std::array<std::string_view, physical_kinds> texts{
        "crc_errors",      "symbol_errors", "alignment_errors", "length_errors", "undersize_frames",
        "oversize_frames", "fragments",     "jabbers",          "local_faults",  "remote_faults",
        "mac_discards",    "no_buffer",     "rx_pause",         "tx_pause",      "rx_pfc",
        "tx_pfc",          "rx_discards"};
    return texts[static_cast<std::size_t>(kind)];
}

std::optional<PhysicalPlace> physical_place(std::string_view xstat) {
    for (const Named& named : names)
        if (const auto priority = match(named.xstat, xstat)) return PhysicalPlace{named.kind, *priority};
    return std::nullopt;
}

bool PhysicalCounters::empty() const {
    return !module_temperature && std::all_of(value.begin(), value.end(), [](const auto& of_kind) {
        return std::none_of(of_kind.begin(), of_kind.end(), [](const auto& n) { return n.has_value(); });
    });
}

PhysicalReader::PhysicalReader(std::uint16_t device) : device_(device) {
    const std::vector<std::string> known = extended_names(device);
    for (std::size_t id = 0; id < known.size(); ++id)
        if (const auto place = physical_place(known[id])) {
            ids_.push_back(id);
            places_.push_back(*place);
        }
    rte_eth_dev_module_info module{};
    constexpr std::uint32_t most = 1024;  // SFF-8636's pages take 640
    if (rte_eth_dev_get_module_info(device, &module) == 0) module_bytes_ = std::min(module.eeprom_len, most);
}

void PhysicalReader::read_counters(PhysicalCounters& counters) const {
    const std::vector<std::uint64_t> values = extended_values(device_, ids_);
    if (values.empty()) return;
    counters.value = {};
    for (std::size_t n = 0; n < ids_.size(); ++n) {
        auto& value = counters.value[static_cast<std::size_t>(places_[n].kind)][places_[n].priority];
        value = value.value_or(0) + values[n];
    }
}

void PhysicalReader::read_module(PhysicalCounters& counters) const {
    if (module_bytes_ == 0) return;
    std::vector<std::uint8_t> bytes(module_bytes_);
    rte_dev_eeprom_info eeprom{};
    eeprom.data = bytes.data();
    eeprom.length = module_bytes_;
    if (rte_eth_dev_get_module_eeprom(device_, &eeprom) != 0) return;
    counters.module_temperature = module_temperature(bytes);
}

}  // namespace sluice

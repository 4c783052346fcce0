#include "dataplane/ports/physical.hh"

#include <rte_ethdev.h>

#include <algorithm>

#include "dataplane/ports/receive_losses.hh"

namespace sluice {
namespace {

struct KindText {
    std::string_view name;    // ours
    std::string_view xstats;  // of drivers; '#' stands for the digit of a priority
};

// In the order of Physical. Names in DPDK v22.11.11, drivers/net: of ixgbe, i40e, ice, igb, igc, txgbe, mlx5,
// bnxt and hns3.
constexpr std::array<KindText, physical_kinds> kinds{{
    {"crc_errors", "rx_crc_errors rx_phy_crc_errors rx_fcs_err_frames mac_rx_fcs_err_pkt_num"},
    {"symbol_errors", "rx_symbol_errors rx_illegal_byte_errors rx_phy_symbol_errors rx_pcs_symbol_err"},
    {"alignment_errors", "rx_align_errors rx_align_err_frames"},
    {"length_errors", "rx_length_errors rx_len_errors rx_phy_in_range_len_errors"},
    {"undersize_frames",
     "rx_undersize_errors rx_undersized_errors rx_undrsz_frames mac_rx_undersize_pkt_num"},
    {"oversize_frames", "rx_oversize_errors rx_oversize_cnt rx_ovrsz_frames mac_rx_oversize_pkt_num"},
    {"fragments", "rx_fragment_errors rx_fragmented_errors rx_frag_frames mac_rx_fragment_pkt_num"},
    {"jabbers", "rx_jabber_errors rx_jbr_frames mac_rx_jabber_pkt_num"},
    {"local_faults", "mac_local_errors"},
    {"remote_faults", "mac_remote_errors"},
    {"mac_discards", "rx_phy_discard_packets rx_stat_discard"},
    {"no_buffer", "rx_out_of_buffer"},
    {"rx_pause", "rx_xoff_packets rx_pause_frames mac_rx_mac_pause_num"},
    {"tx_pause", "tx_xoff_packets tx_pause_frames mac_tx_mac_pause_num"},
    {"rx_pfc", "rx_priority#_xoff_packets rx_pfc_ena_frames_pri# mac_rx_pfc_pri#_pkt_num"},
    {"tx_pfc", "tx_priority#_xoff_packets tx_pfc_ena_frames_pri# mac_tx_pfc_pri#_pkt_num"},
    {"rx_discards", "rx_prio#_buf_discard_packets"},
}};

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

using Bytes = std::span<const std::uint8_t>;

constexpr std::int64_t coldest = -128'000;
constexpr std::int64_t hottest = 128'000;

std::int32_t signed_word(Bytes bytes, std::size_t at) {
    return static_cast<std::int16_t>(bytes[at] << 8 | bytes[at + 1]);
}

// 256ths of a degree.
std::int32_t thousandths(std::int64_t word) {
    return static_cast<std::int32_t>(std::clamp(word * 1000 / 256, coldest, hottest));
}

std::optional<std::int32_t> of_sfp(Bytes eeprom) {
    constexpr std::size_t a2 = 256;
    constexpr std::size_t monitoring = 92;
    constexpr unsigned implemented = 0x40;
    constexpr unsigned externally_calibrated = 0x10;
    if (eeprom.size() < a2 + 98 || (eeprom[monitoring] & implemented) == 0) return std::nullopt;
    std::int64_t word = signed_word(eeprom, a2 + 96);
    if ((eeprom[monitoring] & externally_calibrated) != 0) {
        // Slope: unsigned, in 256ths; offset: in 256ths of a degree.
        const std::int64_t slope = eeprom[a2 + 84] << 8 | eeprom[a2 + 85];
        word = word * slope / 256 + signed_word(eeprom, a2 + 86);
    }
    return thousandths(word);
}

// A module without a sensor, as copper cables are, has zeros there.
std::optional<std::int32_t> of_word(Bytes eeprom, std::size_t at) {
    if (eeprom.size() < at + 2 || signed_word(eeprom, at) == 0) return std::nullopt;
    return thousandths(signed_word(eeprom, at));
}

}  // namespace

std::string_view to_string(Physical kind) { return kinds[static_cast<std::size_t>(kind)].name; }

std::optional<PhysicalPlace> physical_place(std::string_view xstat) {
    for (std::size_t kind = 0; kind < kinds.size(); ++kind)
        for (std::string_view rest = kinds[kind].xstats; !rest.empty();) {
            const std::string_view pattern = rest.substr(0, rest.find(' '));
            rest.remove_prefix(std::min(rest.size(), pattern.size() + 1));
            if (const auto priority = match(pattern, xstat))
                return PhysicalPlace{static_cast<Physical>(kind), *priority};
        }
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

std::optional<std::int32_t> module_temperature(Bytes eeprom) {
    if (eeprom.empty()) return std::nullopt;
    switch (eeprom[0]) {
        case 0x03:  // SFP, SFP+, SFP28
            return of_sfp(eeprom);
        case 0x0C:  // QSFP
        case 0x0D:  // QSFP+
        case 0x11:  // QSFP28
            return of_word(eeprom, 22);
        case 0x18:  // QSFP-DD
        case 0x19:  // OSFP
        case 0x1E:  // QSFP+ or later with CMIS
        case 0x1F:  // SFP-DD with CMIS
        case 0x20:  // SFP+ or later with CMIS
            return of_word(eeprom, 14);
        default:
            return std::nullopt;
    }
}

}  // namespace sluice

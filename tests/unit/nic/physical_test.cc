#include "dataplane/ports/physical.hh"

#include <array>
#include <string>

#include "tests/unit/nic/fake_ethdev.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::physical_test {
namespace {

std::string place_text(std::string_view xstat) {
    const auto place = physical_place(xstat);
    if (!place) return "-";
    return std::string(to_string(place->kind)) +
           (place->kind >= first_by_priority ? "." + std::to_string(place->priority) : "");
}

}  // namespace

TEST_GROUP(PhysicalNames){};

TEST(PhysicalNames, leaveOutWhatSaysNothingOfTheWire) {
    for (const char* name :
         {"", "rx_good_packets", "rx_crc_error", "rx_crc_errors2", "x_rx_crc_errors",
          "rx_priority8_xoff_packets", "rx_priority#_xoff_packets", "rx_priority_xoff_packets",
          "rx_priority12_xoff_packets", "rx_pfc_ena_frames_pri9", "rx_priority3_xon_packets",
          "rx_flow_control_xoff_packets", "rx_fcoe_crc_errors", "RX_CRC_ERRORS"})
        STRCMP_EQUAL_TEXT("-", place_text(name).c_str(), name);
}

TEST(PhysicalNames, areOneForWhatDriversCallEachInItsWay) {
    struct Row {
        const char* xstat;
        const char* place;
    };
    for (const Row& row : std::array{
             Row{"rx_crc_errors", "crc_errors"},
             Row{"rx_phy_crc_errors", "crc_errors"},
             Row{"rx_fcs_err_frames", "crc_errors"},
             Row{"mac_rx_fcs_err_pkt_num", "crc_errors"},
             Row{"rx_illegal_byte_errors", "symbol_errors"},
             Row{"rx_phy_symbol_errors", "symbol_errors"},
             Row{"rx_pcs_symbol_err", "symbol_errors"},
             Row{"rx_align_errors", "alignment_errors"},
             Row{"rx_len_errors", "length_errors"},
             Row{"rx_undersized_errors", "undersize_frames"},
             Row{"rx_oversize_cnt", "oversize_frames"},
             Row{"rx_frag_frames", "fragments"},
             Row{"rx_jabber_errors", "jabbers"},
             Row{"mac_local_errors", "local_faults"},
             Row{"mac_remote_errors", "remote_faults"},
             Row{"rx_phy_discard_packets", "mac_discards"},
             Row{"rx_out_of_buffer", "no_buffer"},
             Row{"rx_xoff_packets", "rx_pause"},
             Row{"tx_pause_frames", "tx_pause"},
             Row{"rx_priority0_xoff_packets", "rx_pfc.0"},
             Row{"rx_priority7_xoff_packets", "rx_pfc.7"},
             Row{"rx_pfc_ena_frames_pri3", "rx_pfc.3"},
             Row{"mac_rx_pfc_pri4_pkt_num", "rx_pfc.4"},
             Row{"tx_priority3_xoff_packets", "tx_pfc.3"},
             Row{"tx_pfc_ena_frames_pri6", "tx_pfc.6"},
             Row{"mac_tx_pfc_pri1_pkt_num", "tx_pfc.1"},
             Row{"rx_prio5_buf_discard_packets", "rx_discards.5"},
         })
        STRCMP_EQUAL_TEXT(row.place, place_text(row.xstat).c_str(), row.xstat);
}

TEST_GROUP(PhysicalReader) {
    fake::Machine machine;
    fake::Card& card = machine.plug("0000:03:00.0");

    void setup() override {
        card.xstats = {{"rx_good_packets", 7},           {"rx_crc_errors", 5},
                       {"rx_priority3_xoff_packets", 2}, {"rx_priority0_xoff_packets", 0},
                       {"rx_symbol_errors", 1},          {"rx_illegal_byte_errors", 10}};
        card.module = std::vector<std::uint8_t>(512, 0);
        card.module[0] = 0x03;
        card.module[92] = 0x40;
        card.module[256 + 96] = 0x28;
        LONGS_EQUAL(0, rte_dev_probe("0000:03:00.0"));
    }
    PhysicalCounters counters;
    std::uint64_t get(Physical kind, ClassId priority = 0) const {
        return counters.get(kind, priority).value_or(999);
    }
};

TEST(PhysicalReader, knowsNothingWhereNamesCannotBeRead) {
    for (const char* function : {"rte_eth_xstats_get_names", "rte_eth_xstats_get_by_id"}) {
        card.fails = {{function, -ENOTSUP}};
        const PhysicalReader reader(card.id);
        reader.read_counters(counters);
        CHECK_TRUE(counters.empty());
    }
    card.fails.clear();
    card.xstats.clear();
    const PhysicalReader reader(card.id);
    reader.read_counters(counters);
    CHECK_TRUE(counters.empty());
    LONGS_EQUAL(1, card.count("rte_eth_xstats_get_by_id"));  // not asked where there is nothing to ask
}

TEST(PhysicalReader, keepsWhatItHadWhenAReadFails) {
    const PhysicalReader reader(card.id);
    reader.read_counters(counters);
    card.fails = {{"rte_eth_xstats_get_by_id", -EIO}};
    card.xstats[1].second = 6;
    reader.read_counters(counters);
    LONGS_EQUAL(5, get(Physical::crc_errors));
    card.fails.clear();
    reader.read_counters(counters);
    LONGS_EQUAL(6, get(Physical::crc_errors));
}

TEST(PhysicalReader, readsWhatThereIsAndNothingElse) {
    const PhysicalReader reader(card.id);
    reader.read_counters(counters);
    LONGS_EQUAL(5, get(Physical::crc_errors));
    LONGS_EQUAL(2, get(Physical::rx_pfc, 3));
    LONGS_EQUAL(0, get(Physical::rx_pfc, 0));
    LONGS_EQUAL(999, get(Physical::rx_pfc, 1));
    LONGS_EQUAL(999, get(Physical::jabbers));
    LONGS_EQUAL(11, get(Physical::symbol_errors));  // two of one meaning
    reader.read_counters(counters);
    LONGS_EQUAL(11, get(Physical::symbol_errors));
}

TEST(PhysicalReader, readsTheModuleWhereThereIsOne) {
    PhysicalReader reader(card.id);
    CHECK_TRUE(reader.has_module());
    reader.read_counters(counters);
    CHECK_FALSE(counters.module_temperature.has_value());  // only when it is asked
    reader.read_module(counters);
    LONGS_EQUAL(40'000, counters.module_temperature.value_or(0));
    card.fails = {{"rte_eth_dev_get_module_eeprom", -EIO}};
    card.module[256 + 96] = 0x30;
    reader.read_module(counters);
    LONGS_EQUAL(40'000, counters.module_temperature.value_or(0));
    card.fails.clear();
    reader.read_module(counters);
    LONGS_EQUAL(48'000, counters.module_temperature.value_or(0));
    card.module.clear();
    reader = PhysicalReader(card.id);
    CHECK_FALSE(reader.has_module());
    reader.read_module(counters);
}

}  // namespace sluice::physical_test

// Frames that a card lost on receive, by the counters of its driver.
#include "dataplane/ports/receive_losses.hh"

#include <array>
#include <cerrno>
#include <string>

#include "tests/unit/nic/one_worker.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::receive_losses_test {

TEST_GROUP(LossCounters){};

TEST(LossCounters, leaveOutWhatIsNoLostFrame) {
    for (const char* name : {"",
                             "rx_good_packets",
                             "rx_good_bytes",
                             "tx_errors",
                             "tx_q0_drop_total",
                             "rx_priority3_xoff_packets",
                             "rx_drop_bytes",
                             "rxq_0_drop_octs",
                             "rx_error_bytes",
                             "rx_l3_l4_xsum_error",
                             "rx_q0_L3_CHECKSUM_ERRORS",
                             "rx_q0_bad_checksum_errors",
                             "rx_symbol_errors",
                             "rx_illegal_byte_errors",
                             "rx_fcoe_dropped",
                             "rx_management_dropped",
                             "rx_mac_filter_discards",
                             "mac_local_errors",
                             "mac_rx_bad_oct_num",
                             "rx_size_1519_max_packets"})
        CHECK_TRUE_TEXT(loss_counter(name) == LossCounter::none, name);
}

TEST(LossCounters, areKnownByTheirWords) {
    for (const char* name :
         {"rx_errors", "rx_missed_errors", "rx_q0_errors", "rx_q3_drop_total", "rx_q3_drop_err",
          "rx_crc_errors", "rx_dropped_packets", "rxq_0_err_pkts", "rx_q1_PKT_LEN_ERRORS",
          "rx_fifo_overflow_errors", "rx_bg0_truncated_packets", "rx_hw_buffer_discards"})
        CHECK_TRUE_TEXT(loss_counter(name) == LossCounter::seen, name);
    for (const char* name : {"rx_phy_crc_errors", "rx_phy_discard_packets", "rx_fcs_err_frames"})
        CHECK_TRUE_TEXT(loss_counter(name) == LossCounter::apart, name);
}

TEST_GROUP(ReceiveLosses) {
    fake::Machine machine;
    fake::Card& card = machine.plug("0000:03:00.0");
    void setup() override { LONGS_EQUAL(0, rte_dev_probe("0000:03:00.0")); }
    ReceiveLosses losses;
};

TEST(ReceiveLosses, countAFrameOnceHoweverOftenTheDriverDoes) {
    // As vmxnet3 does, by queue and by cause, and as rte_eth_stats has it.
    card.xstats = {{"rx_q0_drop_total", 5},         {"rx_q0_drop_err", 5}, {"rx_q1_drop_total", 2},
                   {"rx_q1_drop_err", 2},           {"rx_errors", 7},      {"rx_missed_errors", 3},
                   {"rx_mbuf_allocation_errors", 1}};
    card.ierrors = 7;
    card.q_errors[0] = 5;
    card.imissed = 3;
    card.rx_nombuf = 1;
    losses.follow(card.id);
    losses.read();
    LONGS_EQUAL(4, losses.count().missed);
    LONGS_EQUAL(7, losses.count().errors);
    LONGS_EQUAL(5, losses.errors_at(0));
    LONGS_EQUAL(2, losses.errors_at(1));
    LONGS_EQUAL(0, losses.errors_at(17));
}

TEST(ReceiveLosses, takeWhatOnlyOneOfTheCountersHas) {
    struct Row {
        std::uint64_t ierrors, of_queue, imissed;
        const char* xstat;
        std::uint64_t value, errors;
    };
    for (const Row& row :
         std::array{Row{6, 0, 0, "rx_good_packets", 9, 6}, Row{0, 4, 0, "rx_good_packets", 9, 4},
                    Row{0, 0, 0, "rx_q0_drop_err", 9, 9},
                    Row{0, 0, 9, "rx_dropped_packets", 9, 0},  // which are imissed
                    Row{0, 0, 5, "rx_dropped_packets", 9, 4},
                    Row{6, 0, 0, "rx_phy_crc_errors", 9, 15}})  // of which mlx5's ierrors know nothing
    {
        card.ierrors = row.ierrors;
        card.q_errors[1] = row.of_queue;
        card.imissed = row.imissed;
        card.xstats = {{row.xstat, row.value}};
        ReceiveLosses of_row;
        of_row.follow(card.id);
        of_row.read();
        LONGS_EQUAL_TEXT(row.errors, of_row.count().errors, row.xstat);
    }
}

TEST(ReceiveLosses, neverFallAndGoOnWithTheNextDevice) {
    card.ierrors = 6;
    losses.follow(card.id);
    losses.read();
    card.fails = {{"rte_eth_stats_get", -EIO}};
    card.ierrors = 8;
    losses.read();
    LONGS_EQUAL(6, losses.count().errors);
    card.fails.clear();
    card.ierrors = 2;
    losses.read();
    LONGS_EQUAL(6, losses.count().errors);
    losses.follow(card.id);  // another, which counts from 0
    losses.read();
    LONGS_EQUAL(6 + 2, losses.count().errors);
}

TEST_GROUP_BASE(ReceiveErrors, OneWorker){};

TEST(ReceiveErrors, areInTheReportTheVerdictAndAnEvent) {
    starts();
    round(seconds(1));
    CHECK_TRUE(make_report(*running)["verdict"]["lossless"].is_null());
    LONGS_EQUAL(0, report("p1")["rx_errors"].get<int>());
    LONGS_EQUAL(0, events("rx_errors").size());
    p1.ierrors = 12;
    for (unsigned n = 0; n < 3; ++n) round(seconds(1));
    LONGS_EQUAL(12, report("p1")["rx_errors"].get<int>());
    LONGS_EQUAL(0, report("p1")["imissed"].get<int>());
    const auto all = make_report(*running);
    CHECK_FALSE(all["verdict"]["lossless"].get<bool>());  // although not one frame came
    CHECK_FALSE(all["lossless"].get<bool>());
    STRCMP_EQUAL("12 frames of unknown class were received with errors by p1",
                 all["verdict"]["reasons"][0].get<std::string>().c_str());
    STRCMP_CONTAINS("port p1: its device received 12 frames by now with errors",
                    events("rx_errors").at(0).c_str());
}

TEST(ReceiveErrors, showThatFramesOfSeveralBuffersDoNotCome) {
    const std::string jumbo = "mtu = 9000\n";
    starts(false, jumbo, jumbo);
    p0.ierrors = p1.ierrors = 3;
    SwitchOnCards::arrive(p0, {.bytes = 5000});
    for (unsigned n = 0; n < 3; ++n) round(seconds(1));
    CHECK_TRUE(report("p0")["capabilities"]["scattered_seen"].get<bool>());
    CHECK_FALSE(report("p1")["capabilities"]["scattered_seen"].get<bool>());
    LONGS_EQUAL(1, events("scattered_receive").size());
    STRCMP_CONTAINS(
        "port p1: its driver promises to receive frames of several packet buffers, and none has "
        "come, while 3 frames were received with errors: it may lose all above an MTU of 2026; "
        "do: set mtu to at most 2026, or buffer.packet_buffer to 9216",
        events("scattered_receive")[0].c_str());
}

TEST(ReceiveErrors, sayNothingOfItWhereAFrameTakesOneBuffer) {
    starts();
    p1.ierrors = 3;
    round(seconds(1));
    LONGS_EQUAL(0, events("scattered_receive").size());
    CHECK_FALSE(report("p1")["capabilities"].contains("scattered_seen"));
}

}  // namespace sluice::receive_losses_test

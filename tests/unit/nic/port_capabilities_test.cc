#include "dataplane/ports/port_capabilities.hh"

#include <array>
#include <cerrno>
#include <string>

#include "dataplane/ports/ring_size.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::port_capabilities_test {
namespace {

struct Row {
    const char* driver;
    int forward_result;
    bool forward_is_on;
    bool pfc_by_queue;
    int group_result;
    const char* tx;
    const char* why;  // part of it
};

std::string text(std::string_view view) { return std::string(view); }

}  // namespace

TEST_GROUP(PfcAbility){};

TEST(PfcAbility, followsWhatTheDriverDoesAndSays) {
    constexpr const char* in_nic = "by its own buffers, not by the switch's";
    const std::array rows{
        // A driver that hands frames over when asked, and says so.
        Row{"net_ixgbe", 0, true, false, 0, "software", "are handed over"},
        Row{"net_ixgbe", 0, false, false, 0, "hardware", "does not say that it will"},
        Row{"net_ixgbe", -EINVAL, false, false, 0, "hardware", "(Invalid argument)"},
        Row{"net_ixgbe", -EINVAL, false, false, 0, "hardware", in_nic},
        // A driver that never says so.
        Row{"net_txgbe", 0, false, false, 0, "software", "are handed over"},
        Row{"net_ngbe", 0, false, false, 0, "software", "are handed over"},
        Row{"net_e1000_igb", 0, false, false, 0, "software", "are handed over"},
        Row{"net_e1000_em", 0, false, false, 0, "software", "are handed over"},
        Row{"net_igc", 0, false, false, 0, "software", "are handed over"},
        Row{"net_igc", -ENOTSUP, false, false, 0, "none", "net_igc does not hand MAC control frames over"},
        // A NIC that drops our frames.
        Row{"net_i40e", 0, true, false, 0, "hardware", "drop PFC frames that software makes"},
        // A driver that takes the call and does nothing, or has no such function.
        Row{"mlx5_pci", 0, false, false, 0, "none", "mlx5_pci was asked"},
        Row{"net_bnxt", 0, false, false, 0, "none", "does not say that it will"},
        Row{"net_ice", -ENOTSUP, false, false, 0, "none", "(Operation not supported)"},
        Row{"net_hns3", -EINVAL, false, false, 0, "hardware", in_nic},
        Row{"net_axgbe", -ENOTSUP, false, false, 0, "hardware", in_nic},
        Row{"net_enic", -ENOTSUP, false, false, 0, "hardware", in_nic},
        Row{"net_cn10k", -EINVAL, false, true, 0, "hardware", in_nic},
        // A driver that is not in the table.
        Row{"net_new", 0, true, false, 0, "software", "are handed over"},
        Row{"net_new", 0, false, false, 0, "none", "does not say"},
        // No MAC at all.
        Row{"net_virtio", -ENOTSUP, false, false, 0, "software", "what is behind it must pass"},
        Row{"net_vmxnet3", -ENOTSUP, false, false, 0, "software", "what is behind it must pass"},
        // The group address does not come in.
        Row{"net_ixgbe", 0, true, false, -EPERM, "hardware",
            "01:80:C2:00:00:01 in (Operation not permitted)"},
        Row{"net_virtio", 0, true, false, -EPERM, "none", "01:80:C2:00:00:01"},
    };
    for (const Row& row : rows) {
        PfcAnswers answers;
        answers.is_virtual = false;
        answers.forward_result = row.forward_result;
        answers.forward_is_on = row.forward_is_on;
        answers.pfc_by_queue = row.pfc_by_queue;
        answers.group_result = row.group_result;
        const PfcAbility found = pfc_ability(row.driver, answers);
        STRCMP_EQUAL_TEXT(row.tx, text(to_string(found.tx)).c_str(), row.driver);
        STRCMP_CONTAINS_TEXT(row.why, found.why.c_str(), row.driver);
    }
}

TEST(PfcAbility, isSoftwareOnASoftwareDeviceWhateverItAnswers) {
    for (const char* driver : {"net_pcap", "net_af_packet", "net_i40e", ""}) {
        const PfcAbility found = pfc_ability(driver, {true, -EINVAL, false, true, -EPERM});
        CHECK_TRUE(found.tx == PfcTx::software);
    }
}

TEST_GROUP(RingSize){};

TEST(RingSize, holdsWhatArrivesInATurnAndNoMoreToSendThanHeadroomReckonsWith) {
    const auto sizes = [](unsigned gigabit, std::int64_t turn_us, std::uint32_t buffer) {
        return ring_sizes(gigabits(gigabit), microseconds(turn_us), microseconds(20), buffer);
    };
    // 50 us at 10G: 62 500 bytes in frames of 84: 745. At 25G 1861, at 100G 7441.
    LONGS_EQUAL(1024, sizes(10, 50, 2048).receive);
    LONGS_EQUAL(2048, sizes(25, 50, 2048).receive);
    LONGS_EQUAL(8192, sizes(100, 50, 2048).receive);
    LONGS_EQUAL(8192, sizes(400, 50, 2048).receive);  // no ring is larger
    LONGS_EQUAL(512, sizes(1, 0, 2048).receive);
    // 20 us at 100G: 250 000 bytes in buffers of 2048 and 24 on the wire: 120.
    LONGS_EQUAL(120, sizes(100, 50, 2048).transmit);
    LONGS_EQUAL(64, sizes(10, 50, 2048).transmit);
    LONGS_EQUAL(64, sizes(100, 50, 16384).transmit);
    LONGS_EQUAL(482, sizes(400, 50, 2048).transmit);
    LONGS_EQUAL(1024, sizes(800, 50, 512).transmit);
}

}  // namespace sluice::port_capabilities_test

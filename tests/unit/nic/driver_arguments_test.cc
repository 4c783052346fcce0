// Arguments of a card that its driver ignores. The cards are fakes, the drivers' own words those of DPDK's
// libraries.

#include <string>

#include "tests/unit/nic/one_worker.hh"

#include "CppUTest/TestHarness.h"

namespace sluice {

namespace {

class CardWithArguments : public PortOnCard {
  public:
    std::string ignored(const std::string& arguments, const std::string& driver) {
        spec.device = "03:00.0" + arguments;
        card.driver = driver;
        return open()->ignored_arguments();
    }
};

}  // namespace

TEST_GROUP_BASE(DriverArguments, CardWithArguments){};

TEST(DriverArguments, thatItKnowsAreNotIgnored) {
    for (const char* known : {"", ",fiber_sdp3_no_tx_disable=1", ",representor=[0-3],class=eth"})
        STRCMP_EQUAL("", ignored(known, "net_ixgbe").c_str());
    // Its own list has no spaces.
    STRCMP_EQUAL("", ignored(",proto_xtr=vlan,safe-mode-support=1,rx_low_latency=1", "net_ice").c_str());
    STRCMP_EQUAL("", ignored("", "net_e1000_em").c_str());
}

TEST(DriverArguments, thatItHasNotAreNamedWithThoseThatItHas) {
    STRCMP_EQUAL(
        "its driver net_ixgbe has no argument \"foo\" and ignores it; do: write of these, or none: "
        "fiber_sdp3_no_tx_disable=<0|1>",
        ignored(",fiber_sdp3_no_tx_disable=1,foo=1", "net_ixgbe").c_str());
    STRCMP_CONTAINS("no argument \"low_latency_rx\"", ignored(",low_latency_rx=1", "net_ice").c_str());
}

TEST(DriverArguments, ofADriverThatNamesNoneAreDoubtful) {
    for (const std::string driver : {"net_e1000_em", "net_vmxnet3", "mlx5_pci", "net_of_nobody"})
        STRCMP_EQUAL(("its driver " + driver +
                      " does not say which arguments it takes, and may ignore \"foo\"; do: leave it out, "
                      "unless DPDK's documentation of the driver has it")
                         .c_str(),
                     ignored(",foo=1", driver).c_str());
}

TEST_GROUP_BASE(IgnoredArguments, OneWorker){};

TEST(IgnoredArguments, areTold) {
    STRCMP_EQUAL("", start({.p0_arguments = ",foo=1"}).c_str());
    LONGS_EQUAL(1, events("nic_warning").size());
    STRCMP_CONTAINS("port p0: its driver net_ixgbe has no argument \"foo\" and ignores it; do: ",
                    events("nic_warning")[0].c_str());
}

}  // namespace sluice

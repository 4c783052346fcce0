#include "dataplane/ports/port_capabilities.hh"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

namespace sluice {
namespace {

// How MAC control frames come to us.
enum class MacControlWay : std::uint8_t {
    asked,     // when the driver grants mac_ctrl_frame_fwd and reads it back
    granted,   // when it grants it: it sets the NIC's register only
    ordinary,  // as every frame: there is no MAC
};

struct DriverFacts {
    std::string_view driver;
    MacControlWay receive;
    bool sends;       // frames of type 0x8808 that software makes
    bool pfc_in_nic;  // rte_eth_dev_priority_flow_ctrl_set, by traffic class
};

// Read in DPDK v22.11.11, drivers/net; no NIC has been at hand to try one. A driver that is not here is
// `asked`: ice and VFs have no flow_ctrl_set; mlx5, mlx4 and bnxt take the call and do nothing with it; sfc,
// hns3, cnxk and octeontx refuse it; dpaa returns early when flow control is off.
constexpr std::array drivers{
    DriverFacts{"net_ixgbe", MacControlWay::asked, true, true},         // MFLCN.PMCF, read back
    DriverFacts{"net_txgbe", MacControlWay::granted, true, true},       // MACRXFLT
    DriverFacts{"net_ngbe", MacControlWay::granted, true, false},       // MACRXFLT
    DriverFacts{"net_e1000_igb", MacControlWay::granted, true, false},  // RCTL.PMCF
    DriverFacts{"net_e1000_em", MacControlWay::granted, true, false},
    DriverFacts{"net_igc", MacControlWay::granted, true, false},
    // PRTDCB_MFLCN, or HSEC_CTL_RX_FORWARD_CONTROL at 40G; but i40e_add_tx_flow_control_drop_filter.
    DriverFacts{"net_i40e", MacControlWay::granted, false, true},
    DriverFacts{"net_hns3", MacControlWay::asked, true, true},
    DriverFacts{"net_axgbe", MacControlWay::asked, true, true},
    DriverFacts{"net_enic", MacControlWay::asked, true, true},
    DriverFacts{"net_virtio", MacControlWay::ordinary, true, false},
    DriverFacts{"net_vmxnet3", MacControlWay::ordinary, true, false},
};

DriverFacts facts_of(std::string_view driver) {
    const auto* found = std::find_if(drivers.begin(), drivers.end(),
                                     [&](const DriverFacts& facts) { return facts.driver == driver; });
    return found != drivers.end() ? *found : DriverFacts{driver, MacControlWay::asked, true, false};
}

std::string error_text(int result) { return std::strerror(std::abs(result)); }

// Why software cannot do PFC on the port; empty when it can.
std::string obstacle(const DriverFacts& facts, const PfcAnswers& answers) {
    const std::string driver = "the driver " + std::string(facts.driver);
    if (!facts.sends) return driver + " has the NIC drop PFC frames that software makes";
    if (answers.group_result != 0)
        return driver + " does not let frames to 01:80:C2:00:00:01 in (" + error_text(answers.group_result) +
               ")";
    if (facts.receive == MacControlWay::ordinary) return {};
    if (answers.forward_result != 0)
        return driver + " does not hand MAC control frames over (" + error_text(answers.forward_result) + ")";
    if (facts.receive == MacControlWay::asked && !answers.forward_is_on)
        return driver + " was asked to hand MAC control frames over and does not say that it will";
    return {};
}

}  // namespace

std::string_view to_string(PfcTx pfc) {
    constexpr std::array<std::string_view, 3> names{"software", "hardware", "none"};
    return names[static_cast<std::size_t>(pfc)];
}

PfcAbility pfc_ability(std::string_view driver, const PfcAnswers& answers) {
    if (answers.is_virtual) return {PfcTx::software, "a software device passes every frame"};
    const DriverFacts facts = facts_of(driver);
    std::string why = obstacle(facts, answers);
    if (why.empty())
        return {PfcTx::software, facts.receive == MacControlWay::ordinary
                                     ? "it has no MAC; what is behind it must pass MAC control frames"
                                     : "MAC control frames are handed over, and ours are sent"};
    const bool in_nic = facts.pfc_in_nic || answers.pfc_by_queue;
    if (in_nic) why += "; PFC of the NIC itself goes by its own buffers, not by the switch's";
    return {in_nic ? PfcTx::hardware : PfcTx::none, std::move(why)};
}

}  // namespace sluice

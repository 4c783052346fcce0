// Cisco NX-OS: a running-config, or a part of one, to a configuration.
//
// NX-OS's words for ours: a qos-group is a class and a queue. Three types of policies: `qos` puts packets
// into groups, `network-qos` says which groups are lossless and by which PFC priority, `queuing` has
// scheduler, marking and the pause thresholds of a group. They hold for all ports by `system qos`, and for
// one by its own service-policy. The system's own classes have their number in their name: c-8q-nq3,
// c-out-8q-q3, c-in-q3. Grammar: microsoft/SDN, microsoft/AzureStack_Network_Switch_Config_Generator,
// batfish/batfish.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "tools/import/cli.hh"

namespace sluice::import {

// A class that `pause` makes lossless.
struct NoDrop {
    const Item* item = nullptr;
    ClassId priority = 0;  // of PFC
};

struct Nxos {
    Cli& cli;
    Settings system{};                                     // of system qos
    std::array<std::optional<NoDrop>, classes> no_drop{};  // by qos-group
    std::optional<std::uint32_t> class_mtu{};              // the largest of the network-qos policy

    Account& account() const { return cli.account(); }
    const Settings& settings_of(const std::string& port) const { return cli.ports.at(port).settings; }
    // The policy of a port, or of the system.
    const Said* policy(const std::string& port, std::string_view key) const;
};

// The sections `policy-map type TYPE NAME` of each name, with the class-maps of the type.
class NxosPolicies {
  public:
    NxosPolicies(Nxos& in, std::string_view type);
    // Calls `take` with each class of a policy, its number, and its section. False, and told: there is no
    // such policy.
    bool each_class(const Said& reference,
                    const std::function<void(const Item& section, ClassId number)>& take);
    // The only policy there is, where nothing refers to one; empty: there are none, or several.
    std::string only_one() const;
    void tell_unused();

  private:
    std::optional<ClassId> number_of(const Item& section, std::string_view name);

    Nxos& in_;
    std::string type_;
    std::map<std::string, std::vector<const Item*>, std::less<>> policies_, class_maps_;
    std::set<const Item*> used_;
};

void take_nxos_network(Nxos& in);  // policies of type network-qos
void take_nxos_maps(Nxos& in);     // policies of type qos
void take_nxos_queues(Nxos& in);   // policies of type queuing
void take_nxos_pfc(Nxos& in);      // priority-flow-control, and its watchdog

void import_nxos(const Item& root, Importing& out);

}  // namespace sluice::import

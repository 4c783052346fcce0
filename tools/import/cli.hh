// What the configurations of EOS and NX-OS share: interfaces by name and range, addresses, static routes,
// classes of packets, and values in their units.
//
// A port's name has '_' for each '/' of its interface, which Sluice's names cannot have: Ethernet1/1 is port
// Ethernet1_1. Bundles (Port-Channel3, port-channel3) are no ports; what they say of QoS holds for their
// members, below what those say themselves.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/import/importing.hh"
#include "tools/import/statements.hh"

namespace sluice::import {

// "Ethernet1_1" of "Ethernet 1/1", "Eth1/1" or "et1/1", and back.
std::string interface_of_port(std::string_view port);

// The interfaces that a statement names: "Ethernet1/1-4,7", "Ethernet 1/1, Ethernet 1/3 - 5".
struct InterfaceList {
    enum class Kind : unsigned char { port, bundle, other };
    Kind kind = Kind::other;         // other: management, loopback, VLAN, subinterface
    std::vector<std::string> names;  // of ports, or of bundles in lower case
    std::string wrong;               // or why it cannot be read
};
InterfaceList interfaces_in(std::string_view words);

// True when a port of this name is an interface of its own there: "Ethernet1_1".
bool is_interface_name(std::string_view port);

struct CliInterface {
    const Item* item = nullptr;  // where it comes first
    Settings settings;
};

struct Cli {
    const Item& root;
    Importing& out;
    std::map<std::string, CliInterface, NaturalOrder> ports{}, bundles{};
    std::vector<Replaced> replaced{};

    Config& config() const { return out.config; }
    Account& account() const { return out.account; }

    // Puts the bodies of all interfaces together. `nested` takes a statement that has a body of its own, and
    // says whether it did.
    void collect_interfaces(std::span<const StatementRule> rules,
                            const std::function<bool(const Item&, Settings&)>& nested);
    void collect_body(const Item& section, std::span<const StatementRule> rules, Settings& into,
                      const std::function<bool(const Item&, Settings&)>& nested);
    // Gives members what their bundle says of these keys.
    void inherit_from_bundles(std::span<const std::string_view> keys);
    // Makes the ports that the configuration names.
    void add_ports();

    // Keys of an interface that both makers have. `usual_mtu`: where it says none; `name` is a port's.
    void take_link(const std::string& name, PortConfig& port, std::uint32_t usual_mtu);
    // ip route, ipv6 route.
    void take_routes();
    // All top-level statements that nothing has been told of, by section, and bodies that nobody took.
    void tell_rest();

    // Wrong, with the place and the statement.
    void wrong(const Said& said, std::string why, std::string remedy = {}) const {
        account().wrong(*said.item, std::move(why), std::move(remedy));
    }
    std::optional<std::uint64_t> number(const Said& said, std::string_view word, std::uint64_t low,
                                        std::uint64_t high) const;
    // A time of the watchdog within what Sluice has; beyond it, the nearest, told as assumed.
    Duration watchdog_time(const Said& said, Duration time, Duration low, Duration high,
                           std::string_view key) const;
    // Bytes of "500 kbytes", "3 milliseconds" (at the port's speed) or "320 segments". Nothing, and told:
    // they cannot be.
    std::optional<std::uint64_t> threshold(const Said& said, std::string_view number, std::string_view unit,
                                           const PortConfig& port) const;
    // A rate of "40 percent", "200000 kbps", "10 gbps"; told as wrong when it is none.
    std::optional<Rate> rate(const Said& said, StatementWords words, const PortConfig& port) const;
    // The name of a profile of this value, which is made where there is none; empty, and told: it cannot be.
    std::string wred_name(const Item& item, const WredConfig& profile, const PortConfig& port) const;
    // The name of a map of this value, which is made where there is none.
    std::string map_name(const MapConfig& map, std::string wanted) const;
};

// class-map and policy-map of type qos: which DSCPs and PCPs have which class. A class-map's packets.
struct PacketClass {
    std::vector<const Item*> items{};  // a file may have one several times
    std::uint64_t dscps = 0;           // a bit each
    std::uint8_t pcps = 0;
    bool takes_all = false;
};
struct PolicyRules {
    std::string_view set;   // "traffic-class", "qos-group"
    std::string_view type;  // of the policy-map: "quality-of-service", "qos"
};
class Classifier {
  public:
    Classifier(Cli& cli, PolicyRules rules);
    // Lays the policy over a map. False: there is no such policy. `trust` becomes what its classes go by.
    bool apply(std::string_view policy, MapConfig& map, Trust& trust);
    void tell_unused();

  private:
    void read_class(const Item& section, StatementWords words);
    void read_match(const Item& statement, PacketClass& into, bool first, bool all);
    const PacketClass* class_of(std::string_view name);
    void set_classes(const PacketClass& packets, ClassId tc, MapConfig& map, std::uint64_t& dscps,
                     std::uint8_t& pcps);

    Cli& cli_;
    PolicyRules rules_;
    std::map<std::string, PacketClass, std::less<>> classes_;
    std::map<std::string, std::vector<const Item*>, std::less<>> policies_;
    std::set<const Item*> used_;
};

// A list of DSCPs: "26", "18,20,22", "24-31", "af31", "26 28"; nothing: it is none.
std::optional<std::uint64_t> dscps_in(std::string_view words);

}  // namespace sluice::import

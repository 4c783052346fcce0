// Policies of type network-qos, which make classes lossless, and of type qos, which put packets into them.
#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "tools/import/nxos.hh"

namespace sluice::import {
namespace {

constexpr PolicyRules nxos_policy{"qos-group", "qos"};
constexpr const char* network_key = "service-policy type network-qos";

class Network {
  public:
    explicit Network(Nxos& in) : in_(in), policies_(in, "network-qos") {}

    void take() {
        const Said* said = find_said(in_.system, network_key);
        const auto read = [&](const Item& section, ClassId number) { read_class(section, number); };
        if (said != nullptr && !said->negated) {
            if (policies_.each_class(*said, read)) in_.account().taken(*said->item, "the lossless classes");
        } else if (const std::string only = policies_.only_one(); said == nullptr && !only.empty()) {
            in_.account().assumed(network_key, only + ": the only one, though system qos does not name it");
            static const Item nowhere;
            policies_.each_class({&nowhere, false, only}, read);
        } else if (said != nullptr) {
            in_.account().taken(*said->item, "NX-OS's default");
        }
        policies_.tell_unused();
    }

  private:
    void read_class(const Item& section, ClassId number) {
        for (const auto& member : section.members) {
            StatementWords words(member->word);
            const Said said{member.get(), words.take("no"), words.rest()};
            if (words.take("mtu")) {
                read_mtu(said, words);
            } else if (words.take("pause")) {
                read_pause(said, words, number);
            } else if (words.take("congestion-control")) {
                in_.account().nothing(*member, "the queuing policy says where a queue marks");
            } else {
                in_.account().nothing(*member, "Sluice's classes have none of it");
            }
        }
    }

    void read_mtu(const Said& said, StatementWords words) {
        const auto mtu = in_.cli.number(said, words.peek(), min_mtu, 65'535);
        if (!mtu) return;
        const auto ours = static_cast<std::uint32_t>(std::min<std::uint64_t>(*mtu, max_mtu));
        in_.class_mtu = std::max(in_.class_mtu.value_or(0), ours);
        in_.account().taken(*said.item, "the largest is the mtu of ports that say none");
    }

    void read_pause(const Said& said, StatementWords words, ClassId number) {
        if (said.negated) return in_.account().taken(*said.item, "a lossy class");
        if (words.take("no-drop")) {
            in_.no_drop[number] = NoDrop{said.item, number};
            in_.account().taken(*said.item, fmt::format("pfc of the ports has {}", number));
        }
        if (words.take("pfc-cos")) {
            const auto list = in_.cli.out.classes_of(*said.item, words.next());
            if (list.empty()) return;
            in_.no_drop[number] = NoDrop{said.item, list.front()};
            if (list.size() > 1)
                in_.account().assumed(*said.item,
                                      fmt::format("pfc of the ports has {}: Sluice's classes have "
                                                  "one priority each",
                                                  list.front()));
            else
                in_.account().taken(*said.item, fmt::format("pfc of the ports has {}", list.front()));
        }
        if (!in_.no_drop[number])
            return in_.cli.wrong(said,
                                 in_quotes(said.words) + " is neither pause no-drop nor pause pfc-cos N");
        if (words.peek() == "buffer-size")
            in_.account().nothing(*said.item, "thresholds of the network: those of the queuing policy count");
    }

    Nxos& in_;
    NxosPolicies policies_;
};

class NxosMaps {
  public:
    explicit NxosMaps(Nxos& in) : in_(in), classifier_(in.cli, nxos_policy) {}

    void take() {
        std::size_t without = 0;
        for (auto& [name, port] : in_.cli.config().ports) {
            MapConfig map;
            map.dscp_to_tc.fill(0);
            map.pcp_to_tc.fill(0);
            map.cnp_tc.reset();  // a switch chip goes by DSCP alone
            for (unsigned n = 0; n < classes; ++n)
                if (in_.no_drop[n]) {
                    map.tc_to_priority_group[n] = in_.no_drop[n]->priority;
                    map.pfc_priority_to_queue[in_.no_drop[n]->priority] = static_cast<ClassId>(n);
                }
            const Said* said = nullptr;
            for (const char* key : {"service-policy type qos input", "service-policy input"})
                if (said == nullptr) said = in_.policy(name, key);
            if (said == nullptr || said->negated) {
                ++without;
                port.map = in_.cli.map_name(map, "no-policy");
                continue;
            }
            const std::string policy(said->arguments().peek());
            in_.cli.out.note(port, Aspect::map, *said->item);
            if (classifier_.apply(policy, map, port.trust))
                in_.account().taken(*said->item, "map of the ports that go by it");
            else
                in_.account().left_out(
                    *said->item, fmt::format("there is no policy-map of type qos {}", in_quotes(policy)),
                    "add it, or leave the reference out");
            port.map = in_.cli.map_name(map, policy);
        }
        classifier_.tell_unused();
        if (without != 0)
            in_.account().assumed("service-policy type qos input",
                                  fmt::format("{} without a policy: all is class 0, NX-OS's default",
                                              print_count(without, "port")));
    }

  private:
    Nxos& in_;
    Classifier classifier_;
};

}  // namespace

void take_nxos_network(Nxos& in) { Network(in).take(); }
void take_nxos_maps(Nxos& in) { NxosMaps(in).take(); }

}  // namespace sluice::import

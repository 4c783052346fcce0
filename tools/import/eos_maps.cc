// qos map, qos trust, and policies of type quality-of-service.
#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "tools/import/eos.hh"

namespace sluice::import {
namespace {

constexpr PolicyRules eos_policy{"traffic-class", "quality-of-service"};

// Eight DSCPs a class, and the two lowest the other way round, as PCPs have it (802.1Q: 1 is below 0).
MapConfig default_map() {
    MapConfig map;
    const auto usual = [](unsigned n) { return static_cast<ClassId>(n < 2 ? 1 - n : n); };
    for (unsigned dscp = 0; dscp < 64; ++dscp) map.dscp_to_tc[dscp] = usual(dscp / 8);
    for (unsigned pcp = 0; pcp < classes; ++pcp) map.pcp_to_tc[pcp] = usual(pcp);
    map.cnp_tc.reset();  // a switch chip goes by DSCP alone
    return map;
}

class Maps {
  public:
    explicit Maps(Eos& in) : in_(in), classifier_(in.cli, eos_policy) {}

    void take() {
        for (const auto& statement : in_.cli.root.members) {
            StatementWords words(statement->word);
            if (words.take("no") || words.take("default")) {
                if (starts_with_words(words.rest(), "qos map"))
                    in_.account().taken(*statement, "EOS's default");
                continue;
            }
            if (words.take("qos map"))
                read_map(*statement, words);
            else if (words.take("qos rewrite"))
                in_.account().nothing(*statement, "Sluice leaves DSCP and PCP as they are");
        }
        std::size_t without_trust = 0;
        for (auto& [name, port] : in_.cli.config().ports) without_trust += give(name, port) ? 1 : 0;
        classifier_.tell_unused();
        if (!says_dscp_ && !in_.cli.config().ports.empty())
            in_.account().assumed("qos map dscp",
                                  "EOS's default: eight DSCPs a class (24 to 31 in class 3), 0 to 7 in 1");
        if (without_trust != 0)
            in_.account().assumed("qos trust",
                                  fmt::format("dscp at {}, pcp where a port is switched: EOS's defaults",
                                              print_count(without_trust, "port")));
    }

  private:
    template <std::size_t size>
    void fill(const Item& item, std::uint64_t numbers, ClassId tc, std::array<ClassId, size>& map,
              const char* key) {
        for (std::size_t n = 0; n < size; ++n)
            if ((numbers >> n & 1U) != 0) map[n] = tc;
        in_.account().taken(item, fmt::format("{} of the ports' map: {}", key, tc));
    }

    void read_map(const Item& item, StatementWords words) {
        const std::string_view from = words.next();
        const std::string_view whole = words.rest();
        const std::size_t to = whole.find(" to ");
        if (to == whole.npos)
            return in_.account().wrong(item, "does not say to what it maps",
                                       "write qos map dscp 26 to traffic-class 3");
        const auto numbers = dscps_in(whole.substr(0, to));
        StatementWords target(whole.substr(to + 4));
        const std::string_view kind = target.next();
        if (from != "dscp" && from != "cos" && from != "traffic-class")
            return in_.account().nothing(item, "Sluice's classes go by DSCP and PCP alone");
        if (!numbers || (from != "dscp" && (*numbers >> classes) != 0))
            return in_.account().wrong(
                item, fmt::format("{} is not a list of numbers from 0 to {}", in_quotes(whole.substr(0, to)),
                                  from == "dscp" ? 63 : 7));
        if (from == "traffic-class") return read_queue_map(item, *numbers, kind, target);
        if (kind != "traffic-class")
            return in_.account().nothing(item, "Sluice leaves DSCP and PCP as they are");
        const auto tc = in_.cli.out.class_of(item, target.next());
        if (!tc) return;
        if (from == "dscp") {
            says_dscp_ = true;
            fill(item, *numbers, *tc, map_.dscp_to_tc, "dscp_to_tc");
        } else {
            fill(item, *numbers, *tc, map_.pcp_to_tc, "pcp_to_tc");
        }
        if (target.take("drop-precedence"))
            in_.account().assumed(item, "without its drop-precedence: packets of Sluice have one color");
    }

    void read_queue_map(const Item& item, std::uint64_t numbers, std::string_view kind,
                        StatementWords target) {
        if (kind == "mc-tx-queue") return in_.account().nothing(item, "Sluice has no multicast");
        if (kind != "tx-queue" && kind != "uc-tx-queue")
            return in_.account().nothing(item, "Sluice leaves DSCP and PCP as they are");
        const auto queue = in_.cli.out.class_of(item, target.next());
        if (!queue) return;
        fill(item, numbers, *queue, map_.tc_to_queue, "tc_to_queue");
        for (unsigned n = 0; n < classes; ++n) map_.pfc_priority_to_queue[n] = map_.tc_to_queue[n];
    }

    // True: the port does not say what it trusts.
    bool give(const std::string& name, PortConfig& port) {
        const Settings& settings = in_.settings_of(name);
        MapConfig map = map_;
        const bool says_trust = read_trust(settings, name, port);
        std::string wanted = "eos";
        if (const Said* said = find_said(settings, "service-policy type qos input");
            said != nullptr && !said->negated) {
            const std::string policy(said->arguments().peek());
            wanted = policy;
            in_.cli.out.note(port, Aspect::map, *said->item);
            if (classifier_.apply(policy, map, port.trust))
                in_.account().taken(*said->item, "map of the port");
            else
                in_.account().left_out(
                    *said->item,
                    fmt::format("there is no policy-map of type quality-of-service {}", in_quotes(policy)),
                    "add it, or leave the reference out");
        }
        if (const Said* said = find_said(settings, "qos dscp"))
            in_.account().nothing(*said->item,
                                  "of packets without a DSCP that is trusted: their class is "
                                  "the port's default_tc");
        port.map = in_.cli.map_name(map, wanted);
        return !says_trust;
    }

    bool read_trust(const Settings& settings, const std::string& name, PortConfig& port) {
        if (const Said* said = find_said(settings, "qos cos"); said != nullptr && !said->negated)
            if (const auto pcp = in_.cli.number(*said, said->arguments().peek(), 0, classes - 1)) {
                port.default_tc = map_.pcp_to_tc[*pcp];
                in_.account().taken(*said->item,
                                    key_of_port(name, "default_tc") + fmt::format(" = {}", port.default_tc));
            }
        port.trust = is_switched(settings) ? Trust::pcp : Trust::dscp;
        const Said* said = find_said(settings, "qos trust");
        if (said == nullptr) return false;
        const std::string_view word = said->arguments().peek();
        const bool trusts_nothing = said->item->word.starts_with("no ");
        if (said->negated && !trusts_nothing) {
            in_.account().taken(*said->item, "EOS's default");
            return false;
        }
        if (!trusts_nothing && word != "dscp" && word != "cos") {
            in_.cli.wrong(*said, in_quotes(word) + " is neither dscp nor cos");
            return true;
        }
        port.trust = trusts_nothing ? Trust::port : word == "dscp" ? Trust::dscp : Trust::pcp;
        in_.account().taken(*said->item, key_of_port(name, "trust") + (trusts_nothing   ? " = \"port\""
                                                                       : word == "dscp" ? " = \"dscp\""
                                                                                        : " = \"pcp\""));
        return true;
    }

    Eos& in_;
    Classifier classifier_;
    MapConfig map_ = default_map();
    bool says_dscp_ = false;
};

}  // namespace

void take_eos_maps(Eos& in) { Maps(in).take(); }

}  // namespace sluice::import

#include "tools/sluicectl/hops.hh"

#include <utility>

#include "control/values.hh"
#include "tools/sluicectl/failure.hh"
#include "tools/sluicectl/grammar.hh"

namespace sluice::ctl {

Hops parse_hops(std::span<const std::string> words) {
    static const Words known{"via",   "dev",   "weight", "nexthop", "blackhole",
                             "proto", "scope", "metric", "onlink"};
    Hops hops;
    hops.via = Json::array();
    bool has_via = false;  // the hop that is being said
    std::string port;      // what `dev` said before its `via`
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string word = resolve_word(words[i], known, "word of a route");
        if (word == "blackhole") {
            if (words.size() != 1) throw Failure{exit_usage, "blackhole stands alone"};
            hops.via = "blackhole";
            return hops;
        }
        if (word == "nexthop") {
            has_via = false;
            continue;
        }
        if (word == "onlink") continue;
        if (i + 1 == words.size()) throw Failure{exit_usage, word + " wants a value"};
        const std::string& value = words[++i];
        if (word == "via") {
            const auto address = parse_address(value);
            if (!address)
                throw Failure{exit_usage, "via " + sluice::quoted(value) + " " + address.error().wrong};
            hops.via.push_back({{"address", print_address(*address)}, {"weight", 1}});
            has_via = true;
            if (!port.empty()) hops.ports.emplace_back(print_address(*address), std::exchange(port, {}));
        } else if (word == "dev") {
            if (has_via)
                hops.ports.emplace_back(hops.via.back()["address"].get<std::string>(), value);
            else
                port = value;
        } else if (word == "weight") {
            const auto weight = parse_integer(value);
            if (!weight || *weight < 1 || *weight > 256)
                throw Failure{exit_usage, "weight " + sluice::quoted(value) + ": allowed: 1 to 256"};
            if (!has_via) throw Failure{exit_usage, "weight comes behind its via"};
            hops.via.back()["weight"] = *weight;
        }  // proto, scope and metric, which a pasted line may have, say nothing here
    }
    if (hops.via.empty())
        throw Failure{exit_usage, port.empty()
                                      ? "no next hop; say: via ADDRESS, or blackhole"
                                      : "dev " + port + " alone: a next hop is an address; say: via ADDRESS"};
    return hops;
}

}  // namespace sluice::ctl

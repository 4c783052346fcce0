#include "tools/sluicectl/hops.hh"

#include <utility>

#include "control/values.hh"
#include "tools/sluicectl/failure.hh"
#include "tools/sluicectl/grammar.hh"

namespace sluice::ctl {

Hops parse_hops(std::span<const std::string> words) {
    static const Words known{"via", "dev", "weight", "nexthop", "blackhole"};
    Hops hops;
    hops.via = Json::array();
    bool has_via = false;  // the hop that is being said
    bool is_blackhole = false;
    std::string port;  // what `dev` said before its `via`
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto value = [&](std::string_view word) -> const std::string& {
            if (i + 1 == words.size()) throw Failure{exit_usage, std::string(word) + " wants a value"};
            return words[++i];
        };
        const std::string word = resolve_word(words[i], known, "word of a route");
        if (word == "blackhole") {
            is_blackhole = true;
        } else if (word == "nexthop") {
            has_via = false;
        } else if (word == "via") {
            const std::string* said = &value(word);
            if (*said == "inet" || *said == "inet6") said = &value(word);  // the address says it as well
            const auto address = parse_address(*said);
            if (!address)
                throw Failure{exit_usage, "via " + sluice::in_quotes(*said) + " " + address.error().wrong};
            hops.via.push_back({{"address", print_address(*address)}, {"weight", 1}});
            has_via = true;
            if (!port.empty()) hops.ports.emplace_back(print_address(*address), std::exchange(port, {}));
        } else if (word == "dev") {
            const std::string& name = value(word);
            if (has_via)
                hops.ports.emplace_back(hops.via.back()["address"].get<std::string>(), name);
            else
                port = name;
        } else {
            const std::string& text = value(word);
            const auto weight = parse_integer(text);
            if (!weight || *weight < 1 || *weight > 256)
                throw Failure{exit_usage, "weight " + sluice::in_quotes(text) + ": allowed: 1 to 256"};
            if (!has_via) throw Failure{exit_usage, "weight comes behind its via"};
            hops.via.back()["weight"] = *weight;
        }
    }
    if (is_blackhole) {
        if (!hops.via.empty()) throw Failure{exit_usage, "a blackhole has no next hop"};
        hops.via = "blackhole";
    } else if (hops.via.empty()) {
        throw Failure{exit_usage, port.empty()
                                      ? "no next hop; say: via ADDRESS, or blackhole"
                                      : "dev " + port + " alone: a next hop is an address; say: via ADDRESS"};
    }
    return hops;
}

}  // namespace sluice::ctl

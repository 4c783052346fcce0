#include "tools/sluicectl/hops.hh"

#include <utility>
#include <vector>

#include "control/config/schema/command_words.hh"
#include "control/config/schema/values.hh"
#include "tools/sluicectl/failure.hh"
#include "tools/sluicectl/grammar.hh"

namespace sluice::ctl {

Hops parse_hops(std::span<const std::string> words) {
    static const Words known{"via", "dev", "weight", "nexthop", "blackhole", "balance"};
    Words plain;           // without `nexthop`, each `dev` behind its `via`, no word cut short
    bool has_via = false;  // the hop that is being said
    std::string port;      // a `dev` before its `via`
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto value = [&](std::string_view word) -> const std::string& {
            if (i + 1 == words.size()) throw Failure{exit_usage, std::string(word) + " wants a value"};
            return words[++i];
        };
        const std::string word = resolve_word(words[i], known, "word of a route");
        if (word == "blackhole") {
            plain.push_back(word);
        } else if (word == "nexthop") {
            has_via = false;
        } else if (word == "via") {
            const std::string* address = &value(word);
            if (*address == "inet" || *address == "inet6")
                address = &value(word);  // the address says it as well
            plain.insert(plain.end(), {word, *address});
            has_via = true;
            if (!port.empty()) plain.insert(plain.end(), {"dev", std::exchange(port, {})});
        } else if (word == "balance") {
            plain.insert(plain.end(), {word, value(word)});
        } else if (word == "dev") {
            const std::string& name = value(word);
            if (has_via)
                plain.insert(plain.end(), {word, name});
            else
                port = name;
        } else {
            const std::string& weight = value(word);
            if (!has_via) throw Failure{exit_usage, "weight comes behind its via"};
            plain.insert(plain.end(), {word, weight});
        }
    }
    if (plain.empty() && !port.empty())
        throw Failure{exit_usage, "dev " + port + " alone: a next hop is an address; say: via ADDRESS"};
    RouteConfig route;
    if (const std::string wrong = parse_next_hops(plain, route); !wrong.empty())
        throw Failure{exit_usage, wrong};
    Hops hops;
    hops.via = route.via.empty() ? Json("blackhole") : Json::array();
    for (const NextHopConfig& hop : route.via) {
        hops.via.push_back({{"address", print_address(hop.address)}, {"weight", hop.weight}});
        if (!hop.port.empty()) hops.via.back()["port"] = hop.port;
    }
    if (route.load_balance) hops.load_balance = to_string(*route.load_balance);
    return hops;
}

}  // namespace sluice::ctl

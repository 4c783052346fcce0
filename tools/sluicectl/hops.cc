#include "tools/sluicectl/hops.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "control/values.hh"
#include "tools/sluicectl/failure.hh"
#include "tools/sluicectl/grammar.hh"

namespace sluice::ctl {
namespace {

// A word of `ip route` that is none of ours. It must be said whole.
struct Foreign {
    std::string_view word;
    bool has_value;
    std::string_view harmless;  // values with which it says nothing here, if it does not with all
    std::string_view why;       // how it is here
    bool refused = false;       // with any other value
};

constexpr std::string_view of_hosts = "it is for connections of the host itself";
constexpr std::string_view of_another = "it is the state of another system";

constexpr std::array foreign{
    Foreign{"proto", true, {}, "who made a route is not kept"},
    Foreign{"metric", true, {}, "a prefix has one route"},
    Foreign{"preference", true, {}, "a prefix has one route"},
    Foreign{"priority", true, {}, "a prefix has one route"},
    Foreign{"pref", true, {}, "a prefix has one route"},
    Foreign{"onlink", false, {}, "a next hop is a neighbour, wherever it is"},
    Foreign{"nhid", true, {}, "next hops are said by their addresses"},
    Foreign{"src", true, {}, of_hosts},
    Foreign{"advmss", true, {}, of_hosts},
    Foreign{"window", true, {}, of_hosts},
    Foreign{"initcwnd", true, {}, of_hosts},
    Foreign{"initrwnd", true, {}, of_hosts},
    Foreign{"cwnd", true, {}, of_hosts},
    Foreign{"ssthresh", true, {}, of_hosts},
    Foreign{"rtt", true, {}, of_hosts},
    Foreign{"rttvar", true, {}, of_hosts},
    Foreign{"rto_min", true, {}, of_hosts},
    Foreign{"reordering", true, {}, of_hosts},
    Foreign{"quickack", true, {}, of_hosts},
    Foreign{"congctl", true, {}, of_hosts},
    Foreign{"hoplimit", true, {}, of_hosts},
    Foreign{"linkdown", false, {}, of_another},
    Foreign{"dead", false, {}, of_another},
    Foreign{"offload", false, {}, of_another},
    Foreign{"rt_offload", false, {}, of_another},
    Foreign{"scope", true, "global universe 0", "a route by a next hop is global", true},
    Foreign{"table", true, "main 254", "there is one table", true},
    Foreign{"vrf", true, "default", "there is one table", true},
    Foreign{"tos", true, "0 0x0 0x00", "a route is for every DSCP", true},
    Foreign{"dsfield", true, "0 0x0 0x00", "a route is for every DSCP", true},
    Foreign{"mtu", true, "0", "the MTU is the port's", true},
    Foreign{"encap", true, "none", "nothing is encapsulated", true},
    Foreign{"expires", true, "never", "a route stays until it is deleted", true},
    Foreign{"realm", true, "0", "there are no realms", true},
    Foreign{"realms", true, "0", "there are no realms", true},
};

bool is_one_of(std::string_view value, std::string_view list) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(' '), list.size());
        if (list.substr(0, end) == value) return true;
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return false;
}

void take_foreign(const Foreign& word, const std::string& value, Hops& hops) {
    const std::string said = word.has_value ? fmt::format("{} {}", word.word, value) : std::string(word.word);
    if (word.refused && !is_one_of(value, word.harmless))
        throw Failure{exit_usage, fmt::format("{} would change what the route does: {}; do: leave it out",
                                              said, word.why)};
    hops.notes.push_back(fmt::format("{} says nothing here: {}", said, word.why));
}

}  // namespace

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
        const auto other = std::find_if(foreign.begin(), foreign.end(),
                                        [&](const Foreign& one) { return one.word == words[i]; });
        if (other != foreign.end()) {
            take_foreign(*other, other->has_value ? value(other->word) : std::string(), hops);
            continue;
        }
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

#include "control/config/schema/next_hop_words.hh"

#include <fmt/format.h>

#include "control/config/schema/values.hh"

namespace sluice {

tl::expected<NextHopWords, std::string> parse_next_hops(std::span<const std::string> words) {
    NextHopWords parsed;
    NextHops& hops = parsed.via;
    if (words.size() == 1 && words[0] == "blackhole") return parsed;
    for (std::size_t i = 0; i < words.size(); i += 2) {
        const std::string& word = words[i];
        if (word == "blackhole") return tl::unexpected<std::string>("a blackhole has no next hop");
        if (word != "via" && word != "dev" && word != "weight" && word != "balance")
            return tl::unexpected(in_quotes(word) + " is no word of a next hop");
        if (i + 1 == words.size()) return tl::unexpected(word + " wants a value");
        const std::string& value = words[i + 1];
        if (word == "via") {
            const auto address = parse_address(value);
            if (!address) return tl::unexpected("via " + in_quotes(value) + " " + address.error().wrong);
            hops.push_back({*address});
            continue;
        }
        if (word == "dev") {
            if (hops.empty()) return tl::unexpected<std::string>("dev comes behind its via");
            hops.back().port = value;
            continue;
        }
        if (word == "balance") {
            const auto mode = parse_load_balance(value);
            if (!mode)
                return tl::unexpected(fmt::format("balance {} {}; {}", in_quotes(value), mode.error().wrong,
                                                  mode.error().remedy));
            parsed.load_balance = *mode;
            continue;
        }
        const auto weight = parse_integer(value);
        if (!weight || *weight < min_hop_weight || *weight > max_hop_weight)
            return tl::unexpected(fmt::format("weight {}: allowed: {} to {}", in_quotes(value),
                                              min_hop_weight, max_hop_weight));
        if (hops.empty()) return tl::unexpected<std::string>("weight comes behind its via");
        hops.back().weight = static_cast<std::uint32_t>(*weight);
    }
    if (hops.empty()) return tl::unexpected<std::string>("no next hop; say: via ADDRESS, or blackhole");
    return parsed;
}

}  // namespace sluice

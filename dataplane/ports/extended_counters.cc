#include "dataplane/ports/extended_counters.hh"

#include <rte_ethdev.h>

#include <algorithm>

namespace sluice {

std::vector<std::string> extended_names(std::uint16_t device) {
    const int count = rte_eth_xstats_get_names(device, nullptr, 0);
    std::vector<rte_eth_xstat_name> known(static_cast<std::size_t>(std::max(count, 0)));
    if (known.empty() ||
        rte_eth_xstats_get_names(device, known.data(), static_cast<unsigned>(known.size())) != count)
        return {};
    std::vector<std::string> names;
    for (const rte_eth_xstat_name& each : known) names.emplace_back(each.name);
    return names;
}

std::vector<std::uint64_t> extended_values(std::uint16_t device, std::span<const std::uint64_t> ids) {
    std::vector<std::uint64_t> values(ids.size());
    const auto size = static_cast<unsigned>(ids.size());
    if (ids.empty() ||
        rte_eth_xstats_get_by_id(device, ids.data(), values.data(), size) != static_cast<int>(size))
        return {};
    return values;
}

}  // namespace sluice

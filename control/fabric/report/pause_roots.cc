#include "control/fabric/report/pause_roots.hh"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <tuple>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/fabric/plan/fabric_plan.hh"
#include "control/fabric/run/fabric.hh"
#include "control/fabric/run/pause_words.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t bins = 240;
constexpr std::size_t max_rows = 40;
constexpr std::size_t max_roots = 7;  // the others share a color

struct Row {
    std::int64_t ps = 0;
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> parts;  // by bin and root
};
using Key = std::tuple<std::uint32_t, PortId, ClassId>;

// Each root gets its place by the time that is due to it.
std::map<PauseRoot, std::size_t> places_of(const std::map<PauseRoot, std::int64_t>& roots) {
    std::vector<std::pair<std::int64_t, const PauseRoot*>> sorted;
    for (const auto& [root, ps] : roots) sorted.emplace_back(ps, &root);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::map<PauseRoot, std::size_t> places;
    for (std::size_t n = 0; n < sorted.size(); ++n) places[*sorted[n].second] = std::min(n, max_roots);
    return places;
}

}  // namespace

PauseRoot root_of(const PauseWatch& watch, const PauseChain& chain) {
    const bool closes = chain.closes_at != PauseChain::open_ended;
    PauseRoot root{{}, !closes && chain.causes.back()->kind == PauseCause::Kind::host};
    for (std::size_t n = closes ? chain.closes_at : chain.pauses.size() - 1; n < chain.pauses.size(); ++n)
        root.queues.push_back({watch.pauses()[chain.pauses[n]].device, chain.causes[n]->egress_port,
                               chain.causes[n]->egress_queue});
    std::rotate(root.queues.begin(), std::min_element(root.queues.begin(), root.queues.end()),
                root.queues.end());
    return root;
}

std::string root_text(const FabricPlan& plan, const PauseWatch& watch, const PauseRoot& root) {
    const std::string& self = plan.switches[root.queues[0].device].name;
    if (root.is_circle()) {
        std::string text = self;
        for (std::size_t n = 1; n < root.queues.size(); ++n)
            text += " waits for " + plan.switches[root.queues[n].device].name;
        return text + " waits for " + self + ": a circle";
    }
    const std::string& to = peer_name(plan, watch, root.queues[0].device, root.queues[0].port);
    if (!root.slow_host) return fmt::format("{} has more for {} than the link takes", self, to);
    const auto& hosts = plan.switches[root.queues[0].device].config.hosts;
    const auto host = hosts.find(to);
    const auto drain = host == hosts.end() ? std::nullopt : host->second.drain;
    return fmt::format("{} takes what {} sends too slowly{}", to, self,
                       drain ? fmt::format(", at {}", print_rate(*drain)) : std::string());
}

Json timeline_json(const Fabric& fabric) {
    const PauseWatch& watch = fabric.pauses();
    const FabricPlan& plan = fabric.plan();
    std::map<PauseRoot, std::int64_t> roots;
    const auto visit_all = [&](const std::function<void(std::uint32_t, const PauseChain&)>& visit) {
        for (std::uint32_t id = 0; id < watch.pauses().size(); ++id)
            for_each_chain(watch, id, fabric.now(), [&](const PauseChain& chain) { visit(id, chain); });
    };
    visit_all([&](std::uint32_t, const PauseChain& chain) {
        roots[root_of(watch, chain)] += (chain.until - chain.from).ps;
    });
    const auto places = places_of(roots);
    // Whole bins, of which the last one may reach beyond the end.
    const std::int64_t bin = std::max<std::int64_t>((fabric.now() - Time{}).ps / bins + 1, 1);
    std::map<Key, Row> rows;
    visit_all([&](std::uint32_t id, const PauseChain& chain) {
        const PauseRecord& pause = watch.pauses()[id];
        Row& row = rows[{pause.device, pause.port, pause.priority}];
        const std::size_t root = places.at(root_of(watch, chain));
        const std::int64_t until = (chain.until - Time{}).ps;
        for (std::int64_t from = (chain.from - Time{}).ps; from < until;) {
            const std::int64_t end = std::min(until, (from / bin + 1) * bin);
            row.parts[{static_cast<std::size_t>(from / bin), root}] += end - from;
            row.ps += end - from;
            from = end;
        }
    });
    std::vector<std::pair<std::int64_t, Key>> longest;
    for (const auto& [key, row] : rows) longest.emplace_back(-row.ps, key);
    std::sort(longest.begin(), longest.end());
    const std::size_t shown = std::min(longest.size(), max_rows);
    std::sort(longest.begin(), longest.begin() + static_cast<std::ptrdiff_t>(shown),
              [](const auto& a, const auto& b) { return a.second < b.second; });
    Json json = {{"bin_ns", static_cast<double>(bin) / 1000},
                 {"bins", bins},
                 {"roots", Json::array()},
                 {"rows", Json::array()},
                 {"rows_left_out", longest.size() - shown}};
    std::vector<std::string> names(std::min(roots.size(), max_roots));
    for (const auto& [root, place] : places)
        if (place < max_roots) names[place] = root_text(plan, watch, root);
    if (roots.size() > max_roots) names.push_back(fmt::format("{} others", roots.size() - max_roots));
    json["roots"] = names;
    for (std::size_t n = 0; n < shown; ++n) {
        const auto& [device, port, priority] = longest[n].second;
        Json parts = Json::array();
        for (const auto& [at, ps] : rows.at(longest[n].second).parts)
            parts.push_back({at.first, at.second, ps * 1000 / bin});
        json["rows"].push_back({{"paused", peer_name(plan, watch, device, port)},
                                {"by", plan.switches[device].name},
                                {"class", priority},
                                {"paused_ns", -longest[n].first / 1000},
                                {"parts", std::move(parts)}});
    }
    return json;
}

}  // namespace sluice::fabric

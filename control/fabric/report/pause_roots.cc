#include "control/fabric/report/pause_roots.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "control/fabric/plan/fabric_plan.hh"
#include "control/fabric/run/pause_words.hh"

namespace sluice::fabric {

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

}  // namespace sluice::fabric

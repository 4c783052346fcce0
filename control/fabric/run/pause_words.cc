#include "control/fabric/run/pause_words.hh"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "control/config/schema/values.hh"
#include "control/config/text/quantity_text.hh"
#include "control/config/text/wrapped.hh"
#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {
namespace {

constexpr std::size_t max_chain = 64;

class Follower {
  public:
    Follower(const PauseWatch& watch, const std::function<void(const PauseChain&)>& visit)
        : watch_(watch), visit_(visit) {}

    void follow(std::uint32_t id, Time from, Time until) {
        const auto& causes = watch_.pauses()[id].causes;
        pauses_.push_back(id);
        const auto later = [](const PauseCause& cause, Time time) { return cause.from <= time; };
        auto cause = std::lower_bound(causes.begin(), causes.end(), from, later);
        if (cause != causes.begin()) --cause;
        while (from < until) {
            const auto next = cause + 1;
            const Time end = next == causes.end() || until < next->from ? until : next->from;
            causes_.push_back(&*cause);
            go_on(*cause, from, end);
            causes_.pop_back();
            from = end;
            cause = next;
        }
        pauses_.pop_back();
    }

  private:
    void go_on(const PauseCause& cause, Time from, Time until) {
        if (from == until) return;
        PauseChain chain{pauses_, causes_, PauseChain::open_ended, from, until};
        if (cause.kind != PauseCause::Kind::pause || pauses_.size() == max_chain) return visit_(chain);
        const auto seen = std::ranges::find(pauses_, cause.parent);
        if (seen == pauses_.end()) return follow(cause.parent, from, until);
        // Queues that run free again wait for nobody.
        const auto first = static_cast<std::size_t>(seen - pauses_.begin());
        if (std::all_of(causes_.begin() + static_cast<std::ptrdiff_t>(first), causes_.end(),
                        [](const PauseCause* each) { return each->is_held; }))
            chain.closes_at = first;
        visit_(chain);
    }

    const PauseWatch& watch_;
    const std::function<void(const PauseChain&)>& visit_;
    std::vector<std::uint32_t> pauses_;
    std::vector<const PauseCause*> causes_;
};

}  // namespace

const std::string& name_of(const FabricPlan& plan, const PauseRecord& pause) {
    return plan.switches[pause.device].name;
}
const std::string& peer_name(const FabricPlan& plan, const PauseWatch& watch, std::uint32_t device,
                             PortId port) {
    return plan.topology.nodes[watch.peer(device, port).node].name;
}
const std::string& paused_name(const FabricPlan& plan, const PauseWatch& watch, const PauseRecord& pause) {
    return peer_name(plan, watch, pause.device, pause.port);
}

std::string cycle_text(const FabricPlan& plan, const PauseWatch& watch, const PauseCycle& cycle) {
    std::vector<std::string_view> names;
    for (const std::uint32_t each : cycle.pauses) names.emplace_back(name_of(plan, watch.pauses()[each]));
    const PauseRecord& first = watch.pauses()[cycle.began_with];
    std::string text = fmt::format(
        "{} waits for {}, class {}; it began when {} paused {}, at {}, because of its queue to {}",
        join_briefly(names, " waits for "), names.front(), first.priority, name_of(plan, first),
        paused_name(plan, watch, first), time_text(first.from.ps / 1000),
        peer_name(plan, watch, first.device, first.causes.front().egress_port));
    return text + "; packets of " + join_briefly(cycle.flows, ", ");
}

void for_each_chain(const PauseWatch& watch, std::uint32_t id, Time now,
                    const std::function<void(const PauseChain&)>& visit) {
    const PauseRecord& pause = watch.pauses()[id];
    Follower(watch, visit).follow(id, pause.from, pause.until.value_or(now));
}

}  // namespace sluice::fabric

#include "control/fabric/advise/switch_marks.hh"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "control/config/lint/judge.hh"
#include "control/config/lint/mark_bounds.hh"
#include "control/config/schema/schema_sections.hh"
#include "control/config/schema/values.hh"

namespace sluice::fabric {
namespace {

using NoMarks = tl::unexpected<std::string>;

constexpr std::string_view advised_name = "advised";

// A lossless queue and what it marks by; `curve` counts the different ones.
struct MarkedQueue {
    const SwitchPlan* device;
    std::string port;
    unsigned queue;
    std::string profile;
    std::size_t curve;
};

// The marks of a plan, by switch: effective_qos of each.
std::vector<EffectiveQos> qos_of(const FabricPlan& plan) {
    std::vector<EffectiveQos> all;
    for (const SwitchPlan& each : plan.switches) all.push_back(effective_qos(each.config));
    return all;
}

// True when all queues of the two plans mark alike.
bool same_marks(const std::vector<EffectiveQos>& before, const std::vector<EffectiveQos>& after) {
    return std::ranges::equal(before, after, [](const EffectiveQos& a, const EffectiveQos& b) {
        return std::ranges::equal(a.ports, b.ports, [](const auto& one, const auto& other) {
            return one.first == other.first && one.second.wred_profile == other.second.wred_profile;
        });
    });
}

class MarkFinder {
  public:
    MarkFinder(const BareFile& file, const FabricPlan& today)
        : file_(file), today_(today), qos_(qos_of(today)) {}

    tl::expected<SwitchMarks, std::string> find() {
        for (std::size_t n = 0; n < today_.switches.size(); ++n)
            if (std::string wrong = take_queues(today_.switches[n], qos_[n]); !wrong.empty())
                return NoMarks(std::move(wrong));
        if (queues_.empty())
            return NoMarks("no queue is lossless; do: leave out the group wred, or write a port's pfc");
        if (is_in_place()) return std::move(made_);
        name_profiles();
        for (const auto& sets : {sets_of_all(), sets_by_switch(), sets_by_port()}) {
            if (sets.empty()) continue;
            std::vector<std::string> base = profile_sets_;
            base.insert(base.end(), sets.begin(), sets.end());
            if (!keeps_marks(base)) continue;
            made_.base_sets = std::move(base);
            return std::move(made_);
        }
        return NoMarks(
            "no set reaches the profile of every lossless queue (a name with a dot?); do: write one "
            "[switch.default.wred.NAME] for them, or leave out the group wred");
    }

  private:
    std::string take_queues(const SwitchPlan& device, const EffectiveQos& qos) {
        const auto bounds = mark_bounds(qos);
        for (const auto& [name, port] : qos.ports)
            for (unsigned n = 0; n < classes; ++n) {
                if (!port.queue[n].lossless) continue;
                const std::string where = fmt::format("queue {} of {} at {}", n, name, device.name);
                if (!port.wred_profile[n])
                    return where +
                           " has no WRED profile; do: write wred = \"linear\" there, or leave out the "
                           "group wred";
                const WredProfile& profile = *port.wred_profile[n];
                if (!profile.ecn)
                    return where +
                           " marks nothing, for its profile has ecn = false; do: write ecn = true, or "
                           "leave out the group wred";
                if (profile.mark_at == MarkAt::sojourn)
                    return where +
                           " marks by time in the queue; do: write ranges of sojourn_min and "
                           "sojourn_max in [advise.range], and leave out the group wred";
                const auto known = std::ranges::find(profiles_, profile);
                const auto curve = static_cast<std::size_t>(known - profiles_.begin());
                const PortConfig& said = device.config.ports.at(name);
                if (known == profiles_.end()) {
                    profiles_.push_back(profile);
                    made_.curves.push_back(
                        {{}, *marking_curve(device.config, port.wred[n], said.speed, said.mtu), said.speed});
                }
                take_bounds(made_.curves[curve], device.config, said, bounds.find({name, n}), bounds.end());
                queues_.push_back({&device, name, n, port.wred[n], curve});
            }
        return {};
    }

    static void take_bounds(MarkedCurve& curve, const Config& config, const PortConfig& port, auto bound,
                            auto none) {
        curve.speed = std::min(curve.speed, port.speed);
        curve.mtu = std::max(curve.mtu, port.mtu);
        curve.cell_bytes = std::max(curve.cell_bytes, config.cell_bytes);
        if (bound == none) return;
        const auto take = [](std::uint64_t& least, std::uint64_t bytes) {
            least = least == 0 ? bytes : std::min(least, bytes);
        };
        take(curve.limit_bytes, bound->second.limit_bytes);
        take(curve.first_mark_bytes, bound->second.first_mark_bytes);
    }

    // ECT packets, which RoCE's are, may have a curve of their own.
    std::string key_of(std::size_t curve) const { return profiles_[curve].has_ect ? "ect_" : "green_"; }

    // Each curve is a profile of [switch.default], and changing it there reaches all its queues.
    bool is_in_place() {
        std::map<std::string, std::size_t> names;
        std::vector<std::string> sets;
        for (const MarkedQueue& each : queues_) {
            if (!today_.file.switch_default.wred.contains(each.profile)) return false;
            if (names.emplace(each.profile, each.curve).first->second != each.curve) return false;
            for (const auto& [name, curve] : names)
                if (curve == each.curve && name != each.profile) return false;
        }
        for (const auto& [name, curve] : names) {
            MarkedCurve& own = made_.curves[curve];
            own.prefix = fmt::format("switch.default.wred.{}.{}", name, key_of(curve));
            sets.push_back(fmt::format("{}max={}B", own.prefix, own.today.max_bytes + own.cell_bytes));
        }
        const auto plan = file_.plan(sets);
        if (!plan) return false;
        const auto changed = qos_of(*plan);
        return std::ranges::all_of(queues_, [&](const MarkedQueue& each) {
            const auto& port = changed[index_of(each)].ports.at(each.port);
            return port.wred_profile[each.queue] != profiles_[each.curve];
        });
    }

    std::size_t index_of(const MarkedQueue& queue) const {
        return static_cast<std::size_t>(queue.device - today_.switches.data());
    }

    // Names for the curves that the file has not, and the sets that make them.
    void name_profiles() {
        const std::size_t count = profiles_.size();
        std::set<std::uint64_t> speeds;
        for (const MarkedCurve& each : made_.curves) speeds.insert(each.speed.bits_per_second);
        for (std::size_t n = 0; n < count; ++n) {
            std::string name(advised_name);
            if (count > 1)
                name += "-" +
                        (speeds.size() == count ? print_rate(made_.curves[n].speed) : std::to_string(n + 1));
            while (is_known(name)) name += "-new";
            names_.push_back(name);
            const std::string section = "switch.default.wred." + name;
            made_.curves[n].prefix = fmt::format("{}.{}", section, key_of(n));
            add_profile(n, section);
        }
    }
    bool is_known(const std::string& name) const {
        return std::ranges::any_of(today_.switches,
                                   [&](const SwitchPlan& each) { return each.config.wred.contains(name); });
    }

    // The keys of the profile, and its curve whole: what it leaves to the port's speed is said.
    void add_profile(std::size_t curve, const std::string& section) {
        const auto of = std::ranges::find(queues_, curve, &MarkedQueue::curve);
        const Config& config = of->device->config;
        const auto said = config.wred.find(of->profile);
        WredConfig made = said == config.wred.end() ? WredConfig{} : said->second;
        const PortConfig& port = config.ports.at(of->port);
        const CurveValues& marks = made_.curves[curve].today;
        Config without = config;  // of the green curve, below one for ECT
        if (said != config.wred.end()) without.wred[of->profile].ect = {};
        const auto green = marking_curve(without, of->profile, port.speed, port.mtu).value_or(marks);
        made.green = {green.min_bytes, green.max_bytes, green.probability};
        if (profiles_[curve].has_ect) made.ect = {marks.min_bytes, marks.max_bytes, marks.probability};
        schema::Listing listing{{}, {}};
        schema::wred_rows().list_values(&made, &schema::fresh<WredConfig>(), {section, section}, listing);
        for (const ConfigValue& each : listing.values)
            profile_sets_.push_back(fmt::format("{}={}", each.path, each.value));
    }

    std::vector<std::string> sets_of_all() const {
        if (profiles_.size() != 1) return {};
        std::set<std::string> sets;
        for (const MarkedQueue& each : queues_)
            sets.insert(fmt::format("switch.default.default.queue.{}.wred={}", each.queue, names_[0]));
        return {sets.begin(), sets.end()};
    }

    // Empty: a switch has ports with different curves.
    std::vector<std::string> sets_by_switch() const {
        std::map<std::pair<std::string, unsigned>, std::size_t> curves;
        std::vector<std::string> sets;
        for (const MarkedQueue& each : queues_) {
            const auto [at, is_new] = curves.emplace(std::pair{each.device->name, each.queue}, each.curve);
            if (at->second != each.curve) return {};
            if (is_new)
                sets.push_back(fmt::format("switch.{}.default.queue.{}.wred={}", each.device->name,
                                           each.queue, names_[each.curve]));
        }
        return sets;
    }

    std::vector<std::string> sets_by_port() const {
        std::vector<std::string> sets;
        for (const MarkedQueue& each : queues_)
            sets.push_back(fmt::format("switch.{}.port.{}.queue.{}.wred={}", each.device->name, each.port,
                                       each.queue, names_[each.curve]));
        return sets;
    }

    // Every queue marks as before, and lossless ones by the new profiles.
    bool keeps_marks(const std::vector<std::string>& base) const {
        const auto plan = file_.plan(base);
        if (!plan || plan->switches.size() != today_.switches.size()) return false;
        const auto after = qos_of(*plan);
        return same_marks(qos_, after) && std::ranges::all_of(queues_, [&](const MarkedQueue& each) {
                   return after[index_of(each)].ports.at(each.port).wred[each.queue] == names_[each.curve];
               });
    }

    const BareFile& file_;
    const FabricPlan& today_;
    std::vector<EffectiveQos> qos_;  // by switch
    SwitchMarks made_;
    std::vector<WredProfile> profiles_;  // by curve
    std::vector<std::string> names_;     // likewise, of new profiles
    std::vector<std::string> profile_sets_;
    std::vector<MarkedQueue> queues_;
};

}  // namespace

tl::expected<FabricPlan, std::string> BareFile::plan(const std::vector<std::string>& more) const {
    std::vector<std::string> sets = sets_;
    sets.insert(sets.end(), more.begin(), more.end());
    auto file = parse_fabric(text_, file_, sets);
    if (!file) return tl::unexpected(file.error().front().text());
    file->flows.clear();
    file->collectives.clear();
    file->workloads.clear();
    file->jobs.clear();
    file->events.clear();
    auto plan = make_plan(std::move(*file));
    if (!plan) return tl::unexpected(plan.error().front().text());
    return std::move(*plan);
}

std::string BareFile::error_of(const std::vector<std::string>& more) const {
    const auto made = plan(more);
    if (!made) return made.error();
    for (const SwitchPlan& each : made->switches)
        for (const Finding& finding : judge_config(each.config, Machine{1, std::nullopt}))
            if (finding.severity == Severity::error)
                return fmt::format("{}; do: {}", finding.message, finding.fix);
    return {};
}

tl::expected<SwitchMarks, std::string> switch_marks(const BareFile& file, const FabricPlan& today) {
    return MarkFinder(file, today).find();
}

}  // namespace sluice::fabric

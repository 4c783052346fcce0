// AdviseSpace::of: the keys that [advise] names, and the starts that fit them.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/fabric/advise/grids.hh"
#include "control/fabric/advise/group_keys.hh"
#include "control/fabric/advise/headroom_rows.hh"
#include "control/fabric/advise/range_keys.hh"
#include "control/fabric/advise/space.hh"
#include "control/fabric/advise/starts.hh"
#include "control/fabric/scenario/sweep.hh"

namespace sluice::fabric {

// Makes the space of a file, or all that is wrong with it.
class SpaceMaker {
  public:
    SpaceMaker(std::string_view text, const std::string& file, const std::vector<std::string>& sets)
        : text_(text), file_(file), sets_(sets), bare_(text, file, sets) {}

    tl::expected<AdviseSpace, std::vector<std::string>> make() {
        auto plan = plan_of(text_, file_, sets_, false);
        if (!plan) return tl::unexpected(std::move(plan.error()));
        advise_ = plan->file.scenario.advise.value_or(AdviseConfig{});
        take_groups();
        take_ranges(*plan);
        check_count();
        if (!errors_.empty()) return tl::unexpected(std::move(errors_));
        AdviseSpace space(std::move(axes_));
        space.is_text_.assign(texts_.begin(), texts_.end());
        space.base_sets_ = marks_.base_sets;
        for (const SwitchPlan& each : plan->switches)
            space.cell_bytes_ = std::max<std::uint64_t>(space.cell_bytes_, each.config.cell_bytes);
        space.headroom_ = headroom_rows(*plan);
        check_ends(space);
        if (!errors_.empty()) return tl::unexpected(std::move(errors_));
        add_starts(space, *plan);
        space.left_out_ = std::move(left_out_);
        return space;
    }

  private:
    using Group = AdviseConfig::Group;

    void refuse(const std::string& key, std::string wrong) {
        errors_.push_back(ConfigError{file_, advise_.place, key, std::move(wrong), {}, {}}.text());
    }

    // Those that the file asks for, or all that it has keys for, as many as fit.
    void take_groups() {
        const bool is_said = advise_.groups.has_value();
        if (!is_said && !advise_.ranges.empty()) return;
        const auto bare = bare_.plan();
        if (!bare) return refuse("advise", bare.error());
        for (const Group group :
             advise_.groups.value_or(std::vector{Group::wred, Group::alpha, Group::dcqcn})) {
            std::vector<AdviseLeftOut> left_out;
            auto keys = keys_of(group, *bare, left_out);
            const std::string name(to_string(group));
            if (keys && !is_said && axes_.size() + keys->size() > AdviseConfig::max_keys)
                keys = tl::unexpected(fmt::format("with its {} there would be more than {} keys",
                                                  keys->size(), AdviseConfig::max_keys));
            if (!keys && is_said) {
                refuse("advise.groups", fmt::format("{}: {}", name, keys.error()));
            } else if (!keys) {
                left_out_.push_back({"group " + name, keys.error()});
                if (group == Group::wred) marks_ = {};
            } else {
                std::ranges::move(*keys, std::back_inserter(axes_));
                std::ranges::move(left_out, std::back_inserter(left_out_));
            }
        }
        texts_.assign(axes_.size(), false);
    }

    tl::expected<AdviseAxes, std::string> keys_of(Group group, const FabricPlan& bare,
                                                  std::vector<AdviseLeftOut>& left_out) {
        if (group == Group::alpha) return alpha_keys(bare_, bare);
        if (group == Group::dcqcn) return dcqcn_keys(bare_, bare, left_out);
        auto marks = switch_marks(bare_, bare);
        if (!marks) return tl::unexpected(std::move(marks.error()));
        marks_ = std::move(*marks);
        return wred_keys(marks_.curves);
    }

    void take_ranges(const FabricPlan& plan) {
        std::set<std::string> known;
        for (const AdviseSpace::Axis& axis : axes_) known.insert(axis.key.path);
        for (const AdviseConfig::Range& range : advise_.ranges) {
            if (!known.insert(range.path).second) {
                errors_.push_back(ConfigError{file_,
                                              range.place,
                                              "advise.range",
                                              in_quotes(range.path) + " is a key of a group, too",
                                              {},
                                              "leave one of them out"}
                                      .text());
                continue;
            }
            auto key = range_key(range, {text_, file_, sets_, plan});
            if (!key) {
                errors_.push_back(std::move(key.error()));
                continue;
            }
            axes_.push_back(std::move(key->axis));
            texts_.push_back(key->is_text);
        }
    }

    void check_count() {
        if (!errors_.empty()) return;
        if (axes_.empty()) {
            std::string why;
            for (const AdviseLeftOut& each : left_out_)
                append_item(why, "; ", fmt::format("{}: {}", each.name, each.reason));
            refuse("advise", fmt::format("nothing may change{}; do: write groups or [advise.range]",
                                         why.empty() ? why : " (" + why + ")"));
        }
        if (axes_.size() <= AdviseConfig::max_keys) return;
        std::vector<std::string> paths;
        for (const AdviseSpace::Axis& axis : axes_) paths.push_back(axis.key.path);
        refuse("advise",
               fmt::format("there are {} keys, and a search has at most {}: {}; do: leave out a group "
                           "or a range",
                           axes_.size(), AdviseConfig::max_keys, joined(paths, ", ")));
    }

    // Both ends of each range pass check, the other keys as they are today.
    void check_ends(const AdviseSpace& space) {
        const AdvisePoint& today = space.starts_.front().point;
        for (std::size_t key = 0; key < space.keys_.size(); ++key) {
            const auto range =
                std::ranges::find(advise_.ranges, space.keys_[key].path, &AdviseConfig::Range::path);
            if (range == advise_.ranges.end()) continue;
            const auto& grid = space.axes_[key].grid;
            for (const std::string& end : {grid.front(), grid.back()}) {
                const auto point = at_end(space, today, key, end);
                const auto plan = point ? plan_of(text_, file_, all_sets(space, *point), false)
                                        : tl::unexpected(std::vector{outside(space, today, key, end)});
                if (plan) continue;
                errors_.push_back(ConfigError{
                    file_,
                    range->place,
                    "advise.range",
                    fmt::format("{} = {} is refused: {}", in_quotes(range->path), end, plan.error().front()),
                    {},
                    "narrow the range, or mend the file"}
                                      .text());
                break;
            }
        }
    }

    // A max below the min of today goes with the lowest min.
    static std::optional<AdvisePoint> at_end(const AdviseSpace& space, const AdvisePoint& today,
                                             std::size_t key, const std::string& end) {
        auto point = space.moved(today, key, end);
        const auto min = space.min_of_[key];
        if (point || !min) return point;
        const auto low = space.moved(today, *min, space.axes_[*min].grid.front());
        return low ? space.moved(*low, key, end) : std::nullopt;
    }

    static std::string outside(const AdviseSpace& space, const AdvisePoint& today, std::size_t key,
                               const std::string& end) {
        const auto min = space.min_of_[key];
        if (min) return fmt::format("it is below its min, {} today", today[*min]);
        return fmt::format("the range of its max ends below {}", end);
    }

    std::vector<std::string> all_sets(const AdviseSpace& space, const AdvisePoint& point) const {
        std::vector<std::string> all = sets_;
        all.insert(all.end(), space.base_sets_.begin(), space.base_sets_.end());
        for (std::string& each : space.sets(point)) all.push_back(std::move(each));
        return all;
    }

    void add_starts(AdviseSpace& space, const FabricPlan& plan) {
        if (marks_.curves.empty()) {
            left_out_.push_back({"presets and published sets",
                                 "the thresholds of marks are not among the keys (the group wred)"});
            return;
        }
        for (CurveStart& each : curve_starts(marks_.curves, plan)) {
            if (!each.curves) {
                left_out_.push_back({each.name, each.curves.error()});
                continue;
            }
            AdvisePoint point = space.starts_.front().point;
            for (std::size_t n = 0; n < each.curves->size(); ++n) put(space, n, (*each.curves)[n], point);
            const auto same = std::ranges::find_if(
                space.starts_, [&](const AdviseStart& other) { return is_same(other.point, point); });
            if (same != space.starts_.end()) {
                left_out_.push_back({each.name, fmt::format("it is the same as {}", same->name)});
                continue;
            }
            std::vector<std::string> sets = space.base_sets_;
            for (std::string& set : space.sets(point)) sets.push_back(std::move(set));
            if (std::string wrong = bare_.error_of(sets); !wrong.empty())
                left_out_.push_back({each.name, std::move(wrong)});
            else
                space.starts_.push_back({each.name, each.source, std::move(point)});
        }
    }

    void put(const AdviseSpace& space, std::size_t curve, const CurveValues& values,
             AdvisePoint& point) const {
        const std::string& prefix = marks_.curves[curve].prefix;
        for (std::size_t key = 0; key < space.keys_.size(); ++key) {
            const std::string& path = space.keys_[key].path;
            if (path == prefix + "min") point[key] = print_size(values.min_bytes);
            if (path == prefix + "max") point[key] = print_size(values.max_bytes);
            if (path == prefix + "probability") point[key] = per_cent_text(values.probability);
        }
    }

    // By number where there is one.
    static bool is_same(const AdvisePoint& one, const AdvisePoint& other) {
        return std::ranges::equal(one, other, [](const std::string& a, const std::string& b) {
            const auto x = Quantity::read(a), y = Quantity::read(b);
            return a == b || (x && y && x->number == y->number);
        });
    }

    std::string_view text_;
    const std::string& file_;
    const std::vector<std::string>& sets_;
    BareFile bare_;
    AdviseConfig advise_;
    std::vector<AdviseSpace::Axis> axes_;
    std::vector<bool> texts_;  // by axis
    SwitchMarks marks_;        // of the group wred; empty: it is not in use
    std::vector<AdviseLeftOut> left_out_;
    std::vector<std::string> errors_;
};

tl::expected<AdviseSpace, std::vector<std::string>> AdviseSpace::of(std::string_view text,
                                                                    const std::string& file,
                                                                    const std::vector<std::string>& sets) {
    return SpaceMaker(text, file, sets).make();
}

}  // namespace sluice::fabric

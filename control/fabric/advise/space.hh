// What `sluice-fabric advise` may change: the keys of a fabric file, the grid of each, and the points from
// which a search starts (published sets, presets, bounds of theory), each with its source.
//
// A point has a value for each key, as a file has it, without quotes. Values of starts need not lie on the
// grid; a step from one goes to the grid's next value on that side. The thresholds of a WRED profile go
// together: max is at least min, and a step of min takes max along (their ratio stays).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {

using AdvisePoint = std::vector<std::string>;  // by key

struct AdviseKey {
    std::string path;   // as [vary] and --set name it
    std::string group;  // wred, alpha, dcqcn, range
    std::string today;
    std::string low, high;  // of the grid
    bool exported = true;   // a key of sluiced's configuration, not of a host
};

struct AdviseStart {
    std::string name;    // "today", "preset linear", "a public configuration (150KB, 3000KB, 7 %)"
    std::string source;  // a sentence; empty: today
    AdvisePoint point;
};

// A start, a group or a key that is not tried, and why: for `not_tried`. The reason is a sentence without its
// full stop.
struct AdviseLeftOut {
    std::string name, reason;
};

// The headroom of the lossless groups of a port, or of ports that are alike.
struct AdviseHeadroom {
    std::string port;  // "SWITCH PORT, group N", "SWITCH PORT and 31 others, group N"
    std::uint64_t today_bytes, computed_bytes;  // as `sluiced headroom` computes it
    std::string edit;                           // what to write where they differ; empty: nothing
};

class AdviseSpace {
  public:
    // A key on a grid, ascending values; for tests, and ranges. `is_of_min`: the key is the max of a curve
    // whose min is a key, too (paths that differ in `min` and `max` at their end), and the grid has factors
    // of it.
    struct Axis {
        AdviseKey key;
        std::vector<std::string> grid;
        bool is_of_min = false;
    };
    explicit AdviseSpace(std::vector<Axis> axes);
    // The space of the file's [advise], or of an empty one where there is none; errors are sentences with
    // their remedy.
    static tl::expected<AdviseSpace, std::vector<std::string>> of(std::string_view text,
                                                                  const std::string& file,
                                                                  const std::vector<std::string>& sets);

    const std::vector<AdviseKey>& keys() const { return keys_; }
    // Arguments of --set, before those of a point, in every run: they change no behavior (a preset becomes a
    // profile).
    const std::vector<std::string>& base_sets() const { return base_sets_; }
    // The first is today's.
    const std::vector<AdviseStart>& starts() const { return starts_; }
    const std::vector<AdviseLeftOut>& left_out() const { return left_out_; }
    const std::vector<AdviseHeadroom>& headroom() const { return headroom_; }

    // The n-th point of a Sobol sequence over the grids.
    AdvisePoint drawn(std::size_t n) const;
    // The grid's next value of a key upwards or downwards; nothing: there is none.
    std::optional<AdvisePoint> step(const AdvisePoint& point, std::size_t key, bool up) const;
    // The grid's value nearest to four times, or a quarter, of the point's; nothing: it is the point's own. A
    // step of dynamic_th is one of its alpha, 2^dynamic_th; words have the first and the last.
    std::optional<AdvisePoint> far(const AdvisePoint& point, std::size_t key, bool up) const;
    // The point's value is the first or last of the grid, or beyond it.
    bool is_at_edge(const AdvisePoint& point, std::size_t key) const;
    // The ends of the grid beside the other values of the point: those of a max follow the min.
    std::pair<std::string, std::string> ends(const AdvisePoint& point, std::size_t key) const;
    // The arguments of --set for a point.
    std::vector<std::string> sets(const AdvisePoint& point) const;

  private:
    friend class SpaceMaker;

    // The value of a key with the other threshold of its curve moved along; nothing: there is no such point.
    std::optional<AdvisePoint> moved(const AdvisePoint& point, std::size_t key,
                                     const std::string& value) const;
    // The values of the key beside the other ones of the point, ascending.
    std::vector<std::string> values_at(const AdvisePoint& point, std::size_t key) const;
    // A size in whole cells, not below min, that is `factor` of it.
    std::string times(const std::string& min, double factor) const;

    std::vector<Axis> axes_;
    std::vector<AdviseKey> keys_;
    std::vector<std::optional<std::size_t>> min_of_, max_of_;  // by key: the other threshold of its curve
    std::vector<bool> is_text_;                                // by key: its values are TOML's strings
    std::vector<std::string> base_sets_;
    std::vector<AdviseStart> starts_;
    std::vector<AdviseLeftOut> left_out_;
    std::vector<AdviseHeadroom> headroom_;
    std::uint64_t cell_bytes_ = 1;
};

}  // namespace sluice::fabric

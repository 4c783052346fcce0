#include "control/fabric/advise/space.hh"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/sobol.hpp>
#include <cmath>

#include "control/config/schema/values.hh"
#include "control/fabric/advise/grids.hh"

namespace sluice::fabric {
namespace {

__extension__ using Wide = unsigned __int128;

constexpr double far_factor = 4;

bool ends_with_both(std::string_view path, std::string_view end, std::string_view other,
                    std::string_view other_end) {
    return path.ends_with(end) && other.ends_with(other_end) &&
           path.substr(0, path.size() - end.size()) == other.substr(0, other.size() - other_end.size());
}

std::optional<double> number_of(const std::string& value) {
    const auto quantity = Quantity::read(value);
    return quantity ? std::optional(quantity->number) : std::nullopt;
}

// The place of a value in a grid: its neighbors on either side, or nothing beyond the ends.
struct PlaceInGrid {
    std::optional<std::size_t> below, at, above;
};

PlaceInGrid place_in(const std::vector<std::string>& grid, const std::string& value) {
    PlaceInGrid place;
    const auto own = number_of(value);
    const bool numbers =
        own && std::ranges::all_of(grid, [](const auto& each) { return number_of(each).has_value(); });
    if (!numbers) {
        const auto found = std::ranges::find(grid, value);
        if (found == grid.end()) {
            if (!grid.empty()) place.above = 0;
            return place;
        }
        const auto at = static_cast<std::size_t>(found - grid.begin());
        place.at = at;
        if (at > 0) place.below = at - 1;
        if (at + 1 < grid.size()) place.above = at + 1;
        return place;
    }
    for (std::size_t n = 0; n < grid.size(); ++n) {
        const double number = *number_of(grid[n]);
        if (number < *own) place.below = n;
        if (number == *own) place.at = n;
        if (number > *own && !place.above) place.above = n;
    }
    return place;
}

bool is_exponent(const AdviseKey& key) { return key.path.ends_with(".dynamic_th"); }

}  // namespace

AdviseSpace::AdviseSpace(std::vector<Axis> axes)
    : axes_(std::move(axes)), min_of_(axes_.size()), max_of_(axes_.size()), is_text_(axes_.size()) {
    for (std::size_t n = 0; n < axes_.size(); ++n)
        for (std::size_t other = 0; other < axes_.size(); ++other)
            if (ends_with_both(axes_[n].key.path, "min", axes_[other].key.path, "max")) {
                max_of_[n] = other;
                min_of_[other] = n;
            }
    for (std::size_t n = 0; n < axes_.size(); ++n) {
        Axis& axis = axes_[n];
        axis.is_of_min = axis.is_of_min && min_of_[n];
        if (axis.key.low.empty() && !axis.grid.empty()) {
            const Axis* of = axis.is_of_min ? &axes_[*min_of_[n]] : nullptr;
            const auto end = [&](const std::string& own, const std::string& min) {
                return of == nullptr ? own : times(min, number_of(own).value_or(1));
            };
            axis.key.low = end(axis.grid.front(), of == nullptr ? "" : of->grid.front());
            axis.key.high = end(axis.grid.back(), of == nullptr ? "" : of->grid.back());
        }
        keys_.push_back(axis.key);
    }
    AdvisePoint today;
    for (const AdviseKey& key : keys_) today.push_back(key.today);
    starts_.push_back({"today", {}, std::move(today)});
}

std::string AdviseSpace::times(const std::string& min, double factor) const {
    const Quantity value = Quantity::read(min).value_or(Quantity{});
    const std::uint64_t step = value.unit == Quantity::Unit::size ? cell_bytes_ : 1;
    const double least = std::max(value.number, 0.0);
    const auto made = static_cast<double>(rounded(least * factor, step));
    return Quantity{value.unit, std::max(made, least)}.text();
}

std::vector<std::string> AdviseSpace::values_at(const AdvisePoint& point, std::size_t key) const {
    const Axis& axis = axes_[key];
    if (!axis.is_of_min) return axis.grid;
    std::vector<std::string> values;
    const auto own = number_of(point[key]);
    for (const std::string& factor : axis.grid) {
        values.push_back(times(point[*min_of_[key]], number_of(factor).value_or(1)));
        // As it is, without the last cell.
        const auto now = number_of(values.back());
        if (own && now && std::abs(*own - *now) < static_cast<double>(cell_bytes_))
            values.back() = point[key];
    }
    return values;
}

std::optional<AdvisePoint> AdviseSpace::moved(const AdvisePoint& point, std::size_t key,
                                              const std::string& value) const {
    AdvisePoint made = point;
    made[key] = value;
    const auto now = number_of(value);
    if (const auto min = min_of_[key]) {
        const auto least = number_of(point[*min]);
        if (least && now && *now < *least) return std::nullopt;
    }
    const auto max = max_of_[key];
    if (!max) return made;
    const auto before = number_of(point[key]), top = number_of(point[*max]);
    if (!before || !top || !now) return made;
    const double ratio = *before > 0 ? std::max(*top / *before, 1.0) : 1.0;
    made[*max] = times(value, ratio);
    if (axes_[*max].is_of_min) return made;
    // A range of its own holds the max.
    const auto first = number_of(axes_[*max].grid.front()), last = number_of(axes_[*max].grid.back());
    const auto along = number_of(made[*max]);
    if (!first || !last || !along) return made;
    if (*along > *last && *last >= *now) made[*max] = axes_[*max].grid.back();
    if (*along < *first) made[*max] = axes_[*max].grid.front();
    if (*last < *now) return std::nullopt;
    return made;
}

std::optional<AdvisePoint> AdviseSpace::step(const AdvisePoint& point, std::size_t key, bool up) const {
    const auto values = values_at(point, key);
    const PlaceInGrid place = place_in(values, point[key]);
    const auto next = up ? place.above : place.below;
    return next ? moved(point, key, values[*next]) : std::nullopt;
}

std::optional<AdvisePoint> AdviseSpace::far(const AdvisePoint& point, std::size_t key, bool up) const {
    const auto values = values_at(point, key);
    const auto own = number_of(point[key]);
    const PlaceInGrid place = place_in(values, point[key]);
    // None on that side: the nearest one is the point's own, or nearer to it than it was.
    if (!(up ? place.above : place.below)) return std::nullopt;
    std::size_t nearest = up ? values.size() - 1 : 0;
    if (own) {
        const bool shifts = is_exponent(keys_[key]);
        const double shift = std::log2(far_factor);
        const double target = shifts ? *own + (up ? shift : -shift)
                              : up   ? *own * far_factor
                                     : *own / far_factor;
        // Ratios count, but for exponents, and where there is none.
        const auto distance = [&](const std::string& value) {
            const double number = number_of(value).value_or(0);
            if (shifts || number <= 0 || target <= 0) return std::abs(number - target);
            return std::abs(std::log(number / target));
        };
        const std::size_t first = up ? *place.above : 0, last = up ? values.size() - 1 : *place.below;
        nearest = first;
        for (std::size_t n = first; n <= last; ++n)
            if (distance(values[n]) < distance(values[nearest])) nearest = n;
    }
    return moved(point, key, values[nearest]);
}

bool AdviseSpace::is_at_edge(const AdvisePoint& point, std::size_t key) const {
    const PlaceInGrid place = place_in(values_at(point, key), point[key]);
    return !place.below || !place.above;
}

std::pair<std::string, std::string> AdviseSpace::ends(const AdvisePoint& point, std::size_t key) const {
    const auto values = values_at(point, key);
    if (values.empty()) return {keys_[key].low, keys_[key].high};
    return {values.front(), values.back()};
}

AdvisePoint AdviseSpace::drawn(std::size_t n) const {
    AdvisePoint point(axes_.size());
    if (axes_.empty()) return point;
    boost::random::sobol sequence(axes_.size());
    sequence.discard(static_cast<std::uint64_t>(n) * axes_.size());
    std::vector<std::size_t> chosen(axes_.size());
    for (std::size_t key = 0; key < axes_.size(); ++key) {
        const Wide share = Wide{sequence()} * axes_[key].grid.size();
        chosen[key] = static_cast<std::size_t>(share >> 64U);
        point[key] = axes_[key].grid[chosen[key]];
    }
    for (std::size_t key = 0; key < axes_.size(); ++key) {
        const auto min = min_of_[key];
        if (!min) continue;
        if (axes_[key].is_of_min)
            point[key] = values_at(point, key)[chosen[key]];
        else if (const auto least = number_of(point[*min]), now = number_of(point[key]);
                 least && now && *now < *least)
            point[key] = point[*min];
    }
    return point;
}

std::vector<std::string> AdviseSpace::sets(const AdvisePoint& point) const {
    std::vector<std::string> made;
    for (std::size_t key = 0; key < point.size() && key < keys_.size(); ++key)
        made.push_back(
            fmt::format("{}={}", keys_[key].path, is_text_[key] ? toml_string(point[key]) : point[key]));
    return made;
}

}  // namespace sluice::fabric

#include "control/fabric/scenario/points.hh"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/fabric/plan/variants.hh"
#include "lib/values/rng.hh"

namespace sluice::fabric {
namespace {

constexpr std::uint64_t max_seed = std::numeric_limits<std::int64_t>::max();  // that a file can say
constexpr std::uint32_t sample_stream = 0x73616D70;                           // of draws

// `wanted` of `count` numbers, ascending: each by a draw of its own (Vitter, selection sampling).
std::vector<std::uint64_t> sample_of(std::uint64_t count, std::uint64_t wanted, std::uint64_t seed) {
    std::vector<std::uint64_t> taken;
    for (std::uint64_t n = 0; n < count && taken.size() < wanted; ++n)
        if (draw({seed, sample_stream, 0, n}) % (count - n) < wanted - taken.size()) taken.push_back(n);
    return taken;
}

using KeyTexts = std::vector<std::pair<std::string, std::string>>;  // a key's path and value

}  // namespace

std::string plain(const std::string& value) {
    return value.size() >= 2 && value.front() == '"' ? value.substr(1, value.size() - 2) : value;
}

std::vector<std::string> SweepPoint::sets(const VaryConfig& vary, std::vector<std::string> sets) const {
    sets.push_back(fmt::format("seed={}", seed));  // an axis may give another
    for (std::size_t n = 0; n < values.size(); ++n) sets.push_back(vary.axes[n].path + "=" + values[n]);
    return sets;
}

nlohmann::ordered_json SweepPoint::row_values(const VaryConfig& vary) const {
    auto made = nlohmann::ordered_json::object();
    for (std::size_t n = 0; n < values.size(); ++n) made[vary.axes[n].path] = plain(values[n]);
    return made;
}

std::string SweepPoint::text(const VaryConfig& vary) const {
    std::string text;
    for (std::size_t n = 0; n < values.size(); ++n)
        append_item(text, ", ", fmt::format("{} = {}", vary.axes[n].path, plain(values[n])));
    if (vary.seeds > 1 || text.empty()) append_item(text, ", ", fmt::format("seed {}", seed));
    return text;
}

tl::expected<std::vector<SweepPoint>, std::string> sweep_points(const FabricConfig& file) {
    const VaryConfig& vary = file.scenario.vary;
    std::uint64_t count = 1;
    for (const VaryConfig::Axis& axis : vary.axes) {
        count *= axis.values.size();
        if (count > max_points)
            return tl::unexpected(
                fmt::format("[vary] has more than {} points; do: write fewer values", max_points));
    }
    std::vector<std::uint64_t> numbers;
    if (vary.sample && *vary.sample < count)
        numbers = sample_of(count, *vary.sample, file.seed);
    else
        for (std::uint64_t n = 0; n < count; ++n) numbers.push_back(n);
    if (numbers.size() * vary.seeds > max_points)
        return tl::unexpected(fmt::format("[vary] has more than {} runs; do: write fewer seeds", max_points));
    if (vary.seeds - 1 > max_seed - std::min(file.seed, max_seed))
        return tl::unexpected(fmt::format("{} seeds from {} on go beyond {}; do: write a smaller seed",
                                          vary.seeds, file.seed, max_seed));
    std::vector<SweepPoint> points;
    for (const std::uint64_t number : numbers) {
        SweepPoint point;
        std::uint64_t rest = number;
        for (auto axis = vary.axes.rbegin(); axis != vary.axes.rend(); ++axis) {
            point.values.push_back(axis->values[rest % axis->values.size()]);
            rest /= axis->values.size();
        }
        std::reverse(point.values.begin(), point.values.end());
        for (std::uint64_t n = 0; n < vary.seeds; ++n) {
            point.seed = file.seed + n;
            points.push_back(point);
        }
    }
    return points;
}

nlohmann::ordered_json values_of_today(std::string_view text, const std::string& file,
                                       const std::vector<std::string>& sets, const VaryConfig& vary,
                                       const std::vector<SweepPoint>& points) {
    const auto keys_with = [&](const std::vector<std::string>& own) -> std::optional<KeyTexts> {
        const auto parsed = parse_fabric(text, file, own);
        if (!parsed) return std::nullopt;
        KeyTexts keys;
        for (ConfigChange& each : keys_asked(*parsed))
            if (each.path != variant_path)  // a variant is what it sets
                keys.emplace_back(std::move(each.path), std::move(each.to));
        return keys;
    };
    const auto today = keys_with(sets);
    auto made = nlohmann::ordered_json::object();
    for (std::size_t axis = 0; axis < vary.axes.size(); ++axis) {
        const std::string& path = vary.axes[axis].path;
        auto& same = made[path] = nlohmann::ordered_json::array();
        std::set<std::string> known;
        for (const SweepPoint& point : points) {
            const std::string& value = point.values[axis];
            if (!known.insert(value).second) continue;
            std::vector<std::string> own = sets;
            own.push_back(path + "=" + value);
            if (const auto keys = keys_with(own); keys && keys == today) same.push_back(plain(value));
        }
    }
    return made;
}

tl::expected<FindAnswer, std::string> find_edge(const FindConfig& find, const ValueRange& range,
                                                const FindTry& holds) {
    const bool least = !find.least.empty();
    FindAnswer answer{};
    const auto attempt = [&](std::uint64_t value) -> tl::expected<bool, std::string> {
        const auto held = holds(value);
        if (held) answer.steps.push_back({value, *held});
        return held;
    };
    const auto at_low = attempt(range.low());
    if (!at_low) return tl::unexpected(at_low.error());
    const auto at_high = attempt(range.high());
    if (!at_high) return tl::unexpected(at_high.error());
    const auto text = [&](std::uint64_t value) { return plain(range.text(value)); };
    if (*at_low == *at_high)
        return tl::unexpected(
            fmt::format("it {} at {} and at {}: there is no {} value in between; do: widen the range",
                        *at_low ? "holds" : "does not hold", text(range.low()), text(range.high()),
                        least ? "least" : "most"));
    if (*at_low == least)
        return tl::unexpected(fmt::format(
            "it holds at {} and not at {}: it has a {} value, not a {} one; do: write {} = {}",
            text(least ? range.low() : range.high()), text(least ? range.high() : range.low()),
            least ? "most" : "least", least ? "least" : "most", least ? "most" : "least", find.path()));
    const std::uint64_t precision = find.precision.empty()
                                        ? std::max<std::uint64_t>((range.high() - range.low()) / 100, 1)
                                        : range.value(find.precision).value_or(1);
    answer.holds = least ? range.high() : range.low();
    answer.fails = least ? range.low() : range.high();
    while (true) {
        const std::uint64_t low = std::min(answer.holds, answer.fails),
                            high = std::max(answer.holds, answer.fails);
        if (high - low <= precision) return answer;
        const std::uint64_t middle = low + (high - low) / 2;
        const auto held = attempt(middle);
        if (!held) return tl::unexpected(held.error());
        (*held ? answer.holds : answer.fails) = middle;
    }
}

}  // namespace sluice::fabric

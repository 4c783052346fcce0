#include "control/fabric/scenario/points.hh"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "control/config/schema/values.hh"
#include "lib/values/rng.hh"

namespace sluice::fabric {
namespace {

constexpr std::uint64_t max_seed = std::numeric_limits<std::int64_t>::max();  // that a file can say
constexpr std::uint32_t sample_stream = 0x73616D70;                           // of draws

// `wanted` of `count` numbers, ascending: each is taken or left by a draw of its own (Vitter, selection
// sampling).
std::vector<std::uint64_t> sample_of(std::uint64_t count, std::uint64_t wanted, std::uint64_t seed) {
    std::vector<std::uint64_t> taken;
    for (std::uint64_t n = 0; n < count && taken.size() < wanted; ++n)
        if (draw({seed, sample_stream, 0, n}) % (count - n) < wanted - taken.size()) taken.push_back(n);
    return taken;
}

}  // namespace

std::string plain(const std::string& value) {
    return value.size() >= 2 && value.front() == '"' ? value.substr(1, value.size() - 2) : value;
}

std::vector<std::string> SweepPoint::sets(const VaryConfig& vary) const {
    std::vector<std::string> all{fmt::format("seed={}", seed)};  // an axis may say another
    for (std::size_t n = 0; n < values.size(); ++n) all.push_back(vary.axes[n].path + "=" + values[n]);
    return all;
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

}  // namespace sluice::fabric

#include "control/fabric/scenario/find.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/fabric/scenario/points.hh"

namespace sluice::fabric {

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

#include "control/report/figures/since.hh"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "control/report/figures/figures.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;
using Buckets = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // value, count; ascending

Json leaf_since(const Figure& figure, const Json& after, const Json* before) {
    if (figure.unit == FigureUnit::per_s) return Json(Json::value_t::discarded);
    if (figure.kind != FigureKind::counter || before == nullptr || !before->is_number() || !after.is_number())
        return after;
    const auto now = after.get<std::uint64_t>(), then = before->get<std::uint64_t>();
    return now >= then ? now - then : now;  // a part that is new under an old name
}

Buckets buckets_of(const Json* durations) {
    Buckets buckets;
    if (durations == nullptr || !durations->is_object() || !durations->contains("buckets")) return buckets;
    const Json& list = (*durations)["buckets"];
    for (std::size_t n = 0; n + 1 < list.size(); n += 2)
        buckets.emplace_back(list[n].get<std::uint64_t>(), list[n + 1].get<std::uint64_t>());
    return buckets;
}

// As Histogram::quantile.
std::uint64_t quantile(const Buckets& buckets, std::uint64_t total, unsigned per_mille, std::uint64_t max) {
    const std::uint64_t wanted = (total * per_mille + 999) / 1000;
    std::uint64_t seen = 0;
    for (const auto& [value, count] : buckets) {
        seen += count;
        if (seen >= wanted) return std::min(value, max);
    }
    return 0;
}

// The quantiles in between. The longest is exact if it is longer than any before; else it is known to its
// bucket, which `max_is_rounded` says.
Json quantiles_since(const Json& after, const Json* before) {
    Buckets now = buckets_of(&after);
    const Buckets then = buckets_of(before);
    std::uint64_t total = 0, last = 0;
    auto was = then.begin();
    for (auto& [value, count] : now) {
        while (was != then.end() && was->first < value) ++was;
        if (was != then.end() && was->first == value) count -= std::min(count, was->second);
        total += count;
        if (count != 0) last = value;
    }
    if (total == 0) return {{"p50", nullptr}, {"p99", nullptr}, {"p999", nullptr}, {"max", nullptr}};
    const std::uint64_t max = std::min(last, after["max"].get<std::uint64_t>());
    Json made = {{"p50", quantile(now, total, 500, max)},
                 {"p99", quantile(now, total, 990, max)},
                 {"p999", quantile(now, total, 999, max)},
                 {"max", max}};
    if (!then.empty() && (*before)["max"] == after["max"]) made["max_is_rounded"] = true;
    return made;
}

// The parts that are not plain differences.
void settle(Json& made, const Json& after, const Json* before, const SinceLook& look) {
    const auto earlier = [&](const auto& key, bool known) { return known ? &(*before)[key] : nullptr; };
    if (made.is_array()) {
        for (std::size_t n = 0; n < std::min(made.size(), after.size()); ++n)
            settle(made[n], after[n],
                   earlier(n, before != nullptr && before->is_array() && n < before->size()), look);
        return;
    }
    if (!made.is_object() || !after.is_object()) return;
    if (after.contains("buckets")) {
        made = quantiles_since(after, before);
        return;
    }
    for (auto& [key, value] : made.items()) {
        const bool known = before != nullptr && before->is_object() && before->contains(key);
        if (value.is_structured()) settle(value, after[key], earlier(key, known), look);
        if (look.marks_are_cleared && made.contains("user_" + key)) value = made["user_" + key];
    }
    if (made.contains("throughput_bps") && made.contains("delivered_bytes") && look.elapsed_ns != 0)
        made["throughput_bps"] = static_cast<std::uint64_t>(made["delivered_bytes"].get<double>() * 8e9 /
                                                            static_cast<double>(look.elapsed_ns));
}

}  // namespace

Json figures_since(const SinceLook& look) {
    Json made = difference(&look.before, look.after, find_node(switch_figures_tree(), look.path), leaf_since);
    settle(made, look.after, &look.before, look);
    return made;
}

}  // namespace sluice

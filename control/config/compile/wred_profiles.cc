#include "control/config/compile/wred_profiles.hh"

#include <fmt/format.h>

#include <algorithm>

namespace sluice {
namespace {

using Curve = CurveValues;

// `least`: two packets, the least min: a queue below is busy, not congested.
Curve linear(Rate speed, std::uint64_t least) {
    constexpr std::uint64_t min_at_25g = 100'000;
    constexpr std::uint64_t max_at_25g = 400'000;
    const std::uint64_t mega = speed.bits_per_second / 1'000'000;
    const std::uint64_t min = std::max(min_at_25g * mega / 25'000, least);
    return {min, std::max(max_at_25g * mega / 25'000, max_at_25g / min_at_25g * min), Chance::percent(20)};
}

constexpr std::uint64_t two_packets(std::uint32_t mtu) { return std::uint64_t{2} * mtu; }

constexpr Curve steep{150'000, 1'500'000, Chance::percent(100)};
constexpr Curve sonic{1U << 20, 2U << 20, Chance::percent(5)};

// The curve of a built-in profile; nothing: the name has none.
std::optional<Curve> built_in(const std::string& name, Rate speed, std::uint32_t mtu) {
    if (name == "linear") return linear(speed, two_packets(mtu));
    if (name == "steep") return steep;
    if (name == "sonic") return sonic;
    return std::nullopt;
}

WredCurve compiled(const Curve& curve) {
    const std::uint64_t parts = certainty * curve.probability.parts_per_billion / Chance::always;
    return {curve.min_bytes, curve.max_bytes, parts};
}

WredProfile one_curve(const Curve& curve) {
    WredProfile profile;
    profile.color.fill(compiled(curve));
    return profile;
}

Curve over(const Curve& base, const WredCurveConfig& configured) {
    return {configured.min_bytes.value_or(base.min_bytes), configured.max_bytes.value_or(base.max_bytes),
            configured.probability.value_or(base.probability)};
}

// The base of a profile's green curve.
Curve base_of(const WredConfig& config, Rate speed, std::uint32_t mtu) {
    return linear(speed, std::min(two_packets(mtu), config.green.max_bytes.value_or(two_packets(mtu))));
}

tl::expected<std::optional<WredProfile>, QosProblem> configured(const WredConfig& config,
                                                                const std::string& name, Rate speed,
                                                                std::uint32_t mtu) {
    std::optional<QosProblem> problem;
    const auto curve = [&](const char* key, const Curve& base, const WredCurveConfig& configured) {
        const Curve made = over(base, configured);
        if (made.min_bytes > made.max_bytes && !problem)
            problem = QosProblem{
                {},
                fmt::format("wred.{}.{}_min", name, key),
                fmt::format("its min of {} bytes is above its max of {}", made.min_bytes, made.max_bytes),
                fmt::format("write {}_max = {} or more", key, made.min_bytes),
                "wred-profile"};
        return made;
    };
    const Curve green = curve("green", base_of(config, speed, mtu), config.green);
    WredProfile profile;
    profile.color = {compiled(green), compiled(curve("yellow", green, config.yellow)),
                     compiled(curve("red", green, config.red))};
    profile.has_ect = config.ect != WredCurveConfig{};
    if (profile.has_ect) profile.ect = compiled(curve("ect", green, config.ect));
    profile.mark_at = config.mark_at;
    profile.weight = config.weight;
    profile.ecn = config.ecn;
    profile.drop_non_ect = config.drop_non_ect;
    const Duration sojourn_least = config.sojourn_min.value_or(Duration{});
    if (config.mark_at == MarkAt::sojourn) {
        if (!config.sojourn_max || *config.sojourn_max < sojourn_least)
            return tl::unexpected(
                QosProblem{{},
                           fmt::format("wred.{}.sojourn_max", name),
                           config.sojourn_max ? "it is below sojourn_min" : "mark_at = \"sojourn\" needs it",
                           "write sojourn_min = \"20us\" and sojourn_max = \"80us\", for example",
                           "wred-profile"});
        profile.sojourn = compiled({static_cast<std::uint64_t>(sojourn_least.ps),
                                    static_cast<std::uint64_t>(config.sojourn_max->ps),
                                    config.sojourn_probability.value_or(Chance::percent(100))});
    }
    if (problem) return tl::unexpected(*problem);
    return profile;
}

}  // namespace

tl::expected<std::optional<WredProfile>, QosProblem> wred_profile(const Config& config,
                                                                  const std::string& name, Rate speed,
                                                                  std::uint32_t mtu) {
    if (const auto found = config.wred.find(name); found != config.wred.end())
        return configured(found->second, name, speed, mtu);
    if (const auto curve = built_in(name, speed, mtu)) return one_curve(*curve);
    if (name == "none") return std::nullopt;
    return tl::unexpected(
        QosProblem{{},
                   {},
                   fmt::format("there is no WRED profile \"{}\"", name),
                   fmt::format("name one of {}, or add [wred.{}]", wred_profile_names, name),
                   "wred-profile"});
}

std::optional<CurveValues> marking_curve(const Config& config, const std::string& name, Rate speed,
                                         std::uint32_t mtu) {
    const auto found = config.wred.find(name);
    if (found == config.wred.end()) return built_in(name, speed, mtu);
    const WredConfig& said = found->second;
    return over(over(base_of(said, speed, mtu), said.green), said.ect);
}

}  // namespace sluice

// QUEUE, and the SCHEDULER and WRED_PROFILE that it names.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "control/config/compile/wred_profiles.hh"
#include "control/config/schema/values.hh"
#include "tools/import/sonic.hh"

namespace sluice::import {
namespace {

constexpr std::uint64_t max_rate = 100'000'000'000;  // bytes a second
constexpr std::uint64_t max_burst = 1'000'000;       // of max_burst and shaper_burst

class Queues {
  public:
    explicit Queues(Sonic& in) : in_(in) {}

    void take() {
        for (auto& [name, port] : in_.config().ports)
            for (QueueConfig& queue : port.queue) {
                queue.scheduler = QueueScheduler::dwrr;
                queue.weight = 1;
                queue.wred = "none";
            }
        in_.each_class("QUEUE", [&](const Item& entry, PortConfig& port, unsigned n) {
            for (const auto& [field, aspect] :
                 {std::pair{"scheduler", Aspect::scheduler}, std::pair{"wred_profile", Aspect::marking}})
                if (const Item* node = entry.find(field)) in_.out.note(port, aspect, *node);
            queue(entry, port.queue[n]);
        });
        in_.account().assumed("QUEUE",
                              "a queue without a scheduler shares with weight 1, and without a WRED profile "
                              "marks nothing");
        in_.tell_unused("SCHEDULER", "no queue goes by it");
        in_.tell_unused("WRED_PROFILE", "no queue goes by it");
    }

  private:
    void queue(const Item& entry, QueueConfig& queue);
    void scheduler(const Item& reference, QueueConfig& queue);
    void wred(const Item& reference, QueueConfig& queue);
    void read_wred(const Item& node);
    void read_drops(const Item& node, WredConfig& profile);
    void read_curve(const Item& node, const char* color, WredCurveConfig& curve);
    void read_ect(const Item& node, WredConfig& profile);

    Sonic& in_;
    std::set<std::string> wreds_;
};

void Queues::scheduler(const Item& reference, QueueConfig& queue) {
    const Item* node = in_.entry_of(reference, "SCHEDULER");
    if (node == nullptr) return;
    queue.scheduler = QueueScheduler::dwrr;
    if (const Item* type = node->find("type")) {
        if (type->word == "STRICT") queue.scheduler = QueueScheduler::strict;
        if (type->word == "STRICT" || type->word == "DWRR")
            in_.account().taken(*type, "scheduler of the queues that go by it");
        else if (type->word == "WRR")
            in_.account().assumed(*type, "scheduler = \"dwrr\": by bytes, not by packets");
        else
            in_.account().wrong(*type, in_quotes(type->word) + " is none of DWRR, WRR, STRICT");
    }
    const Item* weight = node->find("weight");
    queue.weight = static_cast<std::uint8_t>(
        in_.out.take_number(weight, 1, 255, "weight of the queues that go by it").value_or(1));
    queue.min_rate = read_rate(in_, *node, "cir", "min_rate").value_or(Rate{});
    if (const Item* burst = node->find("cbs"))
        in_.account().nothing(*burst, "a min_rate has no burst: a queue below it is served first");
    const SonicShaper shaper = read_shaper(in_, *node, "max_rate", "max_burst");
    queue.max_rate = shaper.rate;
    queue.max_burst_bytes = shaper.burst_bytes;
    in_.account().taken(reference, "scheduler and weight of the queue");
}

void Queues::read_curve(const Item& node, const char* color, WredCurveConfig& curve) {
    const auto number = [&](const char* field, std::uint64_t high) {
        return in_.out.take_number(node.find(fmt::format("{}_{}", color, field)), 0, high,
                                   fmt::format("wred.{}, {}", node.name, color));
    };
    curve.min_bytes = number("min_threshold", max_bytes);
    curve.max_bytes = number("max_threshold", max_bytes);
    if (const auto chance = number("drop_probability", 100))
        curve.probability = Chance::percent(static_cast<std::uint32_t>(*chance));
}

// Thresholds of ECT packets: Sluice has one curve of them, the green one.
void Queues::read_ect(const Item& node, WredConfig& profile) {
    const auto read = [&](const char* field, std::uint64_t high) {
        std::optional<std::uint64_t> first;
        for (const char* color : {"green", "yellow", "red"}) {
            const Item* said = node.find(fmt::format("{}_{}", color, field));
            const auto value = said == nullptr ? std::nullopt : in_.out.number(*said, 0, high);
            if (!value) continue;
            if (!first) first = value;
            const std::string what = fmt::format("wred.{}.{}", node.name, field);
            if (first == value)
                in_.account().taken(*said, what);
            else
                in_.account().nothing(*said, what + " is one for all colors, the first of them");
        }
        return first;
    };
    profile.ect.min_bytes = read("ect_min_threshold", max_bytes);
    profile.ect.max_bytes = read("ect_max_threshold", max_bytes);
    if (const auto chance = read("ect_mark_probability", 100))
        profile.ect.probability = Chance::percent(static_cast<std::uint32_t>(*chance));
}

void Queues::read_wred(const Item& node) {
    WredConfig& profile = in_.config().wred[node.name];
    read_curve(node, "green", profile.green);
    read_curve(node, "yellow", profile.yellow);
    read_curve(node, "red", profile.red);
    read_ect(node, profile);
    // Sluice's curves start from one another: a color of its own where SONiC has a default.
    if (!profile.green.probability) profile.green.probability = Chance{Chance::always};
    const Item* ecn = node.find("ecn");
    profile.ecn = ecn != nullptr && ecn->word != "ecn_none";
    if (ecn != nullptr && ecn->word.starts_with("ecn_")) {
        if (ecn->word == "ecn_all" || ecn->word == "ecn_none")
            in_.account().taken(*ecn, fmt::format("wred.{}.ecn = {}", node.name, profile.ecn));
        else
            in_.account().assumed(*ecn, fmt::format("wred.{}.ecn = true, for all colors", node.name));
    } else if (ecn != nullptr) {
        in_.account().wrong(*ecn, in_quotes(ecn->word) + " is none of ecn_none, ecn_all, ecn_green ...");
    }
    read_drops(node, profile);
    // The speed with the least room for a curve that the file leaves to it.
    if (const auto made = wred_profile(in_.config(), node.name, gigabits(100), PortConfig{}.mtu); !made) {
        in_.config().wred.erase(node.name);
        in_.account().left_out(
            node, made.error().wrong + ": SONiC refuses the profile, and its queues mark nothing",
            "write a min that is at most its max");
    }
}

// Green speaks for all: packets of the other colors come from meters, which Sluice has not.
void Queues::read_drops(const Item& node, WredConfig& profile) {
    const auto is_on = [&](const Item* enable) { return enable != nullptr && enable->word == "true"; };
    const Item* green = node.find("wred_green_enable");
    const bool drops = is_on(green);
    if (!drops) profile.drop_non_ect = false;
    if (green == nullptr)
        in_.account().assumed(node.path() + ".wred_green_enable",
                              fmt::format("wred.{} drops nothing, SONiC's default", node.name));
    for (const char* color : {"green", "yellow", "red"}) {
        const Item* enable = node.find(fmt::format("wred_{}_enable", color));
        if (enable == nullptr) continue;
        if (enable->word != "true" && enable->word != "false")
            in_.account().wrong(*enable, in_quotes(enable->word) + " is neither true nor false");
        else if (is_on(enable) != drops)
            in_.account().assumed(*enable, fmt::format("wred.{} drops: {}, as for green", node.name, drops));
        else if (!drops)
            in_.account().taken(*enable, fmt::format("wred.{}.drop_non_ect = false", node.name));
        else
            in_.account().assumed(
                *enable,
                "packets that are not ECN-capable are dropped by the curve in a lossy queue "
                "only; drop_non_ect = true drops them in a lossless one, as a chip may");
    }
}

void Queues::wred(const Item& reference, QueueConfig& queue) {
    const Item* node = in_.entry_of(reference, "WRED_PROFILE");
    if (node == nullptr || !in_.out.check_name(*node, node->name)) return;
    if (wreds_.insert(node->name).second) read_wred(*node);
    if (!in_.config().wred.contains(node->name))
        return in_.account().nothing(reference, "of a profile that is left out");
    queue.wred = node->name;
    in_.account().taken(reference, fmt::format("wred = \"{}\"", node->name));
}

void Queues::queue(const Item& entry, QueueConfig& queue) {
    if (const Item* reference = entry.find("scheduler")) scheduler(*reference, queue);
    if (const Item* reference = entry.find("wred_profile")) wred(*reference, queue);
}

}  // namespace

std::optional<Rate> read_rate(Sonic& in, const Item& scheduler, const char* field, const char* key) {
    Account& account = in.account();
    if (const Item* meter = scheduler.find("meter_type")) {
        if (meter->word == "packets")
            return account.nothing(*meter, "Sluice's rates are in bits"), std::nullopt;
        account.taken(*meter, "rates in bytes");
    }
    const Item* value = scheduler.find(field);
    if (value == nullptr) return std::nullopt;
    const auto bytes = in.out.number(*value, 0, max_rate);
    if (!bytes) return std::nullopt;
    account.taken(*value, fmt::format("{} = \"{}\"", key, print_rate(Rate{*bytes * 8})));
    return Rate{*bytes * 8};
}

SonicShaper read_shaper(Sonic& in, const Item& scheduler, const char* rate_key, const char* burst_key) {
    SonicShaper made{read_rate(in, scheduler, "pir", rate_key).value_or(Rate{}), {}};
    const Item* burst = scheduler.find("pbs");
    if (burst == nullptr) return made;
    Account& account = in.account();
    if (made.rate == Rate{}) {
        account.nothing(*burst, "a burst of no rate: it takes a pir in bytes a second");
        return made;
    }
    const auto bytes = in.out.number(*burst, 0, max_bytes);
    if (!bytes) return made;
    // 0 is SAI's default, which is the chip's choice.
    if (*bytes != 0) made.burst_bytes = std::min(*bytes, max_burst);
    const std::string what =
        fmt::format("{} = \"{}\"", burst_key, *bytes == 0 ? "auto" : print_size(*made.burst_bytes));
    if (*bytes > max_burst)
        account.assumed(*burst, what + ", the longest there is");
    else
        account.taken(*burst, what);
    return made;
}

void take_sonic_queues(Sonic& in) { Queues(in).take(); }

}  // namespace sluice::import

// Guaranteed rates: their sum, and the delay of the queue of CNPs.
#include <fmt/format.h>

#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/values.hh"
#include "lib/values/class_mask.hh"

namespace sluice::lint {
namespace {

constexpr Duration max_cnp_delay = microseconds(10);

std::uint8_t queues_with_minimum(const PortSchedule& schedule) {
    unsigned queues = 0;
    for (unsigned n = 0; n < classes; ++n)
        if (schedule.queue[n].min_rate != Rate{}) queues |= 1U << n;
    return static_cast<std::uint8_t>(queues);
}

// "queue 1", "queues 1 and 2", "queues 1, 2 and 5".
std::string queues_by_number(std::uint8_t queues) {
    std::string text;
    unsigned left = static_cast<unsigned>(std::popcount(queues));
    for_each_class(queues,
                   [&](ClassId n) { append_item(text, --left == 0 ? " and " : ", ", std::to_string(n)); });
    return (std::has_single_bit(queues) ? "queue " : "queues ") + text;
}

std::string minimum_of(std::uint8_t queues) {
    return fmt::format("queue.{}.min_rate", std::countr_zero(queues));
}

void check_sum(const std::string& name, const PortSchedule& schedule, std::uint8_t queues,
               Findings& findings) {
    std::uint64_t sum = 0;
    for_each_class(queues, [&](ClassId n) { sum += schedule.queue[n].min_rate.bits_per_second; });
    const Rate most = link_rate(schedule);
    if (sum <= most.bits_per_second) return;
    findings.warn(
        "min-rate-sum", port_path(name, minimum_of(queues)),
        fmt::format("min_rate of {} is {} together, and the port sends {}: not all of it can be kept",
                    queues_by_number(queues), print_rate({sum}), print_rate(most)),
        fmt::format("write minimums of {} together at most", print_rate(most)));
}

void check_cnp_delay(const std::string& name, const EffectivePort& port, std::uint8_t queues,
                     Findings& findings) {
    if (!port.map.cnp_tc) return;
    const auto cnp = static_cast<ClassId>(port.map.tc_to_queue[*port.map.cnp_tc]);
    const auto others = static_cast<std::uint8_t>(queues & ~(1U << cnp));
    if (!port.schedule.queue[cnp].strict || others == 0) return;  // `cnp-queue` judges a queue by weight
    const auto delay = delay_by_minimums(port.schedule, cnp);
    if (delay && *delay <= max_cnp_delay) return;
    PortSchedule with_minimum = port.schedule;
    with_minimum.queue[cnp].min_rate = gigabits(1);
    const auto better = delay_by_minimums(with_minimum, cnp);
    findings.warn(
        "min-rate-cnp", port_path(name, minimum_of(others)),
        fmt::format("min_rate of {} goes before CNPs (queue {}), which may wait {} for it: more than {}",
                    queues_by_number(others), cnp, delay ? print_time({delay->ps / 1000 * 1000}) : "for ever",
                    print_time(max_cnp_delay)),
        queues != others || *better > max_cnp_delay
            ? "give fewer queues a min_rate, or a lower one"
            : fmt::format("write a min_rate for queue {} too, or lower ones for the others", cnp));
}

}  // namespace

void check_minimums(const EffectiveQos& qos, Findings& findings) {
    for (const auto& [name, port] : qos.ports) {
        const std::uint8_t queues = queues_with_minimum(port.schedule);
        if (queues == 0) continue;
        check_sum(name, port.schedule, queues, findings);
        check_cnp_delay(name, port, queues, findings);
    }
}

}  // namespace sluice::lint

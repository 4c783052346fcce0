#include "tools/sluicectl/top_rates.hh"

#include <fmt/format.h>

#include <utility>

#include "control/report/figures/figure_path.hh"
#include "tools/sluicectl/look.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

// Null where there is no such part.
const Json& top_part(const Json& part, const std::string& path) {
    static const Json nothing;
    const Json* value = find_part(part, path).value;
    return value == nullptr ? nothing : *value;
}
double top_figure(const Json& part, const std::string& path) { return sum_of(top_part(part, path)); }
std::size_t top_size(const Json& part, const char* list) {
    return top_part(part, list).is_array() ? part[list].size() : 0;
}
std::string top_word(const Json& part, const std::string& path) {
    const Json& value = top_part(part, path);
    return value.is_string() ? value.get<std::string>() : "";
}

// "storm" or "cut" when the watchdog says so of a queue of the port.
std::string storm_of(const std::string& port, const Json& watchdog) {
    std::string found;
    if (watchdog.is_array())
        for (const Json& queue : watchdog) {
            if (top_word(queue, "port") != port) continue;
            const std::string state = top_word(queue, "state");
            if (state == "stormed") return "storm";
            if (state == "cut") found = "cut";
        }
    return found;
}

}  // namespace

TopTrouble trouble_of(const TopRow& row) {
    constexpr double worth_a_word = 0.01;
    if (row.lost > 0) return {7, row.lost, "LOST"};
    if (row.state == "storm" || row.state == "cut") return {6, row.paused, row.state};
    if (row.missed > 0) return {5, row.missed, "missed"};
    if (row.dropped > 0) return {4, row.dropped, "drops"};
    if (row.paused >= worth_a_word) return {3, row.paused, "paused"};
    if (row.pausing >= worth_a_word) return {2, row.pausing, "pausing"};
    if (row.marked > 0) return {1, row.marked, "marks"};
    return {0, 0, row.state};
}

const std::vector<TopRow>& TopRates::of(const Rows& rows, const std::string& port) {
    static const std::vector<TopRow> none;
    const auto found = rows.find(port);
    return found == rows.end() ? none : found->second;
}

const std::deque<TopRates::Past>& TopRates::past(const std::string& kind, const std::string& name) const {
    static const std::deque<Past> none;
    const auto found = past_.find(kind + " " + name);
    return found == past_.end() ? none : found->second;
}

// Only what is there now: the names are a stranger's.
void TopRates::remember(const std::string& kind, const TopRow& row) {
    const std::string key = kind + " " + row.name;
    std::deque<Past> past = std::move(past_[key]);
    if (!since_start_) past.push_back({row.load_bps(), row.pause()});
    if (past.size() > max_past) past.pop_front();
    new_past_[key] = std::move(past);
}

void TopRates::add_port(const std::string& name, const Json& port, const Json& watchdog) {
    const double seconds = seconds_ == 0 ? 1 : seconds_;
    const auto rate = [&](const Json& part, const std::string& path) {
        return top_figure(part, path) / seconds;
    };
    TopRow row{name};
    row.in_bps = 8 * rate(port, "rx.bytes");
    row.out_bps = 8 * rate(port, "tx.bytes");
    row.cnps = rate(port, "cnp_packets");
    row.missed = rate(port, "missed_packets");
    row.dropped = rate(port, "drops");
    row.lost = rate(port, "lossless_drops");
    row.paused = largest_of(top_part(port, "pfc.rx_paused_ns")) / ns_a_second / seconds;
    row.pausing = largest_of(top_part(port, "pfc.tx_paused_ns")) / ns_a_second / seconds;
    row.state = storm_of(name, watchdog);
    if (row.state.empty() && top_part(port, "link_up") == false) row.state = "down";

    std::vector<TopRow>& queues = queues_[name];
    for (std::size_t n = 0; n < top_size(port, "queues"); ++n) {
        const Json& part = port["queues"][n];
        TopRow queue{fmt::format("{}.{}", name, n)};
        queue.out_bps = 8 * rate(part, "tx_bytes");
        queue.marked = rate(part, "ecn_marked_packets");
        queue.dropped = rate(part, "dropped_packets");
        queue.held_bytes = top_figure(part, "occupancy_bytes");
        queue.wait_ns = top_figure(part, "latency_ns.p99");
        row.marked += queue.marked;
        row.held_bytes += queue.held_bytes;
        remember("queue", queue);
        queues.push_back(std::move(queue));
    }
    std::vector<TopRow>& classes = classes_[name];
    for (std::size_t n = 0; n < top_size(port, "priority_groups"); ++n) {
        const Json& part = port["priority_groups"][n];
        TopRow group{fmt::format("{}.{}", name, n)};
        group.in_bps = 8 * rate(part, "bytes");
        group.xoff = rate(part, "xoff_transitions");
        group.dropped = rate(part, "dropped_packets");
        group.lost = rate(part, "headroom_overruns");
        group.paused = rate(port, fmt::format("pfc.rx_paused_ns.{}", n)) / ns_a_second;
        group.pausing = rate(port, fmt::format("pfc.tx_paused_ns.{}", n)) / ns_a_second;
        group.held_bytes = top_figure(part, "shared_bytes") + top_figure(part, "headroom_bytes");
        group.state = top_word(part, "state");
        remember("class", group);
        classes.push_back(std::move(group));
    }
    remember("port", row);
    ports_.push_back(std::move(row));
}

void TopRates::add(Sample ports, const Json& watchdog) {
    stands_still_ = has_looked_ && ports.now_ns == before_.now_ns;
    if (!stands_still_) {
        since_start_ = !has_looked_ || ports.now_ns < before_.now_ns;
        if (since_start_) {
            before_ = {};
            past_.clear();
        }
        seconds_ = static_cast<double>(ports.now_ns - before_.now_ns) / ns_a_second;
        const Json difference = between(before_, ports, "ports");
        ports_.clear();
        classes_.clear();
        queues_.clear();
        new_past_.clear();
        if (difference.is_object())
            for (const auto& [name, port] : difference.items()) add_port(name, port, watchdog);
        past_ = std::move(new_past_);
    }
    before_ = std::move(ports);
    has_looked_ = true;
}

}  // namespace sluice::ctl

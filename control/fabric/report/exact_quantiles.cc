#include "control/fabric/report/exact_quantiles.hh"

#include <algorithm>
#include <array>
#include <utility>

#include "control/report/figures/measure.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

struct ExactQuantile {
    const char* name;
    unsigned per_mille;
};
constexpr std::array exact_quantiles{ExactQuantile{"p50", 500}, ExactQuantile{"p95", 950},
                                     ExactQuantile{"p99", 990}, ExactQuantile{"p999", 999},
                                     ExactQuantile{"max", 1000}};

// Durations and slowdowns of some messages.
struct MessageTimes {
    std::vector<double> took_ns, slowdown_permille;
};

// Values of a report that others stand for.
class Replacements {
  public:
    // Replaces the quantiles that the part has; without a message they are null already.
    void put_quantiles(Json& part, std::vector<double>& values) {
        if (values.empty()) return;
        std::ranges::sort(values);
        for (const ExactQuantile& each : exact_quantiles)
            if (const auto own = part.find(each.name); own != part.end())
                before_.emplace_back(&*own,
                                     std::exchange(*own, number_json(values[rank(values.size(), each)])));
    }
    void put_times(Json& entry, MessageTimes& times) {
        put_quantiles(entry["completion_ns"], times.took_ns);
        put_quantiles(entry["slowdown_permille"], times.slowdown_permille);
    }
    void put_back() {
        for (auto& [at, value] : before_) *at = std::move(value);
    }

  private:
    // The nearest rank, as histograms and expressions have it.
    static std::size_t rank(std::size_t count, const ExactQuantile& quantile) {
        return (count * quantile.per_mille + 999) / 1000 - 1;
    }

    std::vector<std::pair<Json*, Json>> before_;
};

}  // namespace

void ExactQuantiles::add(std::span<const EndedMessage> messages) {
    for (const EndedMessage& each : messages)
        if (!each.failed) messages_.push_back({each.ended, each.took(), each.ideal, each.bytes, each.flow});
}

void ExactQuantiles::lend_to(Json& report, const std::function<void(const Json&)>& use) const {
    Replacements replaced;
    const auto add = [](MessageTimes& times, const Message& message) {
        times.took_ns.push_back(static_cast<double>(message.took.ps) / 1000);
        times.slowdown_permille.push_back(static_cast<double>(message.took.ps) * 1000 /
                                          static_cast<double>(std::max<std::int64_t>(message.ideal.ps, 1)));
    };
    const auto put_flows = [&](Json& flows, const auto& is_wanted) {
        std::vector<MessageTimes> by_flow(flows.size());
        for (const Message& each : messages_)
            if (each.flow < by_flow.size() && is_wanted(each)) add(by_flow[each.flow], each);
        for (std::size_t n = 0; n < by_flow.size(); ++n) replaced.put_times(flows[n], by_flow[n]);
    };
    put_flows(report["flows"], [](const Message&) { return true; });
    for (const PhaseConfig& phase : phases_) {
        const auto own = report["phases"].find(phase.name);
        if (own == report["phases"].end()) continue;  // the run ended before it
        put_flows((*own)["flows"], [&](const Message& message) {
            return message.ended >= Time{} + phase.from && (!phase.to || message.ended < Time{} + *phase.to);
        });
    }
    for (auto& [name, size] : report["message_sizes"].items()) {
        const auto above = size["above_bytes"].get<std::uint64_t>(),
                   to = size["to_bytes"].get<std::uint64_t>();
        MessageTimes times;
        for (const Message& each : messages_)
            if (each.bytes > above && each.bytes <= to) add(times, each);
        replaced.put_times(size, times);
    }
    use(report);
    replaced.put_back();
}

}  // namespace sluice::fabric

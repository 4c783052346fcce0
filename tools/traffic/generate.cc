#include "tools/traffic/generate.hh"

#include <compare>
#include <deque>
#include <memory>
#include <queue>

#include "tools/traffic/capture.hh"
#include "tools/traffic/failure.hh"
#include "tools/traffic/flow_source.hh"
#include "tools/traffic/staging.hh"

namespace sluice::traffic {
namespace {

constexpr Duration max_recipe = seconds(100LL * 86'400);

struct Turn {
    Duration at;
    std::size_t index;  // of the source
    auto operator<=>(const Turn&) const = default;
};
using Turns = std::priority_queue<Turn, std::vector<Turn>, std::greater<>>;

// A host's sources, and whose frame goes next over its link.
class Link {
  public:
    Link(const Recipe& recipe, std::size_t host) : speed_{recipe.hosts[host].speed} {
        for (std::size_t i = 0; i < recipe.flows.size(); ++i) {
            if (recipe.flows[i].host != host) continue;
            sources_.emplace_back(recipe.flows[i], speed_, mix(recipe.seed, i));
            enqueue(sources_.size() - 1);
        }
    }

    bool idle() const { return data_.empty() && control_.empty(); }

    // The next frame's start; false if the source whose turn it was had nothing more to send.
    bool next(Duration& start, Frame& frame) {
        Turns& turns = control_goes_first() ? control_ : data_;
        const Turn turn = turns.top();
        turns.pop();
        start = std::max(turn.at, free_);
        if (start > max_recipe) throw Failure{"the recipe runs for more than 100 days"};
        FlowSource& source = sources_[turn.index];
        if (!source.build(start, frame)) return false;
        free_ = start + speed_.byte_time() * wire_bytes(static_cast<std::uint32_t>(frame.length));
        if (!source.done()) enqueue(turn.index);
        return true;
    }

    Duration free_at() const { return free_; }

  private:
    void enqueue(std::size_t index) {
        (sources_[index].is_mac_control() ? control_ : data_).push({sources_[index].next(), index});
    }

    bool control_goes_first() const {
        if (data_.empty() || control_.empty()) return data_.empty();
        return control_.top().at <= std::max(data_.top().at, free_);
    }

    Rate speed_;
    std::deque<FlowSource> sources_;
    Turns data_;
    Turns control_;
    Duration free_;
};

}  // namespace

HostSummary send_all(const Recipe& recipe, std::size_t host,
                     const std::function<void(Duration, const Frame&)>& take) {
    HostSummary summary{recipe.hosts[host].name, 0, 0, {}};
    Link link{recipe, host};
    const auto frame = std::make_unique<Frame>();
    while (!link.idle()) {
        Duration start;
        if (!link.next(start, *frame)) continue;
        take(start, *frame);
        ++summary.frames;
        summary.bytes += frame->length;
        if (summary.frames % frames_between_checks == 0) stop_if_interrupted();
    }
    summary.end = link.free_at();
    return summary;
}

std::vector<HostSummary> generate(const Recipe& recipe, const std::filesystem::path& folder,
                                  const std::vector<std::string>& inputs) {
    StagedFolder staged{folder, inputs};
    std::vector<HostSummary> summaries;
    std::vector<std::string> names;
    for (const auto& host : recipe.hosts) names.push_back(host.name + ".pcap");
    staged.check(names);
    for (std::size_t host = 0; host < recipe.hosts.size(); ++host) {
        CaptureWriter writer{(staged.path() / names[host]).string()};
        summaries.push_back(send_all(recipe, host, [&](Duration start, const Frame& frame) {
            const std::uint64_t at_ns = recipe.origin_ns + static_cast<std::uint64_t>(start.ps) / 1000;
            writer.write({at_ns, static_cast<std::uint32_t>(frame.length),
                          std::span{frame.bytes}.first(frame.captured)});
        }));
        writer.close();
    }
    staged.publish(names);
    return summaries;
}

}  // namespace sluice::traffic

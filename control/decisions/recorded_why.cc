#include "control/decisions/recorded_why.hh"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <span>
#include <variant>

#include "control/decisions/explainer.hh"
#include "control/text/quantity_text.hh"

namespace sluice {
namespace {

// Drops for one reason at one port, as one.
struct Loss {
    PortId port;
    DropSpell all;
};

void add_loss(std::vector<Loss>& losses, PortId port, const DropSpell& drop) {
    const auto found = std::find_if(losses.begin(), losses.end(), [&](const Loss& loss) {
        return loss.port == port && loss.all.reason == drop.reason;
    });
    if (found == losses.end()) {
        losses.push_back({port, drop});
        return;
    }
    DropSpell& all = found->all;
    all.last = drop.last;
    all.packets += drop.packets;
    all.bytes += drop.bytes;
    all.lossless += drop.lossless;
    all.from |= drop.from;
    all.to |= drop.to;
    all.classes = static_cast<std::uint8_t>(all.classes | drop.classes);
    all.groups = static_cast<std::uint8_t>(all.groups | drop.groups);
    all.queues = static_cast<std::uint8_t>(all.queues | drop.queues);
}

Time first_of(const PauseSent& pause) { return pause.spell.first; }
Time first_of(const PortNote& note) { return note.at; }
template <class Record>
Time first_of(const Record& record) {
    return record.first;
}

}  // namespace

std::string moment_text(const Recorded& recorded, Time at) {
    const std::uint64_t ns = at.ps / 1000;
    std::string text = time_text(ns);
    if (!recorded.origin_ns) return text;
    const std::int64_t wall = *recorded.origin_ns + static_cast<std::int64_t>(ns);
    constexpr std::int64_t second = 1'000'000'000;
    const auto date = fmt::gmtime(static_cast<std::time_t>(wall / second));
    return text + fmt::format(" ({:%Y-%m-%d %H:%M:%S}.{:06} UTC)", date, wall % second / 1000);
}

std::vector<RecordedWhy> explain_recorded(const Recorded& recorded, const WhyPlace& place, std::size_t most,
                                          std::size_t& left_out) {
    // Only those that are wanted are explained: records are tens of thousands, and sentences are long.
    struct Wanted {
        Time first;
        PortId port;
        std::variant<const PauseSent*, const PauseSpell*, const DropSpell*, const BurstSpell*,
                     const PortNote*>
            record;
    };
    const RecordFilter filter(recorded, place);
    std::vector<Wanted> wanted;
    std::vector<Loss> losses;
    for (PortId id = 0; id < recorded.ports.size(); ++id) {
        const RecordedPort& port = recorded.ports[id];
        const auto add = [&](const auto& records) {
            for (const auto& record : records)
                if (filter.wants(id, record)) wanted.push_back({first_of(record), id, &record});
        };
        add(port.sent);
        add(port.received);
        for (const DropSpell& drop : port.drops) {
            if (!filter.wants(id, drop)) continue;
            if (drop.lossless != 0)
                add_loss(losses, id, drop);
            else
                wanted.push_back({drop.first, id, &drop});
        }
        add(port.bursts);
        add(port.notes);
    }
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const Wanted& a, const Wanted& b) { return a.first < b.first; });
    std::stable_sort(losses.begin(), losses.end(),
                     [](const Loss& a, const Loss& b) { return a.all.first < b.all.first; });
    const std::size_t shown = std::min(losses.size(), most);
    left_out = wanted.size() - std::min(wanted.size(), most - shown) + losses.size() - shown;
    std::vector<RecordedWhy> all;
    for (const Loss& loss : std::span(losses).first(shown))
        all.push_back(Explainer(recorded, loss.port).explain(loss.all));
    for (const Wanted& each : std::span(wanted).last(std::min(wanted.size(), most - shown))) {
        const Explainer explainer(recorded, each.port);
        all.push_back(
            std::visit([&](const auto* record) { return explainer.explain(*record); }, each.record));
    }
    return all;
}

}  // namespace sluice

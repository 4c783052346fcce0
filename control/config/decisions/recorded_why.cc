#include "control/config/decisions/recorded_why.hh"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <initializer_list>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "control/config/decisions/explainer.hh"
#include "control/config/text/quantity_text.hh"

namespace sluice {
namespace {

bool is_of_link(const PortNote& note) {
    return note.kind == PortNote::Kind::link_up || note.kind == PortNote::Kind::link_down;
}

// Selects the records about a place; those of other ports count when they are about it.
class SpellFilter {
  public:
    SpellFilter(const Recorded& all, const WhyPlace& place) : all_(all), place_(place) {}

    bool wants(PortId port, const PauseSent& pause) const {
        const auto fillers = std::span(pause.start.fillers).first(pause.start.filler_count);
        if (place_.to)
            return is_here(port) &&
                   std::any_of(fillers.begin(), fillers.end(),
                               [&](const GroupPaused::Filler& filler) { return filler.port == *place_.to; });
        if (is_here(port) && is_at(place_.number, {pause.spell.number})) return true;
        return std::any_of(fillers.begin(), fillers.end(), [&](const GroupPaused::Filler& filler) {
            return is_here(filler.port) && is_at(place_.number, {filler.queue});
        });
    }
    bool wants(PortId port, const PauseSpell& pause) const {
        if (place_.to) return port == *place_.to;
        return is_here(port) &&
               is_at(place_.number, {pause.number, all_.ports[port].priority_to_queue[pause.number]});
    }
    bool wants(PortId port, const DropSpell& drop) const {
        if (place_.to)
            return (!place_.port || drop.from.contains(*place_.port)) &&
                   (drop.to == PortMask() || drop.to.contains(*place_.to));
        if (!place_.port) return true;
        const bool from = drop.from.contains(*place_.port) && is_at(place_.number, drop.groups);
        const bool to = drop.to.contains(*place_.port) && is_at(place_.number, drop.queues);
        return from || to || (is_here(port) && !place_.number);
    }
    bool wants(PortId port, const BurstSpell& burst) const {
        if (place_.to) return port == *place_.to;
        return is_here(port) && is_at(place_.number, {burst.queue});
    }
    bool wants(PortId port, const PortNote& note) const {
        if (place_.to) return port == *place_.to || place_.port == port;
        return is_here(port) && (is_of_link(note) || is_at(place_.number, {note.queue}));
    }

  private:
    static bool is_at(const std::optional<ClassId>& wanted, std::uint8_t mask) {
        return !wanted || (mask >> *wanted & 1U) != 0;
    }
    static bool is_at(const std::optional<ClassId>& wanted, std::initializer_list<ClassId> numbers) {
        return !wanted || std::find(numbers.begin(), numbers.end(), *wanted) != numbers.end();
    }
    bool is_here(PortId port) const { return !place_.port || *place_.port == port; }

    const Recorded& all_;
    const WhyPlace& place_;
};

// Records of a port with the same cause are one: `is_alike`, and `add` with the older one first.
bool is_alike(const PauseSpell& a, const PauseSpell& b) { return a.number == b.number; }
bool is_alike(const PauseSent& a, const PauseSent& b) {
    if (!is_alike(a.spell, b.spell)) return false;
    const auto &of_a = a.start.fillers[0], &of_b = b.start.fillers[0];
    if (a.start.filler_count == 0 || b.start.filler_count == 0)
        return true;  // the sample had none of its packets
    return of_a.port == of_b.port && of_a.queue == of_b.queue;
}
bool is_alike(const DropSpell& a, const DropSpell& b) {
    return a.reason == b.reason && (a.lossless != 0) == (b.lossless != 0);
}
bool is_alike(const BurstSpell& a, const BurstSpell& b) { return a.queue == b.queue; }
bool is_alike(const Storms& a, const Storms& b) { return a.queue == b.queue && a.action == b.action; }
bool is_alike(const LinkChanges& a, const LinkChanges& b) { return a.is_up == b.is_up; }

void add(PauseSpell& all, const PauseSpell& next) {
    all.last = next.last;
    all.paused = all.paused + next.paused;
    all.longest = std::max(all.longest, next.longest);
    all.count += next.count;
    all.last_paused = next.last_paused;
    all.running = next.running;
}
void add(PauseSent& all, const PauseSent& next) {
    add(all.spell, next.spell);
    if (all.start.filler_count == 0) {
        all.start.fillers = next.start.fillers;
        all.start.filler_count = next.start.filler_count;
        all.start.other_queues = next.start.other_queues;
        all.feeders = next.feeders;
        all.all_counted = next.all_counted;
    }
    all.peak_headroom = std::max(all.peak_headroom, next.peak_headroom);
    all.behind += next.behind;
}
void add(DropSpell& all, const DropSpell& next) {
    all.last = next.last;
    all.packets += next.packets;
    all.bytes += next.bytes;
    all.lossless += next.lossless;
    all.from |= next.from;
    all.to |= next.to;
    all.classes = static_cast<std::uint8_t>(all.classes | next.classes);
    all.groups = static_cast<std::uint8_t>(all.groups | next.groups);
    all.queues = static_cast<std::uint8_t>(all.queues | next.queues);
}
void add(BurstSpell& all, const BurstSpell& next) {
    all.last = next.last;
    all.end = next.end;
    all.above = all.above + next.above;
    all.count += next.count;
    all.marked += next.marked;
    all.dropped += next.dropped;
    all.fed_by |= next.fed_by;
    all.peak_cells = std::max(all.peak_cells, next.peak_cells);
}
void add(Storms& all, const Storms& next) {
    if (all.count == 0) all.first = next.first;
    if (next.count != 0) all.last = next.last;
    all.count += next.count;
    all.ended += next.ended;
    if (next.ended != 0) all.end = next.end;
    all.passed += next.passed;
    all.dropped += next.dropped;
}
void add(LinkChanges& all, const LinkChanges& next) {
    all.last = next.last;
    all.count += next.count;
}

Storms storm_of(const PortNote& note) {
    Storms storm{note.queue, note.action, note.at, note.at, note.at, 1, 0, note.passed, note.dropped};
    if (note.kind == PortNote::Kind::storm_ends) std::swap(storm.count, storm.ended);
    return storm;
}
LinkChanges change_of(const PortNote& note) {
    return {note.kind == PortNote::Kind::link_up, note.at, note.at, 1};
}

// The order of entries; within a rank the larger weight comes first.
enum class Rank : std::uint8_t { storm, loss, link, drop, pause, burst };
std::pair<Rank, std::uint64_t> weight_of(const Storms& storms) { return {Rank::storm, storms.count}; }
std::pair<Rank, std::uint64_t> weight_of(const LinkChanges& changes) { return {Rank::link, changes.count}; }
std::pair<Rank, std::uint64_t> weight_of(const DropSpell& drop) {
    return drop.lossless != 0 ? std::pair{Rank::loss, drop.lossless} : std::pair{Rank::drop, drop.packets};
}
std::pair<Rank, std::uint64_t> weight_of(const PauseSpell& pause) {
    return {Rank::pause, static_cast<std::uint64_t>(pause.paused.ps)};
}
std::pair<Rank, std::uint64_t> weight_of(const PauseSent& pause) { return weight_of(pause.spell); }
std::pair<Rank, std::uint64_t> weight_of(const BurstSpell& burst) { return {Rank::burst, burst.peak_cells}; }

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
    // Explains only the first `most`: there are tens of thousands of records, and sentences are long.
    struct Cause {
        PortId port;
        std::string_view word;  // of pauses that were sent
        std::variant<PauseSent, PauseSpell, DropSpell, BurstSpell, Storms, LinkChanges> all;

        std::pair<Rank, std::uint64_t> weight() const {
            return std::visit([](const auto& record) { return weight_of(record); }, all);
        }
    };
    const SpellFilter filter(recorded, place);
    std::vector<Cause> causes;
    for (PortId id = 0; id < recorded.ports.size(); ++id) {
        const RecordedPort& port = recorded.ports[id];
        const Explainer explainer(recorded, id);
        const std::size_t first = causes.size();
        const auto take = [&]<class Record>(const Record& record, std::string_view word) {
            for (Cause& cause : std::span(causes).subspan(first))
                if (auto* all = std::get_if<Record>(&cause.all);
                    all != nullptr && cause.word == word && is_alike(*all, record))
                    return add(*all, record);
            causes.push_back({id, word, record});
        };
        for (const PauseSent& pause : port.sent)
            if (filter.wants(id, pause)) take(pause, explainer.cause_of(pause));
        for (const PauseSpell& pause : port.received)
            if (filter.wants(id, pause)) take(pause, {});
        for (const DropSpell& drop : port.drops)
            if (filter.wants(id, drop)) take(drop, {});
        for (const BurstSpell& burst : port.bursts)
            if (filter.wants(id, burst)) take(burst, {});
        for (const PortNote& note : port.notes) {
            if (!filter.wants(id, note)) continue;
            if (is_of_link(note))
                take(change_of(note), {});
            else
                take(storm_of(note), {});
        }
    }
    std::stable_sort(causes.begin(), causes.end(), [](const Cause& a, const Cause& b) {
        const auto [a_rank, a_much] = a.weight();
        const auto [b_rank, b_much] = b.weight();
        return std::pair(a_rank, b_much) < std::pair(b_rank, a_much);
    });
    left_out = causes.size() - std::min(causes.size(), most);
    causes.erase(causes.end() - static_cast<std::ptrdiff_t>(left_out), causes.end());
    std::vector<RecordedWhy> told;
    for (const Cause& cause : causes) {
        const Explainer explainer(recorded, cause.port);
        told.push_back(std::visit(
            [&]<class Record>(const Record& record) {
                if constexpr (std::is_same_v<Record, PauseSent>)
                    return explainer.explain(record, cause.word);
                else
                    return explainer.explain(record);
            },
            cause.all));
    }
    return told;
}

}  // namespace sluice

#include "control/config/decisions/decision_joiner.hh"

#include <algorithm>
#include <numeric>

namespace sluice {
namespace {

bool earlier(const DecisionRecord& a, const DecisionRecord& b) {
    if (a.end != b.end) return a.end < b.end;
    if (a.paused.has_value() != b.paused.has_value()) return a.paused.has_value();
    return a.key < b.key;
}

}  // namespace

DecisionJoiner::DecisionJoiner(PortNames ports, std::size_t max_open, Sink sink,
                               const CaptureTimeline* timeline, std::uint32_t cell_bytes)
    : ports_(std::move(ports)),
      max_open_(max_open),
      sink_(std::move(sink)),
      timeline_(timeline),
      cell_bytes_(cell_bytes) {}

DecisionJoiner::Place DecisionJoiner::place_of(const DecisionKey& key) {
    if (const auto found = index_.find(key); found != index_.end()) return found->second;
    if (open_.size() == max_open_) {
        ++given_up_;
        forget(open_.begin());
    }
    open_.emplace_back();
    const Place place = std::prev(open_.end());
    place->record.key = key;
    place->record.cell_bytes = cell_bytes_;
    index_.emplace(key, place);
    return place;
}

void DecisionJoiner::forget(Place place) {
    index_.erase(place->record.key);
    open_.erase(place);
}

void DecisionJoiner::join(const DecisionEvent& event) {
    if (std::holds_alternative<GroupPaused>(event.what)) {
        DecisionRecord pause;
        pause.key = event.key;
        pause.cell_bytes = cell_bytes_;
        pause.join(event);
        pauses_.push_back(std::move(pause));
        return;
    }
    const Place place = place_of(event.key);
    if (std::holds_alternative<Unwanted>(event.what)) {
        forget(place);
        return;
    }
    const bool had_ended = place->record.has_ended();
    place->record.join(event);
    if (!had_ended && place->record.has_ended()) ended_.push_back(event.key);
}

void DecisionJoiner::settle() {
    if (ended_.empty() && pauses_.empty()) return;
    std::vector<DecisionRecord> complete = std::exchange(pauses_, {});
    std::vector<DecisionKey> still_waiting;
    for (const DecisionKey& key : ended_) {
        const auto found = index_.find(key);
        if (found == index_.end()) continue;  // given up meanwhile
        const Place place = found->second;
        if (!place->record.is_whole() && !place->waiting) {
            place->waiting = true;
            still_waiting.push_back(key);
            continue;
        }
        // A record without its beginning was given up before.
        if (place->record.arrived) complete.push_back(std::move(place->record));
        index_.erase(key);
        open_.erase(place);
    }
    ended_ = std::move(still_waiting);
    hand_on(complete);
}

void DecisionJoiner::hand_on(std::vector<DecisionRecord>& records) {
    // Stable: a group may pause and resume at one instant.
    std::stable_sort(records.begin(), records.end(), earlier);
    for (const DecisionRecord& record : records) {
        const Verdict verdict = record.verdict();
        if ((verdicts_ & bit_of(verdict)) == 0) continue;
        ++recorded_[static_cast<std::size_t>(verdict)];
        why_.add(record, ports_);
        if (sink_) sink_(json_line(record, ports_, timeline_));
        latest_.push_back(record);
        if (latest_.size() > max_latest) latest_.pop_front();
    }
}

void DecisionJoiner::finish(Time now) {
    settle();
    settle();
    std::vector<DecisionRecord> rest;
    for (Open& open : open_) {
        if (!open.record.arrived) continue;
        open.record.end = now;
        rest.push_back(std::move(open.record));
    }
    open_.clear();
    index_.clear();
    hand_on(rest);
}

std::uint64_t DecisionJoiner::recorded() const {
    return std::accumulate(recorded_.begin(), recorded_.end(), std::uint64_t{0});
}

void WhyTable::add(const DecisionRecord& record, const PortNames& ports) {
    if (record.paused) {
        if (!record.paused->xoff) return;  // a resume needs no excuse
        last_pause_[{record.key.port, record.key.sequence}] = *record.paused;
    }
    const Verdict verdict = record.verdict();
    if (verdict == Verdict::sent || verdict == Verdict::unfinished || verdict == Verdict::punted) return;
    const auto place = record.place();
    const Key key{verdict, reason_of(record), place};
    const auto found = entries_.find(key);
    if (found != entries_.end()) {
        ++found->second.count;
        return;
    }
    if (entries_.size() == most) {
        ++left_out_;
        return;
    }
    const auto pause = last_pause_.find({place.port, place.number});
    const bool paused_before = place.at == DecisionRecord::At::group && pause != last_pause_.end();
    entries_.emplace(key, Why{1, record.key, record.end,
                              explain(record, ports, paused_before ? &pause->second : nullptr)});
}

}  // namespace sluice

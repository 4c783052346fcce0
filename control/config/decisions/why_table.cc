#include "control/config/decisions/why_table.hh"

namespace sluice {

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

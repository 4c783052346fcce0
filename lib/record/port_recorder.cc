#include "lib/record/port_recorder.hh"

namespace sluice {
namespace {

std::size_t part(std::size_t entries, std::size_t divisor) {
    return std::max<std::size_t>(entries / divisor, 1);
}

// Writes the entry again, or adds it anew when it is no longer in the ring.
template <class Record>
void keep(LatestEntries<Record>& ring, OpenRecord<Record>& open) {
    if (!open.number || !ring.replace(*open.number, open.record)) open.number = ring.add(open.record);
}

template <class Record>
bool goes_on(const OpenRecord<Record>& open, Time end, Time now) {
    return open.number && now - end <= spell_gap;
}

void begin(PauseSpell& spell, Time now) {
    spell.last = now;
    spell.last_paused = {};
    spell.running = true;
    ++spell.count;
}

void end(PauseSpell& spell, Duration length) {
    spell.running = false;
    spell.last_paused = length;
    spell.paused = spell.paused + length;
    spell.longest = std::max(spell.longest, length);
}

PauseSpell spell_of(ClassId number, Time now) {
    PauseSpell spell;
    spell.first = now;
    spell.number = number;
    return spell;
}

}  // namespace

PortRecorder::PortRecorder(std::size_t entries)
    : sent_(part(entries, 4)),
      received_(part(entries, 4)),
      drops_(part(entries, 4)),
      bursts_(part(entries, 8)),
      notes_(part(entries, 8)) {}

std::uint64_t PortRecorder::bytes(std::size_t entries) {
    return sizeof(PortRecorder) + LatestEntries<PauseSent>::bytes(part(entries, 4)) +
           LatestEntries<PauseSpell>::bytes(part(entries, 4)) +
           LatestEntries<DropSpell>::bytes(part(entries, 4)) +
           LatestEntries<BurstSpell>::bytes(part(entries, 8)) +
           LatestEntries<PortNote>::bytes(part(entries, 8));
}

void PortRecorder::touch() {
    sent_.touch();
    received_.touch();
    drops_.touch();
    bursts_.touch();
    notes_.touch();
}

bool PortRecorder::begins_spell(ClassId group, Time now) const {
    const auto& open = open_sent_[group];
    return !open.record.spell.running && !sluice::goes_on(open, open.record.spell.end(), now);
}

void PortRecorder::xoff_sent(ClassId group, Time now, bool behind, const Start* start) {
    auto& open = open_sent_[group];
    PauseSent& record = open.record;
    if (record.spell.running) return;
    if (start != nullptr) {
        open.number.reset();
        record = {};
        record.spell = spell_of(group, now);
        record.start = start->group;
        record.feeders = start->feeders;
        record.all_counted = start->all_counted;
    }
    begin(record.spell, now);
    record.behind += behind ? 1U : 0U;
    peak_headroom_[group] = 0;
    keep(sent_, open);
}

void PortRecorder::xon_sent(ClassId group, Time now) {
    auto& open = open_sent_[group];
    if (!open.record.spell.running) return;
    end(open.record.spell, now - open.record.spell.last);
    open.record.peak_headroom = std::max(open.record.peak_headroom, peak_headroom_[group]);
    keep(sent_, open);
}

void PortRecorder::pause_received(ClassId priority, Time now, Duration paused) {
    auto& open = open_received_[priority];
    if (!sluice::goes_on(open, open.record.end(), now)) {
        open.number.reset();
        open.record = spell_of(priority, now);
    }
    begin(open.record, now);
    paused_before_[priority] = paused;
    keep(received_, open);
}

void PortRecorder::pause_ended(ClassId priority, Duration paused) {
    auto& open = open_received_[priority];
    end(open.record, paused - paused_before_[priority]);
    keep(received_, open);
}

// In a row, or soon after the last one, so that a flood makes an entry for a reason each `spell_gap` at most.
bool PortRecorder::goes_on(const Drop& drop, Time now) const {
    const auto& open = open_drops_[static_cast<std::size_t>(drop.reason)];
    if (sluice::goes_on(open, open.record.last, now)) return true;
    const bool same = (open.record.classes >> drop.traffic_class & 1U) != 0 &&
                      open.record.from.contains(drop.from) && (!drop.to || open.record.to.contains(*drop.to));
    return open.number && same && *open.number + 1 == drops_.total();
}

void PortRecorder::dropped(const Drop& drop, Time now, const FlowKey& flow) {
    auto& open = open_drops_[static_cast<std::size_t>(drop.reason)];
    DropSpell& record = open.record;
    if (!goes_on(drop, now)) {
        open.number.reset();
        record = {};
        record.first = now;
        record.flow = flow;
        record.reason = drop.reason;
    }
    const auto add = [](std::uint8_t& mask, ClassId n) { mask = static_cast<std::uint8_t>(mask | 1U << n); };
    record.last = now;
    ++record.packets;
    record.bytes += drop.bytes;
    record.lossless += drop.lossless ? 1U : 0U;
    record.from.add(drop.from);
    add(record.classes, drop.traffic_class);
    add(record.groups, drop.group);
    if (drop.to) {
        record.to.add(*drop.to);
        add(record.queues, drop.queue);
    }
    keep(drops_, open);
}

void PortRecorder::microburst(const Microburst& burst) {
    auto& open = open_bursts_[burst.queue];
    BurstSpell& record = open.record;
    if (!sluice::goes_on(open, record.end, burst.start)) {
        open.number.reset();
        record = {};
        record.first = burst.start;
        record.queue = burst.queue;
    }
    record.last = burst.start;
    record.end = burst.start + burst.length;
    record.above = record.above + burst.length;
    ++record.count;
    record.marked += burst.marked;
    record.dropped += burst.dropped;
    record.fed_by |= burst.fed_by;
    record.peak_cells = std::max(record.peak_cells, burst.peak_cells);
    keep(bursts_, open);
}

void PortRecorder::link_changed(bool up, Time now) {
    PortNote note;
    note.at = now;
    note.kind = up ? PortNote::Kind::link_up : PortNote::Kind::link_down;
    notes_.add(note);
    for (ClassId n = 0; n < classes; ++n) xon_sent(n, now);
}

}  // namespace sluice

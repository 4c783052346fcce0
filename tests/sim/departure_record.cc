#include "tests/sim/departure_record.hh"

#include "lib/values/rng.hh"

namespace sluice::sim {

std::uint64_t DepartureRecord::departed(PortId from, std::uint8_t flow) const {
    const auto found = seen_.find({from, flow});
    return found == seen_.end() ? 0 : found->second.frames;
}

std::uint64_t DepartureRecord::departed_wire_bytes(PortId from) const {
    const auto found = wire_bytes_from_.find(from);
    return found == wire_bytes_from_.end() ? 0 : found->second;
}

void DepartureRecord::record(const SentPause& pause) {
    pauses_.push_back(pause);
    digest_ = scramble(digest_ ^ pause.at.ps ^ pause.map.class_enable);
    if (on_pause) on_pause(pauses_.back());
}

void DepartureRecord::record(const Departure& departure) {
    ++departed_;
    departed_bytes_ += departure.bytes;
    wire_bytes_from_[departure.from] += wire_bytes(departure.bytes);
    for (const std::uint64_t word : {departure.at.ps, std::uint64_t{departure.bytes},
                                     std::uint64_t{departure.from} << 8 | departure.flow,
                                     departure.sequence << 2 | static_cast<unsigned>(departure.ecn)})
        digest_ = scramble(digest_ ^ word);
    Seen& seen = (departure.trimmed ? seen_trimmed_ : seen_)[{departure.from, departure.flow}];
    if (departure.sequence < seen.next && disorder_.empty())
        disorder_ = "flow " + std::to_string(departure.flow) + " of port " + std::to_string(departure.from) +
                    ": frame " + std::to_string(departure.sequence) + " after " +
                    std::to_string(seen.next - 1);
    seen.next = departure.sequence + 1;
    ++seen.frames;
    if (on_departure) on_departure(departure);
}

}  // namespace sluice::sim

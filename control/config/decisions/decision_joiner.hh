// Joins the events of packets to records, and hands on complete ones.
//
// The events of a packet come from the rings of one or two workers, in any order between the two. `settle`
// ends a round in which control emptied every ring: it hands on the ended records in the order of (end,
// pauses first, ingress port, sequence), which does not depend on the number of workers. A record that lacks
// a stage waits one more round, since control may empty a ring just before the stage is posted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "control/config/decisions/decision_record.hh"

namespace sluice {

// Counts equal decisions to drop, mark or pause together, and explains the first of them. Bounded.
struct Why {
    std::uint64_t count = 0;
    DecisionKey first;  // a packet; of a pause the group's number is the sequence
    Time first_at;
    std::string sentence;
};

class WhyTable {
  public:
    static constexpr std::size_t most = 1000;

    using Key = std::tuple<Verdict, std::string, DecisionRecord::Place>;

    // Takes records in order of time, and skips those without a drop, mark or pause.
    void add(const DecisionRecord& record, const PortNames& ports);

    const std::map<Key, Why>& entries() const { return entries_; }
    std::uint64_t left_out() const { return left_out_; }  // decisions beyond `most` different ones

  private:
    std::map<Key, Why> entries_;
    std::map<std::pair<PortId, std::uint64_t>, GroupPaused> last_pause_;  // by port and group
    std::uint64_t left_out_ = 0;
};

class DecisionJoiner {
  public:
    static constexpr std::size_t max_latest = 1000;
    using Sink = std::function<void(const std::string& line)>;

    // Follows at most `max_open` packets; beyond, it gives the oldest up. `timeline`: see json_line.
    DecisionJoiner(PortNames ports, std::size_t max_open, Sink sink,
                   const CaptureTimeline* timeline = nullptr,
                   std::uint32_t cell_bytes = DecisionRecord{}.cell_bytes);

    // Mask of bit_of(Verdict): the records kept from now on.
    void keep(std::uint8_t verdicts) { verdicts_ = verdicts; }
    void join(const DecisionEvent& event);
    void settle();
    // The end of the run: open records are `unfinished`.
    void finish(Time now);

    // Records kept, pauses and resumes included, in all and by verdict.
    std::uint64_t recorded() const;
    std::uint64_t recorded(Verdict verdict) const { return recorded_[static_cast<std::size_t>(verdict)]; }
    std::uint64_t given_up() const { return given_up_; }
    std::size_t open() const { return open_.size(); }
    // The most memory that so many followed packets take.
    static std::uint64_t bytes(std::size_t max_open) {
        constexpr std::size_t links = 6 * sizeof(void*);  // of a list's node and of a hash table's
        return max_open * (sizeof(Open) + sizeof(DecisionKey) + sizeof(Place) + links);
    }
    // The last max_latest records, the oldest first.
    const std::deque<DecisionRecord>& latest() const { return latest_; }
    const WhyTable& why() const { return why_; }

  private:
    struct Open {
        DecisionRecord record;
        bool waiting = false;  // ended, and seen so by a settle
    };
    using Place = std::list<Open>::iterator;
    struct HashKey {
        std::size_t operator()(const DecisionKey& key) const {
            return std::hash<std::uint64_t>{}(key.sequence << 8 ^ key.port);
        }
    };

    Place place_of(const DecisionKey& key);
    void forget(Place place);
    void hand_on(std::vector<DecisionRecord>& records);

    PortNames ports_;
    std::size_t max_open_;
    Sink sink_;
    const CaptureTimeline* timeline_;
    std::uint32_t cell_bytes_;
    std::uint8_t verdicts_ = 0xFF;
    std::list<Open> open_;  // oldest first
    std::unordered_map<DecisionKey, Place, HashKey> index_;
    std::vector<DecisionKey> ended_;  // since the last settle, or waiting
    std::vector<DecisionRecord> pauses_;
    std::array<std::uint64_t, verdict_names.size()> recorded_{};
    std::uint64_t given_up_ = 0;
    std::deque<DecisionRecord> latest_;
    WhyTable why_;
};

}  // namespace sluice

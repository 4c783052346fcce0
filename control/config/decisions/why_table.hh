// Why packets were dropped or marked and senders paused: equal decisions counted together, the first of them
// explained in a sentence. Bounded.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "control/config/decisions/decision_record.hh"

namespace sluice {

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

    // Records in order of time; a record of no drop, mark or pause is skipped.
    void add(const DecisionRecord& record, const PortNames& ports);

    const std::map<Key, Why>& entries() const { return entries_; }
    std::uint64_t left_out() const { return left_out_; }  // decisions beyond `most` different ones

  private:
    std::map<Key, Why> entries_;
    std::map<std::pair<PortId, std::uint64_t>, GroupPaused> last_pause_;  // by port and group
    std::uint64_t left_out_ = 0;
};

}  // namespace sluice

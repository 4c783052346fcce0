// The verdict on a run: lost lossless packets, of how many, and other reasons why it is not lossless.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

class RunningSwitch;

struct RunVerdict {
    std::uint64_t lossless_packets = 0;  // packets that came while their class was lossless
    std::uint64_t lost_packets = 0;      // lossless packets that were dropped, for any reason
    std::uint64_t missed_packets = 0;    // frames that were lost before they were classified
    std::uint64_t rx_errors = 0;         // among them, those that devices lost on receive
    bool counts_each_switch = false;     // lossless_packets does: it is not a total of packets
    std::vector<std::string> reasons;    // why the run is not lossless; empty: it is

    // Nothing when no packet was lossless: the run then shows neither.
    std::optional<bool> lossless() const {
        if (lossless_packets + lost_packets + rx_errors == 0) return std::nullopt;
        return reasons.empty();
    }
    // "NOT lossless: 12 of 5 000 lossless packets lost": the one sentence, for every screen and page.
    std::string headline() const;
};

// Any time; while workers run, as far as they have counted.
RunVerdict judge_run(const RunningSwitch& running);
nlohmann::ordered_json verdict_json(const RunVerdict& verdict, bool is_interrupted);

}  // namespace sluice

// Messages that CNPs slowed, and the port whose marks they answer.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "control/fabric/report/ended_messages.hh"
#include "control/fabric/run/fabric.hh"

namespace sluice::fabric {

// The messages of each flow that got the most CNPs; at most `most` of them are kept.
class MarkedMessages {
  public:
    static constexpr std::size_t most = 256;

    explicit MarkedMessages(std::size_t flows) : flows_(flows) {}
    void add(const EndedMessage& message);

    // The message of some flows that got the most CNPs, among those under way between two moments, as a
    // clause: "h3 got 41 CNPs for its message to h6, whose way leaf2 marks most, to h6"; empty: none got any.
    std::string clause(const Fabric& fabric, std::span<const std::uint32_t> flows, Time from,
                       Time until) const;

  private:
    struct Marked {
        std::uint64_t cnps;
        NodeId from, to;
        Time came, ended;
        // More CNPs, or as many and earlier: whatever the order in which messages are added, the same are
        // kept.
        bool is_above(const Marked& other) const {
            return std::tuple(cnps, other.came.ps, other.ended.ps, other.from, other.to) >
                   std::tuple(other.cnps, came.ps, ended.ps, from, to);
        }
        static bool is_above_other(const Marked& a, const Marked& b) { return a.is_above(b); }
    };
    std::vector<std::vector<Marked>> flows_;  // each a heap whose first has the fewest CNPs
};

}  // namespace sluice::fabric

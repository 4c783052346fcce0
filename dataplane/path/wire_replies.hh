// What a wire sees of the answers of the ends: acknowledgements, congestion notifications, and packets that
// come again. So a card at an end is judged by its frames, with no figure of its own.
//
// Owner: the worker of the port at which the frames come in; control reads the counters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/frame/ip_address.hh"
#include "lib/roce/wire_frame.hh"
#include "lib/threads/counters.hh"

namespace sluice {

class WireReplies {
  public:
    static constexpr std::size_t places = 4096;
    static constexpr std::size_t max_steps = 64;

    // A RoCE frame to an address, as it came.
    void count(const roce::WireFrame& frame, const IpAddress& to);

    Counter acks;
    Counter naks;      // of errors: sequence, request, access, operation
    Counter rnr_naks;  // receiver not ready
    Counter cnps;
    // Requests and READ responses of RC whose PSN is not above the highest one that came before to the same
    // queue pair: sent again, or out of order before they came.
    Counter repeated;
    // Those of queue pairs beyond the places, of which it is not known.
    Counter untracked;

  private:
    struct Place {
        std::uint64_t stream = 0;  // 0: free
        std::uint32_t highest = 0;
    };
    void count_psn(std::uint64_t stream, std::uint32_t psn);

    std::array<Place, places> places_{};
};

}  // namespace sluice

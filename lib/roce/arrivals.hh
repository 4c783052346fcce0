// When the messages of one queue pair come.
//
// closed_loop: `depth` messages at the start, the next one when one completes.
// at_time: `depth` messages at the start, no more.
// poisson: exponential gaps, whatever completes.
// on_off: poisson within `on`, silence in `off`, in turns; gaps are counted in on-time only.
// Each queue pair begins at `start` plus a drawn part of `spread` (0: all together).
// A draw is by seed, queue pair and message (message_draw.hh). Gaps are integers: -ln of a 64-bit draw, bit
// by bit from repeated squaring, in parts of 2^32 and within 2^-28, then whole picoseconds.
#pragma once

#include <cstdint>
#include <optional>

#include "lib/roce/message_draw.hh"
#include "lib/values/units.hh"

namespace sluice::roce {

enum class ArrivalKind : std::uint8_t { closed_loop, at_time, poisson, on_off };

struct ArrivalParameters {
    ArrivalKind kind = ArrivalKind::closed_loop;
    Time start{};
    Duration spread{};        // >= 0
    std::uint32_t depth = 1;  // closed_loop: >= 1; at_time: 0 if a collective posts the messages
    Duration mean_gap{};      // poisson, on_off: in [1 ps, 1000 s]
    Duration on{};            // on_off: > 0
    Duration off{};           // on_off: >= 0
};

// -ln((drawn + 1) / 2^64) in parts of 2^32: exponential with mean 1; at most 44.4.
std::uint64_t exponential(std::uint64_t drawn);

// Mean gap by which messages of such a mean load a rate by `share_ppm` millionths, > 0; at most 1000 s.
Duration mean_gap(std::uint64_t mean_millibytes, Rate rate, std::uint32_t share_ppm);

class Arrivals {
  public:
    // `parameters` outlive it and do not change.
    Arrivals(const ArrivalParameters& parameters, MessageDraws draws);

    // When the next message comes, or none before one completes, or none ever. Closed loop: the start, or
    // when its place was freed.
    std::optional<Time> next() const;
    std::uint64_t message() const { return message_; }  // its number, from 0
    void begin_message();                               // it came
    void completed(Time now);                           // one of those that came is done

  private:
    void draw_gap();

    const ArrivalParameters* parameters_;
    MessageDraws draws_;
    std::uint64_t message_ = 0;
    Time begin_{};            // of this queue pair
    Duration open_for_{};     // poisson, on_off: on-time from begin_ to the next message
    Time freed_{};            // closed_loop: when the last one completed
    std::uint32_t room_ = 0;  // closed_loop, at_time: messages that may come
};

}  // namespace sluice::roce

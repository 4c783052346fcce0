// Sizes and times of messages.
//
// Sizes are fixed, uniform, or of a published distribution: a table of points, cumulative in 1/10 000,
// interpolated linearly in whole bytes, never 0. The mean is exact. A draw of 64 bits gives a size; integers
// only, each size's probability within 2^-32.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "lib/values/rng.hh"
#include "lib/values/units.hh"

namespace sluice::roce {

class MessageSizes {
  public:
    struct Point {
        std::uint32_t bytes;       // at most 2^31, the largest RC message
        std::uint32_t cumulative;  // in 1/10 000
    };
    static constexpr std::uint32_t whole = 10'000;
    static constexpr std::size_t max_points = 32;

    // From cumulative 0 to `whole`; both columns rise, bytes strictly.
    static bool valid(std::span<const Point> points);
    explicit MessageSizes(std::span<const Point> points);  // valid ones

    static MessageSizes fixed(std::uint32_t bytes) { return uniform(bytes, bytes); }  // bytes > 0
    static MessageSizes uniform(std::uint32_t min_bytes, std::uint32_t max_bytes);    // 0 < least <= most
    static MessageSizes web_search();       // DCTCP (Alizadeh et al., SIGCOMM 2010)
    static MessageSizes facebook_hadoop();  // Roy et al., SIGCOMM 2015, as HPCC's experiments have it
    static MessageSizes alibaba_storage();  // storage of 2019, likewise

    std::uint32_t size(std::uint64_t drawn) const;
    std::uint64_t mean_millibytes() const;  // rounded down
    std::uint32_t min_bytes() const;
    std::uint32_t max_bytes() const;

  private:
    std::array<Point, max_points> points_{};
    std::size_t count_ = 0;
};

// Random numbers of messages: a draw is a function of the run's seed, the queue pair and the message.
//
// `queue_pair` is made of addresses and the index within a pair of hosts, so adding a host changes no other
// draws.
enum class MessageDraw : std::uint32_t { size = 1, gap = 2, phase = 3, receiver = 5, sender = 6 };

struct MessageDraws {
    std::uint64_t seed = 0;
    std::uint64_t queue_pair = 0;

    constexpr std::uint64_t operator()(MessageDraw what, std::uint64_t message) const {
        return draw({seed ^ scramble(queue_pair), static_cast<std::uint32_t>(what), 0, message});
    }
};

// When the messages of one queue pair come.
//
// closed_loop: `depth` messages at the start, the next one when one completes.
// at_time: `depth` messages at the start, no more.
// poisson: exponential gaps, whatever completes.
// on_off: poisson within `on`, silence in `off`, in turns; gaps are counted in on-time only.
// Each queue pair begins at `start` plus a drawn part of `spread` (0: all together).
// A draw is by seed, queue pair and message. Gaps are integers: -ln of a 64-bit draw, bit
// by bit from repeated squaring, in parts of 2^32 and within 2^-28, then whole picoseconds.
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

// Mean gap of messages that load a rate by `share_ppm` millionths, > 0; at most 1000 s.
Duration mean_gap(std::uint64_t mean_millibytes, Rate rate, std::uint32_t share_ppm);

class Arrivals {
  public:
    // `parameters` outlive it and do not change.
    Arrivals(const ArrivalParameters& parameters, MessageDraws draws);

    // When the next message comes; nothing: none, or none before one completes.
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

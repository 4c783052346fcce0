// DCQCN's reaction point: the rate of a queue pair (Zhu et al., SIGCOMM 2015), or none.
//
// `dcqcn` and `dcqcn_paper` follow the paper's rules: a CNP cuts at once; timer and byte counter raise. The
// paper's constants are for 40 Gb/s, and dcqcn_paper has them at every speed; dcqcn has its rates and bytes
// in proportion to the line. `dcqcn_timer` is the NICs', as the public ns-3 model of HPCC has it: CNPs are
// looked at on a grid of ticks from the first CNP on; only the timer raises. An iteration up to the F-th of
// either counter is fast recovery, one beyond F of both is hyper increase, and between them the increase is
// additive.
//
// Each event first takes the timers due by its `now`, in order, so a late caller gets the same state. At line
// rate no timer is armed. Alpha decays when it is read. Integers only: rates are bits/s on the wire; a cut
// and a mean of two are rounded up, so recovery ends. Alpha and g are parts of 2^60; a decay over any number
// of ticks errs by less than 2^-56 at g = 1/256.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/values/units.hh"

namespace sluice::roce {

enum class CongestionControl : std::uint8_t { none, dcqcn, dcqcn_paper, dcqcn_timer };
constexpr std::string_view to_string(CongestionControl kind) {
    constexpr std::array<std::string_view, 4> names{"none", "dcqcn", "dcqcn-paper", "dcqcn-timer"};
    return names[static_cast<std::size_t>(kind)];
}

constexpr std::uint64_t fraction_one = 1ULL << 60;  // of alpha and g

struct ReactionParameters {
    CongestionControl kind = CongestionControl::none;
    Rate line_rate{};                             // in [min_rate, 800 Gb/s]
    Rate min_rate{};                              // in [1 bit/s, line_rate]
    Rate additive{};                              // R_AI, at most 2^40 bits/s
    Rate hyper{};                                 // R_HAI, likewise
    std::uint64_t gain = fraction_one / 256;      // g; in [0, fraction_one]
    std::uint64_t first_alpha = fraction_one;     // at the first CNP; in [0, fraction_one]
    Duration alpha_period = microseconds(55);     // > 0; a CNP restarts it (dcqcn), or a tick (dcqcn_timer)
    Duration increase_period = microseconds(55);  // > 0
    Duration decrease_period{};                   // dcqcn_timer: > 0, the tick that cuts
    std::uint64_t byte_counter = 0;               // wire bytes of an iteration; 0: no byte counter
    std::uint32_t fast_recovery = 5;              // F
    bool clamp_target = false;  // dcqcn_timer: a cut lowers the target even if no increase came between
    bool operator==(const ReactionParameters&) const = default;

    // The defaults of a kind.
    static ReactionParameters of(CongestionControl kind, Rate line);
    bool valid() const;
};

class ReactionPoint {
  public:
    enum class Phase : std::uint8_t { line_rate, fast_recovery, additive, hyper };  // of the last change

    // Starts at line rate. `parameters` are valid, outlive it, and do not change.
    explicit ReactionPoint(const ReactionParameters& parameters);

    void on_cnp(Time now);
    void on_sent(std::uint32_t wire_bytes, Time now);
    void on_timer(Time now);
    // When the rate next changes, or may, without another event.
    std::optional<Time> next_timer() const {
        std::optional<Time> next;
        if (!at_line()) next = increase_at_;
        if (decrease_due_) take_earlier(next, decrease_at_);
        return next;
    }

    // As it is now, with the timers since the last event; `now` is not before that.
    ReactionPoint at(Time now) const {
        ReactionPoint then = *this;
        then.on_timer(now);
        return then;
    }
    // As of the last event:
    Rate rate() const { return {rate_}; }
    Rate target_rate() const { return {target_}; }
    bool at_line() const { return rate_ == line() && target_ == line(); }
    // Time since the last cut of a rate below the line's.
    Duration since_cut(Time now) const {
        return now - increase_at_ + parameters_->increase_period * (std::int64_t{timer_count_} + 1);
    }
    std::uint64_t alpha(Time now) const;  // parts of fraction_one; `now` is not before the last event's
    Phase phase() const;

  private:
    std::uint64_t line() const { return parameters_->line_rate.bits_per_second; }
    void catch_up_alpha(Time now);
    void await_decrease(Time now);
    void decrease(Time now);
    Phase iteration() const;
    void increase();

    const ReactionParameters* parameters_;
    std::uint64_t rate_;
    std::uint64_t target_;
    std::uint64_t alpha_;            // at alpha_at_
    Time alpha_at_{};                // once seen_cnp_
    Time increase_at_{};             // unless at_line
    Time decrease_at_{};             // a tick; the next one while decrease_due_
    std::uint64_t bytes_ = 0;        // of the byte counter, in [0, byte_counter)
    std::uint32_t timer_count_ = 0;  // iterations since the last cut
    std::uint32_t byte_count_ = 0;
    bool seen_cnp_ = false;
    bool cnp_since_alpha_ = false;  // dcqcn_timer: the next alpha tick raises
    bool decrease_due_ = false;     // dcqcn_timer: the next decrease tick cuts
};

// DCQCN's notification point: decides whether a CNP answers a CE-marked packet.
//
// At most one CNP goes per interval and scope: the queue pair, the peer's address, or the whole port, as NICs
// differ. The caller numbers queue pairs and peers from 0.
enum class CnpScope : std::uint8_t { queue_pair, peer, port };

class NotificationPoint {
  public:
    // interval >= 0; 0: a CNP for each marked packet.
    NotificationPoint(CnpScope scope, Duration interval, std::size_t queue_pairs, std::size_t peers)
        : scope_(scope),
          interval_(interval),
          last_(scope == CnpScope::queue_pair ? queue_pairs
                : scope == CnpScope::peer     ? peers
                                              : 1) {
        assert(interval.ps >= 0);
    }

    // A packet of `queue_pair` arrived from `peer` with CE. True: send a CNP.
    bool on_marked(std::size_t queue_pair, std::size_t peer, Time now) {
        std::optional<Time>& last = last_[scope_ == CnpScope::queue_pair ? queue_pair
                                          : scope_ == CnpScope::peer     ? peer
                                                                         : 0];
        // Unsigned: long ago is a large number.
        if (last && now.ps - last->ps < static_cast<std::uint64_t>(interval_.ps)) return false;
        last = now;
        return true;
    }

    // Not fewer queue pairs than before.
    void resize(std::size_t queue_pairs) {
        if (scope_ == CnpScope::queue_pair) last_.resize(queue_pairs);
    }
    // A queue pair begins anew.
    void forget(std::size_t queue_pair) {
        if (scope_ == CnpScope::queue_pair) last_[queue_pair].reset();
    }

    // Ahead of on_marked.
    void fetch(std::size_t queue_pair) const {
        if (scope_ == CnpScope::queue_pair) __builtin_prefetch(&last_[queue_pair]);
    }

  private:
    CnpScope scope_;
    Duration interval_;
    std::vector<std::optional<Time>> last_;  // CNP of each queue pair, peer, or the port
};

}  // namespace sluice::roce

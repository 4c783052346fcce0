// Limits the clients' part of a round of the control thread, so that its own duties have their turn: timed
// events, links, the kernel, punted packets, signals.
//
// All work for a client is done in handlers of the loop, and a handler does one thing: it reads once, answers
// one request, writes once, or accepts one connection. Handlers that are ready wait in one queue, so clients
// take turns. A round runs at most `handlers` of them, and begins none when `time` is over; the rest waits
// for the next round. Control's thread only.
#pragma once

#include <utility>  // before Boost.Asio

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <cstdint>
#include <functional>

namespace sluice {

class Budget {
  public:
    using Clock = std::chrono::steady_clock;
    struct Limits {
        unsigned handlers = 64;
        std::chrono::microseconds time{2000};
    };
    // Since the start.
    struct Account {
        std::uint64_t rounds = 0;
        std::uint64_t handlers = 0;
        std::uint64_t used_up = 0;   // rounds that may have left something for the next
        unsigned most_handlers = 0;  // of one round
    };

    explicit Budget(Limits limits, std::function<Clock::time_point()> now = Clock::now)
        : limits_(limits), now_(std::move(now)) {}

    // Serves a round. When nothing is ready it waits for at most `patience`; `io` must have work, or a
    // guard, or it does not wait.
    void serve(boost::asio::io_context& io, std::chrono::microseconds patience);

    const Limits& limits() const { return limits_; }
    const Account& account() const { return account_; }

  private:
    Limits limits_;
    std::function<Clock::time_point()> now_;
    Account account_;
};

}  // namespace sluice

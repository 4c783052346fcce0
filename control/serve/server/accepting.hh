// Accepts clients one after the other.
//
// When that fails, because no descriptors or no memory are left, it rests for `pause`: the listening socket
// stays readable, and to try again at once would take all of control's time. Clients wait in the kernel
// meanwhile, and those that are there are served.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <utility>

#include "control/serve/server/boundary.hh"

namespace sluice {

template <class Protocol>
class Accepting {
  public:
    using Clock = std::chrono::steady_clock;
    using Socket = typename Protocol::socket;
    static constexpr std::chrono::milliseconds pause{100};

    // `admit` takes a client; one for which it throws is closed. While there is no room clients wait.
    Accepting(
        boost::asio::io_context& io, std::function<void(Socket)> admit,
        std::function<bool()> has_room = [] { return true; })
        : acceptor_(io), admit_(std::move(admit)), has_room_(std::move(has_room)) {}

    typename Protocol::acceptor& acceptor() { return acceptor_; }
    // Once a round, and once it listens.
    void tick(Clock::time_point now) {
        if (waiting_ || now < next_) return;
        if (std::exchange(failed_, false)) {
            next_ = now + pause;
            return;
        }
        accept();
    }

  private:
    void accept() {
        failed_ = false;
        if (!has_room_()) return;
        failed_ = true;  // if it cannot even be asked for
        acceptor_.async_accept([this](const boost::system::error_code& error, Socket socket) {
            if (error == boost::asio::error::operation_aborted) return;
            waiting_ = false;
            const auto take = [&] {
                admit_(std::move(socket));
                accept();
            };
            failed_ = error || !boundary(take, [](const char*) {});
        });
        waiting_ = true;
        failed_ = false;
    }

    typename Protocol::acceptor acceptor_;
    std::function<void(Socket)> admit_;
    std::function<bool()> has_room_;
    bool waiting_ = false;
    bool failed_ = false;  // since the last tick
    Clock::time_point next_{};
};

}  // namespace sluice

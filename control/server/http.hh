// The metrics over HTTP: GET /metrics, on a loopback address unless told otherwise. Boost.Beast speaks the
// protocol.
//
// A connection has one request, of a few KB, and ten seconds for all of it. There are at most `max_sessions`;
// one more takes the place of the one that has waited longest to send its request or, when all have, of the
// one that has gone longest without reading. So no client keeps others out by doing nothing.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/server/accepting.hh"

namespace sluice {

class MetricsServer {
  public:
    static constexpr std::size_t max_sessions = 64;
    using Text = std::function<std::shared_ptr<const std::string>()>;

    // `where`: "9464", "127.0.0.1:9464", "[::1]:9464". An error's text names it.
    static tl::expected<std::unique_ptr<MetricsServer>, std::string> open(boost::asio::io_context& io,
                                                                          const std::string& where,
                                                                          Text text);
    // Once a round.
    void tick();
    MetricsServer(const MetricsServer&) = delete;
    MetricsServer& operator=(const MetricsServer&) = delete;

  private:
    class Session;
    MetricsServer(boost::asio::io_context& io, Text text);
    void admit(boost::asio::ip::tcp::socket socket);
    void make_room();

    Text text_;
    std::vector<std::weak_ptr<Session>> sessions_;  // in order of their connection
    std::uint64_t steps_ = 0;                       // of all sessions: an order in time
    Accepting<boost::asio::ip::tcp> clients_;
};

}  // namespace sluice

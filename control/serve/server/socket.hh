// The control socket: a Unix stream socket, one JSON object a line (rpc.hh).
//
// Mode 0660, and peers must be root, our user or in our group. No client can hold up the switch or another:
// clients take turns, one request each (budget.hh). The memory of all clients together is bounded: a client
// is answered no more while it leaves `unread_pause_bytes` unread; when all leave more than
// `all_unread_bytes` unread, the one that leaves the most is cut; long lines are read a few at a time. A
// client that stalls within a line, asks on without reading, or sends garbage is cut. The file is never taken
// from a running switch; a stale one is replaced, ours is removed at the end.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/serve/server/accepting.hh"
#include "control/serve/server/api.hh"

namespace sluice {

// An error's text when no socket can be made at `path`, because a running switch has it, or a file that is
// none. To be asked before anything else is opened that two switches could fight for.
std::string cannot_listen(const std::string& path);

class ControlServer {
  public:
    struct Limits {
        std::size_t clients = 64;
        std::size_t turned_away = 16;                     // connections beyond that, at a time
        unsigned bad_lines = 16;                          // in a row
        unsigned bulk_lines = 4;                          // above max_plain_line_bytes, read at a time
        unsigned events_a_turn = 64;                      // sent to a subscriber
        std::size_t unread_pause_bytes = 1U << 20;        // a client with so much unread is not answered
        std::size_t unread_bytes = 64U << 20;             // of one client
        std::size_t all_unread_bytes = 128U << 20;        // of all clients
        std::chrono::milliseconds line_time{10'000};      // for more of a line
        std::chrono::milliseconds bulk_time{30'000};      // for all of a long line
        std::chrono::milliseconds unread_time{10'000};    // to read on, for a client that goes on asking
        std::chrono::milliseconds last_words_time{1000};  // to take them before it is cut
    };

    // An error's text names the path.
    static tl::expected<std::unique_ptr<ControlServer>, std::string> open(boost::asio::io_context& io,
                                                                          const std::string& path, Api& api,
                                                                          const Limits& limits);
    ~ControlServer();
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;

    // Once a round: cuts late clients; clients that wait for events and watched figures get a turn.
    void tick();
    // The clients' use of the socket now, and its peak since the start.
    Json account() const;

  private:
    class Session;
    using Protocol = boost::asio::local::stream_protocol;

    ControlServer(boost::asio::io_context& io, std::string path, Api& api, const Limits& limits);
    std::string listen();
    void admit(Protocol::socket socket);
    std::size_t places_taken() const;
    void bound_unread();
    std::size_t unread_bytes() const;
    bool may_take_bulk() const;

    std::string path_;
    Api& api_;
    Limits limits_;
    std::uint64_t inode_ = 0;  // of our file
    std::size_t most_unread_bytes_ = 0;
    std::uint64_t last_client_ = 0;
    std::vector<char> read_buffer_;  // of the session that reads at the moment
    std::list<std::shared_ptr<Session>> sessions_;
    Accepting<Protocol> clients_;
};

}  // namespace sluice

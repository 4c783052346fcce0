// The control socket: a Unix stream socket, one JSON object a line (rpc.hh).
//
// Mode 0660, and peers must be root, our user or in our group. No client can hold up the switch or another:
// each is served so many lines a round, one that stalls within a line, does not read what it asked for, or
// sends garbage is cut. The file is never taken from a running switch; a stale one is replaced, ours is
// removed at the end.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <chrono>
#include <list>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "control/api.hh"

namespace sluice {

// An error's text when no socket can be made at `path`, because a running switch has it, or a file that is
// none. To be asked before anything else is opened that two switches could fight for.
std::string cannot_listen(const std::string& path);

class ControlServer {
  public:
    struct Limits {
        std::size_t clients = 64;
        unsigned lines_a_round = 64;                      // of one client
        unsigned bad_lines = 16;                          // in a row
        std::size_t unsent_bytes = 64U << 20;             // of answers that a client has not read
        std::chrono::milliseconds line_time{10'000};      // for the rest of a line
        std::chrono::milliseconds last_words_time{1000};  // to take them before it is cut
    };

    // An error's text names the path.
    static tl::expected<std::unique_ptr<ControlServer>, std::string> open(boost::asio::io_context& io,
                                                                          const std::string& path, Api& api,
                                                                          const Limits& limits);
    ~ControlServer();
    ControlServer(const ControlServer&) = delete;
    ControlServer& operator=(const ControlServer&) = delete;

    // Once a round: cuts who is late, sends events and watched figures.
    void tick();

  private:
    class Session;
    using Protocol = boost::asio::local::stream_protocol;

    ControlServer(boost::asio::io_context& io, std::string path, Api& api, const Limits& limits);
    std::string listen();
    void accept();
    void admit(Protocol::socket socket);
    std::size_t places_taken() const;

    std::string path_;
    Api& api_;
    Limits limits_;
    Protocol::acceptor acceptor_;
    std::uint64_t inode_ = 0;  // of our file
    bool accepting_ = false;
    std::list<std::shared_ptr<Session>> sessions_;
};

}  // namespace sluice

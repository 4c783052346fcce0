// A client of the control socket. Lives as long as it waits to read, to write or for its turn, or the
// server has it.
//
// Every turn is a handler of the loop and does one thing: it reads once, answers one request, writes once, or
// sends a few events or one watched figure.
#pragma once

#include <deque>

#include "control/serve/server/socket.hh"

namespace sluice {

class ControlServer::Session : public std::enable_shared_from_this<Session> {
  public:
    Session(Protocol::socket socket, ControlServer& server, std::uint64_t id, Author author);

    void start() { read(); }
    bool is_open() const { return socket_.is_open(); }
    // False for a session that is being refused, and for one that has closed and left nothing to serve, even
    // if its end has not been read yet: the next connection takes its place.
    bool takes_place();
    // At once, and frees what it holds.
    void cut();
    void cut_after(const std::string& last_words);
    void tick();

    // Answers that it has not read, and the part of one that is being made.
    std::size_t unread_bytes() const { return unsent_bytes_ + (answer_ ? answer_->bytes() : 0); }
    bool takes_bulk() const { return bulk_; }

  private:
    using Clock = std::chrono::steady_clock;

    template <class Turn>
    auto turn(Turn what);
    void read();
    void on_readable();
    void serve_soon();
    void serve();
    void read_on();
    void finish_line();
    void send(std::string line);
    void write();
    void on_writable();
    bool is_full() const;
    bool has_notice() const;
    void push_soon();
    void push();
    void push_events();
    void push_watched();

    Protocol::socket socket_;
    ControlServer& server_;
    const Limits& limits_;
    RpcClient client_;
    std::string in_;
    std::size_t begin_ = 0;             // of in_: of the line that is served
    std::size_t scanned_ = 0;           // of in_: no newline from begin_ to here
    std::optional<LineAnswer> answer_;  // of the line before begin_
    std::deque<std::string> out_;
    std::size_t written_ = 0;       // of the first of out_
    std::size_t unsent_bytes_ = 0;  // of out_
    unsigned bad_lines_ = 0;
    bool serving_ = false;  // a handler is queued that answers the bytes read
    bool stalled_ = false;  // serving, and it must read its answers first
    bool pushing_ = false;  // has a turn to come to be sent notices
    bool bulk_ = false;     // has one of the places for long lines
    bool waits_ = false;    // for such a place
    bool closing_ = false;  // after its last words
    Clock::time_point last_read_ = Clock::now();
    Clock::time_point last_written_ = Clock::now();  // or there was nothing to write
    Clock::time_point bulk_since_;
};

}  // namespace sluice

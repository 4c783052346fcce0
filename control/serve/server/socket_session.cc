#include "control/serve/server/socket_session.hh"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>

#include "control/report/figures/figure_path.hh"
#include "control/report/figures/report.hh"
#include "control/serve/server/boundary.hh"

namespace sluice {
namespace {

constexpr std::size_t read_bytes = 65'536;

}  // namespace

ControlServer::Session::Session(Protocol::socket socket, ControlServer& server, std::uint64_t id,
                                Author author)
    : socket_(std::move(socket)), server_(server), limits_(server.limits_) {
    client_.id = id;
    client_.author = std::move(author);
    boost::system::error_code ignored;  // of a socket that is closed, which reading tells
    socket_.non_blocking(true, ignored);
}

// A handler that keeps the session and does nothing once it has been cut. When it throws the client is cut:
// nothing more can be told to it.
template <class Turn>
auto ControlServer::Session::turn(Turn what) {
    return [self = shared_from_this(), what](const boost::system::error_code& error = {}) {
        if (!error && self->is_open()) boundary(what, [&](const char*) { self->cut(); });
    };
}

bool ControlServer::Session::takes_place() {
    if (!is_open() || closing_) return false;
    std::uint8_t next = 0;
    const ssize_t found = recv(socket_.native_handle(), &next, sizeof next, MSG_PEEK | MSG_DONTWAIT);
    return found > 0 || (found < 0 && errno == EAGAIN);
}

void ControlServer::Session::cut() {
    boost::system::error_code ignored;
    socket_.close(ignored);
    server_.api_.changes().client_gone(client_.id);
    answer_.reset();
    out_.clear();
    std::string().swap(in_);
    unsent_bytes_ = written_ = begin_ = scanned_ = 0;
    bulk_ = waits_ = false;
}

void ControlServer::Session::cut_after(const std::string& last_words) {
    closing_ = true;
    last_read_ = Clock::now();
    send(last_words);
}

void ControlServer::Session::tick() {
    if (!is_open()) return;
    const auto now = Clock::now();
    if (closing_) {
        if (now - last_read_ > limits_.last_words_time) cut();
        return;
    }
    // It cannot be told why: it does not read.
    if (stalled_ && now - last_written_ > limits_.unread_time) return cut();
    const bool late = !in_.empty() && !serving_ && !waits_ && now - last_read_ > limits_.line_time;
    if (late || (bulk_ && !serving_ && now - bulk_since_ > limits_.bulk_time))
        return cut_after(refuse_line(RpcCode::too_much, "the rest of the line did not come"));
    if (std::exchange(waits_, false)) read();
    push_soon();
}

void ControlServer::Session::read() {
    if (in_.size() > max_plain_line_bytes && !bulk_) {
        last_read_ = Clock::now();
        waits_ = !server_.may_take_bulk();
        if (waits_) return;
        bulk_ = true;
        bulk_since_ = last_read_;
    }
    socket_.async_wait(Protocol::socket::wait_read, turn([this] { on_readable(); }));
}

void ControlServer::Session::on_readable() {
    if (closing_) return;
    std::vector<char>& buffer = server_.read_buffer_;
    buffer.resize(read_bytes);
    boost::system::error_code error;
    const std::size_t bytes = socket_.read_some(boost::asio::buffer(buffer), error);
    if (error == boost::asio::error::would_block) return read();
    if (error) return cut();
    last_read_ = Clock::now();
    in_.append(buffer.data(), bytes);
    serve_soon();
}

void ControlServer::Session::serve_soon() {
    serving_ = true;
    boost::asio::post(socket_.get_executor(), turn([this] { serve(); }));
}

// Answers the first request in the bytes read.
void ControlServer::Session::serve() {
    if (closing_) return;
    if (is_full()) {
        stalled_ = true;
        return;
    }
    if (!answer_) {
        const std::size_t end = in_.find('\n', scanned_);
        if (end == std::string::npos) return read_on();
        const std::string_view line = std::string_view(in_).substr(begin_, end - begin_);
        begin_ = scanned_ = end + 1;
        if (line.find_first_not_of(" \t\r") != std::string_view::npos) answer_.emplace(line);
    }
    const bool more = answer_ && answer_->step(server_.api_, client_);
    if (unread_bytes() > limits_.unread_bytes) return cut();
    server_.bound_unread();
    if (!is_open()) return;
    if (answer_ && !more) finish_line();
    if (is_open() && !closing_) serve_soon();
}

// There is no whole line left.
void ControlServer::Session::read_on() {
    in_.erase(0, begin_);
    begin_ = 0;
    scanned_ = in_.size();
    serving_ = false;
    if (in_.size() > max_line_bytes)
        return cut_after(
            refuse_line(RpcCode::too_much, fmt::format("a line is at most {} bytes", max_line_bytes)));
    if (in_.size() <= max_plain_line_bytes) {
        bulk_ = false;
        if (in_.capacity() > 2 * max_plain_line_bytes) in_.shrink_to_fit();
    }
    last_read_ = Clock::now();  // later bytes may have waited for us, not we for them
    read();
}

void ControlServer::Session::finish_line() {
    std::string text = answer_->take();
    answer_.reset();
    bad_lines_ = text.starts_with(R"({"jsonrpc":"2.0","id":null,"error")") ? bad_lines_ + 1 : 0;
    if (!text.empty()) send(std::move(text));
    if (is_open() && bad_lines_ == limits_.bad_lines)
        cut_after(refuse_line(RpcCode::too_much, fmt::format("{} lines in a row made no sense", bad_lines_)));
}

void ControlServer::Session::send(std::string line) {
    line += '\n';
    if (unread_bytes() + line.size() > limits_.unread_bytes)
        return cut();  // it does not read: nothing can be told to it
    unsent_bytes_ += line.size();
    out_.push_back(std::move(line));
    if (out_.size() == 1) {
        last_written_ = Clock::now();
        write();
    }
    server_.bound_unread();
}

void ControlServer::Session::write() {
    socket_.async_wait(Protocol::socket::wait_write, turn([this] { on_writable(); }));
}

// As much as the socket takes at once.
void ControlServer::Session::on_writable() {
    std::vector<boost::asio::const_buffer> lines;
    constexpr std::size_t max_lines = 64;
    for (const std::string& line : out_) {
        if (lines.size() == max_lines) break;
        lines.emplace_back(boost::asio::buffer(line));
    }
    lines.front() += written_;
    boost::system::error_code error;
    const std::size_t bytes = socket_.write_some(lines, error);
    if (error == boost::asio::error::would_block) return write();
    if (error) return cut();
    last_written_ = Clock::now();
    for (written_ += bytes; !out_.empty() && written_ >= out_.front().size(); out_.pop_front()) {
        written_ -= out_.front().size();
        unsent_bytes_ -= out_.front().size();
    }
    if (!out_.empty()) write();
    if (out_.empty() && closing_) return cut();
    if (stalled_ && !is_full()) {
        stalled_ = false;
        serve_soon();
    }
}

bool ControlServer::Session::is_full() const { return unsent_bytes_ > limits_.unread_pause_bytes; }

bool ControlServer::Session::has_notice() const {
    if (closing_ || is_full()) return false;
    const RunningSwitch& running = server_.api_.running();
    return (client_.wants_events && client_.next_event < running.events().total()) ||
           (client_.watch_interval && running.now() >= client_.next_watch);
}

void ControlServer::Session::push_soon() {
    if (pushing_ || !has_notice()) return;
    pushing_ = true;
    boost::asio::post(socket_.get_executor(), turn([this] { push(); }));
}

void ControlServer::Session::push() {
    pushing_ = false;
    if (closing_) return;
    push_events();
    if (is_open()) push_watched();
    if (is_open()) push_soon();
}

void ControlServer::Session::push_events() {
    if (!client_.wants_events) return;
    const EventLog& log = server_.api_.running().events();
    client_.next_event = std::max(client_.next_event, log.lost());
    for (unsigned sent = 0; client_.next_event < log.total() && sent < limits_.events_a_turn && is_open();
         ++client_.next_event, ++sent) {
        Json said = event_json(server_.api_.running(), *log.find(client_.next_event));
        said["number"] = client_.next_event;
        send(notification("event", std::move(said)));
    }
}

void ControlServer::Session::push_watched() {
    if (!client_.watch_interval) return;
    const Time now = server_.api_.running().now();
    if (now < client_.next_watch) return;
    client_.next_watch = now + *client_.watch_interval;
    const Json report = make_report(server_.api_.running());
    const Json* part = find_part(report, client_.watch_path).value;
    if (part == nullptr) return;
    send(notification("stats", {{"at_ns", now.ps / 1000}, {"path", client_.watch_path}, {"value", *part}}));
}

}  // namespace sluice

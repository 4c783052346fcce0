#include "control/socket.hh"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <cerrno>
#include <cstring>
#include <deque>
#include <vector>

#include "control/report.hh"

namespace sluice {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;

constexpr std::size_t read_bytes = 65'536;

bool is_permitted(int fd, std::string& name) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
    name = fmt::format("pid {}", peer.pid);
    if (peer.uid == 0 || peer.uid == geteuid() || peer.gid == getegid()) return true;
    std::array<gid_t, 256> groups{};
    size = sizeof groups;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) != 0) return false;
    const auto end = groups.begin() + size / sizeof(gid_t);
    return std::find(groups.begin(), end, getegid()) != end;
}

std::uint64_t inode_of(const std::string& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode) ? status.st_ino : 0;
}

}  // namespace

std::string cannot_listen(const std::string& path) {
    using Protocol = asio::local::stream_protocol;
    if (path.size() >= sizeof(sockaddr_un::sun_path)) return "the path of a socket has at most 107 bytes";
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0) return {};
    if (!S_ISSOCK(status.st_mode)) return "there is a file of that name that is no socket; do: remove it";
    boost::system::error_code error;
    asio::io_context io;
    Protocol::socket probe(io);
    probe.connect(Protocol::endpoint(path), error);
    if (!error) return "a running switch has this socket; do: give another --socket";
    if (error != asio::error::connection_refused)
        return "cannot tell whether it is in use: " + error.message();
    return {};
}

// One client. Lives as long as a read or a write of it is under way, or the server has it.
class ControlServer::Session : public std::enable_shared_from_this<Session> {
  public:
    Session(Protocol::socket socket, Api& api, const Limits& limits, std::string name)
        : socket_(std::move(socket)), api_(api), limits_(limits) {
        client_.name = std::move(name);
    }

    void start() { read(); }
    bool is_open() const { return socket_.is_open(); }
    // Not who is being turned away, and not who has closed and left nothing to serve, even if its end has not
    // been read yet: whoever connects after it has its place.
    bool takes_place() {
        if (!is_open() || closing_) return false;
        std::uint8_t next = 0;
        const ssize_t found = recv(socket_.native_handle(), &next, sizeof next, MSG_PEEK | MSG_DONTWAIT);
        return found > 0 || (found < 0 && errno == EAGAIN);
    }
    void cut() {
        boost::system::error_code ignored;
        socket_.close(ignored);
    }
    void cut_after(const std::string& last_words) {
        closing_ = true;
        last_read_ = Clock::now();
        send(last_words);
    }
    void tick() {
        if (closing_ && Clock::now() - last_read_ > limits_.last_words_time) return cut();
        if (!in_.empty() && !serving_ && !closing_ && Clock::now() - last_read_ > limits_.line_time)
            return cut_after(refuse_line(RpcCode::too_much, "the rest of the line did not come"));
        push_events();
        push_watched();
    }

  private:
    void read() {
        socket_.async_read_some(
            asio::buffer(buffer_),
            [self = shared_from_this()](const boost::system::error_code& error, std::size_t bytes) {
                self->on_read(error, bytes);
            });
    }
    void on_read(const boost::system::error_code& error, std::size_t bytes) {
        if (error || closing_) return error ? cut() : void();
        last_read_ = Clock::now();
        in_.append(buffer_.data(), bytes);
        serve();
    }
    // Up to lines_a_round of what has come; then others have their turn.
    void serve() {
        serving_ = true;
        std::size_t begin = 0;
        unsigned lines = 0;
        while (lines < limits_.lines_a_round && !closing_) {
            const std::size_t end = in_.find('\n', std::max(begin, scanned_));
            if (end == std::string::npos) {
                scanned_ = in_.size();
                break;
            }
            answer(std::string_view(in_).substr(begin, end - begin));
            scanned_ = begin = end + 1;
            ++lines;
        }
        in_.erase(0, begin);
        scanned_ -= begin;
        if (closing_ || !is_open()) return;
        if (lines == limits_.lines_a_round)
            return asio::post(socket_.get_executor(), [self = shared_from_this()] { self->serve(); });
        serving_ = false;
        if (in_.size() > max_line_bytes)
            return cut_after(
                refuse_line(RpcCode::too_much, fmt::format("a line is at most {} bytes", max_line_bytes)));
        last_read_ = Clock::now();  // what follows may have waited for us, not we for it
        read();
    }
    void answer(std::string_view line) {
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) return;
        const std::string text = answer_line(api_, client_, line);
        bad_lines_ = text.starts_with(R"({"jsonrpc":"2.0","id":null,"error")") ? bad_lines_ + 1 : 0;
        if (!text.empty()) send(text);
        if (bad_lines_ == limits_.bad_lines)
            cut_after(
                refuse_line(RpcCode::too_much, fmt::format("{} lines in a row made no sense", bad_lines_)));
    }
    void send(const std::string& line) {
        unsent_bytes_ += line.size() + 1;
        if (unsent_bytes_ > limits_.unsent_bytes)
            return cut();  // it does not read: nothing can be told to it
        out_.push_back(line + '\n');
        if (out_.size() == 1) write();
    }
    void write() {
        asio::async_write(socket_, asio::buffer(out_.front()),
                          [self = shared_from_this()](const boost::system::error_code& error,
                                                      std::size_t bytes) { self->on_written(error, bytes); });
    }
    void on_written(const boost::system::error_code& error, std::size_t bytes) {
        if (error) return cut();
        unsent_bytes_ -= bytes;
        out_.pop_front();
        if (!out_.empty()) return write();
        if (closing_) cut();
    }

    void push_events() {
        if (!client_.wants_events || closing_) return;
        const EventLog& log = api_.running().event_log();
        for (; client_.next_event < log.total(); ++client_.next_event) {
            const SwitchEvent* event = log.find(client_.next_event);
            if (event == nullptr) continue;
            Json said = event_json(api_.running(), *event);
            said["number"] = client_.next_event;
            send(notification("event", std::move(said)));
        }
    }
    void push_watched() {
        if (!client_.watch_interval || closing_) return;
        const Time now = api_.running().now();
        if (now < client_.next_watch) return;
        client_.next_watch = now + *client_.watch_interval;
        const Json report = make_report(api_.running());
        const Json* part = report_part(report, client_.watch_path);
        if (part == nullptr) return;
        send(notification("stats",
                          {{"at_ns", now.ps / 1000}, {"path", client_.watch_path}, {"value", *part}}));
    }

    Protocol::socket socket_;
    Api& api_;
    Limits limits_;
    RpcClient client_;
    std::array<char, read_bytes> buffer_{};
    std::string in_;
    std::size_t scanned_ = 0;  // of in_: no newline before it
    std::deque<std::string> out_;
    std::size_t unsent_bytes_ = 0;
    unsigned bad_lines_ = 0;
    bool serving_ = false;
    bool closing_ = false;
    Clock::time_point last_read_ = Clock::now();
};

tl::expected<std::unique_ptr<ControlServer>, std::string> ControlServer::open(asio::io_context& io,
                                                                              const std::string& path,
                                                                              Api& api,
                                                                              const Limits& limits) {
    std::unique_ptr<ControlServer> server(new ControlServer(io, path, api, limits));
    std::string error = server->listen();
    if (!error.empty()) return tl::unexpected(path + ": " + error);
    server->accept();
    return server;
}

ControlServer::ControlServer(asio::io_context& io, std::string path, Api& api, const Limits& limits)
    : path_(std::move(path)), api_(api), limits_(limits), acceptor_(io) {}

ControlServer::~ControlServer() {
    for (const auto& session : sessions_) session->cut();
    if (inode_ != 0 && inode_of(path_) == inode_) unlink(path_.c_str());
}

std::string ControlServer::listen() {
    if (std::string why = cannot_listen(path_); !why.empty()) return why;
    if (inode_of(path_) != 0 && unlink(path_.c_str()) != 0)
        return std::string("cannot remove the stale socket: ") + std::strerror(errno);
    boost::system::error_code error;
    const Protocol::endpoint endpoint(path_);
    acceptor_.open(endpoint.protocol(), error);
    if (!error) acceptor_.bind(endpoint, error);
    if (error) return error.message();
    inode_ = inode_of(path_);
    // Nobody can connect before listen.
    if (chmod(path_.c_str(), S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP) != 0) return std::strerror(errno);
    acceptor_.listen(asio::socket_base::max_listen_connections, error);
    return error ? error.message() : std::string();
}

void ControlServer::accept() {
    accepting_ = true;
    acceptor_.async_accept([this](const boost::system::error_code& error, Protocol::socket socket) {
        if (error == asio::error::operation_aborted) return;
        accepting_ = false;  // after an error, such as too many open files, not before the next round
        if (error) return;
        admit(std::move(socket));
        accept();
    });
}

void ControlServer::admit(Protocol::socket socket) {
    std::string name = "unknown";
    const bool permitted = is_permitted(socket.native_handle(), name);
    const auto session = std::make_shared<Session>(std::move(socket), api_, limits_, std::move(name));
    sessions_.push_back(session);
    if (!permitted)
        return session->cut_after(refuse_line(RpcCode::not_permitted,
                                              "not permitted: be root, the switch's user, or in its group"));
    if (sessions_.size() > limits_.clients && places_taken() > limits_.clients)
        return session->cut_after(
            refuse_line(RpcCode::too_much, fmt::format("{} clients are served already", limits_.clients)));
    session->start();
}

std::size_t ControlServer::places_taken() const {
    return static_cast<std::size_t>(std::count_if(
        sessions_.begin(), sessions_.end(), [](const auto& session) { return session->takes_place(); }));
}

void ControlServer::tick() {
    if (!accepting_) accept();
    for (const auto& session : sessions_) session->tick();
    sessions_.remove_if([](const auto& session) { return !session->is_open(); });
}

}  // namespace sluice

#include "control/serve/server/socket.hh"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "control/serve/server/boundary.hh"
#include "control/serve/server/socket_session.hh"

namespace sluice {
namespace {

namespace asio = boost::asio;

bool is_permitted(int fd, Author& author) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
    author = {fmt::format("pid {}", peer.pid), peer.pid, peer.uid};
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
    if (!S_ISSOCK(status.st_mode)) return "there is a file of that name that is not a socket; do: remove it";
    boost::system::error_code error;
    asio::io_context io;
    Protocol::socket probe(io);
    probe.connect(Protocol::endpoint(path), error);
    if (!error) return "a running switch has this socket; do: give another --socket";
    if (error != asio::error::connection_refused)
        return "cannot tell whether it is in use: " + error.message();
    return {};
}

tl::expected<std::unique_ptr<ControlServer>, std::string> ControlServer::open(asio::io_context& io,
                                                                              const std::string& path,
                                                                              Api& api,
                                                                              const Limits& limits) {
    std::unique_ptr<ControlServer> server(new ControlServer(io, path, api, limits));
    std::string error = server->listen();
    if (!error.empty()) return tl::unexpected(path + ": " + error);
    server->clients_.tick(std::chrono::steady_clock::now());
    return server;
}

ControlServer::ControlServer(asio::io_context& io, std::string path, Api& api, const Limits& limits)
    : path_(std::move(path)),
      api_(api),
      limits_(limits),
      clients_(
          io, [this](Protocol::socket socket) { admit(std::move(socket)); },
          // As many at a time as are served, and a few that are being turned away.
          [this] { return sessions_.size() < limits_.clients + limits_.turned_away; }) {}

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
    Protocol::acceptor& acceptor = clients_.acceptor();
    acceptor.open(endpoint.protocol(), error);
    if (!error) acceptor.bind(endpoint, error);
    if (error) return error.message();
    inode_ = inode_of(path_);
    // Nobody can connect before listen.
    if (chmod(path_.c_str(), S_IRUSR | S_IWUSR | S_IRGRP | S_IWGRP) != 0) return std::strerror(errno);
    acceptor.listen(asio::socket_base::max_listen_connections, error);
    return error ? error.message() : std::string();
}

void ControlServer::admit(Protocol::socket socket) {
    Author author{"unknown"};
    const bool permitted = is_permitted(socket.native_handle(), author);
    const auto session =
        std::make_shared<Session>(std::move(socket), *this, ++last_client_, std::move(author));
    sessions_.push_back(session);
    const auto begin = [&] {
        if (!permitted)
            return session->cut_after(refuse_line(
                RpcCode::not_permitted, "not permitted: be root, the switch's user, or in its group"));
        if (sessions_.size() > limits_.clients && places_taken() > limits_.clients)
            return session->cut_after(refuse_line(
                RpcCode::too_much, fmt::format("{} clients are served already", limits_.clients)));
        session->start();
    };
    boundary(begin, [&](const char*) { session->cut(); });
}

std::size_t ControlServer::places_taken() const {
    return static_cast<std::size_t>(std::count_if(
        sessions_.begin(), sessions_.end(), [](const auto& session) { return session->takes_place(); }));
}

// The session with the most unread bytes goes first; of two with as many, the later one.
void ControlServer::bound_unread() {
    while (unread_bytes() > limits_.all_unread_bytes) {
        const auto worst = std::max_element(
            sessions_.begin(), sessions_.end(),
            [](const auto& a, const auto& b) { return a->unread_bytes() <= b->unread_bytes(); });
        (*worst)->cut();
    }
    most_unread_bytes_ = std::max(most_unread_bytes_, unread_bytes());
}

std::size_t ControlServer::unread_bytes() const {
    std::size_t sum = 0;
    for (const auto& session : sessions_) sum += session->unread_bytes();
    return sum;
}

bool ControlServer::may_take_bulk() const {
    return std::count_if(sessions_.begin(), sessions_.end(),
                         [](const auto& session) { return session->takes_bulk(); }) < limits_.bulk_lines;
}

void ControlServer::tick() {
    for (const auto& session : sessions_)
        boundary([&] { session->tick(); }, [&](const char*) { session->cut(); });
    sessions_.remove_if([](const auto& session) { return !session->is_open(); });
    clients_.tick(std::chrono::steady_clock::now());
}

Json ControlServer::account() const {
    return {{"clients", sessions_.size()},
            {"unread_bytes", unread_bytes()},
            {"most_unread_bytes", most_unread_bytes_},
            {"unread_limit_bytes", limits_.all_unread_bytes}};
}

}  // namespace sluice

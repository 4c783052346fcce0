#include "tools/sluicectl/client.hh"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>

#include "tools/sluicectl/failure.hh"

namespace sluice::ctl {
namespace {

constexpr int not_permitted = -32002;  // of the API
constexpr int bad_parameters = -32602;
constexpr std::size_t read_bytes = 65'536;

// The text of a refusal: a sentence, then its details, a line each.
Failure failure_of(const Json& error) {
    const int code = error.value("code", 0);
    Failure failure{exit_refused, error.value("message", "refused")};
    if (code == not_permitted) failure.status = exit_not_permitted;
    if (code == bad_parameters) failure.status = exit_usage;
    if (!error.contains("data")) return failure;
    const Json& data = error["data"];
    if (data.contains("errors")) {  // of a configuration: all of them, the first is the message
        failure.status = exit_usage;
        failure.message.clear();
        for (const Json& one : data["errors"])
            failure.message += (failure.message.empty() ? "" : "\n") + one.get<std::string>();
        return failure;
    }
    if (data.contains("allowed")) failure.message += "; allowed: " + data["allowed"].get<std::string>();
    if (data.contains("do")) failure.message += "; do: " + data["do"].get<std::string>();
    if (data.contains("may_be_forced")) failure.message += "; or run it so, not lossless: --force";
    return failure;
}

// A connection, or the negated error.
int connect_to(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.empty() || path.size() >= sizeof address.sun_path)
        throw Failure{exit_usage, "the path of a socket has 1 to 107 bytes"};
    std::memcpy(address.sun_path, path.data(), path.size());
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) throw Failure{exit_no_daemon, std::string("no socket: ") + std::strerror(errno)};
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
    const int why = errno;
    close(fd);
    return -why;
}

// Sockets on which somebody listens, beside `path` and where the service has them.
std::string sockets_near(const std::string& path) {
    constexpr std::size_t most = 8;
    namespace fs = std::filesystem;
    std::set<std::string> found;
    for (const fs::path& folder : {fs::path(path).parent_path(), fs::path("/run/sluice")}) {
        std::error_code error;
        for (fs::directory_iterator at(folder.empty() ? "." : folder, error), end;
             !error && at != end && found.size() < most; at.increment(error)) {
            std::error_code gone;
            const std::string name = (folder / at->path().filename()).string();
            if (!at->is_socket(gone) || name.size() >= sizeof sockaddr_un{}.sun_path) continue;
            if (const int fd = connect_to(name); fd >= 0) {
                close(fd);
                found.insert(name);
            }
        }
    }
    return fmt::format("{}", fmt::join(found, ", "));
}

}  // namespace

Client::Client(const std::string& path, std::chrono::nanoseconds patience) : path_(path) {
    using Clock = std::chrono::steady_clock;
    constexpr std::chrono::milliseconds interval{20};
    const auto is_to_come = [](int error) { return error == -ENOENT || error == -ECONNREFUSED; };
    for (const auto end = Clock::now() + patience; is_to_come(fd_ = connect_to(path)) && Clock::now() < end;)
        pause_for(interval);
    if (fd_ >= 0) return;
    const int why = -fd_;
    if (why == EACCES || why == EPERM)
        throw Failure{exit_not_permitted, path + ": not permitted; do: be root, or in the switch's group"};
    const std::string others = sockets_near(path);
    throw Failure{
        exit_no_daemon,
        fmt::format("{}: no switch listens there ({}); do: start sluiced with --socket, or name its "
                    "socket with --socket or SLUICE_SOCKET{}",
                    path, std::strerror(why), others.empty() ? "" : "; there are: " + others)};
}

Client::~Client() { close(fd_); }

void Client::lost(const std::string& why) {
    is_lost_ = true;
    throw Failure{exit_no_daemon, path_ + ": " + why};
}

std::string Client::read_line() {
    for (;;) {
        if (const auto end = in_.find('\n'); end != std::string::npos) {
            std::string line = in_.substr(0, end);
            in_.erase(0, end + 1);
            return line;
        }
        is_lost_ = true;  // when it is interrupted: an answer may be left behind
        wait_for_input(fd_, std::nullopt);
        is_lost_ = false;
        std::array<char, read_bytes> buffer{};
        const ssize_t got = read(fd_, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) lost("the switch has closed the connection");
        in_.append(buffer.data(), static_cast<std::size_t>(got));
    }
}

Json Client::call(std::string_view method, const Json& parameters) {
    const unsigned id = next_id_++;
    const std::string line =
        json_text(Json{{"jsonrpc", "2.0"}, {"id", id}, {"method", method}, {"params", parameters}}) + "\n";
    for (std::size_t sent = 0; sent < line.size();) {
        const ssize_t n = ::send(fd_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;  // it may have said why before it hung up
        sent += static_cast<std::size_t>(n);
    }
    for (;;) {
        Json answer = Json::parse(read_line(), nullptr, false);
        if (!answer.is_object()) lost("that is not a switch: no JSON-RPC");
        if (answer.contains("method")) {
            notifications_.push_back(answer.value("params", Json::object()));
            continue;
        }
        if (answer.contains("error")) throw failure_of(answer["error"]);
        if (answer.contains("result") && answer.value("id", Json()) == id) return std::move(answer["result"]);
    }
}

Json Client::next_notification() {
    while (notifications_.empty()) {
        const Json said = Json::parse(read_line(), nullptr, false);
        if (said.is_object() && said.contains("method"))
            notifications_.push_back(said.value("params", Json::object()));
    }
    Json first = std::move(notifications_.front());
    notifications_.pop_front();
    return first;
}

}  // namespace sluice::ctl

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>

#include "control/switch/mirror/mirror_output.hh"

namespace sluice {
namespace {

constexpr mode_t fifo_mode = 0666;  // less the process's umask
constexpr int wanted_pipe_bytes = 1 << 20;
constexpr auto look_period = std::chrono::milliseconds(20);

class MirrorFifo : public MirrorStream {
  public:
    explicit MirrorFifo(const std::string& path) : MirrorStream(path, PIPE_BUF) {}
    ~MirrorFifo() override {
        if (is_made_) static_cast<void>(std::remove(path().c_str()));
    }

    // An error's text, or empty.
    std::string open();
    void begin(std::string header) override {
        header_ = std::move(header);
        check_reader(Clock::now());
    }
    void check_reader(Clock::time_point now) override;
    std::string state() const override { return why_.empty() ? "read" : why_; }
    std::string close() override {
        flush();
        end_ = FileDescriptor();
        return {};  // a reader comes and goes: frames that it has not read are counted, and no fault
    }

  private:
    bool write(std::string_view blocks) override;
    bool send_header();
    void lose_reader(std::string why) {
        end_ = FileDescriptor();
        why_ = std::move(why);
    }

    FileDescriptor end_;  // none: no reader
    std::string header_;
    Clock::time_point next_look_{};
    bool is_made_ = false;
    std::string why_ = "has no reader";  // empty: it has one
};

std::string MirrorFifo::open() {
    is_made_ = mkfifo(path().c_str(), fifo_mode) == 0;
    if (!is_made_ && errno != EEXIST)
        return cannot_be_written(std::strerror(errno),
                                 "name a FIFO in a folder that exists and that the switch may write");
    struct stat status {};
    if (stat(path().c_str(), &status) != 0)
        return cannot_be_written(std::strerror(errno), "name another FIFO");
    if (!S_ISFIFO(status.st_mode))
        return cannot_be_written("it is no FIFO", "write file instead of fifo, or name another");
    if (access(path().c_str(), W_OK) != 0)
        return cannot_be_written(std::strerror(errno), "let the switch write it");
    return {};
}

void MirrorFifo::check_reader(Clock::time_point now) {
    if (now < next_look_) return;
    next_look_ = now + look_period;
    if (end_) {
        // What is left of the stream is not the beginning of one, so a later reader waits for a new one.
        struct pollfd end = {end_.get(), 0, 0};
        if (poll(&end, 1, 0) > 0 && (end.revents & POLLERR) != 0)
            lose_reader("has no reader");
        else
            return;
    }
    end_ = FileDescriptor(::open(path().c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    if (!end_) {
        why_ = errno == ENXIO ? "has no reader" : fmt::format("cannot be opened: {}", std::strerror(errno));
        return;
    }
    static_cast<void>(fcntl(end_.get(), F_SETPIPE_SZ, wanted_pipe_bytes));  // as much as this user may
    why_.clear();
    send_header();
}

bool MirrorFifo::send_header() {
    for (std::string_view left = header_; !left.empty();) {
        const ssize_t sent = ::write(end_.get(), left.data(), std::min<std::size_t>(left.size(), PIPE_BUF));
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return lose_reader(fmt::format("takes no header: {}", std::strerror(errno))), false;
        left.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

bool MirrorFifo::write(std::string_view blocks) {
    if (!end_) return false;
    while (true) {
        const ssize_t sent = ::write(end_.get(), blocks.data(), blocks.size());
        if (sent == static_cast<ssize_t>(blocks.size())) return true;
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && errno == EAGAIN) return false;  // full: its reader is slow
        lose_reader("has no reader");
        return false;
    }
}

}  // namespace

tl::expected<std::unique_ptr<MirrorOutput>, std::string> MirrorOutput::open_fifo(const std::string& path) {
    auto made = std::make_unique<MirrorFifo>(path);
    if (std::string error = made->open(); !error.empty()) return tl::unexpected(std::move(error));
    return made;
}

}  // namespace sluice

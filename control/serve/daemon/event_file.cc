#include "control/serve/daemon/event_file.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace sluice {
namespace {

constexpr mode_t events_mode = 0666;  // less the process's umask

// Bytes of `text` that were written; fewer than all: errno says why.
std::size_t write_some(int file, std::string_view text) {
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t written = ::write(file, text.data() + done, text.size() - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) break;
        done += static_cast<std::size_t>(written);
    }
    return done;
}

}  // namespace

std::string EventFile::open(const std::string& path) {
    path_ = path;
    if (OutputClaim::is_for(path)) {
        auto claim = OutputClaim::take(path);
        if (!claim) return claim.error();
        claim_.emplace(std::move(*claim));
    }
    file_ = FileDescriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, events_mode));
    return file_ ? std::string() : fmt::format("{}: cannot be written: {}", path, std::strerror(errno));
}

bool EventFile::write(std::string_view line) {
    if (torn_ && write_some(file_.get(), "\n") == 1) torn_ = false;
    const std::size_t done = torn_ ? 0 : write_some(file_.get(), line);
    if (done == line.size()) {
        written_bytes_ += done;
        ++lines_;
        return true;
    }
    lose(std::strerror(errno));
    if (done != 0)
        torn_ = ftruncate(file_.get(), static_cast<off_t>(written_bytes_)) != 0 ||
                lseek(file_.get(), static_cast<off_t>(written_bytes_), SEEK_SET) < 0;
    return false;
}

void EventFile::lose(std::string_view why) {
    ++lines_;
    ++lost_;
    why_ = why;
}

std::string EventFile::complaint() const {
    if (lost_ == 0) return {};
    return fmt::format("{}: {} of {} events could not be written: {}", path_, lost_, lines_, why_);
}

}  // namespace sluice

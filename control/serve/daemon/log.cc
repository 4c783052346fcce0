#include "control/serve/daemon/log.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "control/config/text/json_text.hh"
#include "control/config/text/say.hh"
#include "control/report/figures/report.hh"
#include "control/switch/running/running_switch.hh"

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

LogLevel level_of(const SwitchEvent& event) {
    constexpr std::array<std::string_view, 7> errors{"control_failed", "headroom_overrun", "lossless_drop",
                                                     "pfc_swallowed",  "ring_overrun",     "events_unwritten",
                                                     "worker_stuck"};
    constexpr std::array<std::string_view, 18> warnings{
        "watchdog_detected", "fell_behind",  "command_failed", "interface_gone", "interface_refused",
        "reload_refused",    "still_held",   "device_gone",    "device_refused", "link_speed",
        "nic_warning",       "worker_late",  "mirror_failed",  "uncut_frames",   "beyond_mtu",
        "frames_refused",    "program_lost", "peer_deaf"};
    constexpr std::array<std::string_view, 1> infos{"microburst"};
    const auto is_in = [&](const auto& list) {
        return std::find(list.begin(), list.end(), event.kind) != list.end();
    };
    if (const LinkNotice* link = event.link();
        link != nullptr && !link->is_up() && link->cause != LinkCause::command)
        return LogLevel::warning;
    if (is_in(errors)) return LogLevel::error;
    if (is_in(warnings)) return LogLevel::warning;
    return is_in(infos) ? LogLevel::info : LogLevel::notice;
}

EventWriter::EventWriter(std::optional<LogLevel> level)
    : level_(level), journal_(goes_to_journal(STDERR_FILENO)) {}

std::string EventWriter::open(const std::string& path) {
    return path.empty() ? std::string() : file_.open(path);
}

void EventWriter::write(RunningSwitch& running) {
    const EventLog& log = running.events();
    // Events that are noted below come in the next round.
    for (const std::uint64_t end = log.total(); next_ < end; ++next_) {
        const SwitchEvent* event = log.find(next_);
        if (event == nullptr) {
            if (file_.is_open()) file_.lose("too many at once");
            continue;
        }
        say(level_of(*event), event->at, event->kind, event->text);
        if (!file_.is_open()) continue;
        auto json = event_json(running, *event);
        json["number"] = next_;
        const bool written = file_.write(json_text(json) + "\n");
        if (written == failing_) running.events().note("events_unwritten", file_.complaint());
        failing_ = !written;
    }
}

std::string EventWriter::finish(RunningSwitch& running) {
    write(running);
    return file_.complaint();
}

void EventWriter::say(LogLevel level, Duration at, std::string_view kind, std::string_view text) const {
    if (!level_ || level > *level_) return;
    constexpr std::array priorities{Priority::error, Priority::warning, Priority::notice, Priority::info};
    constexpr std::array<const char*, 4> names{"error", "warning", "notice", "info"};
    const auto index = static_cast<unsigned>(level);
    if (journal_)
        complain_as(priorities[index], "{}: {}\n", kind, text);
    else
        complain("sluiced: {:.6f} s: {}: {}: {}\n", static_cast<double>(at.ps) / 1e12, names[index], kind,
                 text);
}

}  // namespace sluice

// The only file that writes to stdout and stderr. A full disk loses the words, and `all_said` reports it; a
// reader that went away (`| head`) has read enough.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

#include "control/config/text/controls.hh"

namespace sluice {

// journald reads a line's priority from its beginning (sd-daemon(3)); other readers get no such mark.
enum class Priority { error = 3, warning = 4, notice = 5, info = 6 };  // syslog's

// True when journald reads `fd`. A child inherits the variable even if its stream goes elsewhere.
inline bool goes_to_journal(int fd) noexcept {
    const char* stream = std::getenv("JOURNAL_STREAM");
    struct stat there {};
    unsigned long long device = 0;
    unsigned long long inode = 0;
    char rest = 0;
    return stream != nullptr && std::sscanf(stream, "%llu:%llu%c", &device, &inode, &rest) == 2 &&
           fstat(fd, &there) == 0 && there.st_dev == device && there.st_ino == inode;
}

// Replaces C1 control characters, which an input file may have, by escapes such as \u009b, which JSON and
// TOML read as the same characters.
inline void escape_controls(fmt::memory_buffer& text) {
    const std::string_view all(text.data(), text.size());
    const auto is_high = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
    std::size_t at = 0;
    while (at < all.size() && !is_high(all[at])) ++at;
    if (at == all.size()) return;
    fmt::memory_buffer out;
    out.append(all.substr(0, at));
    while (at < all.size()) {
        const std::string_view character = all.substr(at, character_bytes(all, at));
        if (const unsigned code = control_at(all, at).code; code >= 0x80)
            fmt::format_to(std::back_inserter(out), "\\u{:04x}", code);
        else
            out.append(character);
        at += character.size();
    }
    text = std::move(out);
}

// On stdout. Throws std::bad_alloc only.
template <class... What>
void say(fmt::format_string<What...> format, What&&... what) {
    fmt::memory_buffer text;
    fmt::format_to(std::back_inserter(text), format, std::forward<What>(what)...);
    escape_controls(text);
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));  // all_said() asks
}

// On stderr, behind earlier output on stdout, since both may be one log. Never fails.
template <class... What>
void complain_as(Priority priority, fmt::format_string<What...> format, What&&... what) noexcept {
    static const bool has_priorities = goes_to_journal(STDERR_FILENO);
    try {
        fmt::memory_buffer text;
        if (has_priorities) fmt::format_to(std::back_inserter(text), "<{}>", static_cast<int>(priority));
        fmt::format_to(std::back_inserter(text), format, std::forward<What>(what)...);
        escape_controls(text);
        static_cast<void>(std::fflush(stdout));  // all_said() asks
        static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
    } catch (...) {
        return;
    }
}

template <class... What>
void complain(fmt::format_string<What...> format, What&&... what) noexcept {
    complain_as(Priority::error, format, std::forward<What>(what)...);
}

// The one line about a wrong command line.
inline int complain_of_usage(std::string_view program, std::string_view what) noexcept {
    constexpr int exit_usage = 2;  // of every program
    complain("{0}: {1}; see: {0} --help\n", program, what);
    return exit_usage;
}

// The reader of a pipe or a socket has gone away.
inline bool has_no_reader(int fd) noexcept {
    pollfd asked{fd, 0, 0};
    return poll(&asked, 1, 0) == 1 && (asked.revents & (POLLERR | POLLHUP)) != 0;
}

// At the end: true when all output that has a reader was written; complains when not.
inline bool all_said(const char* program) noexcept {
    const bool flushed = std::fflush(stdout) == 0;
    if ((flushed && std::ferror(stdout) == 0) || has_no_reader(STDOUT_FILENO)) return true;
    complain("{}: stdout cannot be written\n", program);
    return false;
}

// At the start: a standard stream that is closed becomes /dev/null. Otherwise the next file opened would get
// its number, and output would be written into it.
inline void hold_standard_streams() noexcept {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF) static_cast<void>(open("/dev/null", O_RDWR));
}

// For a program that goes on when the reader of its output has gone away: a write then fails instead.
inline void outlive_readers() noexcept { static_cast<void>(std::signal(SIGPIPE, SIG_IGN)); }

}  // namespace sluice

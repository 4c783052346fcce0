// The shell's history: a file of lines, the oldest first, kept from one session to the next.
//
// A convenience that never stands in the way: a file that cannot be read or written, or is no plain file (a
// link, a device), is left as it is. Sessions side by side keep each other's lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::ctl {

class History {
  public:
    static constexpr std::size_t max_lines = 1000;
    static constexpr std::size_t max_line_bytes = 4096;

    // $XDG_STATE_HOME/sluice/history, or under ~/.local/state; empty: no home is known.
    static std::string default_path();

    explicit History(std::string path) : path_(std::move(path)) {}

    // Of earlier sessions, at most max_lines; lines that are too long or not text are left out.
    std::vector<std::string> earlier() const;
    const std::string& path() const { return path_; }
    void add(std::string_view line);
    // Appends the new lines to the file's present ones: mode 0600, in folders of 0700 that it makes as far as
    // the first of them may be missing. False when it cannot.
    bool save();

  private:
    std::string path_;
    std::vector<std::string> added_;
};

}  // namespace sluice::ctl

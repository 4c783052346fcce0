// Events as they happen, for people and programs outside: lines on stderr by level, with journald's
// priorities where it reads them, and JSON lines in a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "control/serve/daemon/options.hh"
#include "dataplane/base/file_descriptor.hh"
#include "dataplane/base/output_file.hh"
#include "lib/values/units.hh"

namespace sluice {

class RunningSwitch;
struct SwitchEvent;

LogLevel level_of(const SwitchEvent& event);

// Events as JSON lines, written at once, so that a reader can follow them. A line that cannot be written is
// lost and counted, and leaves no part of itself; lines that come when there is room again are written.
class EventFile {
  public:
    std::string open(const std::string& path);  // an error's text, or empty
    bool is_open() const { return static_cast<bool>(file_); }
    // `line` with its end. False: it is lost.
    bool write(std::string_view line);
    // A line that there is no text of any more.
    void lose(std::string_view why);
    // The reason why events were lost, or empty.
    std::string complaint() const;

  private:
    std::string path_;
    std::optional<OutputClaim> claim_;  // nobody else writes it meanwhile
    FileDescriptor file_;
    std::uint64_t written_bytes_ = 0;
    bool torn_ = false;  // part of a line stands at the end of a pipe
    std::uint64_t lines_ = 0;
    std::uint64_t lost_ = 0;
    std::string why_;  // the last one was lost
};

class EventWriter {
  public:
    // `level`: least level of a line on stderr; nothing: no line.
    explicit EventWriter(std::optional<LogLevel> level);
    std::string open(const std::string& path);  // of the JSON lines; an error's text, or empty
    void say(LogLevel level, Duration at, std::string_view kind, std::string_view text) const;
    // Once a round: the events since the last one. When lines begin to be lost for want of room, and when
    // there is room again, an event says so.
    void write(RunningSwitch& running);
    // At the end: the last of them. The error of a failed write, or empty.
    std::string finish(RunningSwitch& running);

  private:
    std::optional<LogLevel> level_;
    bool journal_ = false;  // stderr goes to journald
    EventFile file_;
    bool failing_ = false;  // the last line of the file was lost
    std::uint64_t next_ = 0;
};

}  // namespace sluice

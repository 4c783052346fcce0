// Events as they happen, for people and programs outside: lines on stderr by level, with journald's
// priorities where it reads them, and JSON lines in a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "control/serve/daemon/event_file.hh"
#include "control/serve/daemon/options.hh"
#include "lib/values/units.hh"

namespace sluice {

class RunningSwitch;
struct SwitchEvent;

LogLevel level_of(const SwitchEvent& event);

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

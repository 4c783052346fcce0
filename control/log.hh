// Events as they happen, for people and programs outside: lines on stderr by level, with journald's
// priorities where it reads them, and JSON lines in a file.
#pragma once

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>

#include "control/options.hh"
#include "control/running_switch.hh"

namespace sluice {

LogLevel level_of(std::string_view event_kind);

class EventWriter {
  public:
    // `level`: what is said on stderr; nothing: nothing is.
    explicit EventWriter(std::optional<LogLevel> level);
    std::string open(const std::string& path);  // of the JSON lines; an error's text, or empty
    void say(LogLevel level, Duration at, std::string_view kind, std::string_view text) const;
    // Once a round: what has happened since.
    void write(const RunningSwitch& running);

  private:
    std::optional<LogLevel> level_;
    bool journal_ = false;  // stderr goes to journald
    std::ofstream file_;
    std::uint64_t next_ = 0;
};

}  // namespace sluice

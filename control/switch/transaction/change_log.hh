// The last changes of the configuration for `config.history`: when, by whom (the credentials of the socket's
// peer), how. Control thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "control/config/schema/config_paths.hh"
#include "lib/values/units.hh"

namespace sluice {

// The author of a change: a client, a timed event, a signal, or the switch itself.
struct Author {
    std::string name = "the switch";  // "pid 4711", "a timed event"
    std::optional<pid_t> pid{};
    std::optional<uid_t> uid{};
};

class ChangeLog {
  public:
    static constexpr std::size_t max_entries = 64;
    static constexpr std::size_t max_changes = 16;       // of an entry; more are counted
    static constexpr std::size_t max_value_bytes = 120;  // of a value; the rest is left out

    struct Entry {
        Time at;  // of the switch's clock
        std::chrono::system_clock::time_point wall;
        std::string what;  // "set", "rollback", "not confirmed"
        Author who;
        std::string user;  // of the uid; empty: not known
        std::vector<ConfigChange> changes;
        std::size_t left_out = 0;  // more changes
    };

    void add(Time at, std::string what, const Author& who, const std::vector<ConfigChange>& changes);
    // Numbered from lost() on.
    const std::deque<Entry>& entries() const { return entries_; }
    std::uint64_t lost() const { return lost_; }

  private:
    std::deque<Entry> entries_;
    std::uint64_t lost_ = 0;
};

// The name of a uid in /etc/passwd, or empty. A name service could block the control thread.
std::string user_name(uid_t uid);

}  // namespace sluice

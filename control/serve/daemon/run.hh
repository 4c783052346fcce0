// The control thread's loop: lets the switch run and carries out timed events, until the end.
#pragma once

#include <optional>
#include <string>

#include "control/serve/daemon/options.hh"
#include "control/switch/running/standalone_switch.hh"

namespace sluice {

struct RunOptions {
    std::optional<Duration> duration;
    std::string config_file;   // SIGHUP reads it anew, and a client saves to it
    Overrides overrides;       // of that file's words
    std::string socket;        // path of the control socket; empty: none
    bool interactive = false;  // a virtual clock that moves only when a client tells it to
    std::string metrics;       // where to serve them; empty: nowhere
    std::string page;          // likewise
    std::string events;        // file of JSON lines; empty: none
    std::optional<LogLevel> log;
    bool force = false;       // SIGHUP's file too
    std::string memory{};     // the kind it runs in
    std::string startup;      // read instead of config_file where it is newer; empty: none
    std::string save_folder;  // in which a client may save a configuration; empty: that of config_file
};

struct RunEnd {
    std::string not_started;       // why; empty: it ran
    std::string gave_up;           // why it ended before its time; empty: it did not
    std::string events_unwritten;  // why; empty: the file of events is whole
};

// Returns when `duration` has passed on the switch's clock, on SIGINT or SIGTERM, or, under the virtual
// clock, when nothing can happen any more, or when nothing but refreshed pauses happens without end; a second
// signal ends the process at once. A virtual run that a signal stops while its clock runs is interrupted.
// Failures of timed commands become events.
RunEnd run(StandaloneSwitch& alone, const RunOptions& options);

// The signal that stopped it; 0: none did.
int stopped_by();

}  // namespace sluice

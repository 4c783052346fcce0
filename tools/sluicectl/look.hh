// The figures that a table shows: since the start, or since somebody cleared them, or a second over a window.
//
// `stats clear` is the switch's, for everybody; a shell may have a beginning of its own. Tables take these
// words: `total` (since the start), `rates` (a second: since the beginning, or under --watch since the look
// before), `over TIME` (a second: in so long a time from now on).
#pragma once

#include <optional>
#include <string>

#include "lib/values/units.hh"
#include "tools/sluicectl/commands.hh"

namespace sluice::ctl {

Sample sample(Context& context, const std::string& path);
// What happened between two samples of a path.
Json between(const Sample& before, const Sample& after, const std::string& path);
// Lets so much time of the switch pass: waits, or runs the clock of an interactive switch, if it `may_run`.
// Throws Failure where neither is possible.
void pass_time(Context& context, Duration window, bool may_run);
// The value of a named TIME; throws Failure.
Duration time_said(const Arguments& arguments, const char* name);

struct Look {
    Json part;           // as the report has it at the path
    double seconds = 0;  // not 0: figures are shown a second; of the time between the two moments
    std::string since;   // a line above the table; empty: since the start
};
// With --json and no word for rates: the totals, whatever has been cleared.
Look look_at(Context& context, const Arguments& arguments, const std::string& path);
// A table, or several, of a look; `json` is what they are made of.
Answer looked(const Look& look, Json json, std::string text);

// "p1.3", or with `whole` also "p1". Throws Failure.
struct QueueName {
    std::string port;
    std::optional<unsigned> queue;
};
QueueName queue_name(const std::string& said, bool whole);

// The ports that `name` chooses, all when it is empty: `part` of the look is an object of them.
Look ports_at(Context& context, const Arguments& arguments, const std::string& name);

// The configured state of a priority group: lossless or lossy.
std::string configured_text(const Json& group);
// "class h1.3 is changing since 170 us, waiting for 312 cells, most of them in queue h4.3"; empty otherwise.
std::string wait_text(const std::string& name, const Json& group);

}  // namespace sluice::ctl

// messages.csv: a row for each message that has ended, in order of time, then of name, sender and receiver.
//
// job         its [[job]], or the flow, collective or workload that it belongs to
// name        of a listed flow: the list's, or WORKLOAD.N, its place in the file from 1; else that of the
// flow
//             or the collective
// bytes       payload; the queue pairs that share a listed flow make one row
// start_ns    when it came, which may be before its first packet; at the sender's switch, as all times
// end_ns      when all was acknowledged
// ideal_ns    the time between the two on an empty path at line rate (lib/roce/empty_path.hh)
// slowdown    completion_ns / ideal_ns
// paused_ns   how long PFC held the class of its data at the sender meanwhile
// path        its nodes, as h1>leaf1>spine2>leaf4>h16; "several": load balancing chose anew, queue pairs that
//             share it take different ones, or paths moved meanwhile; of a READ that of its request
// state       done, or failed: the queue pair gave up
//
// Times are nanoseconds, exact to a picosecond. The same bytes with any number of threads.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/fabric/report/ended_messages.hh"

namespace sluice::fabric {

class MessageRows {
  public:
    // `write` takes whole rows, the head first.
    MessageRows(const FabricPlan& plan, std::function<void(std::string_view)> write);

    // Sorts them, and writes their rows.
    void take(std::span<EndedMessage> messages);

  private:
    std::string name_of(const EndedMessage& message) const;
    std::string text_of(const EndedMessage& message) const;

    const FabricPlan& plan_;
    std::function<void(std::string_view)> write_;
    std::vector<std::string> names_, jobs_;  // by flow
    std::vector<const FlowList*> list_of_;   // likewise; null: none
};

}  // namespace sluice::fabric

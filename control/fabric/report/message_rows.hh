// messages.csv: a row for each message that has ended, in order of time, then of name, sender and receiver.
//
// job         the flow, collective or workload that it belongs to
// name        of a listed flow: the list's, or JOB.N, its place in the file from 1; else the job's
// bytes       payload; the queue pairs that share a listed flow make one row
// start_ns    when it came, which may be before its first packet; at the sender's switch, as all times
// end_ns      when all was acknowledged
// ideal_ns    the time between the two on an empty path at line rate (lib/roce/empty_path.hh)
// slowdown    completion_ns / ideal_ns
// paused_ns   how long PFC held the class of its data at the sender meanwhile
// state       done, or failed: the queue pair gave up
//
// Times are nanoseconds, exact to a picosecond. The same bytes with any number of threads.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/fabric/run/fabric.hh"

namespace sluice::fabric {

class MessageRows {
  public:
    // The fabric's hosts keep logs. `write` takes whole rows, the head first.
    MessageRows(Fabric& fabric, std::function<void(std::string_view)> write);

    // After a window of the clock: writes, about every millisecond, what has ended.
    void look();
    void finish();

  private:
    struct Row {
        Time came, ended;
        std::uint64_t bytes;
        Duration ideal, paused;
        std::uint64_t retransmissions, cnps;
        std::uint32_t flow;  // of the plan
        const ListedFlow* listed;
        NodeId from, to;
        std::uint32_t qp;
        bool failed;
    };
    // What is known of a listed flow some of whose queue pairs have ended.
    struct Parts {
        Row row;
        std::uint32_t left;
    };

    void flush();
    void take(NodeId from, const roce::MessageResult& result);
    std::string name_of(const Row& row) const;
    std::string text_of(const Row& row) const;

    Fabric& fabric_;
    std::function<void(std::string_view)> write_;
    std::map<IpAddress, NodeId> at_address_;
    std::vector<std::string> jobs_;                                   // by flow
    std::vector<const WorkloadPlan*> workload_of_;                    // likewise; null: none
    std::map<std::pair<std::uint32_t, std::uint32_t>, Parts> parts_;  // by flow and place in the list
    std::vector<Row> rows_;
    Time next_{};
};

}  // namespace sluice::fabric

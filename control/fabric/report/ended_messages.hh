// The messages of a run that have ended, gathered from its hosts about every millisecond of the clock.
//
// The queue pairs that share a listed flow make one message, which ends with the last of them. Those that
// ended within a window of the clock are taken in any order: who writes them sorts them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "control/fabric/report/message_path.hh"
#include "control/fabric/run/fabric.hh"

namespace sluice::fabric {

struct EndedMessage {
    Time came, ended;  // it came when it was to be sent, which may be before its first packet
    std::uint64_t bytes;
    Duration ideal;   // from `came` to `ended` on an empty path (lib/roce/empty_path.hh)
    Duration paused;  // how long PFC held the class of its data at the sender meanwhile
    std::uint64_t retransmissions, cnps;
    std::uint32_t flow;        // of the plan
    const ListedFlow* listed;  // null: it is none of a list
    NodeId from, to;
    MessagePath path;  // empty: it is not asked for
    std::uint32_t qp;  // number of the sender's queue pair, the least of several
    bool failed;

    Duration took() const { return ended - came; }
};

class EndedMessages {
  public:
    using Take = std::function<void(std::span<EndedMessage>)>;

    // Before the run. `with_paths`: messages have their paths.
    EndedMessages(Fabric& fabric, bool with_paths, Take take);

    // After a window of the clock.
    void look();
    // After the run.
    void finish() { gather(); }

  private:
    // A message some of whose queue pairs have ended.
    struct Parts {
        EndedMessage whole;
        std::uint32_t left;
    };

    void gather();
    void add(NodeId from, const roce::MessageResult& result);

    Fabric& fabric_;
    Take take_;
    std::optional<MessagePaths> paths_;
    std::map<IpAddress, NodeId> at_address_;
    std::vector<const WorkloadPlan*> workload_of_;                    // by flow; null: none
    std::map<std::pair<std::uint32_t, std::uint32_t>, Parts> parts_;  // by flow and place in the list
    std::vector<EndedMessage> ended_;
    Time next_{};
};

}  // namespace sluice::fabric

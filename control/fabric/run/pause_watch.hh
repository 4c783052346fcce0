// The causes of pauses: every pause of a switch with the egress queue that held most of the group's
// cells, and, where that queue was itself held, the pause that held it (mechanisms of a PFC storm), over the
// time that it lasted. A chain of pauses that comes back to itself is a deadlock, or about to be one: it is
// named at the instant in which it closes.
//
// Takes the changes that each switch's log has seen, in order of time, of one instant in order of switches.
// A change costs the pauses of its switch that it may concern. Changes are taken window by window of the
// clock, so packets are named as they lie at the end of the window.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "control/fabric/plan/topology.hh"
#include "dataplane/run/switch.hh"
#include "lib/values/units.hh"

namespace sluice::fabric {

struct FabricPlan;

// The egress queue that holds most cells of a group. It stays so until another leads by an eighth of it.
struct FullestQueue {
    PortId port = 0;
    ClassId queue = 0;
    std::uint32_t cells = 0;        // of the group, in that queue
    std::uint32_t group_cells = 0;  // in all queues
};

struct PauseChange {
    enum class Kind : std::uint8_t {
        held,   // `mask`: the queues of `port` that its peer holds from now on
        began,  // group `priority` of `port` is in XOFF
        moved,  // another queue is its fullest
        ended,
    };
    Time at;
    Kind kind;
    PortId port;
    ClassId priority = 0;
    std::uint8_t mask = 0;
    FullestQueue fullest{};  // with `began` and `moved`
};

// The pauses of one switch: when a group went into XOFF and out of it, the egress queue that held most of its
// cells meanwhile, and when peers held queues. Reads its own switch alone, between two instants, and
// changes nothing. An instant costs the ports whose pauses it has changed, and the open pauses of those whose
// cells have moved. It counts packets when a pause begins, and again when enough cells have moved for another
// queue to be the fullest.
class PauseLog {
  public:
    PauseLog(Switch& device, std::uint32_t cell_bytes);

    // After an instant in which the switch ran.
    void log_changes() {
        const InstantChanges& changes = device_.changes();
        if (!changes.pauses.empty() || (!open_.empty() && !changes.cells.empty())) log(changes);
    }
    // What has changed since `clear`, in order of time; of one instant holds come first.
    const std::vector<PauseChange>& changes() const { return changes_; }
    void clear() { changes_.clear(); }

  private:
    struct PortState {
        std::uint8_t paused = 0;  // groups in XOFF, as of the last look: each has an Open
        std::uint8_t held = 0;    // queues that its peer holds, likewise
    };
    struct Open {
        PortId port;
        ClassId priority;
        bool is_new = true;
        FullestQueue fullest{};
        // As of the last count: cells of the group, cells that had ever come to it, and by how many the
        // fullest queue is safe from the next one.
        std::uint32_t used_cells = 0;
        std::uint64_t came_cells = 0;
        std::uint32_t margin_cells = 0;
        // While counting.
        std::uint32_t here = 0, own = 0, all = 0;
        FullestQueue best{}, second{};
    };

    void log(const InstantChanges& changes);
    std::uint8_t held_queues(PortId port, Time now) const;
    // True when a group has gone into XOFF.
    bool look_at(PortId port, Time now);
    std::uint64_t came_cells(PortId port, ClassId priority) const;
    bool may_have_moved(const Open& open) const;
    // True when any pause of these ports may have.
    bool may_have_moved(const PortSet& ports) const;
    void count(Time now);

    Switch& device_;
    std::uint32_t cell_bytes_;
    std::vector<PortState> ports_;
    std::vector<Open> open_;
    std::vector<std::uint32_t> open_at_;  // by port and group; place in open_
    std::vector<PauseChange> changes_;
};

// Why a group was full, from a moment on.
struct PauseCause {
    enum class Kind : std::uint8_t {
        link,   // its fullest queue had more than the link takes
        host,   // a host held that queue
        pause,  // a switch did, by the pause `parent`
    };
    Time from;
    PortId egress_port;
    ClassId egress_queue;
    Kind kind;
    bool is_held;  // the queue is held; false: it was a short time ago, or is not
    std::uint32_t parent;
};

// A priority group in XOFF: `device` (index of the switch) has paused what is behind its port.
struct PauseRecord {
    static constexpr std::uint32_t none = UINT32_MAX;

    std::uint32_t device;
    PortId port;
    ClassId priority;
    Time from;
    std::optional<Time> until{};       // nothing: it goes on
    std::uint32_t cells = 0;           // of the group, when it began
    std::uint32_t queue_cells = 0;     // of these, in its fullest queue
    std::vector<PauseCause> causes{};  // in order of time, the first from its beginning on

    // Those before an end; the last one may lie in the future.
    const PauseCause& cause_at(Time time) const;
};

// A wait-for cycle among pauses that are open.
struct PauseCycle {
    Time at;                            // when it closed
    std::optional<Time> dissolved{};    // when the first of its pauses ended
    std::vector<std::uint32_t> pauses;  // each waits for the next, the last for the first
    std::uint32_t began_with;           // the earliest of them
    std::vector<std::string> flows;     // "h1 > h5" of packets in its queues, sorted; a few
};

class PauseWatch {
  public:
    static constexpr std::size_t max_records = 1'000'000;
    static constexpr std::size_t max_causes = 4'000'000;
    static constexpr std::size_t max_cycles = 1'000;

    PauseWatch(const FabricPlan& plan, std::vector<Switch*> devices);

    // After each instant of a switch, on its thread.
    void log_changes(std::uint32_t device) { logs_[device].log_changes(); }
    // After each window: `gather` for every switch that ran, then the others.
    void gather(std::uint32_t device);
    void take_gathered();
    // Takes a change; in order of time.
    void follow(std::uint32_t device, const PauseChange& change);

    const std::vector<PauseRecord>& pauses() const { return pauses_; }
    std::uint64_t left_out() const { return left_out_; }  // pauses beyond the most
    std::size_t open() const { return open_; }
    const std::vector<PauseCycle>& cycles() const { return cycles_; }
    std::function<void(const PauseCycle&)> on_cycle = [](const PauseCycle&) {};

    // The other end of a switch's port.
    struct Peer {
        NodeId node;
        std::uint32_t device;  // index of the switch; none: a host
        PortId port = 0;       // of that switch
    };
    const Peer& peer(std::uint32_t device, PortId port) const { return ports_[device][port].peer; }

  private:
    struct QueueHold {
        Time since{};           // while it is held
        Time blamed_until{};    // afterwards: so long what the queue still has is the holder's doing
        bool is_known = false;  // it has been held
    };
    struct PortState {
        Peer peer;
        std::uint8_t held = 0;                      // queues that its peer holds
        std::array<QueueHold, classes> hold{};      // by queue
        std::array<std::uint32_t, classes> last{};  // by group: its latest pause
    };

    void begin(std::uint32_t device, const PauseChange& change);
    void end(std::uint32_t device, const PauseChange& change);
    void hold(std::uint32_t device, const PauseChange& change);
    // Pauses of the switch whose fullest queue is one of these.
    void judge_waiting(std::uint32_t device, PortId port, unsigned queues, Time now);
    void judge(std::uint32_t pause, PortId egress_port, ClassId queue, Time now);
    void add(PauseRecord& pause, const PauseCause& cause);
    // The latest pause by which a switch holds the queue; none: there is no record.
    std::uint32_t holder(std::uint32_t device, PortId port, ClassId queue) const;
    void find_cycle(std::uint32_t from, Time now);
    std::vector<std::string> flows_of(const std::vector<std::uint32_t>& pauses) const;

    const FabricPlan& plan_;
    std::vector<Switch*> devices_;
    std::vector<PauseLog> logs_;  // by switch
    struct Gathered {
        std::uint32_t device;
        PauseChange change;
    };
    std::vector<Gathered> gathered_;
    std::vector<std::vector<PortState>> ports_;      // by switch and port
    std::vector<std::vector<std::uint32_t>> opens_;  // by switch: pauses that go on
    std::size_t open_ = 0;                           // of all switches
    std::vector<PauseRecord> pauses_;
    std::size_t causes_ = 0;  // of all records
    std::uint64_t left_out_ = 0;
    std::vector<PauseCycle> cycles_;
    std::map<IpAddress, std::string> hosts_;  // by address
};

}  // namespace sluice::fabric

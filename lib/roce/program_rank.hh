// A rank of a schedule: the state machine that runs its program (program.hh) on its host's queue pairs.
//
// Costs are those of LogGP (Alexandrov et al., SPAA 1995): a send and a message that has come hold their
// stream for the overhead o, and the NIC takes the next one a gap g, and G for each byte but the first,
// later. Work waits for its stream and its NIC in the order in which it became ready. Messages find receives
// as in MPI: by source and tag, each of them perhaps any, in the order of arrival and of posting. A message
// of at most `eager_bytes` leaves at once, and its send ends with the overhead; a larger one asks its
// receiver first, leaves when a receive is there, and its send ends when it is acknowledged. An eager message
// waits for a receive that is not there, and takes the overhead meanwhile.
//
// A WRITE's key says what it is: which operation of its sender, and which part of the exchange. Collectives
// of the rank run on the host's CollectiveRanks, at most one of each at a time. The host calls after each
// event, with `now` that never goes back, `next_post` and `next_collective` until there is none.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/roce/program.hh"
#include "lib/roce/send_schedule.hh"
#include "lib/values/units.hh"

namespace sluice::roce {

struct HostCosts {
    Duration overhead{};  // o
    Duration gap{};       // g
    Duration per_byte{};  // G
};

struct ProgramSettings {
    std::shared_ptr<const Programs> programs;  // of all ranks
    std::uint32_t id = 0;                      // of the schedule, the same at all ranks
    std::uint32_t rank = 0;
    Time start{};  // operations that wait for none begin then
    HostCosts costs{};
    std::uint64_t eager_bytes = UINT64_MAX;
    // The host's queue pairs from first_qp on: each to or from another rank.
    struct Line {
        std::uint32_t peer;
        bool sends;
    };
    QpIndex first_qp = 0;
    std::vector<Line> lines{};
    // Those of the schedule's collectives in which it takes part, sorted.
    struct Part {
        std::uint32_t collective;  // of the schedule
        std::uint32_t rank;        // index of the host's ranks
    };
    std::vector<Part> collectives{};
};

class ProgramRank {
  public:
    using Operation = Program::Operation;
    using Kind = Operation::Kind;
    enum class State : std::uint8_t { running, done, failed };
    static constexpr std::uint32_t max_ahead = 8;          // messages of a queue pair; more wait
    static constexpr std::uint32_t handshake_bytes = 64;   // of a request for a large message, and its answer
    static constexpr std::size_t max_slow_operations = 8;  // that are kept
    static constexpr std::size_t bytes_each_operation = 2 * sizeof(std::uint32_t);  // beside the program

    struct Post {
        QpIndex qp;
        std::uint32_t bytes;
        std::uint32_t key;
    };
    // The rank waited for an operation while it computed nothing: since that began, or the last one before it
    // ended.
    struct Wait {
        std::uint32_t operation;
        Time begun, ended;
        Duration waited;
    };
    struct Figures {
        Time begun{};
        std::optional<Time> ended;     // the last operation; messages may still be unacknowledged
        Duration compute{};            // some stream computes
        Duration exposed{};            // none does, and a message or a collective is waited for
        Duration hidden{};             // both
        std::uint32_t operations = 0;  // that have ended
    };

    explicit ProgramRank(ProgramSettings settings);

    std::optional<Time> next_timer() const {
        return due_.empty() ? std::nullopt : std::optional(due_.top().at);
    }
    void expire(Time now);
    // Its message on its own `qp` has been acknowledged, or has failed; a peer's, with this key, has arrived.
    void completed(QpIndex qp, bool failed, Time now);
    void delivered(QpIndex qp, std::uint32_t key, Time now);
    // A collective of the host's, or all of the rank if that failed.
    void collective_ended(std::uint32_t rank, bool failed, Time now);
    std::optional<Post> next_post();
    // Index of the host's rank that is to begin its next step.
    std::optional<std::uint32_t> next_collective();

    const ProgramSettings& settings() const { return settings_; }
    const Program& program() const { return *settings_.programs->at(settings_.rank); }
    State state() const { return state_; }
    // Nothing of its own is due or under way, collectives apart.
    bool is_idle() const { return due_.empty() && pending_ == 0; }
    // Up to `now`.
    Figures figures(Time now) const;
    // The longest waits, the longest first.
    std::span<const Wait> slowest() const { return slowest_; }
    // Operations that have begun and not ended, computations apart; those that are there for a peer, sorted.
    std::vector<std::uint32_t> waiting() const;
    // The operation whose message was not acknowledged.
    std::optional<std::uint32_t> failed_operation() const { return failed_operation_; }

  private:
    enum class Part : std::uint32_t {
        data,
        request,
        clearance,
        more
    };  // of a message; `more` is not its last
    static constexpr std::uint32_t part_shift = 30;
    static constexpr std::uint32_t none = ~0U;

    // First in, first out; takes no memory while empty.
    template <class T>
    class Fifo {
      public:
        bool empty() const { return first_ == items_.size(); }
        const T& front() const { return items_[first_]; }
        void push(T item) { items_.push_back(std::move(item)); }
        T take() {
            T item = std::move(items_[first_++]);
            if (first_ == items_.size()) {
                items_.clear();
                first_ = 0;
            } else if (first_ >= compact_at && first_ * 2 >= items_.size()) {
                items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(first_));
                first_ = 0;
            }
            return item;
        }

      private:
        static constexpr std::size_t compact_at = 64;
        std::vector<T> items_;
        std::size_t first_ = 0;
    };

    struct Work {
        bool is_arrival;      // else an operation
        std::uint32_t index;  // of either
    };
    struct Stream {
        Fifo<Work> queue, resumed;    // for the second the NIC has become free
        std::optional<Work> current;  // that takes time
        bool is_served = false;
    };
    // A direction of the NIC, which takes one message after the other.
    struct NicTurn {
        Time free{};
        bool is_due = false;
        struct Waiting {
            std::uint32_t stream;
            Work work;
        };
        Fifo<Waiting> waiting;
    };
    // The current work of a stream is over, or something else than a stream is due.
    static constexpr std::uint32_t at_start = ~0U;
    static constexpr std::uint32_t nic_receives = at_start - 1;
    static constexpr std::uint32_t nic_sends = at_start - 2;
    struct Due {
        Time at;
        std::uint64_t order;
        std::uint32_t what;
        bool operator>(const Due& other) const {
            return at == other.at ? order > other.order : at > other.at;
        }
    };
    // A message that has come.
    struct Arrival {
        std::uint32_t source, operation;  // of it
        std::uint32_t receive;            // none: there is no such receive yet
        bool is_request;
        bool handled;  // the overhead is over
    };
    struct Queued {
        std::uint64_t order;
        std::uint32_t index;
    };
    using SourceAndTag = std::pair<std::uint32_t, std::uint32_t>;
    using Matching = std::map<SourceAndTag, Fifo<Queued>>;
    struct Posting {
        std::uint64_t bytes;
        std::uint32_t key;
    };
    struct LineState {
        Fifo<Posting> waiting;
        Fifo<std::uint32_t> sent;  // keys
        std::uint32_t pending = 0;
    };
    struct Collective {
        std::vector<std::uint32_t> operations;  // in their order
        std::uint32_t next = 0;
        bool runs = false;
    };
    struct Begun {
        Time at;
        Duration exposed;  // of the rank, by then
    };

    const Operation& operation(std::uint32_t n) const { return program_->operations[n]; }
    bool is_eager(const Operation& message, std::uint32_t sender) const {
        return Program::is_eager(message, sender, settings_.eager_bytes);
    }
    // Adds a span in which nothing changed.
    void add(Figures& figures, Duration span) const;
    void account(Time now);
    void release(std::uint32_t operation);
    void settle(Time now);
    void start(std::uint32_t operation, Time now);
    void begin(std::uint32_t operation, Time now);
    void end(std::uint32_t operation, Time now);
    void note_wait(std::uint32_t operation, Time now);
    void add_work(std::uint32_t stream, Work work, Time now);
    void serve(std::uint32_t stream, Time now);
    NicTurn* nic_of(const Work& work);
    void wait_for_nic(NicTurn& nic, Time now);
    void resume(NicTurn& nic, Time now);
    Duration take_up(const Work& work, Time now);
    void finish(const Work& work, Time now);
    void send(std::uint32_t operation, Part part, std::uint32_t to);
    void post_receive(std::uint32_t operation, Time now);
    void arrive(std::uint32_t source, std::uint32_t operation, bool is_request, Time now);
    void match(std::uint32_t receive, std::uint32_t arrival, Time now);
    std::uint32_t take_arrival(std::uint32_t receive);
    std::uint32_t take_receive(SourceAndTag message);
    std::uint32_t keep(const Arrival& arrival);
    void begin_collective(std::uint32_t place, Time now);
    std::uint32_t place_of(std::uint32_t collective) const;
    void check_done(Time now);

    ProgramSettings settings_;
    const Program* program_;
    State state_ = State::running;
    std::vector<std::uint32_t> waits_;     // by operation: for how many others
    Fifo<std::uint32_t> ready_;            // operations
    std::vector<std::uint32_t> together_;  // of those, while they start
    std::vector<Stream> streams_;
    std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
    std::uint64_t order_ = 0;
    NicTurn nic_sends_, nic_receives_;
    std::vector<LineState> lines_;
    std::unordered_map<std::uint32_t, std::uint32_t> line_to_;  // by peer
    Fifo<std::uint32_t> postable_;                              // lines that may have a message to post
    std::uint64_t pending_ = 0;                                 // messages that are not acknowledged
    Matching receives_, unexpected_;
    std::vector<Arrival> arrivals_;
    std::vector<std::uint32_t> vacant_;                               // of those
    std::unordered_map<std::uint64_t, std::uint32_t> awaited_;        // receives of large messages
    std::vector<Collective> collectives_;                             // as in the settings
    std::unordered_map<std::uint32_t, std::uint32_t> place_of_rank_;  // of those, by the host's rank
    Fifo<std::uint32_t> commands_;
    std::unordered_map<std::uint32_t, Begun> begun_;  // operations that wait for a peer
    std::optional<std::uint32_t> failed_operation_;
    std::vector<Wait> slowest_;
    std::uint32_t computing_ = 0;
    Time accounted_{};
    Duration exposed_{};  // when an operation ended that waited for a peer, last
    Figures figures_;
};

}  // namespace sluice::roce

// Collective communication of the ranks of a job: the state machine of one rank, and its queue pairs.
//
// A step is one run of the collective (collective_schedule.hh); `compute` lies between two steps. A rank
// posts a message when what it waits for has arrived, and ends a step when its own messages are acknowledged,
// too. It learns both from its own queue pairs only; messages of a queue pair arrive in order. Sends run
// ahead of the peer by at most `max_ahead` messages of a queue pair. With control messages a receiver clears
// each message to be sent, as NCCL's receivers do, up to `max_ahead` of each source before their data comes.
//
// Ranks of a server (hierarchical) take their time in it each by itself. Nothing allocates after
// construction.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lib/roce/collective_schedule.hh"
#include "lib/roce/send_schedule.hh"
#include "lib/values/units.hh"

namespace sluice::roce {

struct RankSettings {
    CollectiveSettings collective;
    std::uint32_t id = 0;    // of the collective, the same at all ranks
    std::uint32_t rank = 0;  // in [0, collective.ranks)
    QpIndex first_qp = 0;    // of the host's queue pairs; those of the collective follow each other
    std::uint32_t queue_pairs = 0;
    // The program that commands the rank, which of the host's, and the bytes of each step.
    std::optional<std::uint32_t> program;
    std::shared_ptr<const std::vector<std::uint64_t>> sizes;
    // The first queue pair of a strand to each of its targets and from each source, in their order. Control
    // messages have one each; there is none without them.
    struct Lines {
        std::vector<QpIndex> to, from;
        std::vector<QpIndex> clears, cleared;  // to each source, from each target
    };
    std::vector<Lines> strands;
};

// Connects all ranks of a collective. `connect` makes the queue pairs from a rank to another, `queue_pairs`
// of them for data, else one for control messages; it returns the first at each end. A host's follow each
// other. The order is that of ranks, strands and peers.
struct LineEnds {
    QpIndex sender, receiver;
};
using ConnectRanks = std::function<LineEnds(std::uint32_t from, std::uint32_t to, bool is_control)>;
std::vector<RankSettings> connect_ranks(const CollectiveSettings& settings, std::uint32_t id,
                                        const ConnectRanks& connect);

class CollectiveRank {
  public:
    enum class State : std::uint8_t { waiting, reducing, running, gathering, done, failed };
    static constexpr std::uint32_t max_ahead = 8;

    // A step that has begun; `received` and `ended`: once they are over.
    struct Step {
        Time begun;
        std::optional<Time> received;  // all data of the step, while strands have one message to post at most
        std::optional<Time> ended;
    };
    // A message that is to be posted now.
    struct Post {
        QpIndex qp;
        std::uint32_t bytes;
    };

    explicit CollectiveRank(const RankSettings& settings);

    // When a step begins, or its time in the server ends.
    std::optional<Time> next_timer() const { return is_timed() ? std::optional(due_) : std::nullopt; }
    void expire(Time now);
    // The program begins the next step.
    void command(Time now);
    // A step that a program commanded is over, or has failed; once.
    bool take_end() { return std::exchange(is_over_, false); }
    // Its message on its own `qp` has been acknowledged, or has failed; a peer's has arrived.
    void completed(QpIndex qp, bool failed, Time now);
    void delivered(QpIndex qp, Time now);
    // After each event, until there is none.
    std::optional<Post> next_post(Time now);
    // Meetings of its server to which this rank came, once; the others are to be told. Meetings are counted
    // from 0, and a rank is at most one ahead of another.
    struct Arrival {
        std::uint32_t meeting;
        Time came;
    };
    bool has_arrivals() const { return !arrivals_.empty(); }
    std::vector<Arrival> take_arrivals() { return std::exchange(arrivals_, {}); }
    // Another rank of the server came to a meeting.
    void join(const Arrival& arrival, Time now);
    // It waits for others of its server, or for the time in it.
    bool is_in_server() const { return state_ == State::reducing || state_ == State::gathering; }

    bool owns(QpIndex qp) const { return qp - settings_.first_qp < settings_.queue_pairs; }
    State state() const { return state_; }
    // Nothing of its own is due or under way.
    bool is_idle() const { return !is_timed() && pending_ == 0; }
    const RankSettings& settings() const { return settings_; }
    // Those that have begun; of a rank that a program commands the last one.
    std::span<const Step> steps() const { return steps_; }
    std::uint64_t ended_bytes() const { return ended_bytes_; }  // of steps that have ended

  private:
    // How far a strand has come in this step.
    struct Progress {
        std::uint32_t received = 0;
        std::uint32_t cleared = 0;  // of those that it receives, with control messages
        std::uint32_t sent = 0;
        std::uint32_t sent_qps = 0;  // of the next one
    };
    struct Line {
        std::uint32_t strand = 0;
        std::uint32_t pending = 0;    // of a queue pair to a peer: messages that are not completed
        std::uint64_t delivered = 0;  // of one from a peer: those that have come,
        std::uint64_t taken = 0;      // and that strands have counted
    };

    bool is_timed() const {
        return state_ == State::waiting ? !settings_.program : is_in_server() && !misses_ranks();
    }
    bool misses_ranks() const { return came_[meeting_ % 2] != settings_.collective.group().stride; }
    void begin_step(Time now);
    void meet(State part, Time now);
    Line& line(QpIndex qp) { return lines_[qp - settings_.first_qp]; }
    void begin(Time now);
    void end(Time now);
    void take(std::uint32_t strand);
    void wake(std::uint32_t strand);
    std::optional<Post> next_clearance(std::uint32_t strand);
    std::optional<Post> next_data(std::uint32_t strand);
    Post post(QpIndex qp, std::uint64_t bytes);
    void advance(Time now);

    RankSettings settings_;
    std::vector<Strand> strands_;
    std::vector<Progress> progress_;  // by strand
    std::vector<Line> lines_;
    State state_ = State::waiting;
    bool is_over_ = false;  // a step, for the program
    Time due_;
    std::uint32_t meeting_ = 0;            // the next one, or this one
    std::array<std::uint32_t, 2> came_{};  // ranks of the server, to a meeting and the one after it,
    std::array<Time, 2> last_came_{};      // the last of them
    std::vector<Arrival> arrivals_;
    std::uint32_t awake_ = 0;       // strands from here
    std::uint32_t asleep_ = 0;      // to before here may have a message to post
    std::uint64_t to_send_ = 0;     // messages of the step, counted once for all queue pairs,
    std::uint64_t to_receive_ = 0;  // likewise
    std::uint64_t pending_ = 0;     // messages posted and not completed
    std::vector<Step> steps_;
    std::uint32_t begun_ = 0;  // steps
    std::uint64_t ended_bytes_ = 0;
};

}  // namespace sluice::roce

// Collective communication of the ranks of a job: the peers to send to and to await in each round, and the
// state machine that follows.
//
// A step is one run of the collective over `bytes`, in rounds; `compute` lies between two steps. A rank goes
// to the next round when all awaited data has arrived, and ends a step when its own messages are
// acknowledged, too. It learns both from its own queue pairs only; messages of a queue pair arrive in order.
// Sends run ahead of the peer by at most `max_ahead` messages of a queue pair.
//
// Algorithms: rings as in NCCL (Patarasuk and Yuan, 2009); halving-doubling (Rabenseifner, 2004; Thakur et
// al., 2005); all-to-all in one round, as grouped sends and receives; pipeline: stages that hand parts on.
// Sizes are bytes, as nccl-tests counts them: of the whole buffer of a rank. Nothing allocates after
// construction.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "lib/roce/send_schedule.hh"
#include "lib/values/units.hh"

namespace sluice::roce {

enum class CollectiveKind : std::uint8_t {
    ring_allreduce,
    halving_doubling,
    all_to_all,
    all_gather,
    reduce_scatter,
    pipeline
};

struct CollectiveSettings {
    CollectiveKind kind = CollectiveKind::ring_allreduce;
    std::uint32_t ranks = 2;          // >= 2; of halving_doubling: a power of two
    std::uint64_t bytes = 1'000'000;  // >= chunks() * queue_pairs
    std::uint32_t parts = 8;          // of pipeline: a stage hands on 1/parts at once
    std::uint32_t queue_pairs = 1;    // to each peer, which share a message evenly
    std::uint32_t steps = 1;
    Duration compute{};  // between two steps
    Duration start{};    // of the first, from time 0

    std::uint32_t chunks() const { return kind == CollectiveKind::pipeline ? parts : ranks; }
};

// Data of some chunks to or from a peer.
struct Transfer {
    std::uint32_t peer;
    std::uint32_t chunk;
    std::uint32_t chunks;
};

// What one rank does in each round of a step. The transfers of a round are counted from 0.
class CollectiveRounds {
  public:
    CollectiveRounds(const CollectiveSettings& settings, std::uint32_t rank)
        : kind_(settings.kind), ranks_(settings.ranks), parts_(settings.parts), rank_(rank) {}

    std::uint32_t count() const;
    std::uint32_t sends(std::uint32_t round) const;
    std::uint32_t receives(std::uint32_t round) const;
    Transfer send(std::uint32_t round, std::uint32_t n) const;
    Transfer receive(std::uint32_t round, std::uint32_t n) const;
    // The ranks that it sends to, each once, in ascending order.
    std::vector<std::uint32_t> receivers() const;

  private:
    std::uint32_t before(std::uint32_t distance) const { return (rank_ + ranks_ - distance) % ranks_; }
    std::uint32_t after(std::uint32_t distance) const { return (rank_ + distance) % ranks_; }
    std::uint32_t ring_chunk(std::uint32_t round, std::uint32_t sender) const;

    CollectiveKind kind_;
    std::uint32_t ranks_, parts_, rank_;
};

// Bus bandwidth of nccl-tests (doc/PERFORMANCE.md), the load of a link, is this times `bytes` over the time;
// of pipeline: 1.
struct BusFactor {
    std::uint64_t numerator, denominator;
};
BusFactor bus_factor(CollectiveKind kind, std::uint32_t ranks);

struct RankSettings {
    CollectiveSettings collective;
    std::uint32_t id = 0;    // of the collective, the same at all ranks
    std::uint32_t rank = 0;  // in [0, collective.ranks)
    QpIndex first_qp = 0;    // of the host's queue pairs; those of the collective follow each other
    std::uint32_t queue_pairs = 0;
    // By the peer's rank: the first of the queue pairs to it, and from it, counted from first_qp.
    struct Peer {
        std::uint32_t to = 0;
        std::uint32_t from = 0;
    };
    std::vector<Peer> peers;
};

class CollectiveRank {
  public:
    enum class State : std::uint8_t { waiting, running, done, failed };
    static constexpr std::uint32_t max_ahead = 8;

    // A step that has begun; `received` and `ended`: once they are over.
    struct Step {
        Time begun;
        std::optional<Time> received;  // all data of the step
        std::optional<Time> ended;
    };
    // A message that is to be posted now.
    struct Post {
        QpIndex qp;
        std::uint32_t bytes;
    };

    explicit CollectiveRank(const RankSettings& settings);

    // When a step begins by itself.
    std::optional<Time> next_timer() const {
        return state_ == State::waiting ? std::optional(begins_) : std::nullopt;
    }
    void expire(Time now);
    // Its message on its own `qp` has been acknowledged, or has failed; a peer's has arrived.
    void completed(QpIndex qp, bool failed, Time now);
    void delivered(QpIndex qp, Time now);
    // After each event, until there is none.
    std::optional<Post> next_post(Time now);

    bool owns(QpIndex qp) const { return qp - settings_.first_qp < settings_.queue_pairs; }
    State state() const { return state_; }
    const RankSettings& settings() const { return settings_; }
    std::span<const Step> steps() const { return steps_; }  // those that have begun

  private:
    void begin_round();
    void advance(Time now);

    RankSettings settings_;
    CollectiveRounds rounds_;
    State state_ = State::waiting;
    Time begins_;
    std::uint32_t round_ = 0;
    std::uint32_t send_ = 0;     // of the round: the one that is posted next,
    std::uint32_t send_qp_ = 0;  // on the n-th of its queue pairs
    std::uint32_t missing_ = 0;  // messages that the round awaits
    std::uint64_t pending_ = 0;  // messages posted and not completed
    struct Line {
        std::uint32_t pending = 0;    // of a queue pair to a peer
        std::uint64_t delivered = 0;  // of one from a peer
        std::uint64_t awaited = 0;    // by the rounds until now
    };
    std::vector<Line> lines_;
    std::vector<Step> steps_;
};

}  // namespace sluice::roce

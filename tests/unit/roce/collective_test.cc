#include "lib/roce/collective.hh"

#include <array>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::collective_test {

using namespace sluice::roce;

namespace {

using Kind = CollectiveKind;
constexpr std::array kinds{Kind::ring_allreduce, Kind::halving_doubling, Kind::all_to_all,
                           Kind::all_gather,     Kind::reduce_scatter,   Kind::pipeline};
constexpr std::array<std::uint32_t, 5> sizes{2, 3, 4, 8, 16};

bool exists(Kind kind, std::uint32_t ranks) {
    return kind != Kind::halving_doubling || (ranks & (ranks - 1)) == 0;
}

using Contributions = std::set<std::uint32_t>;  // of ranks, to a chunk

// The ranks of a job on a network that takes one message a tick from each queue pair, in an order that
// `stride` decides. A message carries what its sender has of the chunks when it is posted.
class Job {
  public:
    Job(const CollectiveSettings& settings, std::uint32_t stride) : settings_(settings), stride_(stride) {
        const std::uint32_t n = settings.ranks;
        chunks_.assign(n, std::vector<Contributions>(settings.chunks()));
        for (std::uint32_t rank = 0; rank < n; ++rank)
            for (std::uint32_t chunk = 0; chunk < settings.chunks(); ++chunk)
                if (settings.kind != Kind::all_gather || chunk == rank) chunks_[rank][chunk] = {rank};
        std::vector<RankSettings> all(n);
        for (std::uint32_t rank = 0; rank < n; ++rank) {
            all[rank].collective = settings;
            all[rank].rank = rank;
            all[rank].first_qp = 7;
            all[rank].peers.resize(n);
        }
        for (std::uint32_t rank = 0; rank < n; ++rank)
            for (const std::uint32_t peer : CollectiveRounds(settings, rank).receivers()) {
                all[rank].peers[peer].to = all[rank].queue_pairs;
                all[peer].peers[rank].from = all[peer].queue_pairs;
                for (std::uint32_t qp = 0; qp < settings.queue_pairs; ++qp)
                    lines_[{rank, 7 + all[rank].queue_pairs++}] = {peer, 7 + all[peer].queue_pairs++, {}};
            }
        for (const RankSettings& each : all) ranks_.emplace_back(each);
        posted_.resize(n);
        sent_bytes_.resize(n);
    }

    void run() {
        for (bool any = true; any; ++now_.ps) {
            any = false;
            for (std::uint32_t n = 0; n < ranks_.size(); ++n) {
                const std::uint32_t rank = n * stride_ % settings_.ranks;
                if (ranks_[rank].next_timer()) any = true;
                ranks_[rank].expire(now_);
                post(rank);
            }
            for (auto& [from, line] : lines_) {
                if (line.messages.empty()) continue;
                any = true;
                if ((from.first + from.second + now_.ps) % stride_ != 0) continue;  // some wait
                arrive(from, line);
            }
        }
    }

    const CollectiveRank& rank(std::uint32_t n) const { return ranks_[n]; }
    const Contributions& chunk(std::uint32_t rank, std::uint32_t n) const { return chunks_[rank][n]; }
    std::uint64_t sent_bytes(std::uint32_t rank) const { return sent_bytes_[rank]; }
    // All-to-all: the senders of the chunks that a rank has.
    const Contributions& got(std::uint32_t rank) const { return chunks_[rank][rank]; }

  private:
    struct Message {
        Transfer transfer;
        std::vector<Contributions> content;
    };
    struct Line {
        std::uint32_t to;
        QpIndex there;
        std::deque<Message> messages;
    };

    void post(std::uint32_t rank) {
        while (const auto post = ranks_[rank].next_post(now_)) {
            Line& line = lines_.at({rank, post->qp});
            CHECK(line.messages.size() < CollectiveRank::max_ahead);
            CHECK(post->bytes > 0);
            sent_bytes_[rank] += post->bytes;
            const CollectiveRounds rounds(settings_, rank);
            // The n-th message to a peer is that of the n-th send to it.
            const std::uint32_t number = posted_[rank][post->qp]++;
            const Transfer transfer = send_to(rounds, line.to, number);
            Message message{transfer, {}};
            for (std::uint32_t n = 0; n < transfer.chunks; ++n)
                message.content.push_back(chunks_[rank][transfer.chunk + n]);
            line.messages.push_back(std::move(message));
        }
    }

    static Transfer send_to(const CollectiveRounds& rounds, std::uint32_t peer, std::uint32_t number) {
        std::vector<Transfer> all;
        for (std::uint32_t round = 0; round < rounds.count(); ++round)
            for (std::uint32_t n = 0; n < rounds.sends(round); ++n)
                if (rounds.send(round, n).peer == peer) all.push_back(rounds.send(round, n));
        return all[number % all.size()];
    }

    void arrive(const std::pair<std::uint32_t, QpIndex>& from, Line& line) {
        const Message message = std::move(line.messages.front());
        line.messages.pop_front();
        for (std::uint32_t n = 0; n < message.content.size(); ++n)
            chunks_[line.to][message.transfer.chunk + n].insert(message.content[n].begin(),
                                                                message.content[n].end());
        CHECK(ranks_[line.to].owns(line.there));
        ranks_[line.to].delivered(line.there, now_);
        post(line.to);
        ranks_[from.first].completed(from.second, false, now_);
        post(from.first);
    }

    CollectiveSettings settings_;
    std::uint32_t stride_;
    std::vector<std::vector<Contributions>> chunks_;  // by rank
    std::vector<CollectiveRank> ranks_;
    std::map<std::pair<std::uint32_t, QpIndex>, Line> lines_;  // by the sender's rank and queue pair
    std::vector<std::map<QpIndex, std::uint32_t>> posted_;     // by rank
    std::vector<std::uint64_t> sent_bytes_;
    Time now_{};
};

Contributions all_of(std::uint32_t ranks) {
    Contributions all;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) all.insert(rank);
    return all;
}

// What a rank has in the end.
void check_contents(const Job& job, const CollectiveSettings& settings, std::uint32_t rank) {
    const std::uint32_t n = settings.ranks;
    switch (settings.kind) {
        case Kind::ring_allreduce:
        case Kind::halving_doubling:
            for (std::uint32_t chunk = 0; chunk < n; ++chunk) CHECK(job.chunk(rank, chunk) == all_of(n));
            return;
        case Kind::all_gather:
            for (std::uint32_t chunk = 0; chunk < n; ++chunk)
                CHECK(job.chunk(rank, chunk) == Contributions{chunk});
            return;
        case Kind::reduce_scatter:
        case Kind::all_to_all:
            CHECK(job.got(rank) == all_of(n));
            return;
        case Kind::pipeline:
            for (std::uint32_t part = 0; part < settings.parts; ++part)
                CHECK(job.chunk(rank, part) == all_of(rank + 1));
            return;
    }
}

}  // namespace

TEST_GROUP(Collective){};

TEST(Collective, everyRankEndsWithEveryRanksContribution) {
    for (const Kind kind : kinds)
        for (const std::uint32_t ranks : sizes)
            for (const std::uint32_t queue_pairs : {1U, 3U})
                for (const std::uint32_t stride : {1U, 5U}) {
                    if (!exists(kind, ranks)) continue;
                    CollectiveSettings settings;
                    settings.kind = kind;
                    settings.ranks = ranks;
                    settings.bytes = 1009;  // a prime: chunks are of two sizes
                    settings.queue_pairs = queue_pairs;
                    Job job(settings, stride);
                    job.run();
                    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
                        CHECK(job.rank(rank).state() == CollectiveRank::State::done);
                        CHECK(job.rank(rank).steps()[0].ended.has_value());
                        check_contents(job, settings, rank);
                    }
                }
}

TEST(Collective, aRankSendsWhatTheBusFactorSays) {
    for (const Kind kind : kinds)
        for (const std::uint32_t ranks : sizes) {
            if (!exists(kind, ranks)) continue;
            CollectiveSettings settings;
            settings.kind = kind;
            settings.ranks = ranks;
            settings.bytes = 48'000;  // chunks of one size
            Job job(settings, 1);
            job.run();
            const BusFactor factor = bus_factor(kind, ranks);
            for (std::uint32_t rank = 0; rank + 1 < ranks; ++rank)
                LONGS_EQUAL(settings.bytes * factor.numerator / factor.denominator, job.sent_bytes(rank));
        }
}

TEST(Collective, stepsFollowEachOtherWithComputeBetween) {
    for (const Kind kind : kinds) {
        CollectiveSettings settings;
        settings.kind = kind;
        settings.ranks = 4;
        settings.bytes = 4096;
        settings.steps = 3;
        settings.compute = picoseconds(10);
        settings.start = Duration{5};
        Job job(settings, 3);
        job.run();
        for (std::uint32_t rank = 0; rank < 4; ++rank) {
            const auto steps = job.rank(rank).steps();
            LONGS_EQUAL(3, steps.size());
            LONGS_EQUAL(5, steps[0].begun.ps);
            for (std::size_t n = 0; n < 3; ++n) {
                CHECK(*steps[n].received <= *steps[n].ended);
                if (n != 0) LONGS_EQUAL(steps[n - 1].ended->ps + 10, steps[n].begun.ps);
            }
        }
    }
}

TEST(Collective, aRoundWaitsForItsDataAndAStepForItsAcknowledgements) {
    RankSettings settings;
    settings.queue_pairs = 2;
    settings.peers.resize(2);
    settings.peers[1] = {0, 1};
    CollectiveRank rank(settings);  // a ring of two
    CHECK_FALSE(rank.next_post(Time{0}).has_value());
    rank.expire(Time{0});
    LONGS_EQUAL(500'000, rank.next_post(Time{0})->bytes);
    CHECK_FALSE(rank.next_post(Time{0}).has_value());  // the data of the first round has not come
    rank.completed(0, false, Time{1});
    CHECK_FALSE(rank.next_post(Time{1}).has_value());
    rank.delivered(1, Time{2});
    CHECK(rank.next_post(Time{2}).has_value());
    rank.delivered(1, Time{3});
    LONGS_EQUAL(3, rank.steps()[0].received->ps);
    CHECK_FALSE(rank.steps()[0].ended.has_value());
    rank.completed(0, false, Time{4});
    LONGS_EQUAL(4, rank.steps()[0].ended->ps);
    CHECK(rank.state() == CollectiveRank::State::done);
}

TEST(Collective, dataOfAPeerThatIsAheadCountsForItsOwnRound) {
    RankSettings settings;
    settings.queue_pairs = 2;
    settings.peers.resize(2);
    settings.peers[1] = {0, 1};
    CollectiveRank rank(settings);
    rank.delivered(1, Time{0});  // the peer has begun before
    rank.expire(Time{1});
    CHECK(rank.next_post(Time{1}).has_value());
    CHECK(rank.next_post(Time{1}).has_value());
    CHECK_FALSE(rank.steps()[0].received.has_value());
    rank.delivered(1, Time{2});
    LONGS_EQUAL(2, rank.steps()[0].received->ps);
}

TEST(Collective, aRankWhoseMessageFailsPostsNothingMore) {
    RankSettings settings;
    settings.queue_pairs = 2;
    settings.peers.resize(2);
    settings.peers[1] = {0, 1};
    CollectiveRank rank(settings);
    rank.expire(Time{0});
    CHECK(rank.next_post(Time{0}).has_value());
    rank.completed(0, true, Time{1});
    rank.delivered(1, Time{2});
    CHECK(rank.state() == CollectiveRank::State::failed);
    CHECK_FALSE(rank.next_post(Time{2}).has_value());
    CHECK_FALSE(rank.next_timer().has_value());
}

}  // namespace sluice::collective_test

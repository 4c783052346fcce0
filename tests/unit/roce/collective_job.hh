// All ranks of a collective on a network without a rate, where a message takes a tick, and what each rank has
// of every byte.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "lib/roce/collective.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::collective_test {

using namespace sluice::roce;

using Kind = CollectiveKind;
constexpr std::array kinds{Kind::ring_allreduce, Kind::halving_doubling,      Kind::all_to_all,
                           Kind::all_gather,     Kind::reduce_scatter,        Kind::pipeline,
                           Kind::tree_allreduce, Kind::double_tree_allreduce, Kind::hierarchical_allreduce};

constexpr bool has_channels(Kind kind) {
    return kind != Kind::halving_doubling && kind != Kind::all_to_all && kind != Kind::pipeline;
}
constexpr bool is_allreduce(Kind kind) {
    return kind == Kind::ring_allreduce || kind == Kind::halving_doubling || kind == Kind::tree_allreduce ||
           kind == Kind::double_tree_allreduce || kind == Kind::hierarchical_allreduce;
}
constexpr bool exists(Kind kind, std::uint32_t ranks) {
    return kind != Kind::halving_doubling || (ranks & (ranks - 1)) == 0;
}

inline CollectiveSettings settings_of(Kind kind, std::uint32_t ranks, std::uint64_t bytes) {
    CollectiveSettings settings;
    settings.kind = kind;
    settings.ranks = ranks;
    settings.bytes = bytes;
    if (kind == Kind::hierarchical_allreduce) {  // servers of 3 ranks
        settings.ranks = 3 * ranks;
        settings.group_size = 3;
        settings.server_latency = Duration{1};
        settings.server_bandwidth = {UINT64_MAX};
    }
    return settings;
}

using Contributions = std::uint64_t;  // a bit for each rank, to a byte
constexpr Contributions of_rank(std::uint32_t rank) { return Contributions{1} << rank; }

// A message comes a tick after it is posted, or later: a `stride` above 1 makes some wait. It carries what
// its sender has when it is posted. A receiver adds it to what it has, or replaces that by it: contributions
// that come twice are an error.
class Job {
  public:
    static constexpr QpIndex first_qp = 7;

    explicit Job(const CollectiveSettings& settings, std::uint32_t stride = 1)
        : settings_(settings), stride_(stride), has_(settings.ranks), next_qp_(settings.ranks, first_qp) {
        const auto all = connect_ranks(settings, 0, [&](auto from, auto to, bool is_control) {
            const std::uint32_t count = is_control ? 1 : settings.queue_pairs;
            const LineEnds first{next_qp_[from], next_qp_[to]};
            for (std::uint32_t n = 0; n < count; ++n)
                lines_[{from, next_qp_[from]++}] = {to, next_qp_[to]++, is_control, {}, {}, {}};
            return first;
        });
        for (const RankSettings& each : all) ranks_.emplace_back(each);
        for (std::uint32_t rank = 0; rank < settings.ranks; ++rank) {
            begin_with(rank);
            expect_messages(all[rank]);
        }
        for (const auto& [from, line] : lines_) CHECK(line.sends == expected_.at({line.to, line.there}));
    }

    void run() {
        for (bool any = true; any; ++now_.ps) {
            any = false;
            for (auto& [from, line] : lines_) {
                if (line.messages.empty()) continue;
                any = true;
                if ((from.first + from.second + now_.ps) % stride_ != 0) continue;  // some wait
                bool comes = true;
                while (comes && !line.messages.empty() && line.messages.front().posted < now_) {
                    arrive(from, line);
                    comes = stride_ == 1;
                }
            }
            for (std::uint32_t n = 0; n < ranks_.size(); ++n) {
                const std::uint32_t rank = (n + static_cast<std::uint32_t>(now_.ps)) % settings_.ranks;
                if (ranks_[rank].next_timer()) any = true;
                ranks_[rank].expire(now_);
                post(rank);
            }
            any = meet() || any;
        }
    }

    const CollectiveRank& rank(std::uint32_t n) const { return ranks_[n]; }
    std::uint32_t queue_pairs(std::uint32_t rank) const { return next_qp_[rank] - first_qp; }
    // Contributions to each byte of a rank's buffer.
    const std::vector<Contributions>& has(std::uint32_t rank) const { return has_[rank]; }
    // All messages but control's, by their two ranks.
    std::uint64_t bytes(std::uint32_t from, std::uint32_t to) const {
        const auto found = bytes_.find({from, to});
        return found == bytes_.end() ? 0 : found->second;
    }
    std::uint64_t sent_bytes(std::uint32_t rank) const {
        std::uint64_t sum = 0;
        for (std::uint32_t to = 0; to < settings_.ranks; ++to) sum += bytes(rank, to);
        return sum;
    }
    std::uint64_t control_messages() const { return control_messages_; }
    // Ticks from the first step's beginning until all ranks had all data of it.
    std::int64_t ticks() const {
        Duration most{};
        for (const CollectiveRank& each : ranks_)
            most = std::max(most, *each.steps()[0].received - each.steps()[0].begun);
        return most.ps;
    }

  private:
    struct Message {
        Time posted;
        Extent data;
        std::vector<Contributions> content;
    };
    struct Line {
        std::uint32_t to;
        QpIndex there;
        bool is_control;
        std::vector<Extent> sends;  // of a step
        std::size_t posted;
        std::deque<Message> messages;
    };

    void begin_with(std::uint32_t rank) {
        has_[rank].assign(settings_.bytes, of_rank(rank));
        const RankGroup group = settings_.group();
        if (settings_.kind == Kind::all_gather) {
            has_[rank].assign(settings_.bytes, 0);
            for (std::uint32_t lane = 0; lane < settings_.lanes(); ++lane) {
                const Extent own = Extent{0, settings_.bytes}
                                       .share(settings_.lanes(), lane)
                                       .share(group.size, group.place(rank));
                std::fill_n(has_[rank].begin() + static_cast<std::ptrdiff_t>(own.begin), own.bytes,
                            of_rank(rank));
            }
        }
        // The ranks of a server have reduced and scattered.
        const std::uint32_t first = rank / 3 * 3;
        if (settings_.is_hierarchical())
            has_[rank].assign(settings_.bytes, of_rank(first) | of_rank(first + 1) | of_rank(first + 2));
    }

    void expect_messages(const RankSettings& settings) {
        const std::vector<Strand> strands = strands_of(settings_, settings.rank);
        for (std::size_t n = 0; n < strands.size(); ++n) {
            const auto each_queue_pair = [&](QpIndex first, const Extent& data, auto add) {
                for (std::uint32_t qp = 0; qp < settings_.queue_pairs; ++qp)
                    add(first + qp, data.share(settings_.queue_pairs, qp));
            };
            for (std::uint32_t m = 0; m < strands[n].sends(); ++m) {
                const auto [peer, data] = strands[n].send(m);
                CHECK(strands[n].awaits(m) <= strands[n].receives());
                if (m != 0) CHECK(strands[n].awaits(m - 1) <= strands[n].awaits(m));
                each_queue_pair(settings.strands[n].to[peer], data, [&](QpIndex qp, const Extent& share) {
                    lines_.at({settings.rank, qp}).sends.push_back(share);
                });
            }
            for (std::uint32_t m = 0; m < strands[n].receives(); ++m) {
                const auto [peer, data] = strands[n].receive(m);
                each_queue_pair(settings.strands[n].from[peer], data, [&](QpIndex qp, const Extent& share) {
                    expected_[{settings.rank, qp}].push_back(share);
                });
            }
            for (const QpIndex qp : settings.strands[n].cleared) expected_[{settings.rank, qp}];
        }
    }

    void post(std::uint32_t rank) {
        while (const auto post = ranks_[rank].next_post(now_)) {
            Line& line = lines_.at({rank, post->qp});
            CHECK(line.messages.size() < CollectiveRank::max_ahead);
            CHECK(post->bytes > 0);
            if (line.is_control) {
                LONGS_EQUAL(settings_.control_bytes, post->bytes);
                line.messages.push_back({now_, {}, {}});
                ++control_messages_;
                continue;
            }
            const Extent data = line.sends[line.posted++ % line.sends.size()];
            LONGS_EQUAL(data.bytes, post->bytes);
            bytes_[{rank, line.to}] += post->bytes;
            const auto begin = has_[rank].begin() + static_cast<std::ptrdiff_t>(data.begin);
            line.messages.push_back({now_, data, {begin, begin + static_cast<std::ptrdiff_t>(data.bytes)}});
        }
    }

    // Tells the ranks of a server of each other.
    bool meet() {
        bool any = false;
        for (std::uint32_t rank = 0; rank < settings_.ranks; ++rank) {
            for (const auto& arrival : ranks_[rank].take_arrivals()) {
                any = true;
                for (std::uint32_t other = rank / 3 * 3; other < rank / 3 * 3 + 3; ++other)
                    if (other != rank) ranks_[other].join(arrival, now_);
            }
        }
        return any;
    }

    void arrive(const std::pair<std::uint32_t, QpIndex>& from, Line& line) {
        const Message message = std::move(line.messages.front());
        line.messages.pop_front();
        bool twice = false;
        for (std::size_t n = 0; n < message.content.size() && settings_.kind != Kind::all_to_all; ++n) {
            Contributions& own = has_[line.to][message.data.begin + n];
            const Contributions come = message.content[n];
            twice = twice || ((own & come) != 0 && (own & come) != own);
            own |= come;
        }
        CHECK(!twice || settings_.steps > 1);
        CHECK(ranks_[line.to].owns(line.there));
        ranks_[line.to].delivered(line.there, now_);
        ranks_[from.first].completed(from.second, false, now_);
    }

    CollectiveSettings settings_;
    std::uint32_t stride_;
    std::vector<std::vector<Contributions>> has_;  // by rank and byte
    std::vector<QpIndex> next_qp_;                 // by rank
    std::vector<CollectiveRank> ranks_;
    std::map<std::pair<std::uint32_t, QpIndex>, Line> lines_;  // by the sender's rank and queue pair
    std::map<std::pair<std::uint32_t, QpIndex>, std::vector<Extent>> expected_;  // by the receiver's
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> bytes_;
    std::uint64_t control_messages_ = 0;
    Time now_{};
};

}  // namespace sluice::collective_test

// Programs of ranks over a network without packets: each message arrives after a latency and a time for each
// byte, and is acknowledged a latency later; so times are closed forms of LogGP.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lib/roce/program_rank.hh"

namespace sluice::program_test {

using namespace sluice::roce;
using Operation = Program::Operation;
using Kind = Operation::Kind;

constexpr Duration latency = nanoseconds(2000);
constexpr std::int64_t ps_a_byte = 100;

struct Edge {
    std::uint32_t operation, before;
    bool until_begun = false;
};

inline std::shared_ptr<const Program> program(std::vector<Operation> operations,
                                              const std::vector<Edge>& edges = {}) {
    auto made = std::make_shared<Program>();
    made->operations = std::move(operations);
    made->waits.resize(made->size());
    for (const Operation& each : made->operations) made->streams = std::max(made->streams, each.stream + 1U);
    for (std::uint32_t before = 0; before < made->size(); ++before) {
        made->first.push_back(static_cast<std::uint32_t>(made->next.size()));
        for (const Edge& each : edges)
            if (each.before == before) {
                made->next.push_back({each.operation, each.until_begun});
                ++made->waits[each.operation];
            }
    }
    made->first.push_back(static_cast<std::uint32_t>(made->next.size()));
    return made;
}

inline Operation send(std::uint64_t bytes, std::uint32_t to, std::uint32_t tag = 0,
                      std::uint16_t stream = 0) {
    return {bytes, to, tag, 0, stream, Kind::send};
}
inline Operation receive(std::uint64_t bytes, std::uint32_t from, std::uint32_t tag = 0,
                         std::uint16_t stream = 0) {
    return {bytes, from, tag, 0, stream, Kind::receive};
}
inline Operation compute(Duration time, std::uint16_t stream = 0) {
    return {static_cast<std::uint64_t>(time.ps), 0, 0, 0, stream, Kind::compute};
}

// All pairs of ranks have a line each way.
class World {
  public:
    explicit World(Programs programs, HostCosts costs = {}, std::uint64_t eager_bytes = UINT64_MAX) {
        const auto shared = std::make_shared<const Programs>(std::move(programs));
        const auto count = static_cast<std::uint32_t>(shared->size());
        for (std::uint32_t rank = 0; rank < count; ++rank) {
            ProgramSettings own{.programs = shared,
                                .rank = rank,
                                .costs = costs,
                                .eager_bytes = eager_bytes,
                                .lines = {},
                                .collectives = {}};
            for (std::uint32_t peer = 0; peer < count; ++peer)
                if (peer != rank) {
                    own.lines.push_back({peer, true});
                    own.lines.push_back({peer, false});
                }
            ranks.emplace_back(std::move(own));
        }
    }

    // Until nothing is left.
    void run() {
        for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) post(rank);
        for (;;) {
            std::optional<Time> next;
            if (!events_.empty()) next = events_.begin()->first;
            for (const ProgramRank& each : ranks) take_earlier(next, each.next_timer());
            if (!next) return;
            now = *next;
            for (std::uint32_t rank = 0; rank < ranks.size(); ++rank) {
                ranks[rank].expire(now);
                post(rank);
            }
            while (!events_.empty() && events_.begin()->first == now) {
                const auto event = events_.begin()->second;
                events_.erase(events_.begin());
                event();
            }
        }
    }

    std::int64_t ended_ns(std::uint32_t rank) const {
        const auto ended = ranks[rank].figures(now).ended;
        return ended ? (*ended - Time{}).ps / 1000 : -1;
    }
    bool done() const {
        return std::ranges::all_of(
            ranks, [](const ProgramRank& each) { return each.state() == ProgramRank::State::done; });
    }

    std::vector<ProgramRank> ranks;
    Time now{};
    std::uint64_t posted = 0, posted_bytes = 0;
    bool fails = false;  // every message

  private:
    static QpIndex line(std::uint32_t self, std::uint32_t peer, bool sends) {
        return 2 * (peer < self ? peer : peer - 1) + (sends ? 0 : 1);
    }

    void post(std::uint32_t rank) {
        while (const auto post = ranks[rank].next_post()) {
            ++posted;
            posted_bytes += post->bytes;
            const std::uint32_t peer = ranks[rank].settings().lines[post->qp].peer;
            Time& free = line_free_[{rank, peer}];
            free = max(free, now) + Duration{ps_a_byte} * post->bytes;
            const Time arrives = free + latency;
            if (!fails)
                at(arrives, peer, [this, rank, peer, key = post->key] {
                    ranks[peer].delivered(line(peer, rank, false), key, now);
                });
            at(arrives + latency, rank,
               [this, rank, qp = post->qp] { ranks[rank].completed(qp, fails, now); });
        }
    }

    void at(Time time, std::uint32_t rank, std::function<void()> event) {
        events_.emplace(time, [this, rank, event = std::move(event)] {
            event();
            post(rank);
        });
    }

    std::multimap<Time, std::function<void()>> events_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, Time> line_free_;
};

// A message is acknowledged one latency after it has arrived.
constexpr std::int64_t latency_ns = latency.ps / 1000;
inline std::int64_t wire_ns(std::uint64_t bytes) {
    return latency_ns + static_cast<std::int64_t>(bytes) * ps_a_byte / 1000;
}

}  // namespace sluice::program_test

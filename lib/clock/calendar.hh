// Alarms of many: the earliest moment, and whose has come. A winner tree: a change costs O(log n), without a
// branch that could be mispredicted. Of equal moments the lowest number comes first. Moments are within 106
// days of one another (Time wraps).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "lib/values/port_set.hh"
#include "lib/values/units.hh"

namespace sluice {

class Calendar {
  public:
    static constexpr std::uint32_t nobody = ~0U;
    struct Entry {
        Time at{};
        std::uint32_t number = nobody;
        bool is_due(Time now) const { return number != nobody && at <= now; }
        std::optional<Time> time() const { return number != nobody ? std::optional(at) : std::nullopt; }
    };
    static Entry earlier(const Entry& a, const Entry& b) {
        const unsigned before =
            unsigned{b.at < a.at} | (unsigned{b.at == a.at} & unsigned{b.number < a.number});
        const unsigned takes_b = unsigned{b.number != nobody} & (unsigned{a.number == nobody} | before);
        return {{takes_b != 0 ? b.at.ps : a.at.ps}, takes_b != 0 ? b.number : a.number};
    }

    explicit Calendar(std::size_t count) : nodes_(std::max<std::size_t>(2 * count, 2)) {}

    // Not fewer than before; entries stay.
    void resize(std::size_t count) {
        std::vector<Entry> before(2 * count);
        before.swap(nodes_);
        for (std::size_t place = 0; place < before.size() / 2; ++place)
            nodes_[leaf(static_cast<std::uint32_t>(place))] = before[before.size() / 2 + place];
        for (std::size_t node = nodes_.size() / 2 - 1; node > 0; --node)
            nodes_[node] = earlier(nodes_[2 * node], nodes_[2 * node + 1]);
    }

    void set(std::uint32_t number, std::optional<Time> at) { put(number, at ? Entry{*at, number} : Entry{}); }
    // The leaf at `place` gets an entry of any number.
    void put(std::uint32_t place, Entry entry) {
        std::size_t node = leaf(place);
        nodes_[node] = entry;
        for (; node > 1; node /= 2) nodes_[node / 2] = entry = earlier(entry, nodes_[node ^ 1U]);
    }

    const Entry& first() const { return nodes_[1]; }
    std::optional<Time> earliest() const { return first().time(); }
    // Takes the first whose moment is not after `now`.
    std::optional<std::uint32_t> take_due(Time now) {
        const Entry entry = first();
        if (!entry.is_due(now)) return std::nullopt;
        set(entry.number, std::nullopt);
        return entry.number;
    }

    // Ahead of put: the nodes near the leaf, which are in no cache where there are thousands.
    void fetch(std::uint32_t place) const {
        std::size_t node = leaf(place);
        for (unsigned level = 0; level < 5; ++level, node /= 2) __builtin_prefetch(&nodes_[node]);
    }

  private:
    std::size_t leaf(std::uint32_t place) const { return nodes_.size() / 2 + place; }

    std::vector<Entry> nodes_;  // from 1, the root: the first below each
};

// An alarm for each port of a switch: the earliest, and whose have come. Ports stand in blocks of eight with
// the earliest of each: vector instructions compare a block's, and of all blocks, at once. Moments are within
// 106 days of one another (Time wraps).
class PortAlarms {
  public:
    // For all ports at `first`.
    PortAlarms(std::size_t ports, Time first)
        : ports_(ports),
          at_((ports + block - 1) / block * block, first.ps),
          earliest_(at_.size() / block, first.ps) {}

    void set(PortId port, Time at) {
        const std::size_t first = port / block * block;
        // Beyond the last port the block is filled with one of its alarms.
        if (first + block > ports_)
            for (std::size_t beyond = ports_; beyond < first + block; ++beyond) at_[beyond] = at.ps;
        at_[port] = at.ps;
        Lanes low, high;
        load(first, low, high);
        low -= static_cast<std::int64_t>(at.ps);
        high -= static_cast<std::int64_t>(at.ps);
        const Lanes least = low < high ? low : high;
        earliest_[port / block] = at.ps + static_cast<std::uint64_t>(std::min(std::min(least[0], least[1]),
                                                                              std::min(least[2], least[3])));
    }

    // Time from `now` to the earliest, at most `longest`; below 0 when it has passed.
    Duration until_earliest(Time now, Duration longest) const {
        std::int64_t least = longest.ps;
        for (const std::uint64_t at : earliest_)
            least = std::min(least, static_cast<std::int64_t>(at - now.ps));
        return {least};
    }

    // Adds the ports whose moment is not after `now`.
    void add_due(PortSet& ports, Time now) const {
        const std::uint64_t* const earliest = earliest_.data();
        for (std::size_t n = 0, blocks = earliest_.size(); n < blocks; ++n) {
            if (static_cast<std::int64_t>(earliest[n] - now.ps) > 0) [[likely]]
                continue;
            Lanes low, high;
            load(n * block, low, high);
            low = (low - static_cast<std::int64_t>(now.ps) <= 0) & Lanes{1, 2, 4, 8};
            low |= (high - static_cast<std::int64_t>(now.ps) <= 0) & Lanes{16, 32, 64, 128};
            auto due = static_cast<std::uint64_t>(low[0] | low[1] | low[2] | low[3]);
            if (const std::size_t here = ports_ - n * block; here < block)
                due &= (std::uint64_t{1} << here) - 1;
            ports.add_some(static_cast<PortId>(n * block), due);
        }
    }

  private:
    static constexpr std::size_t block = 8;
    using Lanes [[gnu::vector_size(32)]] = std::int64_t;  // half a block

    void load(std::size_t first, Lanes& low, Lanes& high) const {
        std::memcpy(&low, &at_[first], sizeof low);
        std::memcpy(&high, &at_[first + block / 2], sizeof high);
    }

    std::size_t ports_;
    std::vector<std::uint64_t> at_;        // by port; ps
    std::vector<std::uint64_t> earliest_;  // by block
};

}  // namespace sluice

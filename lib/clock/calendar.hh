// When each of many is to be looked at again: the earliest moment, and whose has come. A binary heap, so that
// a change costs by the logarithm of how many have a moment, and one without a moment costs nothing. Of equal
// moments the lowest number comes first. Moments are within 106 days of one another (Time wraps).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lib/values/port_mask.hh"
#include "lib/values/units.hh"

namespace sluice {

class Calendar {
  public:
    explicit Calendar(std::size_t count) : place_(count, none) { heap_.reserve(count); }

    void set(std::uint32_t number, std::optional<Time> at) {
        if (place_[number] == none) {
            if (!at) return;
            place_[number] = static_cast<std::uint32_t>(heap_.size());
            heap_.push_back({*at, number});
        } else if (!at) {
            remove(place_[number]);
            return;
        } else {
            heap_[place_[number]].at = *at;
        }
        sink(rise(place_[number]));
    }

    std::optional<Time> earliest() const {
        return heap_.empty() ? std::nullopt : std::optional(heap_.front().at);
    }

    // The first whose moment is not after `now`, which then has none.
    std::optional<std::uint32_t> take_due(Time now) {
        if (heap_.empty() || heap_.front().at > now) return std::nullopt;
        const std::uint32_t number = heap_.front().number;
        remove(0);
        return number;
    }

  private:
    struct Entry {
        Time at;
        std::uint32_t number;
        bool operator<(const Entry& other) const {
            return at != other.at ? at < other.at : number < other.number;
        }
    };
    static constexpr std::uint32_t none = ~0U;

    void remove(std::uint32_t place) {
        const auto last = static_cast<std::uint32_t>(heap_.size() - 1);
        place_[heap_[place].number] = none;
        if (place != last) put(place, heap_[last]);
        heap_.pop_back();
        if (place != last) sink(rise(place));
    }
    void put(std::uint32_t place, const Entry& entry) {
        heap_[place] = entry;
        place_[entry.number] = place;
    }
    void swap(std::uint32_t a, std::uint32_t b) {
        const Entry entry = heap_[a];
        put(a, heap_[b]);
        put(b, entry);
    }
    // Both return where the entry ends.
    std::uint32_t rise(std::uint32_t place) {
        for (; place != 0 && heap_[place] < heap_[(place - 1) / 2]; place = (place - 1) / 2)
            swap(place, (place - 1) / 2);
        return place;
    }
    std::uint32_t sink(std::uint32_t place) {
        while (true) {
            std::uint32_t least = place;
            for (std::uint32_t child = 2 * place + 1; child <= 2 * place + 2 && child < heap_.size(); ++child)
                if (heap_[child] < heap_[least]) least = child;
            if (least == place) return place;
            swap(place, least);
            place = least;
        }
    }

    std::vector<Entry> heap_;
    std::vector<std::uint32_t> place_;  // of each number in the heap, or none
};

// For each port of a switch a moment at which it is to be looked at again: the earliest of them, and whose
// have come. All are compared each time, several at once (vector instructions), so that no order is to be
// kept. Moments are within 106 days of the `now` they are asked with (Time wraps).
class PortAlarms {
  public:
    // For all ports at `first`.
    PortAlarms(std::size_t ports, Time first) : at_(ports, first.ps) {}

    void set(PortId port, Time at) { at_[port] = at.ps; }

    // How long after `now` the earliest is, `longest` at most; below 0 when it has been.
    Duration until_earliest(Time now, Duration longest) const {
        std::int64_t least = longest.ps;
        for (const std::uint64_t at : at_) least = std::min(least, static_cast<std::int64_t>(at - now.ps));
        return {least};
    }

    // Ports whose moment is not after `now`.
    PortMask due(Time now) const {
        PortMask mask;
        for (std::size_t first = 0; first < at_.size(); first += 64) {
            const std::size_t count = std::min<std::size_t>(64, at_.size() - first);
            std::uint64_t word = 0;
            // By the sign of a difference, which moves to its place in one instruction.
            for (std::size_t i = 0; i < count; ++i) word |= (at_[first + i] - now.ps - 1) >> 63 << i;
            mask.set_word(first / 64, word);
        }
        return mask;
    }

  private:
    std::vector<std::uint64_t> at_;  // ps, as of bare numbers alone the compiler makes vectors
};

}  // namespace sluice

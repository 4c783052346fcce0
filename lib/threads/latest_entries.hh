// The last entries that one thread has written, for any other to read at any time: a new one replaces the
// oldest, without waiting for readers.
//
// Entries are numbered from 0 since the start. Each slot has a stamp, odd while its entry is written; a
// reader copies the entry between two looks at the stamp and tries again when they differ. Every word is an
// atomic of its own, so no read is a race, and the writer does nothing but stores.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "lib/threads/counters.hh"
#include "lib/values/lazy_array.hh"

namespace sluice {

template <class Entry>
class LatestEntries {
    static_assert(std::is_trivially_copyable_v<Entry> && sizeof(Entry) % sizeof(std::uint64_t) == 0);
    static constexpr std::size_t entry_words = sizeof(Entry) / sizeof(std::uint64_t);

  public:
    // At least one.
    explicit LatestEntries(std::size_t entries) : slots_(entries) { assert(entries > 0); }
    static constexpr std::uint64_t bytes(std::size_t entries) { return entries * sizeof(Slot); }
    void touch() { slots_.touch(); }

    // Writer: returns the entry's number.
    std::uint64_t add(const Entry& entry) {
        const std::uint64_t number = total_.get();
        write(number, entry);
        // Behind the entry: a reader that sees the number may yet find the slot older, and then skips it.
        total_.set(number + 1);
        return number;
    }
    // Writer: replaces the entry of that number. False: it is no longer in the ring.
    bool replace(std::uint64_t number, const Entry& entry) {
        if (!holds(number)) return false;
        write(number, entry);
        return true;
    }
    bool holds(std::uint64_t number) const {
        const std::uint64_t total = total_.get();
        return number < total && total - number <= slots_.size();
    }

    // Any thread.
    std::uint64_t total() const { return total_.get(); }
    // Nothing: no longer, or not yet, or replaced at every attempt.
    std::optional<Entry> read(std::uint64_t number) const {
        constexpr unsigned attempts = 100;
        const Slot& slot = slots_[number % slots_.size()];
        for (unsigned n = 0; n < attempts; ++n) {
            // acquire: all words of that write are there.
            const std::uint64_t before = slot.stamp.load(std::memory_order_acquire);
            if ((before & 1U) != 0) continue;
            std::array<std::uint64_t, entry_words> words;
            // acquire: a word of a later write brings its stamp with it.
            const std::uint64_t written = slot.number.load(std::memory_order_acquire);
            for (std::size_t i = 0; i < entry_words; ++i)
                words[i] = slot.words[i].load(std::memory_order_acquire);
            if (slot.stamp.load(std::memory_order_relaxed) != before) continue;
            if (before == 0 || written != number) return std::nullopt;
            return std::bit_cast<Entry>(words);
        }
        return std::nullopt;
    }
    // Any thread: calls visit(number, entry) for all, the oldest first.
    template <class Visit>
    void for_each(Visit visit) const {
        const std::uint64_t end = total();
        for (std::uint64_t n = end > slots_.size() ? end - slots_.size() : 0; n < end; ++n)
            if (const auto entry = read(n)) visit(n, *entry);
    }

  private:
    struct Slot {
        std::atomic<std::uint64_t> stamp{0};  // even: of a whole entry; 0: of none
        std::atomic<std::uint64_t> number{0};
        std::array<std::atomic<std::uint64_t>, entry_words> words{};
    };

    void write(std::uint64_t number, const Entry& entry) {
        Slot& slot = slots_[number % slots_.size()];
        std::array<std::uint64_t, entry_words> words;
        std::memcpy(words.data(), &entry, sizeof(Entry));
        const std::uint64_t stamp = slot.stamp.load(std::memory_order_relaxed);
        slot.stamp.store(stamp + 1, std::memory_order_relaxed);
        // release: a reader that sees such a word sees the odd stamp, or a later one.
        slot.number.store(number, std::memory_order_release);
        for (std::size_t i = 0; i < entry_words; ++i)
            slot.words[i].store(words[i], std::memory_order_release);
        slot.stamp.store(stamp + 2, std::memory_order_release);
    }

    LazyArray<Slot> slots_;
    Counter total_;
};

}  // namespace sluice

// Longest-prefix match: a multibit trie of 4-byte entries, in memory that the caller gives.
//
// The root is a table of 2^16 or 2^24 entries, indexed by the first bits of the address; each further step is
// a table of 256 entries, 1 KiB, for the next 8 bits. A prefix is written into every entry that it covers; an
// entry has the prefix's value and length, so a change writes only where its prefix is. Prefixes of up to 8
// bits have a table of their own, used when the rest has no answer: a default route is 256 writes, not 16
// million.
//
// A table exists exactly while it holds a prefix longer than the bits that lead to it, so memory depends on
// the set of prefixes only.
//
// Written by control while no worker reads it. Addresses are bytes in network order, 4 or 16.
#pragma once

#include <cstdint>
#include <span>

namespace sluice {

// The reading half. A copy reads the same tables; a loop keeps one in registers.
class PrefixLookup {
  public:
    static constexpr unsigned value_bits = 23;  // values in [1, 2^23); 0: no prefix
    static constexpr std::size_t table_entries = 256;

    std::uint32_t find(const std::uint8_t* address) const {
        std::uint32_t entry = root_[root_index(address)];
        for (unsigned byte = root_bits_ / 8; (entry & leads_on) != 0; ++byte)
            entry = table(entry)[address[byte]];
        return value_of(entry != 0 ? entry : short_[address[0]]);
    }
    std::uint32_t find(std::uint32_t address) const {  // IPv4, host order
        std::uint32_t entry = root_[address >> (32 - root_bits_)];
        for (unsigned shift = 24 - root_bits_; (entry & leads_on) != 0; shift -= 8)
            entry = table(entry)[address >> shift & 0xFFU];
        return value_of(entry != 0 ? entry : short_[address >> 24]);
    }

  protected:
    PrefixLookup(std::span<std::uint32_t> memory, unsigned root_bits)
        : root_bits_(root_bits),
          short_(memory.data()),
          root_(short_ + table_entries),
          tables_(root_ + (std::size_t{1} << root_bits)) {}

    static constexpr std::uint32_t leads_on = 1U << 31;  // the rest is the number of a table
    static constexpr std::uint32_t value_mask = (1U << value_bits) - 1;

    static std::uint32_t value_of(std::uint32_t entry) { return entry & value_mask; }
    std::size_t root_index(const std::uint8_t* address) const {
        const std::size_t first = std::size_t{address[0]} << 8 | address[1];
        return root_bits_ == 16 ? first : first << 8 | address[2];
    }
    std::uint32_t* table(std::uint32_t entry) const {
        return tables_ + std::size_t{entry & ~leads_on} * table_entries;
    }

    unsigned root_bits_;
    std::uint32_t* short_;
    std::uint32_t* root_;
    std::uint32_t* tables_;
};

class PrefixTrie : private PrefixLookup {
  public:
    using PrefixLookup::value_bits;

    // Entries of memory that it takes; `root_bits` is 16 or 24.
    static constexpr std::size_t entries(unsigned root_bits, std::size_t tables) {
        return table_entries + (std::size_t{1} << root_bits) + tables * table_entries;
    }
    // `memory`: all zero, for at most 2^24 tables.
    PrefixTrie(std::span<std::uint32_t> memory, unsigned root_bits);

    // Adds a prefix or replaces its value. False when there are too few tables: nothing has changed then.
    bool set(const std::uint8_t* address, unsigned length, std::uint32_t value);
    // Removes a prefix that is there. `cover`: the longest other one that covers it; value 0: none does.
    struct Cover {
        unsigned length = 0;
        std::uint32_t value = 0;
    };
    void remove(const std::uint8_t* address, unsigned length, Cover cover);

    const PrefixLookup& lookup() const { return *this; }
    std::size_t tables_used() const { return used_; }
    std::size_t tables() const { return table_count_; }

  private:
    static constexpr unsigned short_bits = 8;

    static unsigned length_of(std::uint32_t entry) { return entry >> value_bits; }
    static std::uint32_t entry_of(unsigned length, std::uint32_t value) {
        return static_cast<std::uint32_t>(length << value_bits) | value;
    }
    std::size_t tables_left() const { return table_count_ - used_; }
    std::uint32_t take_table(std::uint32_t content);
    void give_back(std::uint32_t entry);
    static std::span<std::uint32_t> part(std::uint32_t* table, unsigned index, unsigned free_bits);
    template <class Change>
    void change_each(std::span<std::uint32_t> part, Change change);

    std::size_t table_count_;
    std::size_t used_ = 0;
    std::size_t fresh_ = 0;         // tables from here on have never been used
    std::uint32_t given_back_ = 0;  // the last one, whose first entry leads to the one before; 0: none
};

}  // namespace sluice

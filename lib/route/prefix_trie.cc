#include "lib/route/prefix_trie.hh"

#include <algorithm>
#include <array>

namespace sluice {

PrefixTrie::PrefixTrie(std::span<std::uint32_t> memory, unsigned root_bits)
    : PrefixLookup(memory, root_bits),
      table_count_((memory.size() - entries(root_bits, 0)) / table_entries) {}

std::uint32_t PrefixTrie::take_table(std::uint32_t content) {
    std::uint32_t entry = given_back_;
    if (entry != 0)
        given_back_ = *table(entry);
    else
        entry = leads_on | static_cast<std::uint32_t>(fresh_++);
    ++used_;
    std::fill_n(table(entry), table_entries, content);
    return entry;
}

void PrefixTrie::give_back(std::uint32_t entry) {
    *table(entry) = given_back_;
    given_back_ = entry;
    --used_;
}

// The entries of a prefix in the table that it ends in: `free_bits` of the index are beyond its length.
std::span<std::uint32_t> PrefixTrie::part(std::uint32_t* table, unsigned index, unsigned free_bits) {
    const std::size_t count = std::size_t{1} << free_bits;
    return {table + (index & ~(count - 1)), count};
}

template <class Change>
void PrefixTrie::change_each(std::span<std::uint32_t> part, Change change) {
    for (std::uint32_t& entry : part) {
        if ((entry & leads_on) != 0)
            change_each({table(entry), table_entries}, change);
        else
            change(entry);
    }
}

bool PrefixTrie::set(const std::uint8_t* address, unsigned length, std::uint32_t value) {
    const std::uint32_t fresh = entry_of(length, value);
    const auto write = [&](std::span<std::uint32_t> part) {
        change_each(part, [&](std::uint32_t& entry) {
            if (length_of(entry) <= length) entry = fresh;
        });
        return true;
    };
    if (length <= short_bits) return write(part(short_, address[0], short_bits - length));
    const auto index = static_cast<unsigned>(root_index(address));
    if (length <= root_bits_) return write(part(root_, index, root_bits_ - length));
    std::uint32_t* slot = root_ + index;
    unsigned bits = root_bits_;
    while (true) {
        if ((*slot & leads_on) == 0) {
            if ((length - bits + 7) / 8 > tables_left()) return false;
            *slot = take_table(*slot);
        }
        const unsigned byte = address[bits / 8];
        bits += 8;
        if (length <= bits) return write(part(table(*slot), byte, bits - length));
        slot = table(*slot) + byte;
    }
}

void PrefixTrie::remove(const std::uint8_t* address, unsigned length, Cover cover) {
    const bool covered_here = length <= short_bits || cover.length > short_bits;
    const std::uint32_t under = covered_here && cover.value != 0 ? entry_of(cover.length, cover.value) : 0;
    const auto clear = [&](std::span<std::uint32_t> part) {
        change_each(part, [&](std::uint32_t& entry) {
            if (length_of(entry) == length) entry = under;
        });
    };
    if (length <= short_bits) return clear(part(short_, address[0], short_bits - length));
    const auto index = static_cast<unsigned>(root_index(address));
    if (length <= root_bits_) return clear(part(root_, index, root_bits_ - length));
    std::array<std::uint32_t*, 16> path{};  // entries that lead to the tables on the way
    unsigned steps = 0;
    unsigned bits = root_bits_;
    std::uint32_t* slot = root_ + index;
    while (true) {
        path[steps++] = slot;
        const unsigned byte = address[bits / 8];
        bits += 8;
        if (length <= bits) {
            clear(part(table(*slot), byte, bits - length));
            break;
        }
        slot = table(*slot) + byte;
    }
    // Free tables in which every entry is of the prefix that covers them all.
    for (; steps > 0; --steps) {
        bits -= 8;
        const std::uint32_t entry = *path[steps - 1];
        const std::span<std::uint32_t> all(table(entry), table_entries);
        if (std::any_of(all.begin(), all.end(), [bits](std::uint32_t each) {
                return (each & leads_on) != 0 || length_of(each) > bits;
            }))
            return;
        *path[steps - 1] = all.front();
        give_back(entry);
    }
}

}  // namespace sluice

// A set of ports of one switch, as bits.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "lib/values/ids.hh"

namespace sluice {

class PortMask {
  public:
    static constexpr PortMask all() {
        PortMask mask;
        mask.words_.fill(~std::uint64_t{0});
        return mask;
    }
    constexpr void add(PortId port) { words_[port / 64U] |= std::uint64_t{1} << port % 64U; }
    constexpr void remove(PortId port) { words_[port / 64U] &= ~(std::uint64_t{1} << port % 64U); }
    constexpr PortMask& operator|=(const PortMask& other) {
        for (std::size_t word = 0; word < words_.size(); ++word) words_[word] |= other.words_[word];
        return *this;
    }
    constexpr void set_word(std::size_t word, std::uint64_t ports) { words_[word] = ports; }
    constexpr bool contains(PortId port) const { return (words_[port / 64U] >> port % 64U & 1U) != 0; }
    constexpr bool operator==(const PortMask&) const = default;

    // Lowest first.
    template <class Action>
    constexpr void for_each(Action action) const {
        for_each_of(0, action);
        if ((words_[1] | words_[2] | words_[3]) == 0) return;  // of most switches
        for (std::size_t word = 1; word < words_.size(); ++word) for_each_of(word, action);
    }

  private:
    template <class Action>
    constexpr void for_each_of(std::size_t word, Action& action) const {
        for (std::uint64_t left = words_[word]; left != 0; left &= left - 1)
            action(static_cast<PortId>(word * 64 + static_cast<unsigned>(std::countr_zero(left))));
    }

    std::array<std::uint64_t, max_ports / 64> words_{};
};
static_assert(max_ports == 256);

}  // namespace sluice

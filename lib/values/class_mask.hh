// Sets of a port's eight queues, groups or priorities as a mask: bit n is class n.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "lib/values/ids.hh"

namespace sluice {

// Lowest first. `mask` is taken before the first call of `action`.
template <class Action>
constexpr void for_each_class(unsigned mask, Action action) {
    for (; mask != 0; mask &= mask - 1) action(static_cast<ClassId>(std::countr_zero(mask)));
}

constexpr std::uint8_t mask_of(const auto& list) {
    unsigned mask = 0;
    for (const ClassId n : list) mask |= 1U << n;
    return static_cast<std::uint8_t>(mask);
}

// Such as the priorities of PFC frames to queues (802.1Q clause 36).
using ClassToClass = std::array<ClassId, classes>;

// The classes that those of `mask` map to: the queues that a pause of these priorities stops.
constexpr std::uint8_t map_classes(const ClassToClass& map, unsigned mask) {
    unsigned mapped = 0;
    for_each_class(mask, [&](ClassId n) { mapped |= 1U << map[n]; });
    return static_cast<std::uint8_t>(mapped);
}

// The classes that map to `target`: the priorities whose pause stops queue `target`.
constexpr std::uint8_t classes_that_map_to(const ClassToClass& map, ClassId target) {
    unsigned found = 0;
    for (unsigned n = 0; n < classes; ++n)
        if (map[n] == target) found |= 1U << n;
    return static_cast<std::uint8_t>(found);
}

}  // namespace sluice

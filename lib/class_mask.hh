// Sets of a port's eight queues, groups or priorities as a mask: bit n stands for class n.
#pragma once

#include <bit>

#include "lib/ids.hh"

namespace sluice {

// Lowest first. `mask` is taken before the first call of `action`.
template <class Action>
constexpr void for_each_class(unsigned mask, Action action) {
    for (; mask != 0; mask &= mask - 1) action(static_cast<ClassId>(std::countr_zero(mask)));
}

}  // namespace sluice

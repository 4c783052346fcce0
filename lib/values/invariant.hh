// Invariants of the mechanisms, checked where a value is written and again where it is used.
//
// An `assert` that costs a packet nothing is always on. SLUICE_INVARIANT is for those that cost instructions:
// checked in sanitizer builds and with -Dinvariants=true; else its condition is compiled and never evaluated.
// Code for checks only is behind `checks_invariants`.
#pragma once

#include <cassert>

#ifdef SLUICE_INVARIANTS
#ifdef NDEBUG
#error "invariants are checked with assert: build with b_ndebug=false"
#endif
#define SLUICE_INVARIANT(condition) assert(condition)
#else
#define SLUICE_INVARIANT(condition) static_cast<void>(sizeof(static_cast<bool>(condition)))
#endif

namespace sluice {

#ifdef SLUICE_INVARIANTS
constexpr bool checks_invariants = true;
#else
constexpr bool checks_invariants = false;
#endif

}  // namespace sluice

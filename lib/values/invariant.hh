// Invariants of the mechanisms, said where a value is written and again where it is relied on.
//
// An `assert` that costs a packet nothing is always compiled in. SLUICE_INVARIANT is for those that cost
// instructions: checked in the builds of sanitizers and with -Dinvariants=true, nothing else otherwise; its
// condition is then compiled and never evaluated. Code that only a check needs is kept behind
// `checks_invariants`.
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

// Longest-prefix match on DPDK's tables: addresses of a burst in, group numbers out.
// Written by control while no worker reads it (left-right: control keeps two and publishes the one it has
// changed).
#pragma once

#include <rte_fib.h>
#include <rte_fib6.h>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "dataplane/top_routes.hh"

namespace sluice {

// DIR-24-8 and its trie answer in one or two reads but take 64 MiB; the small type walks a tree and takes
// what its routes need, which is right for a virtual switch of a few routes.
enum class FibSize : std::uint8_t { small, large };

class Fib {
  public:
    static constexpr unsigned max_groups = 1U << 15;  // what a 2-byte entry of DIR-24-8 can name

    // Null when memory did not suffice. Names must differ within the process.
    // IPv6 has a size of its own: few switches need a large table for it, and none should wait for its pages.
    struct Sizes {
        FibSize v4 = FibSize::small;
        FibSize v6 = FibSize::small;
    };
    static std::unique_ptr<Fib> create(const std::string& name, Sizes sizes, unsigned max_routes);
    ~Fib();
    Fib(const Fib&) = delete;
    Fib& operator=(const Fib&) = delete;

    // Adds or replaces; false when the table is full. Host order address.
    bool add(std::uint32_t address, std::uint8_t length, std::uint32_t group);
    bool add(const std::array<std::uint8_t, 16>& address, std::uint8_t length, std::uint32_t group);
    bool remove(std::uint32_t address, std::uint8_t length);
    bool remove(const std::array<std::uint8_t, 16>& address, std::uint8_t length);

    void lookup(std::uint32_t* addresses, std::uint64_t* groups, unsigned count) const {
        rte_fib_lookup_bulk(v4_, addresses, groups, static_cast<int>(count));
        if (top_v4_.empty()) return;
        for (unsigned i = 0; i < count; ++i)
            if (groups[i] == none) groups[i] = top_v4_.find(leading_ones(addresses[i]));
    }
    void lookup(std::uint8_t addresses[][16], std::uint64_t* groups, unsigned count) const {
        rte_fib6_lookup_bulk(v6_, addresses, groups, static_cast<int>(count));
        if (top_v6_.empty()) return;
        for (unsigned i = 0; i < count; ++i)
            if (groups[i] == none) groups[i] = top_v6_.find(leading_ones(addresses[i]));
    }

    // Bytes of EAL memory that `create` takes, for sizing before EAL starts.
    static std::size_t bytes(Sizes sizes, unsigned max_routes);

  private:
    static constexpr std::uint32_t none = 0;  // what the tables answer without a route: group_no_route

    Fib(rte_fib* v4, rte_fib6* v6) : v4_(v4), v6_(v6) {}
    rte_fib* v4_;
    rte_fib6* v6_;
    TopRoutes<32> top_v4_{none};
    TopRoutes<128> top_v6_{none};
};

}  // namespace sluice

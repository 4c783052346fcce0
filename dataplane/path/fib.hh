// Longest-prefix match for both families: an address in, a group's number out.
// Written by control while no worker reads it (left-right: control keeps two and publishes the one it has
// changed).
//
// Not rte_fib: DPDK 22.11 forgets to count the second-level tables that it has promised or counts them twice
// (dir24_8.c, trie.c: rsvd_tbl8s), so after enough changes it refuses every longer prefix, and it hides that
// a replacement has failed.
#pragma once

#include <cstdint>
#include <memory>

#include "lib/frame/ip_address.hh"
#include "lib/route/prefix_trie.hh"
#include "lib/values/endian.hh"

namespace sluice {

class Fib {
  public:
    // A large root resolves prefixes up to /24 in one read and takes 64 MiB, a small one up to /16 and takes
    // 256 KiB, enough for a virtual switch of a few routes. `tables`: 1 KiB each, one for every 8 bits of a
    // longer prefix.
    struct Size {
        bool large = false;
        std::size_t tables = 1024;
    };
    // `ready`: no lookup waits for a page; in EAL's hugepages where there are any. Else, under the virtual
    // clock, a page is taken when a route needs it.
    struct Sizes {
        Size v4, v6;
        bool ready = true;
    };
    // Null when memory did not suffice.
    static std::unique_ptr<Fib> create(const Sizes& sizes);

    // `address`: in network order, 4 bytes or 16; see PrefixTrie.
    bool set(bool v6, const std::uint8_t* address, unsigned length, std::uint32_t group) {
        return family(v6).set(address, length, group);
    }
    void remove(bool v6, const std::uint8_t* address, unsigned length, PrefixTrie::Cover cover) {
        family(v6).remove(address, length, cover);
    }

    // IPv4 in host order, IPv6 in network order. group_no_route where there is none.
    std::uint32_t lookup(std::uint32_t address) const { return v4_.trie.lookup().find(address); }
    std::uint32_t lookup(const std::uint8_t* address) const { return v6_.trie.lookup().find(address); }
    std::uint32_t lookup(const IpAddress& address) const {
        return address.is_v6 ? lookup(address.bytes.data())
                             : lookup(load_be<std::uint32_t>(address.bytes.data()));
    }
    const PrefixTrie& tables(bool v6) const { return v6 ? v6_.trie : v4_.trie; }

    // Bytes that `create` takes, for sizing before EAL starts.
    static std::size_t bytes(const Sizes& sizes);

  private:
    struct Family {
        std::shared_ptr<void> memory;
        PrefixTrie trie;
    };
    Fib(Family v4, Family v6) : v4_(std::move(v4)), v6_(std::move(v6)) {}
    PrefixTrie& family(bool v6) { return v6 ? v6_.trie : v4_.trie; }

    Family v4_, v6_;
};

}  // namespace sluice

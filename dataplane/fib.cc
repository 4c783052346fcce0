#include "dataplane/fib.hh"

#include <rte_memory.h>

#include "dataplane/policy.hh"

namespace sluice {
namespace {

static_assert(group_no_route == 0, "Fib::none");

constexpr std::size_t tbl24_bytes = (std::size_t{1} << 24) * 2;
constexpr std::size_t rib_node_bytes = 128;  // a node with its mempool header, rounded up

// 256-entry second-level tables: one for each /24 (v4) or byte step (v6) with longer prefixes in it.
unsigned second_level_tables(unsigned max_routes, unsigned levels) {
    const unsigned wanted = 1024 + max_routes / 4 * levels;
    return wanted < (1U << 14) ? wanted : (1U << 14);  // 2-byte entries name at most 2^15 of them
}

}  // namespace

std::unique_ptr<Fib> Fib::create(const std::string& name, Sizes sizes, unsigned max_routes) {
    rte_fib_conf v4{};
    v4.type = RTE_FIB_DUMMY;
    v4.default_nh = group_no_route;
    v4.max_routes = static_cast<int>(max_routes);
    if (sizes.v4 == FibSize::large) {
        v4.type = RTE_FIB_DIR24_8;
        v4.dir24_8.nh_sz = RTE_FIB_DIR24_8_2B;
        v4.dir24_8.num_tbl8 = second_level_tables(max_routes, 1);
    }
    rte_fib6_conf v6{};
    v6.type = RTE_FIB6_DUMMY;
    v6.default_nh = group_no_route;
    v6.max_routes = static_cast<int>(max_routes);
    if (sizes.v6 == FibSize::large) {
        v6.type = RTE_FIB6_TRIE;
        v6.trie.nh_sz = RTE_FIB6_TRIE_2B;
        v6.trie.num_tbl8 = second_level_tables(max_routes, 4);
    }
    rte_fib* fib4 = rte_fib_create((name + "_4").c_str(), SOCKET_ID_ANY, &v4);
    rte_fib6* fib6 = rte_fib6_create((name + "_6").c_str(), SOCKET_ID_ANY, &v6);
    if (fib4 == nullptr || fib6 == nullptr) {
        rte_fib_free(fib4);
        rte_fib6_free(fib6);
        return nullptr;
    }
    return std::unique_ptr<Fib>(new Fib(fib4, fib6));
}

Fib::~Fib() {
    rte_fib_free(v4_);
    rte_fib6_free(v6_);
}

bool Fib::add(std::uint32_t address, std::uint8_t length, std::uint32_t group) {
    if (leading_ones(address) < length) return rte_fib_add(v4_, address, length, group) == 0;
    top_v4_.set(length, group);
    return true;
}

bool Fib::add(const std::array<std::uint8_t, 16>& address, std::uint8_t length, std::uint32_t group) {
    if (leading_ones(address.data()) < length) return rte_fib6_add(v6_, address.data(), length, group) == 0;
    top_v6_.set(length, group);
    return true;
}

bool Fib::remove(std::uint32_t address, std::uint8_t length) {
    if (leading_ones(address) < length) return rte_fib_delete(v4_, address, length) == 0;
    return top_v4_.remove(length);
}

bool Fib::remove(const std::array<std::uint8_t, 16>& address, std::uint8_t length) {
    if (leading_ones(address.data()) < length) return rte_fib6_delete(v6_, address.data(), length) == 0;
    return top_v6_.remove(length);
}

std::size_t Fib::bytes(Sizes sizes, unsigned max_routes) {
    std::size_t sum = 2 * std::size_t{max_routes} * 2 * rib_node_bytes;
    if (sizes.v4 == FibSize::large)
        sum += tbl24_bytes + std::size_t{512} * second_level_tables(max_routes, 1);
    if (sizes.v6 == FibSize::large)
        sum += tbl24_bytes + std::size_t{512} * second_level_tables(max_routes, 4);
    return sum;
}

}  // namespace sluice

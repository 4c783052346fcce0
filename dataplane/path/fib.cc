#include "dataplane/path/fib.hh"

#include <rte_eal.h>
#include <rte_malloc.h>

#include <cstdlib>
#include <utility>

#include "dataplane/base/memory.hh"
#include "dataplane/path/policy.hh"

namespace sluice {
namespace {

static_assert(group_no_route == 0, "what a trie answers without a prefix");

constexpr unsigned root_bits(const Fib::Size& size) { return size.large ? 24 : 16; }

std::size_t bytes_of(const Fib::Size& size) {
    return PrefixTrie::entries(root_bits(size), size.tables) * sizeof(std::uint32_t);
}

// Null when memory did not suffice.
std::shared_ptr<void> zeroes(std::size_t bytes, bool ready) {
    if (!ready) return {std::calloc(bytes, 1), std::free};
    if (rte_eal_has_hugepages() != 0) return {rte_zmalloc("fib", bytes, RTE_CACHE_LINE_SIZE), rte_free};
    auto pages = std::make_shared<LargePages>(bytes);
    if (pages->at() == nullptr) return nullptr;
    pages->touch();
    return {pages, pages->at()};
}

}  // namespace

std::unique_ptr<Fib> Fib::create(const Sizes& sizes) {
    auto v4 = zeroes(bytes_of(sizes.v4), sizes.ready), v6 = zeroes(bytes_of(sizes.v6), sizes.ready);
    if (!v4 || !v6) return nullptr;
    const auto family = [](std::shared_ptr<void> memory, const Size& size) {
        const std::span all(static_cast<std::uint32_t*>(memory.get()),
                            PrefixTrie::entries(root_bits(size), size.tables));
        return Family{std::move(memory), PrefixTrie(all, root_bits(size))};
    };
    return std::unique_ptr<Fib>(new Fib(family(std::move(v4), sizes.v4), family(std::move(v6), sizes.v6)));
}

std::size_t Fib::bytes(const Sizes& sizes) { return bytes_of(sizes.v4) + bytes_of(sizes.v6); }

}  // namespace sluice

#include "dataplane/path/fib.hh"

#include <rte_malloc.h>

#include <cstdlib>
#include <utility>

#include "dataplane/path/policy.hh"

namespace sluice {
namespace {

static_assert(group_no_route == 0, "what a trie answers without a prefix");

constexpr unsigned root_bits(const Fib::Size& size) { return size.large ? 24 : 16; }

std::size_t bytes_of(const Fib::Size& size) {
    return PrefixTrie::entries(root_bits(size), size.tables) * sizeof(std::uint32_t);
}

}  // namespace

void Fib::Free::operator()(std::uint32_t* memory) const {
    if (in_eal)
        rte_free(memory);
    else
        std::free(memory);
}

std::unique_ptr<Fib> Fib::create(const Sizes& sizes) {
    const auto allocate = [&](const Size& size) {
        void* memory = sizes.in_eal ? rte_zmalloc("fib", bytes_of(size), RTE_CACHE_LINE_SIZE)
                                    : std::calloc(bytes_of(size), 1);
        return std::unique_ptr<std::uint32_t, Free>(static_cast<std::uint32_t*>(memory), Free{sizes.in_eal});
    };
    auto v4 = allocate(sizes.v4), v6 = allocate(sizes.v6);
    if (!v4 || !v6) return nullptr;
    const auto family = [](std::unique_ptr<std::uint32_t, Free> memory, const Size& size) {
        const std::span all(memory.get(), PrefixTrie::entries(root_bits(size), size.tables));
        return Family{std::move(memory), PrefixTrie(all, root_bits(size))};
    };
    return std::unique_ptr<Fib>(new Fib(family(std::move(v4), sizes.v4), family(std::move(v6), sizes.v6)));
}

std::size_t Fib::bytes(const Sizes& sizes) { return bytes_of(sizes.v4) + bytes_of(sizes.v6); }

}  // namespace sluice

#include "dataplane/base/memory.hh"

#include <rte_eal.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "dataplane/base/packet_pool.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::large_pages_test {
namespace {

constexpr std::size_t large = std::size_t{2} << 20;

// What the system knows of the pages at `at`: "rd wr .. hg", where large ones are wished for.
std::string flags_of(const void* at) {
    std::ifstream maps("/proc/self/smaps");
    const auto wanted = reinterpret_cast<std::uintptr_t>(at);
    bool here = false;
    for (std::string line; std::getline(maps, line);) {
        std::uintptr_t first = 0, last = 0;
        char dash = 0;
        if (std::istringstream range(line); range >> std::hex >> first >> dash >> last && dash == '-')
            here = first <= wanted && wanted < last;
        else if (here && line.starts_with("VmFlags:"))
            return line + " ";
    }
    return {};
}

bool has_large_pages() { return std::filesystem::exists("/sys/kernel/mm/transparent_hugepage"); }

}  // namespace

TEST_GROUP(LargePages){};

TEST(LargePages, areAlignedAndZeroAndOurs) {
    for (const std::size_t bytes : {std::size_t{1}, large - 1, large, 3 * large + 1}) {
        LargePages memory(bytes);
        CHECK_TRUE(memory.at() != nullptr);
        LONGS_EQUAL(0, reinterpret_cast<std::uintptr_t>(memory.at()) % large);
        memory.touch();
        CHECK_TRUE(
            std::all_of(memory.at(), memory.at() + bytes, [](std::byte b) { return b == std::byte{}; }));
        std::fill(memory.at(), memory.at() + bytes, std::byte{0xA5});
        LargePages other(0);
        CHECK_TRUE(other.at() == nullptr);
        other = std::move(memory);
        CHECK_TRUE(other.at()[bytes - 1] == std::byte{0xA5});
    }
}

TEST(LargePages, areNoneWhereThereIsNoSuchSpace) {
    CHECK_TRUE(LargePages(std::size_t{1} << 50).at() == nullptr);
}

TEST(LargePages, haveThePacketsOfAPoolWithoutHugepages) {
    if (!has_large_pages() || rte_eal_has_hugepages() != 0) {
        std::printf("SKIP: this kernel knows no transparent huge pages, or DPDK has hugepages\n");
        return;
    }
    const PacketPool pool("large_pages", 4096, 0);
    rte_mbuf* packet = rte_pktmbuf_alloc(pool.pool());
    STRCMP_CONTAINS(" hg ", flags_of(packet).c_str());
    rte_pktmbuf_free(packet);
}

}  // namespace sluice::large_pages_test

#include "dataplane/base/memory.hh"

#include <sys/mman.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>

namespace sluice {

std::string HugepagePool::command_for(std::uint64_t bytes) const {
    constexpr std::uint64_t usual = std::uint64_t{2} << 20;
    const std::uint64_t each = page_bytes != 0 ? page_bytes : usual;
    const std::uint64_t used = pages - std::min(free, pages);
    return "sysctl vm.nr_hugepages=" + std::to_string(std::max(pages, used + (bytes + each - 1) / each));
}

HugepagePool read_hugepages(const std::string& root) {
    std::ifstream file(root + "/proc/meminfo");
    std::map<std::string, std::uint64_t> numbers;
    std::string key;
    std::uint64_t value = 0;
    while (file >> key >> value) {
        numbers[key] = value;
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    const std::uint64_t free = numbers["HugePages_Free:"];
    return {numbers["Hugepagesize:"] * 1024, numbers["HugePages_Total:"],
            free - std::min(free, numbers["HugePages_Rsvd:"])};
}

namespace {

constexpr std::size_t large = std::size_t{2} << 20, small = 4096;

}  // namespace

LargePages::LargePages(std::size_t bytes) {
    if (bytes == 0) return;
    bytes = (bytes + large - 1) / large * large;
    // A large page begins at a multiple of its size, but not every mmap does: map more, and unmap both ends.
    void* memory = mmap(nullptr, bytes + large, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return;
    auto* const first = static_cast<std::byte*>(memory);
    const std::size_t before = (large - reinterpret_cast<std::uintptr_t>(first) % large) % large;
    at_ = first + before;
    bytes_ = bytes;
    if (before != 0) munmap(first, before);
    munmap(at_ + bytes_, large - before);
    static_cast<void>(madvise(at_, bytes_, MADV_HUGEPAGE));  // a wish
}

void LargePages::touch() {
    volatile std::byte* const bytes = at_;
    for (std::size_t at = 0; at < bytes_; at += small) bytes[at] = std::byte{};
}

Mapping::Mapping(std::size_t bytes, int descriptor, std::int64_t offset) : bytes_(bytes) {
    void* memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, offset);
    if (memory != MAP_FAILED) at_ = static_cast<std::byte*>(memory);
}

Mapping::~Mapping() {
    if (at_ != nullptr) munmap(at_, bytes_);
}

}  // namespace sluice

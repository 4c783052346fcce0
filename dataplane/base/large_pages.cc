#include "dataplane/base/large_pages.hh"

#include <sys/mman.h>

#include <cstdint>

namespace sluice {
namespace {

constexpr std::size_t large = std::size_t{2} << 20, small = 4096;

}  // namespace

LargePages::LargePages(std::size_t bytes) {
    if (bytes == 0) return;
    bytes = (bytes + large - 1) / large * large;
    // A large page begins at a multiple of its size, which not every kernel's mmap does: more is taken, and
    // both ends given back.
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

LargePages::~LargePages() {
    if (at_ != nullptr) munmap(at_, bytes_);
}

void LargePages::touch() {
    volatile std::byte* const bytes = at_;
    for (std::size_t at = 0; at < bytes_; at += small) bytes[at] = std::byte{};
}

}  // namespace sluice

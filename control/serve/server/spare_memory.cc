#include "control/serve/server/spare_memory.hh"

#include <atomic>
#include <cstdlib>
#include <new>

namespace sluice {
namespace {

std::atomic<void*> spare_block{nullptr};
std::size_t block_bytes = 0;  // while there is one

// operator new calls it before it tries again; without a block it gives up.
void give_back() {
    void* held = spare_block.exchange(nullptr);
    if (held == nullptr) throw std::bad_alloc();
    std::free(held);
}

}  // namespace

bool SpareMemory::hold(std::size_t bytes) noexcept {
    if (spare_block != nullptr && block_bytes >= bytes) return true;
    void* held = std::malloc(bytes);
    if (held == nullptr) return false;  // a smaller block is still held
    std::free(spare_block.exchange(nullptr));
    block_bytes = bytes;
    spare_block = held;
    std::set_new_handler(give_back);
    return true;
}

}  // namespace sluice

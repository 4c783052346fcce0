// Memory kept for work that has begun, so that it is not left half done when memory runs out.
//
// A request is read, checked, published, noted and answered. Each step allocates; after the change is
// published nothing can be taken back, and to destroy JSON allocates, too, where a failure ends the process.
// So while a block is held, an allocation that fails is tried again with the block given back
// (std::set_new_handler), and no request begins without the block. For the whole process; control's thread
// holds and renews it.
#pragma once

#include <cstddef>

namespace sluice {

class SpareMemory {
  public:
    // Holds at least `bytes` from now on; false: they cannot be had, and the present block is kept. The block
    // is not written to, so it takes address space and no memory.
    static bool hold(std::size_t bytes) noexcept;
};

}  // namespace sluice

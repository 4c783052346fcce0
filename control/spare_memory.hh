// Memory kept for what has been begun, so that it is not left half done when memory runs out.
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
    // Twelve times what a request takes of a switch with 32 ports and few routes.
    static constexpr std::size_t usual_bytes = std::size_t{32} << 20U;

    // Holds at least `bytes`, and usual_bytes, from now on; false: they cannot be had. The kernel gives pages
    // of it only when they are used, which they are not.
    static bool hold(std::size_t bytes = usual_bytes) noexcept;
};

}  // namespace sluice

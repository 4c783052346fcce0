// The XDP program at an interface of the kernel, asked of the kernel for that interface alone: libbpf's
// question is answered for all of them, which is too much several times a second for each of many ports.
#pragma once

#include <cstdint>
#include <optional>

namespace sluice {

struct AttachedProgram {
    std::uint32_t id = 0;    // 0: there is none
    std::uint32_t mode = 0;  // XDP_FLAGS_DRV_MODE, ...: the way it is attached
};

// Nothing: the kernel does not say (errno), as of an interface that is gone.
std::optional<AttachedProgram> attached_program(int interface);

}  // namespace sluice

#include "dataplane/ports/kernel/mapping.hh"

#include <sys/mman.h>

#include <utility>

namespace sluice {

Mapping::Mapping(std::size_t bytes, int descriptor, std::int64_t offset) : bytes_(bytes) {
    void* memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, descriptor, offset);
    if (memory != MAP_FAILED) at_ = static_cast<std::byte*>(memory);
}

Mapping::~Mapping() {
    if (at_ != nullptr) munmap(at_, bytes_);
}

Mapping::Mapping(Mapping&& other) noexcept : at_(std::exchange(other.at_, nullptr)), bytes_(other.bytes_) {}

Mapping& Mapping::operator=(Mapping&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

}  // namespace sluice

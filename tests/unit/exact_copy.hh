// Bytes in a heap block of exactly their number, so that a sanitizer sees a read one byte too far. From
// malloc: CppUTest's own `new` puts guard bytes behind a block.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

namespace sluice {

class ExactCopy {
  public:
    explicit ExactCopy(std::span<const std::uint8_t> bytes)
        : bytes_(static_cast<std::uint8_t*>(std::malloc(bytes.size()))), size_(bytes.size()) {
        if (size_ != 0) std::memcpy(bytes_, bytes.data(), size_);
    }
    ~ExactCopy() { std::free(bytes_); }
    ExactCopy(const ExactCopy&) = delete;
    ExactCopy& operator=(const ExactCopy&) = delete;

    std::span<const std::uint8_t> view() const { return {bytes_, size_}; }

  private:
    std::uint8_t* bytes_;
    std::size_t size_;
};

}  // namespace sluice

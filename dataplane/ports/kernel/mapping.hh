// Memory that the kernel shares with a socket, mapped for as long as this lives.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

class Mapping {
  public:
    Mapping() = default;
    // From an offset of the socket's memory on. `at`: null when it failed (errno).
    Mapping(std::size_t bytes, int descriptor, std::int64_t offset);
    ~Mapping();
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    Mapping(Mapping&& other) noexcept;
    Mapping& operator=(Mapping&& other) noexcept;
    std::byte* at() const { return at_; }

  private:
    std::byte* at_ = nullptr;
    std::size_t bytes_ = 0;
};

}  // namespace sluice

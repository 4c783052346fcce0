// A packet socket on an interface of the kernel, the clock, and the lines of standard input: all that
// sluice-peer has to do with its machine. An error of the system throws Failure.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "dataplane/base/file_descriptor.hh"
#include "lib/frame/headers.hh"

namespace sluice::traffic {

[[noreturn]] void fail(const std::string& what);  // with errno's text

constexpr std::uint64_t second_ns = 1'000'000'000;
std::uint64_t now_ns();  // CLOCK_MONOTONIC, which all processes of a machine share

class Interface {
  public:
    explicit Interface(const std::string& name);

    int descriptor() const { return socket_.get(); }
    const MacAddress& mac() const { return mac_; }

    // False where the interface has no room for it now.
    bool send(std::span<const std::uint8_t> frame);
    // An empty one when there is none.
    std::span<const std::uint8_t> receive();
    // Frames for which the socket had no room.
    std::uint64_t missed();

  private:
    FileDescriptor socket_;
    MacAddress mac_;
    std::array<std::uint8_t, 16384> buffer_{};
    std::uint64_t missed_ = 0;
};

// The kernel would answer that nobody listens.
FileDescriptor occupy_roce_port();

// Waits for a frame, for standard input, or for `until_ns` where it is given; true if there is input.
bool wait_for_frame_or_input(const Interface& interface, const std::uint64_t* until_ns);

class InputLines {
  public:
    // Reads available bytes, and gives each whole line to `take`; false when the input has ended.
    template <class Take>
    bool read(Take&& take) {
        std::array<char, 256> some;
        const std::size_t got = read_some(some);
        for (const char letter : std::string_view(some.data(), got)) {
            if (letter != '\n') {
                line_ += letter;
                continue;
            }
            take(std::string_view(line_));
            line_.clear();
        }
        return got != 0;
    }

  private:
    static std::size_t read_some(std::span<char> some);

    std::string line_;
};

}  // namespace sluice::traffic

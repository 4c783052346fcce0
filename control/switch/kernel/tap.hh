// A TAP: the kernel's interface for a port that is not an interface of its own. Control writes the port's
// punted frames to it, and reads the frames that the kernel sends. It goes with its file descriptor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "dataplane/base/file_descriptor.hh"
#include "lib/frame/headers.hh"
#include "lib/frame/ip_address.hh"

namespace sluice {

class Tap {
  public:
    // Makes it, up, with this MAC and MTU. An error is a line that names it.
    static tl::expected<std::unique_ptr<Tap>, std::string> open(const std::string& name,
                                                                const MacAddress& mac, unsigned mtu);

    int index() const { return index_; }
    // False once it is deleted; true in any namespace and with any name.
    bool is_there() const;
    // Replaces the addresses that we gave it, and leaves others alone; error texts, or empty.
    std::string set_addresses(const std::vector<IpPrefix>& addresses);
    // False when the kernel does not take it: the interface is down, or its queue full.
    bool write(std::span<const std::uint8_t> frame);
    // Bytes of the next frame, at least 60; 0 when there is none. Does not wait.
    std::size_t read(std::span<std::uint8_t> frame);
    // The state of the cable as the kernel sees it.
    void set_carrier(bool up);

  private:
    Tap(FileDescriptor file, int index) : file_(std::move(file)), index_(index) {}

    FileDescriptor file_;
    int index_;
    std::set<IpPrefix> addresses_;  // that we have given it
    std::optional<bool> carrier_;   // as told last
};

}  // namespace sluice

// The steering program as the driver loads it, without an interface: the kernel runs it on frames of a test.
// Apart from the tests, because libbpf's headers and libpcap's do not go together.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "dataplane/ports/bpf/steer.hh"

struct bpf_object;

namespace sluice {

class Program {
  public:
    Program();
    ~Program();
    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;

    // Why it cannot be run here; empty when it can.
    const std::string& why_not() const { return why_; }
    bool add_local(const IpPrefix& prefix) const;
    // False unless the frame, of at least 14 bytes, was passed: no socket listens here.
    bool run(std::span<const std::uint8_t> frame) const;
    SteerCounts counters() const;

  private:
    bpf_object* object_ = nullptr;
    int program_ = -1;
    int counters_ = -1;
    int local_ = -1;
    std::string why_;
};

}  // namespace sluice

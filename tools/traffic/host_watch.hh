// Reports a NIC's events, in order, as lines of JSON: asked after each event of the NIC, it compares the
// queue pairs with their state before. Rates are those of the wire, the NIC's divided by the scale.
//
// Events of a queue pair: `marked` (the first CE since the last CNP that it sent), `cnp_sent`, `cnp` (it got
// one), `rate_falls`, `rate_rises`, `recovered` (line rate again), `retransmitted`, `completed`, `delivered`,
// `failed`; of a class: `paused`, `resumed`. Each has "at_ns", of the clock that all processes share.
#pragma once

#include <cstdint>
#include <cstdio>
#include <vector>

#include "lib/roce/nic.hh"
#include "tools/traffic/host_options.hh"

namespace sluice::traffic {

class HostWatch {
  public:
    // All of them outlive it.
    HostWatch(const HostOptions& options, const roce::Nic& nic, std::FILE* out);

    void tell_changes(std::uint64_t at_ns);  // of queue pairs; without answers none is told
    void look_at_pauses(unsigned paused, std::uint64_t at_ns);
    bool sending() const;  // or about to
    // The account of all as JSON: `more` are further members of it.
    std::string account(const std::string& more) const;

  private:
    struct Seen {
        roce::QpStatistics statistics;
        std::uint64_t retransmissions = 0;
        std::uint64_t rate = 0;
        bool is_marked = false;  // since the last CNP sent
        bool failed = false;
    };

    void look_at(std::size_t index, std::uint64_t at_ns);
    void tell_count(const char* event, std::size_t index, std::uint64_t now, std::uint64_t before,
                    std::uint64_t at_ns);
    std::uint64_t wire_rate(Rate rate) const { return rate.bits_per_second / options_.scale; }

    const HostOptions& options_;
    const roce::Nic& nic_;
    std::FILE* out_;
    std::vector<Seen> seen_;  // of each queue pair
    unsigned paused_ = 0;
    std::uint64_t falls_ = 0;
    std::uint64_t rises_ = 0;
    std::uint64_t recovered_ = 0;
    std::uint64_t lowest_;
};

}  // namespace sluice::traffic

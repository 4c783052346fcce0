// The accounts of a peer on a real interface: until when a class is paused, the next frame of its flows, and
// the frames that arrived of others' flows. No sockets, no clock: times are arguments, in nanoseconds of one
// monotonic clock. It shares nothing with the switch's own PFC, so that it may serve as a second opinion.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/traffic/frame.hh"

namespace sluice::traffic {

// PFC as a sender has to obey it (IEEE 802.3 Annex 31D): the last frame that names the class counts.
class PauseClock {
  public:
    // Of one class, at a link of so many bits a second.
    PauseClock(unsigned priority, std::uint64_t bits_per_second)
        : priority_(priority), bits_per_second_(bits_per_second) {}

    static constexpr std::size_t pfc_bytes = 34;  // from the MAC address to the last quanta
    static bool is_pfc(std::span<const std::uint8_t> frame);
    // True if the frame is PFC.
    bool receive(std::span<const std::uint8_t> frame, std::uint64_t now_ns);
    bool paused(std::uint64_t now_ns);
    std::uint64_t until_ns() const { return until_ns_; }

    struct Counters {
        std::uint64_t xoff = 0;
        std::uint64_t xon = 0;
        std::uint64_t expired = 0;
        std::uint64_t paused_ns = 0;
    };
    const Counters& counters() const { return counters_; }

  private:
    void settle(std::uint64_t now_ns);

    unsigned priority_;
    std::uint64_t bits_per_second_;
    bool paused_ = false;
    std::uint64_t until_ns_ = 0;    // while paused
    std::uint64_t settled_ns_ = 0;  // paused_ns has the time before
    Counters counters_;
};

// RoCEv2 flows that take turns, a queue pair each, PSNs without a gap.
class SentFlows {
  public:
    struct Shape {
        MacAddress source_mac;
        MacAddress destination_mac;
        IpAddress source;
        IpAddress destination;
        std::uint8_t dscp = 26;
        std::uint32_t frame_bytes = 1082;
        std::uint32_t flows = 1;
        std::uint32_t first_qp = 0x100;
    };
    explicit SentFlows(const Shape& shape) : shape_(shape), psn_(shape.flows) {}

    void build(Frame& frame);  // the next one; it is not taken up yet
    void sent() { ++psn_[turn_++ % shape_.flows]; }
    std::uint64_t count() const { return turn_; }

  private:
    Shape shape_;
    std::vector<std::uint32_t> psn_;
    std::uint64_t turn_ = 0;
};

// RoCEv2 data that arrives, by sender and queue pair. A gap in the PSNs is a loss until its packets come.
class ArrivedFlows {
  public:
    struct Flow {
        std::uint32_t next_psn = 0;
        std::uint64_t received = 0;
        std::uint64_t lost = 0;
        std::uint64_t late = 0;  // behind one that was sent after it
        std::uint64_t marked = 0;
    };
    // False if the frame is something else.
    bool receive(std::span<const std::uint8_t> frame);
    Flow total() const;
    std::size_t count() const { return flows_.size(); }
    std::uint64_t bad_icrc() const { return bad_icrc_; }

  private:
    std::map<std::pair<IpAddress, std::uint32_t>, Flow> flows_;
    std::uint64_t bad_icrc_ = 0;
};

}  // namespace sluice::traffic

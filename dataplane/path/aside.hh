// Packets that their queues have admitted in this turn, and that are not in them: see egress_pass.hh.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "dataplane/base/packet.hh"
#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice {

// Packets of one queue, added up in one number.
class QueueSum {
  public:
    void add(std::uint32_t frame_bytes, std::uint32_t cells, EcnBits ecn) {
        sum_ += std::uint64_t{frame_bytes} | std::uint64_t{cells} << 24 | std::uint64_t{1} << 48;
        ecn_kinds_ |= 1U << ecn.bits;
    }
    unsigned packets() const { return static_cast<unsigned>(sum_ >> 48); }
    std::uint32_t cells() const { return sum_ >> 24 & 0xFFFFFF; }
    std::uint32_t frame_bytes() const { return sum_ & 0xFFFFFF; }
    std::uint32_t wire_bytes() const { return frame_bytes() + packets() * wire_overhead_bytes; }
    // Bit n: one with EcnBits::bits n.
    std::uint32_t ecn_kinds() const { return ecn_kinds_; }
    static EcnBits first_of(std::uint32_t kinds) {
        return {static_cast<std::uint8_t>(std::countr_zero(kinds))};
    }

  private:
    std::uint64_t sum_ = 0;  // packets, cells and bytes: 32 of each at most fit 24 bits
    std::uint32_t ecn_kinds_ = 0;
};
static_assert(EcnBits::values <= 32 && std::uint64_t{burst_size} * 0xFFFF < 1 << 24);

// Empty between turns.
class Aside {
  public:
    bool empty() const { return count_ == 0; }
    bool full() const { return count_ == burst_size; }
    std::span<Packet* const> packets() const { return std::span(packet_).first(count_); }
    const QueueSum& sum(unsigned queue) const { return sum_[queue]; }

    void set_aside(Packet* packet, const PacketMeta& info) {
        packet_[count_++] = packet;
        sum_[info.queue].add(info.frame_bytes, info.cells, info.treatment.ecn);
    }
    void clear() {
        count_ = 0;
        sum_ = {};
    }

  private:
    unsigned count_ = 0;
    std::array<QueueSum, classes> sum_;
    std::array<Packet*, burst_size> packet_;
};

}  // namespace sluice

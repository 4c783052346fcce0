// One end of a cable between two switches of one VirtualLoop: what one port transmits, the other receives
// after the cable's delay, as a copy from the pool of its own switch.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/peers/receive_ring.hh"
#include "dataplane/ports/port.hh"

namespace sluice::sim {

class LinkPort final : public Port {
  public:
    LinkPort(rte_mempool* pool, Duration cable, unsigned ring_frames)
        : pool_(pool), cable_(cable), ring_(ring_frames) {}
    static void join(LinkPort& one, LinkPort& other) { one.other_ = &other, other.other_ = &one; }

    unsigned receive(std::span<Packet*> out, Time now) override {
        forget_arrival();
        ring_.begin(now);
        unsigned count = 0;
        for (; count < out.size() && !arriving_.empty() && arriving_.front().at <= now;
             arriving_.pop_front()) {
            Packet* packet = ring_.take() ? make_packet(pool_, arriving_.front().bytes, false) : nullptr;
            if (packet == nullptr) {
                ++missed_;
                continue;
            }
            meta(packet).arrival = arriving_.front().at;
            out[count++] = packet;
        }
        return count;
    }
    unsigned transmit(std::span<Packet* const> frames) override {
        for (Packet* packet : frames) {
            std::vector<std::uint8_t> bytes;
            for (Packet* segment = packet; segment != nullptr; segment = segment->next)
                bytes.insert(bytes.end(), frame_bytes(segment), frame_bytes(segment) + segment->data_len);
            other_->arriving_.push_back({meta(packet).departure + cable_, std::move(bytes)});
            rte_pktmbuf_free(packet);
        }
        other_->forget_arrival();
        return static_cast<unsigned>(frames.size());
    }
    std::optional<bool> falls_behind(Time now) const override { return ring_.falls_behind(now); }
    PortAccount account() const override { return {.missed = missed_}; }

  private:
    struct Arriving {
        Time at;
        std::vector<std::uint8_t> bytes;
    };
    std::optional<Time> find_next_arrival() const override {
        return arriving_.empty() ? std::nullopt : std::optional(arriving_.front().at);
    }

    rte_mempool* pool_;
    Duration cable_;
    ReceiveRing ring_;
    LinkPort* other_ = nullptr;
    std::deque<Arriving> arriving_;
    std::uint64_t missed_ = 0;
};

}  // namespace sluice::sim

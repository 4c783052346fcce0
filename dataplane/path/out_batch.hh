// Frames on their way to the driver, at most a burst, in the order in which they leave; frames that the
// driver refuses stay here and count as queued.
//
// Consecutive frames of a queue are a run, whose bytes are known when it is picked: so most batches are
// counted a run at a time, without touching frames that the driver has taken.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <optional>
#include <span>

#include "dataplane/base/packet.hh"
#include "dataplane/ports/port.hh"

namespace sluice {

constexpr unsigned no_queue = 0xFF;  // of a frame that we made: it was in no queue

class OutBatch {
  public:
    unsigned count() const { return count_; }
    bool empty() const { return count_ == 0; }
    unsigned room() const { return burst_size - count_; }
    std::span<Packet* const> packets() const { return std::span(packet_).first(count_); }
    // The first one is a frame that we made.
    bool begins_with_ours() const { return count_ != 0 && run_[0].queue == no_queue; }

    // `frames` of a queue, of `bytes` together, which the next `extend` brings.
    void add_run(unsigned queue, unsigned frames, std::uint32_t bytes) {
        run_[runs_++] = {static_cast<std::uint16_t>(queue), static_cast<std::uint16_t>(frames), bytes};
    }
    // The places for the frames of the runs added last; at most as many as there is room for.
    std::span<Packet*> extend(unsigned frames) {
        assert(frames <= room());
        const auto places = std::span(packet_).subspan(count_, frames);
        count_ += frames;
        return places;
    }
    // A frame that we made, ahead of the frames that the driver has refused so far.
    void put_first(Packet* packet, std::uint32_t bytes) {
        std::copy_backward(packet_.begin(), packet_.begin() + count_, packet_.begin() + count_ + 1);
        std::copy_backward(run_.begin(), run_.begin() + runs_, run_.begin() + runs_ + 1);
        packet_[0] = packet;
        run_[0] = {no_queue, 1, bytes};
        ++count_;
        ++runs_;
    }

    // Takes the first `frames` off, which the driver has; count(queue, frames, bytes) for each run of them.
    template <class Count>
    void sent(unsigned frames, Count count) {
        unsigned run = 0;
        unsigned left = frames;
        for (; left != 0 && left >= run_[run].frames; ++run) {
            count(run_[run].queue, unsigned{run_[run].frames}, run_[run].bytes);
            left -= run_[run].frames;
        }
        if (left != 0) {  // the rest of a run is still ours
            Run& part = run_[run];
            std::uint32_t stay = 0;
            for (unsigned i = frames; i < frames - left + part.frames; ++i) stay += packet_[i]->pkt_len;
            count(part.queue, left, part.bytes - stay);
            part.frames = static_cast<std::uint16_t>(part.frames - left);
            part.bytes = stay;
        }
        count_ -= frames;
        runs_ -= run;
        if (count_ == 0) [[likely]]
            return;
        std::copy_n(packet_.begin() + frames, count_, packet_.begin());
        std::copy_n(run_.begin() + run, runs_, run_.begin());
    }

    // Takes out the frames of a queue, or of all; drop(packet) for each. Returns how many.
    template <class Drop>
    unsigned discard(Drop drop, std::optional<unsigned> queue = {}) {
        unsigned packets = 0, runs = 0, first = 0;
        for (unsigned n = 0; n < runs_; ++n) {
            const Run run = run_[n];
            const auto frames = std::span(packet_).subspan(first, run.frames);
            first += run.frames;
            if (!queue || run.queue == *queue) {
                for (Packet* packet : frames) drop(packet);
                continue;
            }
            std::copy(frames.begin(), frames.end(), packet_.begin() + packets);
            packets += run.frames;
            run_[runs++] = run;
        }
        const unsigned removed = count_ - packets;
        count_ = packets;
        runs_ = runs;
        return removed;
    }

  private:
    struct Run {
        std::uint16_t queue;
        std::uint16_t frames;
        std::uint32_t bytes;
    };

    std::array<Packet*, burst_size> packet_;
    std::array<Run, burst_size> run_;  // none is empty
    unsigned count_ = 0;
    unsigned runs_ = 0;
};

}  // namespace sluice

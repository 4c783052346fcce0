// How busy an egress port is, in the bands by which a load balancer compares the members of a group.
//
// The owner of the port publishes it at the end of each turn, all workers read it. Load is the discounted sum
// of CONGA (Alizadeh et al., SIGCOMM 2014, 3.2): sent bytes are added, an eighth of the sum goes with each
// interval, so the sum of a full link is eight intervals of bytes. A queue counts as the time in which the
// link would send it.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

#include "lib/values/ids.hh"
#include "lib/values/units.hh"

namespace sluice {

// The quality of a port for a class: the sum of both bands, 0 (idle) to 14, unless nothing may leave.
struct LinkQuality {
    static constexpr std::uint8_t bands = 8;  // of each figure
    static constexpr std::uint8_t stopped = 2 * bands - 1;
    static constexpr std::uint8_t unusable = 0xFF;

    std::uint8_t load = 0;    // eighths of the link's speed
    std::uint8_t queue = 0;   // 0: less than the unit; each one more: twice as long
    bool is_stopped = false;  // paused by the peer, held, or in a storm

    constexpr std::uint8_t band() const {
        return is_stopped ? stopped : static_cast<std::uint8_t>(load + queue);
    }
    bool operator==(const LinkQuality&) const = default;
};

struct LoadScale {
    static constexpr unsigned average = 8;  // intervals that the load is averaged over

    Duration interval = microseconds(20);  // T > 0
    Duration queue_unit = microseconds(1);
    bool operator==(const LoadScale&) const = default;

    std::uint64_t interval_at(Time now) const { return now.ps / static_cast<std::uint64_t>(interval.ps); }
};

// The part of bytes sent `intervals` ago that still counts: (7/8)^intervals.
constexpr std::uint64_t discounted(std::uint64_t bytes, std::uint64_t intervals) {
    constexpr unsigned table_size = 128;
    constexpr std::array<std::uint32_t, table_size> left = [] {
        std::array<std::uint32_t, table_size> parts{};
        std::uint64_t part = 0xFFFF'FFFF;
        for (std::uint32_t& each : parts) {
            each = static_cast<std::uint32_t>(part);
            part -= part / LoadScale::average;
        }
        return parts;
    }();
    if (intervals == 0) return bytes;
    if (intervals >= table_size) return 0;
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>(static_cast<Wide>(bytes) * left[intervals] >> 32);
}

class alignas(64) PortLoad {
  public:
    // The owner, each turn: bytes that have left on the wire since the start. relaxed, here and below: a
    // figure of an earlier turn orders nothing; a sum with the other's interval is an eighth off. The sum is
    // at most a full link's, as bytes come all at once when publishing starts.
    void set_sent(std::uint64_t bytes, Time now, Duration byte_time, const LoadScale& scale) {
        if (bytes == counted_) return;
        const std::uint64_t interval = scale.interval_at(now);
        const std::uint64_t before = sent_.load(std::memory_order_relaxed);
        const std::uint64_t since = interval - interval_.load(std::memory_order_relaxed);
        const std::uint64_t full = LoadScale::average * static_cast<std::uint64_t>(scale.interval.ps);
        std::uint64_t sum = discounted(before, since) + (bytes - counted_);
        if (sum > full || sum * static_cast<std::uint64_t>(byte_time.ps) > full)
            sum = full / static_cast<std::uint64_t>(byte_time.ps);
        set(sent_, sum);
        set(interval_, interval);
        counted_ = bytes;
    }
    void set_queued(ClassId queue, std::uint64_t bytes) {
        set(queued_[queue], bytes);
        const unsigned bit = 1U << queue;
        filled_ = static_cast<std::uint8_t>(bytes != 0 ? filled_ | bit : filled_ & ~bit);
    }
    std::uint8_t filled() const { return filled_; }  // bit n: queue n held bytes when it was set last
    // Masks of queues that an operator or the watchdog has stopped, and that the peer pauses.
    void set_stopped(std::uint8_t stopped, std::uint8_t paused) {
        set(stopped_, static_cast<std::uint16_t>(stopped | paused << 8));
    }
    void set_paused_until(ClassId queue, Time until) { set(paused_until_[queue], until.ps); }

    // Any thread: bytes that count as sent now.
    std::uint64_t sent_bytes(Time now, const LoadScale& scale) const {
        return discounted(sent_.load(std::memory_order_relaxed),
                          scale.interval_at(now) - interval_.load(std::memory_order_relaxed));
    }
    std::uint64_t queued_bytes(ClassId queue) const { return queued_[queue].load(std::memory_order_relaxed); }
    Time paused_until(ClassId queue) const { return {paused_until_[queue].load(std::memory_order_relaxed)}; }
    // A pause may have ended by itself.
    bool is_stopped(ClassId queue, Time now) const {
        const unsigned stopped = stopped_.load(std::memory_order_relaxed);
        if ((stopped >> queue & 1U) != 0) return true;
        return (stopped >> (8U + queue) & 1U) != 0 && paused_until(queue) > now;
    }
    LinkQuality quality(ClassId queue, Time now, Duration byte_time, const LoadScale& scale) const {
        constexpr std::uint64_t worst = LinkQuality::bands - 1;
        const auto time = static_cast<std::uint64_t>(byte_time.ps);
        const std::uint64_t busy =
            sent_bytes(now, scale) * time / static_cast<std::uint64_t>(scale.interval.ps);
        const std::uint64_t wait =
            queued_bytes(queue) * time / static_cast<std::uint64_t>(scale.queue_unit.ps);
        return {static_cast<std::uint8_t>(std::min(busy, worst)),
                static_cast<std::uint8_t>(std::min<std::uint64_t>(std::bit_width(wait), worst)),
                is_stopped(queue, now)};
    }

  private:
    template <class T>
    static void set(std::atomic<T>& figure, T value) {
        figure.store(value, std::memory_order_relaxed);
    }

    std::atomic<std::uint64_t> sent_{0};  // as of `interval_`, discounted
    std::atomic<std::uint64_t> interval_{0};
    std::atomic<std::uint16_t> stopped_{0};  // low octet: stopped, high octet: paused
    std::uint8_t filled_ = 0;                // the owner's
    std::uint64_t counted_ = 0;              // likewise: what `sent_` includes
    alignas(64) std::array<std::atomic<std::uint64_t>, classes> queued_{};
    std::array<std::atomic<std::uint64_t>, classes> paused_until_{};
};
static_assert(sizeof(PortLoad) == 192);

// How busy the paths behind neighbors are, as these report it: by port and next-hop group, the worst
// LinkQuality band of any link on the way.
//
// Neighbors report at every multiple of `interval`, and a report is known here when it has crossed the cable.
// So the known figures depend on the moment only, not on the order of calls. Written between two windows of
// the virtual clock, read in them.
class RemoteQuality {
  public:
    using Bands = std::array<std::uint8_t, classes>;  // by traffic class, of the teller

    // `interval` > 0. `delays`: by port, of the cable; above 0 where a neighbor reports.
    RemoteQuality(Duration interval, const std::vector<Duration>& delays) : interval_(interval) {
        for (const Duration delay : delays)
            ports_.push_back({delay, static_cast<std::size_t>(delay.ps / interval.ps) + 2, 0});
    }

    Duration interval() const { return interval_; }
    // Forgets everything and sets the number of groups.
    void reset(std::size_t groups) {
        groups_ = groups;
        std::size_t all = 0;
        for (Port& port : ports_) {
            port.first = all;
            all += port.messages * groups;
        }
        told_.assign(all, Bands{});
    }
    // The neighbor's report at `now`, a multiple of the interval; it must report at each.
    void tell(PortId port, std::uint32_t group, Time now, const Bands& bands) {
        assert(now.ps % unit() == 0 && ports_[port].delay.ps > 0);
        if (group < groups_) told_[place(ports_[port], now.ps / unit(), group)] = bands;
    }
    // As known at `now`; 0, idle, where nothing is known.
    Bands bands(PortId port, std::uint32_t group, Time now) const {
        const Port& from = ports_[port];
        const auto delay = static_cast<std::uint64_t>(from.delay.ps);
        if (group >= groups_ || now.ps < delay) return {};
        return told_[place(from, (now.ps - delay) / unit(), group)];
    }

  private:
    struct Port {
        Duration delay;
        std::size_t messages;  // on the cable together, and the one that is known
        std::size_t first;     // of its places
    };

    std::uint64_t unit() const { return static_cast<std::uint64_t>(interval_.ps); }
    std::size_t place(const Port& port, std::uint64_t number, std::uint32_t group) const {
        return port.first + number % port.messages * groups_ + group;
    }

    Duration interval_;
    std::size_t groups_ = 0;
    std::vector<Port> ports_;
    std::vector<Bands> told_;  // by port, message and group
};

// The worst link of a path counts, and of several paths the worst.
constexpr void take_worst(RemoteQuality::Bands& bands, const RemoteQuality::Bands& others) {
    for (std::size_t n = 0; n < bands.size(); ++n) bands[n] = std::max(bands[n], others[n]);
}

}  // namespace sluice

#include "tools/traffic/host_peer.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/text/say.hh"

namespace sluice::traffic {
namespace {

constexpr unsigned burst = 32;  // frames, before other work

}  // namespace

HostPeer::HostPeer(const HostOptions& options, const HostNic& nic, Interface& interface, std::FILE* events)
    : options_(options),
      interface_(interface),
      origin_ns_(now_ns()),
      nic_(nic.settings, nic.flows, nic.queue_pairs),
      events_(events),
      watch_(options, nic_, events),
      pauses_(options.speed.bits_per_second,
              static_cast<std::uint64_t>(options.reaction.ps) * options.scale / 1000) {}

void HostPeer::run() {
    while (listen()) {
        receive();
        if (const auto timer = nic_.next_timer(); timer && *timer <= nic_time(now_ns())) {
            const std::uint64_t now = now_ns();
            nic_.expire(nic_time(now));
            watch_.tell_changes(now);
        }
        // As late as can be: a pause that is there counts.
        for (unsigned n = 0; n < burst && send(); ++n) receive();
        std::fflush(events_);
    }
    show();
}

Time HostPeer::nic_time(std::uint64_t at_ns) const { return {(at_ns - origin_ns_) * 1000 / options_.scale}; }

std::uint64_t HostPeer::clock_ns(Time at) const { return origin_ns_ + (at.ps * options_.scale + 999) / 1000; }

// Waits for the first event; false when the input has ended.
bool HostPeer::listen() {
    const auto next = next_ns();
    if (!wait_for_frame_or_input(interface_, next ? &*next : nullptr)) return true;
    return input_.read([this](std::string_view word) {
        if (word == "stop") nic_.stop(nic_time(now_ns()));
        if (word == "show") show();
    });
}

std::optional<std::uint64_t> HostPeer::next_ns() {
    const unsigned paused = pauses_.paused(now_ns());
    std::optional<std::uint64_t> best = pauses_.next_heard_ns();
    const auto consider = [&](std::uint64_t at) { best = std::min(best.value_or(at), at); };
    const auto consider_frame = [&](ClassId priority, std::uint64_t at) {
        consider(
            std::max({at, wire_free_ns_, (paused >> priority & 1U) != 0 ? pauses_.until_ns(priority) : 0}));
    };
    if (const auto timer = nic_.next_timer()) consider(clock_ns(*timer));
    if (unsent_) {
        consider_frame(unsent_->priority, 0);
        return best;
    }
    // Rings fill while nothing is sent.
    if (const auto fill = paused != 0 ? nic_.next_fill() : std::nullopt)
        consider(std::max(clock_ns(*fill), wire_free_ns_));
    for (const auto& ready : nic_.ready()) consider_frame(ready.priority, clock_ns(ready.at));
    return best;
}

void HostPeer::receive() {
    for (unsigned n = 0; n < burst; ++n) {
        const auto frame = interface_.receive();
        if (frame.empty()) return;
        const std::uint64_t now = now_ns();
        if (pauses_.receive(frame, now)) continue;
        nic_.receive(frame, nic_time(now));
        watch_.tell_changes(now);
    }
}

bool HostPeer::send() {
    const std::uint64_t now = now_ns();
    const unsigned paused = pauses_.paused(now);
    watch_.look_at_pauses(paused, now);
    if (now < wire_free_ns_) return false;
    if (!unsent_) {
        const auto frame = nic_.next_frame(nic_time(now), ~paused);
        watch_.tell_changes(now);
        if (!frame) return false;
        nic_.write(*frame, std::span(frame_).first(frame->bytes));
        unsent_ = {frame->priority, frame->bytes};
    } else if ((paused >> unsent_->priority & 1U) != 0) {
        return false;
    }
    const std::uint64_t takes_ns =
        wire_bytes(unsent_->bytes) * 8'000'000'000ULL / options_.rate.bits_per_second;
    if (!interface_.send(std::span(frame_).first(unsent_->bytes))) {
        ++refused_by_interface_;
        wire_free_ns_ = now + takes_ns;
        return false;
    }
    unsent_.reset();
    // A few frames of the time that it missed are made up for.
    wire_free_ns_ = std::max(wire_free_ns_, now - 8 * takes_ns) + takes_ns;
    return true;
}

void HostPeer::show() {
    const auto pauses = pauses_.total();
    say("{}", watch_.account(fmt::format("\"not_sent_yet\": {}, \"missed\": {}, \"xoff\": {}, \"xon\": {}, "
                                         "\"expired\": {}, \"held_ns\": {}",
                                         refused_by_interface_, interface_.missed(), pauses.xoff, pauses.xon,
                                         pauses.expired, pauses.paused_ns)));
    std::fflush(stdout);
}

}  // namespace sluice::traffic

#include "dataplane/peers/link_port.hh"

#include <string>

#include "lib/pfc/pfc_frame.hh"

namespace sluice {
namespace {

constexpr std::size_t first_capacity = 64;

}  // namespace

LinkPort::LinkPort(const LinkSpec& spec)
    : spec_(spec),
      pfc_delay_(spec.cable + spec.speed.byte_time() * wire_bytes(pfc_frame_bytes) + spec.peer_reaction),
      byte_time_(spec.at_end ? spec.speed.byte_time() : Duration{}),
      ring_(spec.ring_frames),
      data_(first_capacity),
      pauses_(first_capacity) {}

LinkPort::~LinkPort() { close(); }

std::string LinkPort::close() {
    lose(data_, std::nullopt);
    lose(pauses_, std::nullopt);
    return {};
}

// Those that arrive by `until`, or all.
std::uint64_t LinkPort::lose(Line& line, std::optional<Time> until) {
    std::uint64_t lost = 0;
    for (; !line.empty() && (!until || line.front().at <= *until); line.pop_front(), ++lost) {
        Packet* packet = line.front().packet;
        if (&line == &data_ && meta(packet).treatment.lossless) ++lossless_;
        rte_pktmbuf_free(packet);
    }
    return lost;
}

void LinkPort::cut(bool is_cut) {
    if (is_cut && !other_->into_cut_) lost_ += lose(data_, std::nullopt) + lose(pauses_, std::nullopt);
    other_->into_cut_ = is_cut;
    if (outer() != nullptr) outer()->cable_cut(is_cut);
    forget_arrival();
}

WireLosses LinkPort::losses() const {
    WireLosses losses = other_->losses_into_cut_;
    losses.on_wire = lost_;
    losses.lossless += lossless_;
    return losses;
}

void LinkPort::lose_into_cut(Packet* packet, bool is_pause) {
    ++losses_into_cut_.into_cut;
    if (!is_pause && meta(packet).treatment.lossless) ++losses_into_cut_.lossless;
    rte_pktmbuf_free(packet);
}

void LinkPort::arrive(Time at, Packet* packet, bool is_pause) {
    Line& line = is_pause ? pauses_ : data_;
    if (line.full()) line.set_capacity(2 * line.capacity());
    line.push_back({at, packet});
    ++taken_;
    forget_arrival();
}

unsigned LinkPort::transmit(std::span<Packet* const> frames) {
    for (Packet* packet : frames) {
        const bool is_pause = is_mac_control(packet);
        if (into_cut_) [[unlikely]] {
            lose_into_cut(packet, is_pause);
            continue;
        }
        const Time departure = meta(packet).departure;
        const Time arrival = departure + spec_.cable + byte_time_ * wire_bytes(packet->pkt_len);
        const Time at = is_pause ? departure + pfc_delay_ : arrival;
        meta(packet).arrival = arrival;
        ++sent_;
        if (outbox_ != nullptr)
            outbox_->send({other_, at, packet, is_pause});
        else
            other_->arrive(at, packet, is_pause);
    }
    return static_cast<unsigned>(frames.size());
}

unsigned LinkPort::receive(std::span<Packet*> out, Time now) {
    ring_.begin(now);
    unsigned count = 0;
    while (count < out.size()) {
        const bool pause = !pauses_.empty() && pauses_.front().at <= now &&
                           (data_.empty() || pauses_.front().at <= data_.front().at);
        Line& line = pause ? pauses_ : data_;
        if (line.empty() || line.front().at > now) break;
        Packet* packet = line.front().packet;
        line.pop_front();
        forget_arrival();
        ring_.hand_out(packet, out, count);
    }
    return count;
}

std::uint64_t LinkPort::lose_until(Time now) {
    forget_arrival();
    return lose(data_, now) + lose(pauses_, now);
}

std::optional<Time> LinkPort::find_next_arrival() const {
    std::optional<Time> best;
    if (!data_.empty()) best = data_.front().at;
    if (!pauses_.empty()) take_earlier(best, pauses_.front().at);
    return best;
}

LinkExchange::LinkExchange(unsigned threads) : threads_(threads), outboxes_(std::size_t{threads} * threads) {
    for (Outbox& outbox : outboxes_) outbox.filled_ = &filled_;
}

LinkExchange::~LinkExchange() {
    for (const Outbox& outbox : outboxes_)
        for (const Outbox::List& list : outbox.lists_)
            for (const Frame& frame : list.frames) rte_pktmbuf_free(frame.packet);
}

std::optional<Time> LinkExchange::earliest() const {
    std::optional<Time> best;
    for (const Outbox& outbox : outboxes_)
        if (const Outbox::List& list = outbox.lists_[filled_]; !list.frames.empty())
            take_earlier(best, list.earliest);
    return best;
}

void LinkExchange::deliver_to(unsigned to) {
    for (unsigned from = 0; from < threads_; ++from) {
        auto& frames = outbox(from, to).lists_[filled_ ^ 1U].frames;
        for (const Frame& frame : frames) frame.to->arrive(frame.at, frame.packet, frame.is_pause);
        frames.clear();
    }
}

void LinkExchange::take_all() {
    turn_over();
    for (unsigned to = 0; to < threads_; ++to) deliver_to(to);
}

}  // namespace sluice

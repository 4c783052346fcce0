#include "lib/roce/rc_responder.hh"

#include <algorithm>
#include <cassert>

#include "lib/roce/requester.hh"

namespace sluice::roce {
namespace {

// READs for holes among responses, beside outstanding ones.
constexpr std::uint32_t max_partial_reads = 64;
constexpr std::size_t max_trimmed = 256;  // NAKs that wait for the wire

}  // namespace

RcResponder::RcResponder(const ResponderSettings& settings)
    : settings_(settings),
      expected_(first_sequence(settings.first_psn)),
      queue_(settings.max_reads + (settings.recovery.kind == Recovery::selective ? max_partial_reads : 0)),
      came_(settings.recovery),
      early_(settings.recovery.kind == Recovery::selective ? settings.recovery.receive_window : 0) {
    assert(valid_mtu(settings.mtu));
    assert(settings.ack_every > 0 && settings.max_reads > 0);
    if (is_selective() && settings.recovery.naks_trimmed) trimmed_.set_capacity(max_trimmed);
}

RcResponder::Request RcResponder::request_of(const Incoming& packet) {
    return {packet.reth.address, packet.reth.length,
            packet.reth.key,     static_cast<std::uint16_t>(packet.payload_bytes()),
            packet.opcode,       packet.ack_request};
}

RcResponder::Delivery RcResponder::receive(const Incoming& packet, std::optional<std::uint8_t> rnr,
                                           Time now) {
    if (packet.opcode > Opcode::write_only && packet.opcode != Opcode::read_request) return {};
    const std::uint64_t sequence = sequence_of(packet.psn, expected_);
    if (sequence < expected_) {
        receive_again(packet, sequence);
        return {};
    }
    const bool has_buffer =
        !rnr || (packet.opcode != Opcode::send_first && packet.opcode != Opcode::send_only);
    if (sequence > expected_) return receive_early(packet, sequence, has_buffer, now);
    if (state_ == State::failed) return refuse();
    if (!has_buffer && within_ == Within::nothing) {
        waits_ = true;
        reply_ = syndrome_rnr | (*rnr & 0x1FU);
        return {};
    }
    waits_ = false;
    if (reply_ != syndrome_ack) reply_.reset();  // a NAK that is not sent yet has become untrue
    if (!came_.any(sequence)) [[likely]]
        return take(request_of(packet));
    came_.measure_expected(sequence);
    Delivery delivery = take(request_of(packet));
    if (is_selective()) take_early(delivery);
    came_.advance(sequence, expected_, now);
    return delivery;
}

// Takes early packets whose turn has come.
void RcResponder::take_early(Delivery& delivery) {
    while (state_ == State::ready && came_.holds(expected_))
        delivery.messages += take(early_at(expected_)).messages;
}

RcResponder::Delivery RcResponder::receive_early(const Incoming& packet, std::uint64_t sequence,
                                                 bool has_buffer, Time now) {
    if (!is_selective()) {
        came_.add(sequence, 1, expected_, now);
        ++counters_.early;
        if (waits_ || state_ == State::failed) return {};
        waits_ = true;
        reply_ = syndrome_sequence_error;
        ++counters_.gaps;
        return {};
    }
    const bool is_read = packet.opcode == Opcode::read_request;
    const bool is_answered = is_read && packet.reth.length <= max_message_bytes;
    const std::uint32_t psns = is_answered ? std::max(packets_of(packet.reth.length), 1U) : 1;
    using Came = ReceiveWindow::Came;
    const Came came = waits_ || !has_buffer || state_ == State::failed
                          ? Came::beyond
                          : came_.add(sequence, psns, expected_, now);
    if (came == Came::beyond) {
        ++counters_.early;
    } else if (came == Came::again) {
        ++counters_.duplicates;
    } else {
        early_at(sequence) = request_of(packet);
        if (!is_read && packet.payload_bytes() <= settings_.mtu)
            return {Delivery::Kind::payload, place_of(sequence), packet.payload_bytes(), 0};
    }
    return {};
}

bool RcResponder::receive_trimmed(const Incoming& packet, Time now) {
    if (packet.opcode > Opcode::write_only || state_ == State::failed || waits_) return false;
    const std::uint64_t sequence = sequence_of(packet.psn, expected_);
    if (sequence < expected_) {
        acknowledge(packet.ack_request);
        return false;
    }
    if (trimmed_.full() || !came_.ask(sequence, expected_, now)) return false;
    trimmed_.push_back(sequence);
    return true;
}

void RcResponder::expire(Time now) {
    if (came_.any(expected_)) came_.expire(expected_, now);
}

RcResponder::Delivery RcResponder::refuse() {
    if (state_ == State::ready) ++counters_.invalid;
    state_ = State::failed;
    reply_ = syndrome_invalid_request;
    return {};
}

RcResponder::Delivery RcResponder::take(const Request& request) {
    return request.opcode == Opcode::read_request ? take_read(request) : take_payload(request);
}

// A packet of a SEND or WRITE whose turn it is.
RcResponder::Delivery RcResponder::take_payload(const Request& request) {
    const bool is_send = request.opcode <= Opcode::send_only;
    // First, middle, last, only are 0, 1, 2 and 4 of SEND's opcodes, and of WRITE's from 6 on.
    const auto part = static_cast<std::uint8_t>(request.opcode) -
                      static_cast<std::uint8_t>(is_send ? Opcode::send_first : Opcode::write_first);
    const bool begins = part == 0 || part == 4;
    const bool ends = part == 2 || part == 4;
    const std::uint32_t bytes = request.bytes;
    const Within own = is_send ? Within::send : Within::write;
    if (within_ != (begins ? Within::nothing : own)) return refuse();
    if (ends ? bytes > settings_.mtu || (bytes == 0 && !begins) : bytes != settings_.mtu) return refuse();
    if (!is_send) {
        if (begins) {
            write_left_ = request.length;
            write_key_ = request.key;
        }
        if (ends ? bytes != write_left_ : bytes >= write_left_) return refuse();
        write_left_ -= bytes;
        if (ends && settings_.keeps_keys) [[unlikely]]
            keys_.push_back(write_key_);
    }
    within_ = ends ? Within::nothing : own;
    const Delivery delivery{Delivery::Kind::payload, place_of(expected_), bytes, ends ? 1U : 0U};
    ++expected_;
    ++counters_.packets;
    if (ends) msn_ = (msn_ + 1) & psn_mask;
    acknowledge(ends || request.ack_request);
    return delivery;
}

RcResponder::Delivery RcResponder::take_read(const Request& request) {
    if (within_ != Within::nothing || request.length == 0 || request.length > max_message_bytes)
        return refuse();
    add_read(expected_, {request.address, 0, request.length});
    expected_ += packets_of(request.length);
    ++counters_.packets;
    msn_ = (msn_ + 1) & psn_mask;
    return {Delivery::Kind::read, request.address, request.length, 1};
}

void RcResponder::receive_again(const Incoming& packet, std::uint64_t sequence) {
    ++counters_.duplicates;
    if (packet.opcode != Opcode::read_request) {
        came_.count_repeated();
        return acknowledge(packet.ack_request);
    }
    const Reth& reth = packet.reth;
    if (reth.length == 0 || reth.length > max_message_bytes) return;
    if (sequence + packets_of(reth.length) <= expected_) add_read(sequence, reth);
}

void RcResponder::acknowledge(bool now) {
    if (!now && ++unacknowledged_ < settings_.ack_every) return;
    if (!reply_) reply_ = syndrome_ack;
}

// A repeated READ request ends where the first did. Responses from `sequence` on that are still to come stay
// as they are; else they are sent again from there.
void RcResponder::add_read(std::uint64_t sequence, const Reth& reth) {
    const Read read{sequence, sequence + packets_of(reth.length), reth.address, reth.length, false};
    const auto first = queue_.begin();
    const auto place = std::lower_bound(first, first + reads_, read.end,
                                        [](const Read& each, std::uint64_t end) { return each.end < end; });
    if (place != first + reads_ && place->end == read.end) {
        if (place->next > sequence) *place = read;
        return;
    }
    if (reads_ < queue_.size()) {
        std::copy_backward(place, first + reads_, first + reads_ + 1);
        ++reads_;
        *place = read;
    } else if (place != first) {
        std::copy(first + 1, place, first);
        *(place - 1) = read;
    }
}

Outgoing RcResponder::next_response() {
    Read& read = queue_.front();
    Outgoing packet;
    packet.psn = psn_of(read.next);
    packet.payload_bytes = std::min(read.bytes, settings_.mtu);
    packet.offset = read.offset;
    packet.aeth = {syndrome_ack, msn_};
    const bool last = packet.payload_bytes == read.bytes;
    if (read.begun)
        packet.opcode = last ? Opcode::read_response_last : Opcode::read_response_middle;
    else
        packet.opcode = last ? Opcode::read_response_only : Opcode::read_response_first;
    read.begun = true;
    ++read.next;
    read.offset += packet.payload_bytes;
    read.bytes -= packet.payload_bytes;
    if (!last) return packet;
    if (read.end == expected_ && reply_ == syndrome_ack) reply_.reset();  // it acknowledges all
    std::copy(queue_.begin() + 1, queue_.begin() + reads_, queue_.begin());
    --reads_;
    return packet;
}

ReceiveWindow::Hole RcResponder::next_hole() {
    if (trimmed_.empty()) return came_.next_hole();
    const std::uint64_t first = trimmed_.front();
    trimmed_.pop_front();
    return {first, first + 1};
}

std::optional<Outgoing> RcResponder::next() {
    if (reads_ != 0) return next_response();
    Outgoing packet;
    packet.opcode = Opcode::acknowledge;
    if (!reply_) {
        if (trimmed_.empty() && !has_hole()) return std::nullopt;
        const ReceiveWindow::Hole hole = next_hole();
        ++counters_.gaps;
        packet.psn = psn_of(hole.first);
        packet.aeth = {syndrome_sequence_error, psn_of(hole.end)};
        return packet;
    }
    packet.psn = psn_of(reply_ == syndrome_ack ? expected_ - 1 : expected_);
    packet.aeth = {*reply_, msn_};
    reply_.reset();
    unacknowledged_ = 0;
    return packet;
}

}  // namespace sluice::roce

#include "lib/roce/rc_responder.hh"

#include <algorithm>
#include <cassert>

#include "lib/roce/psn.hh"
#include "lib/roce/requester.hh"

namespace sluice::roce {

RcResponder::RcResponder(const ResponderSettings& settings)
    : settings_(settings), expected_(first_sequence(settings.first_psn)), queue_(settings.most_reads) {
    assert(valid_mtu(settings.mtu));
    assert(settings.ack_every > 0 && settings.most_reads > 0);
}

RcResponder::Delivery RcResponder::receive(const Incoming& packet, std::optional<std::uint8_t> rnr) {
    const bool is_read = packet.opcode == Opcode::read_request;
    const bool is_send = packet.opcode <= Opcode::send_only;
    if (!is_read && packet.opcode > Opcode::write_only) return {};
    const std::uint64_t sequence = sequence_of(packet.psn, expected_);
    if (sequence < expected_) {
        receive_again(packet, sequence);
        return {};
    }
    if (sequence > expected_) {
        ++counters_.early;
        if (!waits_ && state_ == State::ready) {
            waits_ = true;
            reply_ = Reply::sequence_error;
            ++counters_.gaps;
        }
        return {};
    }
    if (state_ == State::failed) return refuse();
    const bool begins = packet.opcode == Opcode::send_first || packet.opcode == Opcode::send_only;
    if (rnr && begins && within_ == Within::nothing) {
        waits_ = true;
        reply_ = Reply::rnr;
        rnr_ = *rnr & 0x1FU;
        return {};
    }
    waits_ = false;
    if (reply_ != Reply::ack) reply_ = Reply::none;  // a NAK that is not sent yet has become untrue
    return is_read ? take_read(packet.reth) : take(packet, is_send);
}

RcResponder::Delivery RcResponder::refuse() {
    if (state_ == State::ready) ++counters_.invalid;
    state_ = State::failed;
    reply_ = Reply::invalid;
    return {};
}

// A packet of a SEND or WRITE whose turn it is.
RcResponder::Delivery RcResponder::take(const Incoming& packet, bool is_send) {
    // First, middle, last, only are 0, 1, 2 and 4 of SEND's opcodes, and of WRITE's from 6 on.
    const auto part = static_cast<std::uint8_t>(packet.opcode) -
                      static_cast<std::uint8_t>(is_send ? Opcode::send_first : Opcode::write_first);
    const bool begins = part == 0 || part == 4;
    const bool ends = part == 2 || part == 4;
    const std::uint32_t bytes = packet.payload_bytes();
    const Within own = is_send ? Within::send : Within::write;
    if (within_ != (begins ? Within::nothing : own)) return refuse();
    if (ends ? bytes > settings_.mtu || (bytes == 0 && !begins) : bytes != settings_.mtu) return refuse();
    if (!is_send) {
        if (begins) write_left_ = packet.reth.length;
        if (ends ? bytes != write_left_ : bytes >= write_left_) return refuse();
        write_left_ -= bytes;
    }
    within_ = ends ? Within::nothing : own;
    const Delivery delivery{Delivery::Kind::payload, offset_, bytes, ends};
    offset_ += bytes;
    ++expected_;
    ++counters_.packets;
    if (ends) msn_ = (msn_ + 1) & psn_mask;
    acknowledge(ends || packet.ack_request);
    return delivery;
}

RcResponder::Delivery RcResponder::take_read(const Reth& reth) {
    if (within_ != Within::nothing || reth.length == 0 || reth.length > most_message_bytes) return refuse();
    add_read(expected_, reth);
    expected_ += packets_of(reth.length);
    ++counters_.packets;
    msn_ = (msn_ + 1) & psn_mask;
    return {Delivery::Kind::read, reth.address, reth.length, true};
}

void RcResponder::receive_again(const Incoming& packet, std::uint64_t sequence) {
    ++counters_.duplicates;
    if (packet.opcode != Opcode::read_request) return acknowledge(packet.ack_request);
    const Reth& reth = packet.reth;
    if (reth.length == 0 || reth.length > most_message_bytes) return;
    if (sequence + packets_of(reth.length) <= expected_) add_read(sequence, reth);
}

void RcResponder::acknowledge(bool now) {
    if (!now && ++unacknowledged_ < settings_.ack_every) return;
    if (reply_ == Reply::none) reply_ = Reply::ack;
}

// A READ asked for again ends where the first request for it did. If its responses from `sequence` on are
// still to come, nothing changes; else they are sent once more from there.
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
    if (read.end == expected_ && reply_ == Reply::ack) reply_ = Reply::none;  // it acknowledges all
    std::copy(queue_.begin() + 1, queue_.begin() + reads_, queue_.begin());
    --reads_;
    return packet;
}

std::optional<Outgoing> RcResponder::next() {
    if (reads_ != 0) return next_response();
    if (reply_ == Reply::none) return std::nullopt;
    Outgoing packet;
    packet.opcode = Opcode::acknowledge;
    packet.psn = psn_of(reply_ == Reply::ack ? expected_ - 1 : expected_);
    packet.aeth.msn = msn_;
    switch (reply_) {
        case Reply::none:
        case Reply::ack:
            packet.aeth.syndrome = syndrome_ack;
            break;
        case Reply::sequence_error:
            packet.aeth.syndrome = syndrome_sequence_error;
            break;
        case Reply::rnr:
            packet.aeth.syndrome = syndrome_rnr | rnr_;
            break;
        case Reply::invalid:
            packet.aeth.syndrome = syndrome_invalid_request;
            break;
    }
    reply_ = Reply::none;
    unacknowledged_ = 0;
    return packet;
}

}  // namespace sluice::roce

#include "lib/roce/requester.hh"

#include <algorithm>
#include <array>
#include <cassert>

#include "lib/roce/psn.hh"

namespace sluice::roce {

Duration rnr_delay(std::uint8_t syndrome) {
    // In units of 10 us.
    constexpr std::array<std::int32_t, 32> table{
        65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
        256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};
    return microseconds(10) * table[syndrome & 0x1FU];
}

std::uint8_t rnr_syndrome(Duration delay) {
    constexpr std::uint8_t codes = 32;
    for (std::uint8_t code = 1; code < codes; ++code)  // 0 is the longest
        if (rnr_delay(code) >= delay) return code;
    return 0;
}

Requester::Requester(const RequesterSettings& settings)
    : settings_(&settings),
      ring_(settings.messages),
      posted_end_(first_sequence(settings.first_psn)),
      acknowledged_{posted_end_, 0},
      next_{posted_end_, 0},
      sent_end_(posted_end_),
      asked_end_(posted_end_) {
    assert(valid_mtu(settings.mtu));
    assert(settings.messages > 0 && settings.ack_every > 0 && settings.most_reads > 0);
}

bool Requester::post(Kind kind, std::uint32_t bytes, std::uint64_t cookie) {
    assert(bytes > 0 && bytes <= most_message_bytes);
    if (state_ == State::failed || tail_ - head_ == ring_.size()) return false;
    std::uint64_t& offset = kind == Kind::read ? read_offset_ : request_offset_;
    Message& message = at(tail_++);
    message = {.kind = kind,
               .bytes = bytes,
               .packets = (bytes + settings_->mtu - 1) / settings_->mtu,
               .retransmissions = 0,
               .first = posted_end_,
               .offset = offset,
               .bytes_before = posted_bytes_,
               .reads_before = posted_reads_,
               .cookie = cookie};
    posted_end_ = message.end();
    posted_bytes_ += bytes;
    posted_reads_ += kind == Kind::read ? 1 : 0;
    offset += bytes;
    return true;
}

std::uint64_t Requester::bytes_until(const Place& place) const {
    if (place.message == tail_) return posted_bytes_;
    const Message& message = at(place.message);
    const std::uint64_t within = (place.sequence - message.first) * settings_->mtu;
    return message.bytes_before + std::min<std::uint64_t>(within, message.bytes);
}

std::uint64_t Requester::outstanding_bytes() const { return bytes_until(next_) - bytes_until(acknowledged_); }

// Forwards only.
void Requester::move(Place& place, std::uint64_t sequence) const {
    place.sequence = sequence;
    while (place.message != tail_ && at(place.message).end() <= sequence) ++place.message;
}

bool Requester::fits(const Message& message, const Part& part) const {
    if (next_.sequence + part.packets - acknowledged_.sequence > most_outstanding_psns) return false;
    if (message.kind == Kind::read) {
        // READs of which the last response is still to come.
        const std::uint64_t complete =
            acknowledged_.message == tail_ ? posted_reads_ : at(acknowledged_.message).reads_before;
        if (message.reads_before - complete >= settings_->most_reads) return false;
    }
    if (settings_->window_bytes == 0) return true;
    const std::uint64_t outstanding = outstanding_bytes();
    return outstanding == 0 || outstanding + part.bytes <= settings_->window_bytes;
}

bool Requester::asks_for_ack(bool last, std::uint32_t bytes) {
    unasked_bytes_ += bytes;
    const bool half = settings_->window_bytes != 0 && unasked_bytes_ >= settings_->window_bytes / 2;
    const bool asks = ++unasked_packets_ >= settings_->ack_every || half || last;
    if (asks) unasked_bytes_ = unasked_packets_ = 0;
    return asks;
}

Requester::Part Requester::next_part() const {
    const Message& message = at(next_.message);
    const auto index = static_cast<std::uint32_t>(next_.sequence - message.first);
    const std::uint32_t done = index * settings_->mtu;
    const std::uint32_t left = message.bytes - done;
    if (message.kind == Kind::read) return {done, left, left, message.packets - index};
    return {done, left, std::min(left, settings_->mtu), 1};
}

bool Requester::has_next() const {
    return state_ == State::ready && next_.message != tail_ && fits(at(next_.message), next_part());
}

std::optional<Outgoing> Requester::next(Time now) {
    if (!has_next()) return std::nullopt;
    Message& message = at(next_.message);
    const auto [done, left, bytes, packets] = next_part();
    const bool is_read = message.kind == Kind::read;

    Outgoing packet;
    packet.psn = psn_of(next_.sequence);
    packet.offset = message.offset + done;
    if (is_read) {
        packet.opcode = Opcode::read_request;
        packet.reth = {packet.offset, 0, bytes};
        unasked_bytes_ = unasked_packets_ = 0;  // its responses acknowledge
    } else {
        const bool first = done == 0;
        const bool last = bytes == left;
        const bool is_send = message.kind == Kind::send;
        if (first)
            packet.opcode = last      ? (is_send ? Opcode::send_only : Opcode::write_only)
                            : is_send ? Opcode::send_first
                                      : Opcode::write_first;
        else
            packet.opcode = last      ? (is_send ? Opcode::send_last : Opcode::write_last)
                            : is_send ? Opcode::send_middle
                                      : Opcode::write_middle;
        packet.payload_bytes = bytes;
        if (first && !is_send) packet.reth = {message.offset, 0, message.bytes};
        packet.ack_request = asks_for_ack(last, bytes);
    }
    ++counters_.packets;
    if (next_.sequence < sent_end_) {
        ++counters_.retransmissions;
        ++message.retransmissions;
    }
    move(next_, next_.sequence + packets);
    sent_end_ = std::max(sent_end_, next_.sequence);
    if (is_read || packet.ack_request) {
        asked_end_ = next_.sequence;
        if (!timer_) timer_ = now + settings_->timeout;
    }
    return packet;
}

// All before `sequence` is acknowledged.
void Requester::progress_to(std::uint64_t sequence, Time now) {
    if (sequence == acknowledged_.sequence) return;
    move(acknowledged_, sequence);
    if (next_.sequence < sequence) next_ = acknowledged_;  // what came late spares sending it again
    retries_ = rnr_retries_ = 0;
    gap_known_ = false;
    if (state_ == State::waiting) return;
    timer_.reset();
    if (acknowledged_.sequence < asked_end_) timer_ = now + settings_->timeout;
}

// False: a READ before it is not complete, so that its responses are lost.
bool Requester::acknowledge_until(std::uint64_t sequence, Time now) {
    std::uint64_t message = acknowledged_.message;
    while (message != tail_ && at(message).kind != Kind::read && at(message).end() <= sequence) ++message;
    const bool stops = message != tail_ && at(message).kind == Kind::read && at(message).first < sequence;
    // Within a READ that is under way only responses go on.
    progress_to(stops ? std::max(acknowledged_.sequence, at(message).first) : sequence, now);
    return !stops;
}

void Requester::go_back() {
    next_ = acknowledged_;
    asked_end_ = next_.sequence;
    unasked_bytes_ = unasked_packets_ = 0;
    timer_.reset();
}

void Requester::retry() {
    if (settings_->retry_count != unlimited_retries && ++retries_ > settings_->retry_count) return fail();
    go_back();
}

void Requester::fail() {
    state_ = State::failed;
    timer_.reset();
}

void Requester::receive_aeth(std::uint32_t psn, std::uint8_t syndrome, Time now) {
    if (state_ == State::failed) return;
    const std::uint64_t sequence = sequence_of(psn, acknowledged_.sequence);
    const bool is_ack = syndrome >> 5 == 0;
    // An ACK names the last packet that has arrived, a NAK the first that has not: neither says anything new
    // about an earlier one.
    if (sequence < acknowledged_.sequence || sequence >= sent_end_) return;
    if (is_ack) {
        if (acknowledge_until(sequence + 1, now) || gap_known_ || state_ == State::waiting) return;
        gap_known_ = true;
        ++counters_.sequence_errors;
        retry();
    } else if (syndrome >> 5 == syndrome_rnr >> 5) {
        acknowledge_until(sequence, now);
        if (state_ == State::waiting) return;
        ++counters_.rnr_naks;
        if (settings_->rnr_retry != unlimited_retries && ++rnr_retries_ > settings_->rnr_retry) return fail();
        go_back();
        state_ = State::waiting;
        timer_ = now + rnr_delay(syndrome);
    } else if (syndrome == syndrome_sequence_error) {
        acknowledge_until(sequence, now);
        if (state_ == State::waiting) return;
        ++counters_.sequence_errors;
        retry();
    } else if (syndrome >> 5 == syndrome_invalid_request >> 5) {
        acknowledge_until(sequence, now);
        fail();
    }
}

Requester::ReadData Requester::receive_response(std::uint32_t psn, std::uint32_t bytes, Time now) {
    if (state_ == State::failed) return {};
    const std::uint64_t sequence = sequence_of(psn, acknowledged_.sequence);
    if (sequence < acknowledged_.sequence || sequence >= sent_end_) return {};
    // The oldest READ that is not complete.
    std::uint64_t number = acknowledged_.message;
    while (at(number).kind != Kind::read) {
        if (at(number).end() > sequence) return {};  // the PSN of another kind
        ++number;
    }
    const Message& message = at(number);
    const std::uint64_t expected = std::max(acknowledged_.sequence, message.first);
    if (sequence < expected) return {};
    if (sequence > expected) {
        acknowledge_until(expected, now);
        if (gap_known_ || state_ == State::waiting) return {};
        gap_known_ = true;
        ++counters_.sequence_errors;
        retry();
        return {};
    }
    const auto done = static_cast<std::uint32_t>(sequence - message.first) * settings_->mtu;
    if (bytes != std::min(message.bytes - done, settings_->mtu)) return {};
    const ReadData data{message.offset + done, bytes};
    progress_to(sequence + 1, now);
    return data;
}

void Requester::expire(Time now) {
    if (!timer_ || now < *timer_) return;
    timer_.reset();
    if (state_ == State::waiting) {
        state_ = State::ready;
        return;
    }
    ++counters_.timeouts;
    gap_known_ = false;
    retry();
}

std::optional<Requester::Completion> Requester::take_completion() {
    if (head_ == tail_) return std::nullopt;
    const bool complete = head_ < acknowledged_.message;
    if (!complete && state_ != State::failed) return std::nullopt;
    const Message& message = at(head_);
    ++head_;
    return Completion{message.cookie, message.kind, !complete, message.bytes, message.retransmissions};
}

}  // namespace sluice::roce

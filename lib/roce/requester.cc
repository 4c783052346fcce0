#include "lib/roce/requester.hh"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>

namespace sluice::roce {
namespace {

constexpr std::size_t max_holes = 256;  // to be sent again; the time-out is for more

}  // namespace

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
      ring_(std::bit_ceil(settings.messages)),
      posted_end_(first_sequence(settings.first_psn)),
      acknowledged_{posted_end_, 0},
      next_{posted_end_, 0},
      sent_end_(posted_end_),
      asked_end_(posted_end_),
      came_(settings.recovery) {
    if (settings.recovery.kind == Recovery::selective) {
        resends_ = std::make_unique<Resends>();
        resends_->holes.set_capacity(max_holes);
    }
    assert(valid_mtu(settings.mtu));
    assert(settings.messages > 0 && settings.ack_every > 0 && settings.max_reads > 0);
}

bool Requester::post(Kind kind, std::uint32_t bytes, std::uint64_t cookie, std::uint32_t key) {
    assert(bytes > 0 && bytes <= max_message_bytes);
    if (state_ == State::failed || tail_ - head_ == settings_->messages) return false;
    Message& message = at(tail_++);
    message = {.kind = kind,
               .bytes = bytes,
               .packets = (bytes + settings_->mtu - 1) / settings_->mtu,
               .retransmissions = 0,
               .key = key,
               .first = posted_end_,
               .bytes_before = posted_bytes_,
               .reads_before = posted_reads_,
               .cookie = cookie};
    posted_end_ = message.end();
    posted_bytes_ += bytes;
    posted_reads_ += kind == Kind::read ? 1 : 0;
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
    const std::uint64_t psns = next_.sequence + part.packets - acknowledged_.sequence;
    if (psns > max_outstanding_psns) return false;
    // The receiver would drop packets beyond its window.
    if (resends_ != nullptr && psns > settings_->recovery.receive_window && psns > part.packets) return false;
    if (message.kind == Kind::read) {
        // READs of which the last response is still to come.
        const std::uint64_t complete =
            acknowledged_.message == tail_ ? posted_reads_ : at(acknowledged_.message).reads_before;
        if (message.reads_before - complete >= settings_->max_reads) return false;
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

Requester::Part Requester::part_at(const Place& place, std::uint64_t end) const {
    const Message& message = at(place.message);
    const auto index = static_cast<std::uint32_t>(place.sequence - message.first);
    const std::uint32_t done = index * settings_->mtu;
    const std::uint32_t left = message.bytes - done;
    if (message.kind == Kind::read) {
        const auto packets = static_cast<std::uint32_t>(std::min(end, message.end()) - place.sequence);
        const std::uint64_t most = std::uint64_t{packets} * settings_->mtu;
        return {done, left, static_cast<std::uint32_t>(std::min<std::uint64_t>(left, most)), packets};
    }
    return {done, left, std::min(left, settings_->mtu), 1};
}

bool Requester::has_next() const {
    if (state_ != State::ready) return false;
    if (has_resend()) return true;
    return next_.message != tail_ && fits(at(next_.message), next_part());
}

Outgoing Requester::packet_at(const Place& place, const Part& part) const {
    const Message& message = at(place.message);
    const auto [done, left, bytes, packets] = part;
    Outgoing packet;
    packet.psn = psn_of(place.sequence);
    packet.offset = place_of(place.sequence);
    if (message.kind == Kind::read) {
        packet.opcode = Opcode::read_request;
        packet.reth = {packet.offset, 0, bytes};
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
        if (first && !is_send) packet.reth = {packet.offset, message.key, message.bytes};
    }
    return packet;
}

std::optional<Outgoing> Requester::next(Time now) {
    if (!has_next()) return std::nullopt;
    if (has_resend()) return resend(now);
    const std::uint64_t message = next_.message;
    const Part part = next_part();
    Outgoing packet = packet_at(next_, part);
    const bool is_read = at(message).kind == Kind::read;
    if (is_read)
        unasked_bytes_ = unasked_packets_ = 0;  // its responses acknowledge
    else
        packet.ack_request = asks_for_ack(part.bytes == part.left, part.bytes);
    const bool again = next_.sequence < sent_end_;
    move(next_, next_.sequence + part.packets);
    sent_end_ = std::max(sent_end_, next_.sequence);
    note_sent(message, next_.sequence, again, is_read || packet.ack_request, now);
    return packet;
}

void Requester::note_sent(std::uint64_t message, std::uint64_t end, bool again, bool asks, Time now) {
    ++counters_.packets;
    if (again) {
        ++counters_.retransmissions;
        ++at(message).retransmissions;
    }
    if (!asks) return;
    asked_end_ = std::max(asked_end_, end);
    if (!timer_) timer_ = now + settings_->timeout;
}

// The last packet of a hole asks for an acknowledgement.
Outgoing Requester::resend(Time now) {
    ReceiveWindow::Hole& hole = resends_->holes.front();
    Place place = acknowledged_;
    move(place, hole.first);
    const std::uint64_t message = place.message;
    const Part part = part_at(place, hole.end);
    Outgoing packet = packet_at(place, part);
    hole.first += part.packets;
    const bool is_read = at(message).kind == Kind::read;
    packet.ack_request = !is_read && hole.first >= hole.end;
    note_sent(message, hole.first, true, is_read || packet.ack_request, now);
    trim_holes();
    return packet;
}

void Requester::add_hole(std::uint64_t first, std::uint64_t end) {
    first = std::max(first, acknowledged_.sequence);
    if (first >= end || resends_->holes.full()) return;
    for (const ReceiveWindow::Hole& each : resends_->holes)
        if (each.first <= first && end <= each.end) return;
    resends_->holes.push_back({first, end});
}

void Requester::trim_holes() {
    auto& holes = resends_->holes;
    while (!holes.empty()) {
        ReceiveWindow::Hole& hole = holes.front();
        hole.first = std::max(hole.first, acknowledged_.sequence);
        if (hole.first < hole.end) return;
        holes.pop_front();
    }
}

// Asks again for lost READ responses.
void Requester::take_holes() {
    while (came_.any(acknowledged_.sequence) && came_.has_hole()) {
        const ReceiveWindow::Hole hole = came_.next_hole();
        ++counters_.sequence_errors;
        add_hole(hole.first, hole.end);
    }
}

void Requester::resend_oldest() {
    const std::uint64_t first = acknowledged_.sequence;
    if (first >= next_.sequence || has_resend()) return;
    const Message& message = at(acknowledged_.message);
    const bool is_read = message.kind == Kind::read;
    const std::uint64_t end =
        is_read ? std::min(message.end(), came_.next_held(first).value_or(UINT64_MAX)) : first + 1;
    add_hole(first, end);
}

void Requester::continue_after_timeout() {
    if (acknowledged_.sequence < resends_->timed_out_end) resend_oldest();
}

// All before `sequence` is acknowledged.
void Requester::progress_to(std::uint64_t sequence, Time now) {
    const std::uint64_t from = acknowledged_.sequence;
    if (sequence == from) return;
    move(acknowledged_, sequence);
    if (came_.any(from)) [[unlikely]]
        came_.advance(from, sequence, now);
    if (next_.sequence < sequence) next_ = acknowledged_;  // a late ACK saves a resend
    retries_ = rnr_retries_ = 0;
    gap_known_ = false;
    if (has_resend()) trim_holes();
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
    if (resends_ != nullptr) resends_->holes.clear();
    next_ = acknowledged_;
    asked_end_ = next_.sequence;
    unasked_bytes_ = unasked_packets_ = 0;
    timer_.reset();
}

void Requester::retry(Time now) {
    if (settings_->retry_count != unlimited_retries && ++retries_ > settings_->retry_count) return fail();
    if (resends_ == nullptr) return go_back();
    resends_->timed_out_end = sent_end_;
    resend_oldest();
    timer_ = now + settings_->timeout;
}

// An ACK beyond an incomplete READ acknowledges all before `end` but READs.
void Requester::mark_acknowledged(std::uint64_t end, Time now) {
    for (std::uint64_t n = acknowledged_.message; n != tail_ && at(n).first < end; ++n) {
        if (at(n).kind == Kind::read) continue;
        const std::uint64_t last = std::min(end, at(n).end());
        for (std::uint64_t each = std::max(at(n).first, acknowledged_.sequence); each != last; ++each)
            came_.mark(each, acknowledged_.sequence, now);
    }
    take_holes();
}

void Requester::fail() {
    state_ = State::failed;
    timer_.reset();
}

void Requester::receive_aeth(std::uint32_t psn, const Aeth& aeth, Time now) {
    if (state_ == State::failed) return;
    const std::uint8_t syndrome = aeth.syndrome;
    const std::uint64_t sequence = sequence_of(psn, acknowledged_.sequence);
    const bool is_ack = syndrome >> 5 == 0;
    // An ACK names the last packet that has arrived, a NAK the first that has not: old ones say nothing new.
    const bool names_hole = resends_ != nullptr && syndrome == syndrome_sequence_error;
    if ((sequence < acknowledged_.sequence && !names_hole) || sequence >= sent_end_) return;
    if (names_hole) {
        const std::uint64_t end = sequence_of(aeth.msn, acknowledged_.sequence);
        if (state_ == State::waiting || end > sent_end_ || end <= acknowledged_.sequence) return;
        ++counters_.sequence_errors;
        add_hole(sequence, end);
        if (timer_) timer_ = now + settings_->timeout;
    } else if (is_ack && resends_ != nullptr) {
        const std::uint64_t before = acknowledged_.sequence;
        if (!acknowledge_until(sequence + 1, now)) mark_acknowledged(sequence + 1, now);
        if (acknowledged_.sequence != before) continue_after_timeout();
    } else if (is_ack) {
        if (acknowledge_until(sequence + 1, now) || gap_known_ || state_ == State::waiting) return;
        gap_known_ = true;
        ++counters_.sequence_errors;
        retry(now);
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
        retry(now);
    } else if (syndrome >> 5 == syndrome_invalid_request >> 5) {
        acknowledge_until(sequence, now);
        fail();
    }
}

Requester::ReadData Requester::receive_response(std::uint32_t psn, std::uint32_t bytes, Time now) {
    if (state_ == State::failed) return {};
    const std::uint64_t sequence = sequence_of(psn, acknowledged_.sequence);
    if (sequence >= sent_end_) return {};
    if (sequence < acknowledged_.sequence) {
        came_.count_repeated();
        return {};
    }
    std::uint64_t number = acknowledged_.message;
    if (resends_ != nullptr) {
        while (at(number).end() <= sequence) ++number;
        return take_response(sequence, number, bytes, now);
    }
    // The oldest READ that is not complete.
    while (at(number).kind != Kind::read) {
        if (at(number).end() > sequence) return {};  // the PSN of another kind
        ++number;
    }
    const Message& message = at(number);
    const std::uint64_t expected = std::max(acknowledged_.sequence, message.first);
    if (sequence < expected) return {};
    if (sequence > expected) {
        acknowledge_until(expected, now);
        came_.add(sequence, 1, acknowledged_.sequence, now);
        ++counters_.early;
        if (gap_known_ || state_ == State::waiting) return {};
        gap_known_ = true;
        ++counters_.sequence_errors;
        retry(now);
        return {};
    }
    const auto done = static_cast<std::uint32_t>(sequence - message.first) * settings_->mtu;
    if (bytes != std::min(message.bytes - done, settings_->mtu)) return {};
    if (came_.any(sequence)) came_.measure_expected(sequence);
    progress_to(sequence + 1, now);
    return {place_of(sequence), bytes};
}

// Selective: a response to any READ. The responder has taken all before the READ.
Requester::ReadData Requester::take_response(std::uint64_t sequence, std::uint64_t number,
                                             std::uint32_t bytes, Time now) {
    const Message& message = at(number);
    const auto done = static_cast<std::uint32_t>(sequence - message.first) * settings_->mtu;
    if (message.kind != Kind::read || bytes != std::min(message.bytes - done, settings_->mtu)) return {};
    const bool is_new = message.first > acknowledged_.sequence;
    if (is_new && !acknowledge_until(message.first, now)) mark_acknowledged(message.first, now);
    const std::uint64_t expected = acknowledged_.sequence;
    if (sequence != expected) {
        const auto came = came_.add(sequence, 1, expected, now);
        take_holes();
        counters_.early += came == ReceiveWindow::Came::beyond ? 1 : 0;
        if (came != ReceiveWindow::Came::first) return {};
        return {place_of(sequence), bytes};
    }
    if (came_.any(expected)) came_.measure_expected(expected);
    progress_to(came_.run_end(expected + 1), now);
    const std::uint64_t next = acknowledged_.message;
    if (next == tail_ || acknowledged_.sequence == at(next).first) continue_after_timeout();
    return {place_of(sequence), bytes};
}

bool Requester::receive_trimmed_response(std::uint32_t psn, Time now) {
    const std::uint64_t sequence = sequence_of(psn, acknowledged_.sequence);
    if (resends_ == nullptr || state_ != State::ready || sequence < acknowledged_.sequence ||
        sequence >= sent_end_ || resends_->holes.full())
        return false;
    Place place = acknowledged_;
    move(place, sequence);
    if (at(place.message).kind != Kind::read || !came_.ask(sequence, acknowledged_.sequence, now))
        return false;
    add_hole(sequence, sequence + 1);
    return true;
}

void Requester::expire(Time now) {
    if (resends_ != nullptr && came_.any(acknowledged_.sequence)) {
        came_.expire(acknowledged_.sequence, now);
        take_holes();
    }
    if (!timer_ || now < *timer_) return;
    timer_.reset();
    if (state_ == State::waiting) {
        state_ = State::ready;
        return;
    }
    ++counters_.timeouts;
    gap_known_ = false;
    retry(now);
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

// A requester and a responder with a wire between them that a test may spoil. Every packet is written as a
// frame, flies, and is read again; every payload is checked by its place and content, and comes once; every
// message by its order. Each end sends a packet a microsecond; a flight takes two.
#pragma once

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "lib/frame/trim.hh"
#include "lib/roce/packet.hh"
#include "lib/roce/payload.hh"
#include "lib/roce/rc_responder.hh"
#include "lib/roce/requester.hh"
#include "tests/unit/ip_addresses.hh"

namespace sluice::roce {

struct Fate {
    unsigned copies = 1;  // 0: lost
    unsigned late_us = 0;
    unsigned copy_late_us = 0;  // of the second copy
    bool corrupt = false;       // one bit of the ICRC's part
    bool trimmed = false;       // to its headers, if it has payload
};

class RcPair {
  public:
    static constexpr std::uint32_t requester_qp = 0x111111;
    static constexpr std::uint32_t responder_qp = 0x222222;
    static constexpr std::uint16_t trimmed_bytes = 128;
    static constexpr std::size_t lowest_of_psn = 14 + 20 + 8 + 11;  // over IPv4

    RcPair(const RequesterSettings& requester, const ResponderSettings& responder, bool is_v6 = false)
        : mtu_(requester.mtu),
          in_order_(requester.recovery.kind == Recovery::go_back_n),
          requester_(requester),
          responder_(responder),
          there_(route(is_v6, 1, 2), responder_qp),
          back_(route(is_v6, 2, 1), requester_qp) {}

    Requester& requester() { return requester_; }
    RcResponder& responder() { return responder_; }
    Time now() const { return now_; }

    // The fault of the nth packet of a direction, from 0.
    std::function<Fate(bool there, unsigned n)> fate = [](bool, unsigned) { return Fate{}; };
    std::function<std::optional<std::uint8_t>()> rnr = [] { return std::nullopt; };
    std::function<void()> each_turn = [] {};
    bool traces = true;

    bool post(Requester::Kind kind, std::uint32_t bytes) {
        if (!requester_.post(kind, bytes, posted_.size())) return false;
        posted_.push_back({kind, bytes, packets_, 0});
        packets_ += (bytes + mtu_ - 1) / mtu_;
        return true;
    }

    // Until nothing happens any more, or the time is over.
    void run(Duration most = seconds(1000)) {
        const Time end = now_ + most;
        while (now_ < end) {
            arrive();
            requester_.expire(now_);
            responder_.expire(now_);
            take_completions();
            each_turn();
            const auto answer = responder_.next();
            if (answer) send(false, *answer, back_);
            const auto request = requester_.next(now_);
            if (request) send(true, *request, there_);
            if (answer || request) {
                now_ = now_ + microseconds(1);
                continue;
            }
            std::optional<Time> then = requester_.next_timer();
            if (const auto hole = responder_.next_timer()) take_earlier(then, *hole);
            for (const Flight& flight : flights_) take_earlier(then, flight.at);
            if (!then) return;
            now_ = max(now_, *then);
        }
        complain("does not come to an end");
    }

    const std::vector<std::string>& trace() const { return trace_; }
    const std::string& complaint() const { return complaint_; }  // the first; empty: none
    const std::vector<Requester::Completion>& completions() const { return completions_; }
    std::size_t posted() const { return posted_.size(); }
    std::uint64_t refused() const { return refused_; }
    // Trimmed packets that came: asked for, and not.
    std::uint64_t asked() const { return asked_; }
    std::uint64_t trimmed_ignored() const { return trimmed_ignored_; }

    // For a selective NAK: the hole, its end excluded.
    std::string text(const Outgoing& packet) const {
        std::string out;
        if (packet.opcode == Opcode::acknowledge && packet.aeth.syndrome != syndrome_ack)
            out = packet.aeth.syndrome == syndrome_sequence_error    ? "nak"
                  : packet.aeth.syndrome == syndrome_invalid_request ? "invalid"
                                                                     : "rnr";
        else
            out = find_operation(static_cast<std::uint8_t>(packet.opcode))->name;
        out += ' ' + std::to_string(packet.psn);
        if (!in_order_ && out.starts_with("nak")) out += '-' + std::to_string(packet.aeth.msn);
        if (packet.ack_request) out += '*';
        return out;
    }

  private:
    struct Posted {
        Requester::Kind kind;
        std::uint32_t bytes;
        std::uint64_t first;  // of all packets, from 0
        std::uint32_t came;   // bytes
    };
    struct Flight {
        Time at;
        bool there;
        std::vector<std::uint8_t> frame;
    };

    static Route route(bool is_v6, std::uint8_t from, std::uint8_t to) {
        Route route;
        route.source_mac = {{2, 0, 0, 0, 0, from}};
        route.destination_mac = {{2, 0, 0, 0, 0, to}};
        route.source = is_v6 ? v6(from) : v4(0x0A000000U + from);
        route.destination = is_v6 ? v6(to) : v4(0x0A000000U + to);
        route.dscp = 26;
        return route;
    }

    // As a switch does it (lib/frame/trim.hh).
    void trim(std::vector<std::uint8_t>& frame) {
        const TrimPolicy policy{.trimmable = ~std::uint64_t{0}, .bytes = trimmed_bytes, .dscp = 11};
        const auto bytes = trim_headers(frame, static_cast<std::uint32_t>(frame.size()), policy);
        require(bytes && *bytes == trimmed_bytes, "a packet that can be trimmed");
        if (bytes) frame.resize(*bytes);
    }
    void complain(const std::string& text) {
        if (complaint_.empty()) complaint_ = text + ", at " + std::to_string(now_.ps / 1'000'000) + " us";
    }
    void require(bool holds, const char* what) {
        if (!holds) complain(what);
    }

    void send(bool there, const Outgoing& packet, PacketWriter& writer) {
        const Fate what = fate(there, sent_[there ? 1 : 0]++);
        if (traces)
            trace_.push_back((what.copies == 0 || what.corrupt ? "x "
                              : what.trimmed                   ? "t "
                              : there                          ? "> "
                                                               : "< ") +
                             text(packet));
        std::vector<std::uint8_t> frame(writer.frame_bytes(packet));
        require(writer.write(packet, frame) == frame.size(), "a frame of its size");
        if (what.trimmed && packet.payload_bytes > trimmed_bytes) trim(frame);
        if (what.corrupt) frame[frame.size() == trimmed_bytes ? lowest_of_psn : frame.size() / 2 + 10] ^= 4;
        for (unsigned copy = 0; copy < what.copies; ++copy)
            flights_.push_back(
                {now_ + microseconds(2 + (copy == 0 ? what.late_us : what.copy_late_us)), there, frame});
    }

    void arrive() {
        std::vector<Flight> landed;
        const auto flying = std::stable_partition(flights_.begin(), flights_.end(),
                                                  [&](const Flight& flight) { return flight.at <= now_; });
        landed.assign(std::make_move_iterator(flights_.begin()), std::make_move_iterator(flying));
        flights_.erase(flights_.begin(), flying);
        std::stable_sort(landed.begin(), landed.end(),
                         [](const Flight& a, const Flight& b) { return a.at < b.at; });
        for (const Flight& flight : landed) {
            const Incoming in = read_packet(flight.frame);
            if (in.refusal == Incoming::Refusal::trimmed) {
                const bool asks = flight.there ? responder_.receive_trimmed(in, now_)
                                               : requester_.receive_trimmed_response(in.psn, now_);
                ++(asks ? asked_ : trimmed_ignored_);
                continue;
            }
            if (in.refusal != Incoming::Refusal::none) {
                ++refused_;
                continue;
            }
            require(in.qp == (flight.there ? responder_qp : requester_qp), "its QP");
            if (flight.there)
                deliver(in, responder_.receive(in, rnr(), now_));
            else
                answer(in);
        }
    }

    void deliver(const Incoming& in, const RcResponder::Delivery& delivery) {
        using Kind = RcResponder::Delivery::Kind;
        if (delivery.kind == Kind::payload) place(in, delivery.offset, delivery.bytes, false);
        for (std::uint32_t n = 0; n < delivery.messages; ++n, ++received_) {
            if (received_ == posted_.size()) return complain("a message that was not posted");
            const Posted& message = posted_[received_];
            const bool is_read = message.kind == Requester::Kind::read;
            if (n == 0 && delivery.kind == Kind::read)
                require(is_read && message.bytes == delivery.bytes, "the READ's turn");
            require(is_read || message.came == message.bytes, "all of a message before its end");
        }
    }

    // Payload that an end takes.
    void place(const Incoming& in, std::uint64_t offset, std::uint32_t bytes, bool of_read) {
        const std::uint64_t packet = offset / mtu_;
        if (offset % mtu_ != 0 || packet >= packets_) return complain("payload of no packet");
        const auto next =
            std::upper_bound(posted_.begin(), posted_.end(), packet,
                             [](std::uint64_t at, const Posted& message) { return at < message.first; });
        Posted& message = *(next - 1);
        const auto done = static_cast<std::uint32_t>(packet - message.first) * mtu_;
        require(of_read == (message.kind == Requester::Kind::read), "payload of its kind");
        require(placed_.insert(packet).second, "payload exactly once");
        std::uint64_t& behind = placed_until_[of_read ? 1 : 0];
        require(!in_order_ || packet >= behind, "payload in order");
        behind = packet + 1;
        require(bytes == std::min(message.bytes - done, mtu_) && in.payload.size() == bytes,
                "all of the payload");
        const PayloadStream stream = of_read ? back_.stream() : there_.stream();
        require(!first_wrong(in.payload, stream, offset), "right payload");
        message.came += bytes;
    }

    void answer(const Incoming& in) {
        if (in.opcode == Opcode::acknowledge) return requester_.receive_aeth(in.psn, in.aeth, now_);
        const auto data =
            requester_.receive_response(in.psn, static_cast<std::uint32_t>(in.payload.size()), now_);
        if (data.bytes != 0) place(in, data.offset, data.bytes, true);
    }

    void take_completions() {
        while (const auto completion = requester_.take_completion()) {
            const std::size_t n = completions_.size();
            require(completion->cookie == n && completion->bytes == posted_[n].bytes, "completions in order");
            require(completion->failed || completions_.empty() || !completions_.back().failed,
                    "nothing completes behind a failed message");
            if (!completion->failed) {
                require(received_ > n, "a completed message has been received");
                require(posted_[n].came == posted_[n].bytes, "a completed message has its data");
            }
            completions_.push_back(*completion);
        }
    }

    std::uint32_t mtu_;
    bool in_order_;
    Requester requester_;
    RcResponder responder_;
    PacketWriter there_;
    PacketWriter back_;
    Time now_{};
    std::vector<Flight> flights_;  // in the order of sending
    std::array<unsigned, 2> sent_{};
    std::vector<Posted> posted_;
    std::size_t received_ = 0;   // messages that the responder has taken
    std::uint64_t packets_ = 0;  // of all that is posted
    std::set<std::uint64_t> placed_;
    std::array<std::uint64_t, 2> placed_until_{};  // of requests, of responses
    std::vector<Requester::Completion> completions_;
    std::vector<std::string> trace_;
    std::string complaint_;
    std::uint64_t refused_ = 0;
    std::uint64_t asked_ = 0, trimmed_ignored_ = 0;
};

}  // namespace sluice::roce

// Any bytes as a frame of RoCEv2, read to no byte too far. And any bytes from BTH on, behind right headers
// and with a right ICRC, one packet after the other, to both end points of a QP: payload comes once and in
// order, and whatever the peer says, a message ends at most once.
//
// The first byte says which. In the second way a byte gives the length of the packet that follows it, less 12
// and in units of 4.
#include <algorithm>
#include <set>
#include <vector>

#include "lib/frame/checksum.hh"
#include "lib/roce/icrc.hh"
#include "lib/roce/packet.hh"
#include "lib/roce/rc_responder.hh"
#include "lib/roce/requester.hh"
#include "tests/fuzz/require.hh"
#include "tests/unit/exact_copy.hh"

namespace {

using namespace sluice;
using namespace sluice::roce;
using Bytes = std::span<const std::uint8_t>;

constexpr std::uint32_t mtu = 256;
constexpr std::size_t bth_at = sizeof(EthernetHeader) + sizeof(Ipv4Header) + sizeof(UdpHeader);

void check_inside(const Incoming& in, Bytes frame) {
    if (in.refusal != Incoming::Refusal::none || in.payload.empty()) return;
    require(in.payload.data() >= frame.data() + bth_at + sizeof(Bth) &&
                in.payload.data() + in.payload.size() + icrc_bytes <= frame.data() + frame.size(),
            "payload lies within the frame");
}

std::vector<std::uint8_t> around(Bytes from_bth) {
    std::vector<std::uint8_t> frame(bth_at);
    frame.insert(frame.end(), from_bth.begin(), from_bth.end());
    frame.resize(std::max(frame.size(), bth_at + sizeof(Bth)) + icrc_bytes);
    const auto put16 = [&](std::size_t at, std::size_t value) {
        store_be<std::uint16_t>(&frame[at], static_cast<std::uint16_t>(value));
    };
    put16(12, ether_type::ipv4);
    frame[14] = 0x45;
    put16(16, frame.size() - 14);
    frame[23] = ip_protocol::udp;
    put16(24, internet_checksum(Bytes(frame).subspan(14, 20)));
    put16(36, roce_udp_port);
    put16(38, frame.size() - 34);
    const std::size_t end = frame.size() - icrc_bytes;
    store_icrc(&frame[end], icrc(Bytes(frame).subspan(14, end - 14), 20));
    return frame;
}

// Both ends of a QP, of which each hears what the input says.
class EndPoints {
  public:
    explicit EndPoints(Recovery recovery)
        : recovery_{recovery, min_receive_window, microseconds(30)},
          settings_{.mtu = mtu, .messages = 8, .retry_count = 3, .recovery = recovery_},
          requester_(settings_),
          responder_({.mtu = mtu, .ack_every = 3, .recovery = recovery_}) {
        for (; posted_ < 6; ++posted_)
            requester_.post(static_cast<Requester::Kind>(posted_ % 3), 1 + posted_ * 300, posted_);
    }

    void hear(const Incoming& in, bool busy) {
        now_ = now_ + microseconds(7);
        for (unsigned n = 0; n < 4; ++n) static_cast<void>(requester_.next(now_));
        if (in.opcode == Opcode::acknowledge) requester_.receive_aeth(in.psn, in.aeth, now_);
        if (in.opcode >= Opcode::read_response_first && in.opcode <= Opcode::read_response_only) {
            const auto data =
                requester_.receive_response(in.psn, static_cast<std::uint32_t>(in.payload.size()), now_);
            if (data.bytes != 0) take(read_, data.offset);
        }
        requester_.expire(now_);
        while (const auto completion = requester_.take_completion())
            require(completion->cookie == ended_++, "each message ends once, in order");
        require(ended_ <= posted_, "only what was posted ends");

        responder_.expire(now_);
        const auto delivery =
            responder_.receive(in, busy ? std::optional<std::uint8_t>(1) : std::nullopt, now_);
        if (delivery.kind == RcResponder::Delivery::Kind::payload) {
            require(delivery.bytes == in.payload.size(), "all of the payload");
            take(taken_, delivery.offset);
        }
        for (unsigned n = 0; n < 3 && responder_.has_next(); ++n) {
            const auto answer = responder_.next();
            require(answer && answer->payload_bytes <= mtu, "an answer of at most an MTU");
        }
    }

  private:
    void take(std::set<std::uint64_t>& places, std::uint64_t place) const {
        const bool in_order =
            recovery_.kind == Recovery::selective || places.empty() || place > *places.rbegin();
        require(in_order, "payload in order");
        require(places.insert(place).second, "payload once");
    }

    const RecoverySettings recovery_;
    const RequesterSettings settings_;
    Requester requester_;
    RcResponder responder_;
    Time now_{};
    std::uint32_t posted_ = 0;
    std::uint64_t ended_ = 0;
    std::set<std::uint64_t> read_, taken_;  // places of payload
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    Bytes left(data + 1, size - 1);
    if ((data[0] & 1) != 0) {
        const ExactCopy copy(left);
        check_inside(read_packet(copy.view()), copy.view());
        return 0;
    }
    EndPoints end_points((data[0] & 4) != 0 ? Recovery::selective : Recovery::go_back_n);
    while (!left.empty()) {
        const std::size_t bytes = std::min(left.size() - 1, sizeof(Bth) + std::size_t{left[0]} * 4);
        const ExactCopy copy(around(left.subspan(1, bytes)));
        left = left.subspan(1 + bytes);
        const Incoming in = read_packet(copy.view());
        require(in.refusal == Incoming::Refusal::none || in.refusal == Incoming::Refusal::opcode ||
                    in.refusal == Incoming::Refusal::malformed,
                "headers and ICRC are right");
        check_inside(in, copy.view());
        if (in.refusal == Incoming::Refusal::none) end_points.hear(in, (data[0] & 2) != 0);
    }
    return 0;
}

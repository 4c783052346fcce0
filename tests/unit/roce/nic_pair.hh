// Two NICs with a wire between that loses nothing unless it is told to.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "lib/roce/nic.hh"
#include "tests/unit/ip_addresses.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::nic_test {

using namespace sluice::roce;
using Kind = Requester::Kind;

inline constexpr Rate line = gigabits(100);
inline constexpr std::uint32_t first_qp = 0x100;
inline constexpr ClassId data_class = 3;
inline constexpr ClassId ack_class = 4;
inline constexpr ClassId cnp_class = 6;
inline constexpr Duration cable = microseconds(1);

struct Sent {
    Time at;
    ClassId priority;
    Incoming packet;  // without its payload
    std::uint32_t bytes;
};

// Host 1 requests, host 2 responds; queue pair n of one is connected with n of the other.
class NicPair {
  public:
    std::vector<FlowSettings> flows{1};
    std::vector<std::uint32_t> flow_of_qp{0};
    std::array<NicSettings, 2> settings;
    std::array<unsigned, 2> allowed{0xFF, 0xFF};
    std::array<std::vector<Sent>, 2> sent;
    bool traces = true;
    bool marks = false;  // CE for all data
    std::function<bool(unsigned end, const Incoming&)> loses = [](unsigned, const Incoming&) {
        return false;
    };
    std::vector<ListedTransfer> transfers;  // of host 1, on flow 0
    std::vector<std::pair<std::uint32_t, std::uint32_t>> order;

    NicPair() {
        for (unsigned end = 0; end < 2; ++end) {
            settings[end].address = address(end);
            settings[end].first_qp = first_qp;
            settings[end].reaction = ReactionParameters::of(CongestionControl::none, line);
            settings[end].ack = {26, ack_class, Ecn::ect0, {}};
            settings[end].cnp = {48, cnp_class, Ecn::not_ect, {}};
        }
        flows[0].sizes = MessageSizes::fixed(10'000);
        flows[0].messages = 4;
        flows[0].path = {{line.byte_time(), cable}};
    }

    Nic& nic(unsigned end) {
        if (!ends_[end].nic) {
            std::vector<QpSettings> qps;
            for (std::uint32_t n = 0; n < flow_of_qp.size(); ++n)
                qps.push_back({flow_of_qp[n], end == 0, address(1 - end), first_qp + n, n});
            const auto list = std::make_shared<TransferList>();
            list->peers = {address(1 - end)};
            for (ListedTransfer each : transfers) {
                each.peer_qp = static_cast<std::uint32_t>(first_qp + qps.size() + list->transfers.size());
                each.requests = end == 0;
                list->transfers.push_back(each);
            }
            if (end == 0) list->order = order;
            ends_[end].nic =
                std::make_unique<Nic>(settings[end], flows, qps, std::span<RankSettings>(), list);
        }
        return *ends_[end].nic;
    }

    void run(Time until) {
        for (auto next = earliest(); next && next->at <= until; next = earliest()) step(*next);
        now = max(now, until);
    }
    Time now{};

    static IpAddress address(unsigned end) { return v4(0x0A000001U + end); }

  private:
    enum class What : std::uint8_t { receive, timer, frame };
    struct Next {
        Time at;
        unsigned end;
        What what;
    };
    struct Flight {
        Time at;
        std::vector<std::uint8_t> frame;
    };
    struct End {
        std::unique_ptr<Nic> nic;
        Time wire_free{};
        std::deque<Flight> arriving;
    };

    std::optional<Next> earliest() {
        std::optional<Next> best;
        for (unsigned end = 0; end < 2; ++end) {
            const auto consider = [&](Time at, What what) {
                if (!best || at < best->at) best = Next{at, end, what};
            };
            if (!ends_[end].arriving.empty()) consider(ends_[end].arriving.front().at, What::receive);
            if (const auto timer = nic(end).next_timer()) consider(*timer, What::timer);
            for (const auto& ready : nic(end).ready())
                if ((allowed[end] >> ready.priority & 1U) != 0)
                    consider(max(max(ready.at, now), ends_[end].wire_free), What::frame);
        }
        return best;
    }

    void step(const Next& next) {
        End& end = ends_[next.end];
        now = next.at;
        if (next.what == What::timer) return end.nic->expire(now);
        if (next.what == What::receive) {
            end.nic->receive(end.arriving.front().frame, now);
            end.arriving.pop_front();
            return;
        }
        const auto frame = end.nic->next_frame(now, allowed[next.end]);
        if (!frame) return;
        CHECK_TRUE((allowed[next.end] >> frame->priority & 1U) != 0);
        std::vector<std::uint8_t> bytes(frame->bytes);
        end.nic->write(*frame, bytes);
        if (marks && frame->kind == FrameKind::data) mark(bytes);
        Incoming packet = read_packet(bytes);
        CHECK_TRUE(packet.refusal == Incoming::Refusal::none);
        packet.payload = {};
        if (traces) sent[next.end].push_back({now, frame->priority, packet, frame->bytes});
        end.wire_free = now + line.byte_time() * wire_bytes(frame->bytes);
        if (loses(next.end, packet)) return;
        ends_[1 - next.end].arriving.push_back({end.wire_free + cable, std::move(bytes)});
    }

    // CE, and the header's checksum of it (RFC 1624).
    static void mark(std::vector<std::uint8_t>& bytes) {
        bytes[15] |= 3U;
        std::uint32_t sum = load_be<std::uint16_t>(&bytes[24]);
        sum = sum != 0 ? sum - 1 : 0xFFFE;  // ECT(0) to CE adds 1
        store_be<std::uint16_t>(&bytes[24], static_cast<std::uint16_t>(sum));
    }

    std::array<End, 2> ends_;
};

inline Time us(std::int64_t n) { return Time{} + microseconds(n); }

}  // namespace sluice::nic_test

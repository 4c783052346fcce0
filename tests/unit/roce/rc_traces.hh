// Traces of two end points, packet by packet: `>` a request, `<` an answer, `x` either one that the wire
// loses, `t` one that it trims, `*` asks for an acknowledgement. Each sends at most one a microsecond,
// answers first; a flight takes two, so an answer to what is sent at 0 is sent at 2, and read at 4.
#pragma once

#include <map>
#include <set>

#include "tests/unit/roce/rc_pair.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::roce {

using Kind = Requester::Kind;
using Lines = std::vector<std::string>;

constexpr std::uint32_t traced_mtu = 256;

inline Lines joined(Lines first, const Lines& second) {
    first.insert(first.end(), second.begin(), second.end());
    return first;
}

inline const Lines five_packets{"> send_first 0", "> send_middle 1", "> send_middle 2", "> send_middle 3",
                                "> send_last 4*"};

// A group of such tests.
struct RcTraces : public Utest {
    RequesterSettings requester{.mtu = traced_mtu, .timeout = microseconds(50)};
    ResponderSettings responder{.mtu = traced_mtu};
    // By the order of sending.
    std::set<unsigned> lost_requests, lost_answers, trimmed_requests, trimmed_answers;
    std::map<unsigned, unsigned> late_requests, late_answers;  // by how many us
    unsigned double_request = ~0U, copy_late_us = 0;
    unsigned busy = 0;  // SENDs that find no receive buffer

    Fate fate(bool there, unsigned n) const {
        Fate fate;
        if ((there ? lost_requests : lost_answers).count(n) != 0) fate.copies = 0;
        fate.trimmed = (there ? trimmed_requests : trimmed_answers).count(n) != 0;
        const auto& late = there ? late_requests : late_answers;
        if (const auto found = late.find(n); found != late.end()) fate.late_us = found->second;
        if (there && n == double_request) fate = {.copies = 2, .copy_late_us = copy_late_us};
        return fate;
    }

    void traces(const std::vector<std::pair<Kind, std::uint32_t>>& messages, const Lines& wanted,
                bool fails = false) {
        RcPair pair(requester, responder);
        pair.fate = [&](bool there, unsigned n) { return fate(there, n); };
        pair.rnr = [&]() -> std::optional<std::uint8_t> {
            if (busy == 0) return std::nullopt;
            --busy;
            return std::uint8_t{1};
        };
        for (const auto& [kind, bytes] : messages) CHECK_TRUE(pair.post(kind, bytes));
        pair.run(seconds(1));
        STRCMP_EQUAL("", pair.complaint().c_str());
        for (std::size_t n = 0; n < std::min(wanted.size(), pair.trace().size()); ++n)
            STRCMP_EQUAL(wanted[n].c_str(), pair.trace()[n].c_str());
        LONGS_EQUAL(wanted.size(), pair.trace().size());
        LONGS_EQUAL(messages.size(), pair.completions().size());
        for (const auto& completion : pair.completions()) CHECK_EQUAL(fails, completion.failed);
        LONGS_EQUAL(0, pair.requester().outstanding_bytes() * (fails ? 0 : 1));
        CHECK_FALSE(pair.requester().next_timer().has_value());
        CHECK_FALSE(pair.responder().next_timer().has_value());
        asked = pair.asked();
        timeouts = pair.requester().counters().timeouts;
        responses = pair.requester().reordering();
        requests = pair.responder().reordering();
    }
    // The last one's time-outs, trimmed packets that were asked for, and reordering at the requester and the
    // responder.
    std::uint64_t timeouts = 0, asked = 0;
    ReceiveWindow::Counters responses{}, requests{};
    void reorders(const ReceiveWindow::Counters& of, unsigned inversions, unsigned depth,
                  unsigned repeated) const {
        LONGS_EQUAL(inversions, of.inversions);
        LONGS_EQUAL(depth, of.max_depth);
        LONGS_EQUAL(repeated, of.repeated);
    }
    // Traces of a SEND of five packets.
    void traces_send(const Lines& wanted) { traces({{Kind::send, 5 * traced_mtu}}, wanted); }
    void traces_read(const Lines& wanted) { traces({{Kind::read, 5 * traced_mtu}}, wanted); }
};

}  // namespace sluice::roce

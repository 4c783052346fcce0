#include "tools/traffic/verify.hh"

#include <fmt/format.h>

#include <array>

#include "control/config/schema/values.hh"
#include "lib/frame/headers.hh"
#include "lib/values/endian.hh"
#include "tools/traffic/dissect.hh"
#include "tools/traffic/icrc.hh"

namespace sluice::traffic {

void Verification::add(std::span<const std::uint8_t> frame, std::uint32_t length) {
    ++frames;
    bytes += length;
    const Dissection d = dissect(frame);
    if (d.ether_type == ether_type::mac_control && frame.size() >= d.network + 2) {
        const auto opcode = load_be<std::uint16_t>(&frame[d.network]);
        if (opcode == mac_control_opcode::pfc) ++pfc;
        if (opcode == mac_control_opcode::pause) ++pause;
        return;
    }
    if (d.transport == 0 || d.protocol != ip_protocol::udp || frame.size() < d.transport + sizeof(UdpHeader))
        return;
    if (load_be<std::uint16_t>(&frame[d.transport + 2]) != roce_udp_port) return;
    ++roce;
    ++*std::array{&not_ect, &ect1, &ect0, &ce}[static_cast<std::size_t>(d.ecn())];
    const std::size_t bth = d.transport + sizeof(UdpHeader);
    if (frame.size() > bth && frame[bth] == cnp_opcode) ++cnp;
    const auto expected = icrc_of(frame);
    if (!expected) {
        ++icrc_unchecked;
    } else if (expected == icrc_carried(frame)) {
        ++icrc_good;
    } else {
        ++icrc_bad;
        if (first_bad == 0) first_bad = frames;
    }
}

std::string Verification::text() const {
    std::string text = fmt::format(
        "{}, {} bytes\n"
        "RoCEv2   {}: ICRC {} good, {} bad, {} without one to check (cut, fragment or short)\n"
        "ECN      {} CE, {} ECT(0), {} ECT(1), {} Not-ECT (of RoCEv2)\n"
        "CNP      {}\n"
        "PFC      {}, PAUSE {}\n",
        print_count(frames, "frame"), bytes, roce, icrc_good, icrc_bad, icrc_unchecked, ce, ect0, ect1,
        not_ect, cnp, pfc, pause);
    if (first_bad != 0) text += fmt::format("the first bad ICRC is frame {}\n", first_bad);
    return text;
}

std::string Verification::json() const {
    return fmt::format(
        R"({{"frames":{},"bytes":{},"roce":{},"icrc_good":{},"icrc_bad":{},"icrc_unchecked":{},"cnp":{},)"
        R"("not_ect":{},"ect0":{},"ect1":{},"ce":{},"pfc":{},"pause":{},"first_bad":{}}})",
        frames, bytes, roce, icrc_good, icrc_bad, icrc_unchecked, cnp, not_ect, ect0, ect1, ce, pfc, pause,
        first_bad);
}

}  // namespace sluice::traffic

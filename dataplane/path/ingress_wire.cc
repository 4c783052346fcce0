// The first three steps of the ingress half where the port is an end of a wire: the peer is the next hop, and
// only rules change a header. From admission on it is a packet like all others.
#include "dataplane/base/described.hh"
#include "dataplane/path/ingress_stages.hh"
#include "dataplane/path/punt.hh"
#include "dataplane/path/wire.hh"
#include "lib/frame/checksum.hh"
#include "lib/frame/ip_address.hh"
#include "lib/roce/wire_frame.hh"

namespace sluice {
namespace {

using Bytes = std::span<const std::uint8_t>;

std::uint64_t scrambled(const IpAddress& address, std::uint64_t sum) {
    for (std::size_t at = 0; at < address.bytes.size(); at += sizeof sum) {
        std::uint64_t word = 0;
        std::memcpy(&word, address.bytes.data() + at, sizeof word);
        sum = scramble(sum ^ word);
    }
    return sum;
}

// The key of a reply from `from` to `to`; never 0.
std::uint64_t reply_ends(const IpAddress& from, const IpAddress& to) {
    return scrambled(to, scrambled(from, 0)) | 1U;
}

// True for packets that name the queue pair of a data sender.
bool names_sender(std::uint8_t opcode) {
    return opcode == static_cast<std::uint8_t>(roce::Opcode::acknowledge) ||
           opcode == static_cast<std::uint8_t>(roce::Opcode::read_request);
}

// A direction of a wire during one call.
class WireIngress {
  public:
    WireIngress(WorkerContext& worker, PortContext& port)
        : worker_(worker),
          port_(port),
          own_(worker.policy->ports[port.id]),
          policy_(*own_.wire),
          wire_(*port.wire) {
        batch_.count = 0;
        batch_.all_cells = 0;
    }

    void take(Packet* packet) {
        Frame frame{packet, first_bytes(packet, copy_), {}, static_cast<std::uint16_t>(packet->pkt_len)};
        frame.read = roce::read_wire_frame(frame.view, packet->pkt_len);
        port_.counters.rx.add(packet->pkt_len);
        const bool is_mac_control = frame.read.parsed.kind == FrameKind::mac_control;
        if (is_mac_control && !policy_.passes_pfc) {
            flush();
            consume(worker_, port_, packet);
            return;
        }
        const ClassWay way = way_of(frame);
        const DropReason reason = refusal(frame);
        describe(packet, way, reason, policy_.peer);
        if (reason != DropReason::none) return drop(worker_, packet, reason);
        meta(packet).l3_offset = frame.read.parsed.l3_offset;
        count(frame, way);
        if (frame.read.facts.roce) wire_.replies.count(frame.read, addresses_of(frame).destination);
        if (policy_.learns_senders) [[unlikely]]
            learn(frame);
        const bool any_waits = wire_.holds_any();
        const auto taken = is_mac_control ? WireDirection::Taken{}
                                          : wire_.draw_fate(policy_, frame.read.facts, worker_.policy->seed,
                                                            port_.id, frame.bytes);
        if (taken.rule != nullptr) [[unlikely]] {
            const Outcome outcome = act(frame, taken);
            note(frame, taken, outcome != Outcome::untouched);
            if (outcome == Outcome::gone) return;
        }
        pass(frame.packet);
        if (frame.twin != nullptr) pass(frame.twin);
        if (any_waits) wire_.passed(frame.read.facts, [this](Packet* waiting) { release(waiting); });
    }

    void flush() {
        if (batch_.count == 0) return;
        admit_stage(worker_, port_, batch_);
        hand_off_stage(worker_, batch_);
        batch_.count = 0;
        batch_.all_cells = 0;
    }

    void release(Packet* packet) {
        flush();
        hand_off(packet);
    }

  private:
    struct Frame {
        Packet* packet;
        Bytes view;
        roce::WireFrame read;
        std::uint16_t bytes;
        Packet* twin = nullptr;  // passes behind it
    };
    // The fate of a frame that a rule took: it passes, changed or not, or the rule has consumed it.
    enum class Outcome : std::uint8_t { passes, untouched, gone };

    struct Addresses {
        IpAddress source, destination;
    };
    DropReason refusal(const Frame& frame) const {
        if (frame.packet->packet_type == packet_type_truncated) return DropReason::truncated_capture;
        if (frame.packet->pkt_len > max_frame_bytes) return DropReason::frame_too_long;
        const std::uint32_t most = worker_.policy->ports[policy_.peer].mtu + link_header_bytes;
        return frame.packet->pkt_len > most ? DropReason::mtu_exceeded : DropReason::none;
    }

    static Addresses addresses_of(const Frame& frame) {
        const bool v6 = frame.read.parsed.kind == FrameKind::ipv6;
        const std::uint8_t* l3 = frame.view.data() + frame.read.parsed.l3_offset;
        return {source_of(v6, l3), destination_of(v6, l3)};
    }

    ClassWay way_of(const Frame& frame) const {
        if (frame.read.parsed.kind != FrameKind::mac_control) return own_.ways->by_rules(frame.read.parsed);
        ClassWay way;
        way.treatment.traffic_class = own_.map.dscp_to_tc[network_control_dscp];
        way.priority_group = lossy_group(own_, way.treatment.traffic_class);
        way.treatment.lossless = own_.group[way.priority_group].lossless;
        return way;
    }

    // `to`: the port by which it leaves.
    void describe(Packet* packet, const ClassWay& way, DropReason refused, PortId to) {
        sluice::describe(port_.id, port_.receive.next_sequence++, packet, way, refused);
        PacketMeta& info = meta(packet);
        info.egress_port = to;
        info.queue = worker_.policy->ports[to].map.tc_to_queue[way.treatment.traffic_class];
        info.l3_offset = 0;
    }

    void count(const Frame& frame, const ClassWay& way) {
        const std::uint32_t bytes = frame.packet->pkt_len;
        port_.counters.group_rx[way.priority_group].add(bytes);
        count_kinds(port_.counters, way.kinds);
    }

    void pass(Packet* packet) {
        const std::uint32_t cells = worker_.policy->cell.cells(packet->pkt_len);
        batch_.packet[batch_.count] = packet;
        batch_.cells[batch_.count++] = cells;
        batch_.all_cells += cells;
        if (batch_.count == burst_size) flush();
    }

    // The packet is admitted already.
    void hand_off(Packet* packet) {
        meta(packet).sequence = port_.receive.next_sequence++;
        Batch one;
        one.count = 1;
        one.packet[0] = packet;
        hand_off_stage(worker_, one);
    }

    // False: it has been dropped.
    bool admit(Packet* packet) {
        Batch one;
        one.count = 1;
        one.packet[0] = packet;
        one.all_cells = one.cells[0] = worker_.policy->cell.cells(packet->pkt_len);
        admit_stage(worker_, port_, one);
        return one.count == 1;
    }

    // False: there is no room for it, and it is to pass.
    bool hold(const Frame& frame, const FaultRule& rule) {
        const bool reorder = rule.action == FaultAction::reorder;
        if (!(reorder ? wire_.may_reorder() : wire_.may_delay())) return false;
        flush();
        if (!admit(frame.packet)) return true;
        const Time until = worker_.now + rule.time;
        if (!reorder)
            wire_.delay(frame.packet, until);
        else if (frame.read.facts.roce)
            wire_.reorder(frame.packet, until, rule.frames, frame.read.facts.qp);
        else
            wire_.reorder(frame.packet, until, rule.frames, std::nullopt);
        return true;
    }

    bool mark_ce(const Frame& frame) {
        const Ecn ecn = frame.read.parsed.ecn();
        const std::uint32_t l3 = frame.read.parsed.l3_offset;
        if (!frame.read.facts.ip || ecn == Ecn::not_ect || ecn == Ecn::ce) return false;
        if (!make_contiguous(frame.packet, l3 + frame.read.ip_header_bytes)) return false;
        set_ce(frame_bytes(frame.packet) + l3);
        EcnBits& bits = meta(frame.packet).treatment.ecn;
        bits = EcnBits::of(Ecn::ce, bits.color(), bits.is_exempt());
        return true;
    }

    // Writes the bytes of a described frame, whose ICRC would be right.
    bool corrupt(Frame& frame, const WireDirection::Taken& taken) {
        const std::span<std::uint8_t> bytes(whole_.data(), frame.packet->pkt_len);
        copy_frame(frame.packet, bytes.data());
        const std::uint64_t random = taken.rule->corrupt_draw(worker_.policy->seed, port_.id, taken.number);
        if (!roce::corrupt_payload(bytes, frame.read, random)) return false;
        Packet* made = make_packet(worker_.packet_pool, bytes, false);
        if (made == nullptr) return false;
        meta(made) = meta(frame.packet);
        rte_pktmbuf_free(frame.packet);
        frame.packet = made;
        return true;
    }

    Packet* copy_of(Packet* packet) {
        if (!is_described(packet)) {
            copy_frame(packet, whole_.data());
            return make_packet(worker_.packet_pool, {whole_.data(), packet->pkt_len}, false);
        }
        Packet* made = make_packet(worker_.packet_pool, {frame_bytes(packet), packet->data_len}, false);
        if (made != nullptr) describe_rest(made, packet->data_len, packet->pkt_len, tail_of(packet));
        return made;
    }

    bool duplicate(Frame& frame) {
        Packet* made = copy_of(frame.packet);
        if (made == nullptr) return false;
        meta(made) = meta(frame.packet);
        meta(made).sequence = port_.receive.next_sequence++;
        wire_.made.add(1);
        frame.twin = made;
        return true;
    }

    // Sends a CNP by the port by which the frame came, in a lossy group.
    bool send_cnp(const Frame& frame, const FaultRule& rule) {
        if (!frame.read.facts.roce || frame.read.parsed.cnp) return false;
        std::optional<std::uint32_t> sender = rule.sender_qp;
        if (!sender) {
            const auto [source, destination] = addresses_of(frame);
            sender = worker_.shared.ports[policy_.peer]->wire->senders.find(reply_ends(destination, source));
        }
        if (!sender) return false;
        const std::uint32_t bytes = roce::write_cnp(frame.view, frame.read, *sender, rule.cnp_dscp, whole_);
        Packet* made = bytes == 0 ? nullptr : make_packet(worker_.packet_pool, {whole_.data(), bytes}, false);
        if (made == nullptr) return false;
        ClassWay way = own_.ways->by_rules(roce::read_wire_frame({whole_.data(), bytes}, bytes).parsed);
        way.priority_group = lossy_group(own_, way.treatment.traffic_class);
        meta(made) = PacketMeta{};
        describe(made, way, DropReason::none, port_.id);
        meta(made).arrival = worker_.now;
        meta(made).treatment.lossless = false;
        wire_.made.add(1);
        flush();
        if (admit(made)) hand_off(made);
        return true;
    }

    void learn(const Frame& frame) {
        if (!frame.read.facts.roce || !names_sender(frame.read.facts.opcode)) return;
        const auto [source, destination] = addresses_of(frame);
        wire_.senders.learn(reply_ends(source, destination), frame.read.facts.qp);
    }

    void note(const Frame& frame, const WireDirection::Taken& taken, bool done) {
        WireRuleCounters& counters = wire_.rules[taken.place];
        (done ? counters.acted : counters.passed).add(1);
        const FrameFacts& facts = frame.read.facts;
        WireEvent event{};
        event.at = worker_.now;
        event.rule = taken.rule->id;
        event.qp = facts.qp;
        event.psn = facts.psn;
        event.frame_bytes = frame.bytes;
        event.action = taken.rule->action;
        event.opcode = facts.opcode;
        event.roce = facts.roce;
        event.passed = !done;
        wire_.trace.add(event);
    }

    Outcome act(Frame& frame, const WireDirection::Taken& taken) {
        const auto changed = [](bool done) { return done ? Outcome::passes : Outcome::untouched; };
        switch (taken.rule->action) {
            case FaultAction::drop:
                meta(frame.packet).treatment.lossless = false;  // it was asked for: no promise is broken
                drop(worker_, frame.packet, DropReason::impaired);
                return Outcome::gone;
            case FaultAction::delay:
            case FaultAction::reorder:
                return hold(frame, *taken.rule) ? Outcome::gone : Outcome::untouched;
            case FaultAction::duplicate:
                return changed(duplicate(frame));
            case FaultAction::mark_ce:
                return changed(mark_ce(frame));
            case FaultAction::corrupt:
                return changed(corrupt(frame, taken));
            case FaultAction::cnp:
                return changed(send_cnp(frame, *taken.rule));
            case FaultAction::bad_fcs:  // of a port's link alone
                break;
        }
        return Outcome::untouched;
    }

    WorkerContext& worker_;
    PortContext& port_;
    const PortPolicy& own_;
    const WirePolicy& policy_;
    WireDirection& wire_;
    Batch batch_;
    std::array<std::uint8_t, parse_view_bytes> copy_;
    std::array<std::uint8_t, max_frame_bytes> whole_;
};

}  // namespace

void take_through_wire(WorkerContext& worker, PortContext& port, std::span<Packet* const> burst, Time now) {
    WireIngress wire(worker, port);
    for (Packet* packet : burst) wire.take(packet);
    wire.flush();
    judge_groups(worker, port, now);
}

unsigned release_from_wire(WorkerContext& worker, PortContext& port, Time now, bool all) {
    if (!port.wire->holds_any()) return 0;
    WireIngress wire(worker, port);
    unsigned released = 0;
    while (Packet* packet = port.wire->due(now, all)) {
        wire.release(packet);
        ++released;
    }
    return released;
}

}  // namespace sluice

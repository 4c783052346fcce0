#include "control/config/decisions/decision_record.hh"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "control/config/schema/values.hh"
#include "control/config/text/quantity_text.hh"

namespace sluice {
namespace {

using Name = std::string_view;
constexpr std::array kind_names{Name("other"), Name("mac_control"), Name("ipv4"), Name("ipv6")};
constexpr std::array ecn_names{Name("not_ect"), Name("ect1"), Name("ect0"), Name("ce")};
constexpr std::array part_names{Name("reserved"), Name("shared"), Name("headroom"), Name("refused"),
                                Name("refused")};
constexpr std::array place_names{Name("enqueue"), Name("dequeue"), Name("sojourn")};
constexpr std::array outcome_names{Name("passed"), Name("marked"), Name("dropped")};

std::string_view name_of(const auto& names, auto value) { return names[static_cast<std::size_t>(value)]; }

// Appends formatted text. Names of ports need no escape in JSON: letters, digits, '_', '.', '-'.
struct Line : std::string {
    template <class... Values>
    void add(fmt::format_string<Values...> format, Values&&... values) {
        fmt::format_to(std::back_inserter(*this), format, std::forward<Values>(values)...);
    }
};

std::string address(const FlowKey& flow, const std::array<std::uint8_t, 16>& bytes) {
    return print_address({bytes, flow.kind == FrameKind::ipv6});
}

void add_arrival(Line& line, const Arrived& arrived, Time at, const CaptureTimeline* timeline) {
    const FlowKey& flow = arrived.flow;
    line.add(R"(,"arrival":{{"at_ps":{})", at.ps);
    if (timeline != nullptr) line.add(R"(,"captured_ns":{})", timeline->stamp_of(at));
    line.add(R"(,"bytes":{},"kind":"{}","tags":{},"dscp":{},"ecn":"{}","fragment":{})", arrived.frame_bytes,
             name_of(kind_names, flow.kind), arrived.tags, arrived.dscp, name_of(ecn_names, arrived.ecn),
             arrived.fragment);
    if (flow.kind == FrameKind::ipv4 || flow.kind == FrameKind::ipv6)
        line.add(R"(,"protocol":{},"source":"{}","destination":"{}","source_port":{},"destination_port":{})",
                 flow.protocol, address(flow, flow.source), address(flow, flow.destination), flow.source_port,
                 flow.destination_port);
    if (flow.roce) line.add(R"(,"opcode":{},"qp":{})", arrived.opcode, flow.destination_qp);
    if (arrived.psn) line.add(R"(,"psn":{})", *arrived.psn);
    line.add(R"(}},"class":{{"tc":{},"group":{},"lossless":{}}})", arrived.traffic_class,
             arrived.priority_group, arrived.lossless);
}

void add_route(Line& line, const Routed& routed, const PortNames& ports) {
    line.add(R"(,"route":{{"group":{})", routed.next_hop_group);
    if (routed.chosen)
        line.add(R"(,"hash":{},"bucket":{},"buckets":{},"next_hop":{},"egress":"{}","queue":{})", routed.hash,
                 routed.bucket, routed.buckets, routed.next_hop, ports[routed.egress_port], routed.queue);
    if (routed.chosen && routed.balance.reason != BalanceReason::hashed) {
        const BalanceChoice& choice = routed.balance;
        line.add(R"(,"balance":{{"because":"{}","shared":{})", to_string(choice.reason), choice.shared);
        if (choice.equals != 0)
            line.add(R"(,"band":{},"told":{},"equals":{},"drawn":{})", choice.band, choice.told,
                     choice.equals, choice.drawn);
        else
            line.add(R"(,"flowlet_age_ps":{})", choice.age.ps);
        line.add("}}");
    }
    line.add("}}");
}

void add_admission(Line& line, const Admitted& admitted) {
    line.add(
        R"(,"ingress":{{"part":"{}","cells":{},"reserved":{},"reserved_size":{},"shared":{},"limit":{},)"
        R"("headroom":{},"headroom_size":{},"pool_used":{},"pool_size":{},"in_xoff":{},"fired_xoff":{}}})",
        name_of(part_names, admitted.part), admitted.cells, admitted.reserved, admitted.reserved_size,
        admitted.shared, admitted.limit, admitted.headroom, admitted.headroom_size, admitted.pool_used,
        admitted.pool_size, admitted.in_xoff, admitted.fired_xoff);
}

void add_queue(Line& line, const Enqueued& enqueued, Time at) {
    line.add(
        R"(,"egress":{{"at_ps":{},"cells":{},"packets":{},"used":{},"limit":{},"pool_used":{},"pool_size":{}}})",
        at.ps, enqueued.cells, enqueued.packets, enqueued.used,
        enqueued.limited ? std::to_string(enqueued.limit) : "null", enqueued.pool_used, enqueued.pool_size);
}

void add_draw(Line& line, const Drawn& drawn) {
    line.add(R"(,"draw":{{"at":"{}","outcome":"{}","length_bytes":{},"average_bytes":{},"sojourn_ps":{},)"
             R"("probability":{},"drawn":{},"of":4294967296}})",
             name_of(place_names, drawn.place), name_of(outcome_names, drawn.outcome), drawn.length_bytes,
             drawn.average_bytes, drawn.sojourn.ps, drawn.probability, drawn.drawn);
}

void add_pause(Line& line, const GroupPaused& paused, const PortNames& ports) {
    line.add(R"(,"because":"{}","reserved":{},"shared":{},"limit":{},"headroom":{},"headroom_size":{},)"
             R"("pool_used":{},"pool_size":{},"filled_by":[)",
             paused.behind ? "behind" : "buffer", paused.reserved, paused.shared, paused.limit,
             paused.headroom, paused.headroom_size, paused.pool_used, paused.pool_size);
    for (std::size_t i = 0; i < paused.filler_count; ++i)
        line.add(R"({}{{"egress":"{}","queue":{},"cells":{}}})", i == 0 ? "" : ",",
                 ports[paused.fillers[i].port], paused.fillers[i].queue, paused.fillers[i].cells);
    line.add(R"(],"other_queues":{},"unknown":{})", paused.other_queues, paused.unknown);
}

std::string bytes(const DecisionRecord& record, std::int64_t cells) {
    return size_text(static_cast<std::uint64_t>(std::max<std::int64_t>(cells, 0)) * record.cell_bytes);
}

std::string fillers_text(const DecisionRecord& record, const GroupPaused& paused, const PortNames& ports) {
    std::string text;
    for (std::size_t i = 0; i < paused.filler_count; ++i)
        append_item(text, ", ",
                    fmt::format("{}.{} ({})", ports[paused.fillers[i].port], paused.fillers[i].queue,
                                bytes(record, paused.fillers[i].cells)));
    if (paused.other_queues != 0)
        append_item(text, ", ", fmt::format("others ({})", bytes(record, paused.other_queues)));
    if (paused.unknown != 0) append_item(text, ", ", bytes(record, paused.unknown) + " from before");
    return text.empty() ? "nothing" : text;
}

std::string explain_pause(const DecisionRecord& record, const PortNames& ports) {
    const GroupPaused& paused = *record.paused;
    if (paused.behind)
        return fmt::format("the worker of {} fell behind and paused class {}", ports[record.key.port],
                           record.key.sequence);
    return fmt::format(
        "group {}.{} held {} of its limit {} (pool: {} of {}) and {} of {} headroom; filled by {}",
        ports[record.key.port], record.key.sequence, bytes(record, paused.shared),
        bytes(record, paused.limit), bytes(record, paused.pool_used), bytes(record, paused.pool_size),
        bytes(record, paused.headroom), bytes(record, paused.headroom_size),
        fillers_text(record, paused, ports));
}

// The queue pair of a fragment is unknown.
bool names_queue_pair(const DecisionRecord& record) {
    return record.arrived && record.arrived->flow.roce && !record.arrived->fragment;
}

std::string queue_pair_text(const FlowKey& flow) {
    return fmt::format("queue pair {} of {}", flow.destination_qp, address(flow, flow.destination));
}

std::string explain_draw(const DecisionRecord& record, const PortNames& ports) {
    const Drawn& drawn = *record.drawn;
    const auto place = record.place();
    const std::string averaged =
        drawn.average_bytes == drawn.length_bytes ? "" : fmt::format(" (average {})", drawn.average_bytes);
    const std::string what = drawn.place == MarkPlace::sojourn
                                 ? fmt::format("a packet had waited {} ns in", drawn.sojourn.ps / 1000)
                                 : fmt::format("{} bytes{} in", drawn.length_bytes, averaged);
    return fmt::format(
        "{} queue {}.{}: {:.2f} % likely, random draw {:.2f} %{}", what, ports[place.port], place.number,
        static_cast<double>(drawn.probability) / 42'949'672.96,
        static_cast<double>(drawn.drawn) / 42'949'672.96,
        names_queue_pair(record) ? "; a packet to " + queue_pair_text(record.arrived->flow) : std::string());
}

// A packet that passed has an explanation only if it is a CNP.
std::string explain_passage(const DecisionRecord& record, const PortNames& ports) {
    if (!names_queue_pair(record) || !record.routed || record.arrived->opcode != cnp_opcode) return {};
    return fmt::format("a CNP: {}, behind port {}, is to lower its rate",
                       queue_pair_text(record.arrived->flow), ports[record.routed->egress_port]);
}

std::string explain_drop(const DecisionRecord& record, const PortNames& ports, const GroupPaused* pause) {
    const DropReason reason = record.dropped->reason;
    const auto place = record.place();
    if (record.drawn && record.drawn->outcome == MarkOutcome::dropped) return explain_draw(record, ports);
    if (reason == DropReason::headroom_overrun && record.admitted) {
        const Admitted& at = *record.admitted;
        std::string text = fmt::format(
            "group {}.{} held {} of {} headroom, and {} of its limit {}: {} more did not fit",
            ports[place.port], place.number, bytes(record, at.headroom), bytes(record, at.headroom_size),
            bytes(record, at.shared), bytes(record, at.limit), bytes(record, at.cells));
        if (pause != nullptr)
            text += "; filled, when it was paused, by " + fillers_text(record, *pause, ports);
        return text;
    }
    if (reason == DropReason::ingress_limit && record.admitted) {
        const Admitted& at = *record.admitted;
        return fmt::format("lossy group {}.{} held {} of its limit {} (pool: {} of {}): {} more did not fit",
                           ports[place.port], place.number, bytes(record, at.shared), bytes(record, at.limit),
                           bytes(record, at.pool_used), bytes(record, at.pool_size), bytes(record, at.cells));
    }
    if (reason == DropReason::queue_limit && record.enqueued) {
        const Enqueued& at = *record.enqueued;
        std::string text =
            fmt::format("lossy queue {}.{} held {} in {}, limit {} (pool: {} of {}): {} more did not fit",
                        ports[place.port], place.number, bytes(record, at.used),
                        print_count(at.packets, "packet"), bytes(record, at.limit),
                        bytes(record, at.pool_used), bytes(record, at.pool_size), bytes(record, at.cells));
        if (const auto& trimmed = record.dropped->trimmed)
            text += fmt::format("; its first {} bytes {} queue {}.{}", trimmed->frame_bytes,
                                trimmed->sent ? "went on by" : "found no room in", ports[place.port],
                                trimmed->queue);
        return text;
    }
    if (reason == DropReason::not_for_us && record.arrived)
        return fmt::format("destination MAC is {}, the port's is {}", print_mac(record.arrived->to),
                           print_mac(record.arrived->station));
    return std::string(drop_reason_texts[static_cast<std::size_t>(reason)].sentence);
}

}  // namespace

void DecisionRecord::join(const DecisionEvent& event) {
    std::visit(
        [&]<class What>(const What& what) {
            if constexpr (std::is_same_v<What, Arrived>)
                arrived = what, arrived_at = event.at;
            else if constexpr (std::is_same_v<What, Routed>)
                routed = what;
            else if constexpr (std::is_same_v<What, Admitted>)
                admitted = what;
            else if constexpr (std::is_same_v<What, Enqueued>)
                enqueued = what, enqueued_at = event.at;
            else if constexpr (std::is_same_v<What, Drawn>)
                drawn = !drawn || drawn->outcome == MarkOutcome::passed ? what : *drawn;
            else if constexpr (std::is_same_v<What, Departed>)
                departed = what, end = event.at;
            else if constexpr (std::is_same_v<What, Dropped>)
                dropped = what, end = event.at;
            else if constexpr (std::is_same_v<What, Punted>)
                punted = what, end = event.at;
            else if constexpr (std::is_same_v<What, GroupPaused>)
                paused = what, end = event.at;
        },
        event.what);
}

bool DecisionRecord::is_whole() const {
    if (paused) return true;
    if (!arrived) return false;
    const bool was_admitted = routed && routed->chosen && admitted && is_admitted(admitted->part);
    if (departed) return was_admitted && enqueued;
    if (punted) return true;
    if (!dropped) return false;
    const bool at_group =
        dropped->reason == DropReason::ingress_limit || dropped->reason == DropReason::headroom_overrun;
    if (at_group) return routed && admitted;
    if (dropped->reason == DropReason::queue_limit) return was_admitted && enqueued;
    return true;
}

Verdict DecisionRecord::verdict() const {
    if (paused) return Verdict::paused;
    if (dropped) return Verdict::dropped;
    if (punted) return Verdict::punted;
    if (!departed) return Verdict::unfinished;
    return drawn && drawn->outcome == MarkOutcome::marked ? Verdict::marked : Verdict::sent;
}

DecisionRecord::Place DecisionRecord::place() const {
    if (paused) return {At::group, key.port, static_cast<ClassId>(key.sequence)};
    if (!admitted || !arrived || !routed) return {At::port, key.port, 0};
    if (is_admitted(admitted->part)) return {At::queue, routed->egress_port, routed->queue};
    return {At::group, key.port, arrived->priority_group};
}

std::string reason_of(const DecisionRecord& record) {
    if (record.paused) return record.paused->behind ? "behind" : "buffer";
    if (record.dropped) return std::string(to_string(record.dropped->reason));
    if (record.punted) return std::string(to_string(record.punted->punt));
    if (record.verdict() == Verdict::marked) return std::string(name_of(place_names, record.drawn->place));
    return {};
}

std::string json_line(const DecisionRecord& record, const PortNames& ports, const CaptureTimeline* timeline) {
    Line line;
    if (record.paused) {
        line.add(R"({{"verdict":"paused","signal":"{}","port":"{}","group":{},"at_ps":{})",
                 record.paused->xoff ? "xoff" : "xon", ports[record.key.port], record.key.sequence,
                 record.end.ps);
        add_pause(line, *record.paused, ports);
        line.add("}}");
        return line;
    }
    const Verdict verdict = record.verdict();
    line.add(R"({{"verdict":"{}","port":"{}","sequence":{},"whole":{})", to_string(verdict),
             ports[record.key.port], record.key.sequence,
             verdict == Verdict::unfinished || record.is_whole());
    if (record.arrived) add_arrival(line, *record.arrived, record.arrived_at, timeline);
    if (record.routed) add_route(line, *record.routed, ports);
    if (record.admitted) add_admission(line, *record.admitted);
    if (record.enqueued) add_queue(line, *record.enqueued, record.enqueued_at);
    if (record.drawn) add_draw(line, *record.drawn);
    if (record.departed) {
        line.add(R"(,"departure":{{"at_ps":{},"bytes":{})", record.end.ps, record.departed->frame_bytes);
        if (record.enqueued) line.add(R"(,"queued_ps":{})", (record.end - record.enqueued_at).ps);
        line.add("}}");
    }
    if (record.dropped) {
        line.add(R"(,"drop":{{"at_ps":{},"reason":"{}","why":"{}")", record.end.ps,
                 to_string(record.dropped->reason), explain(record, ports, nullptr));
        if (const auto& trimmed = record.dropped->trimmed)
            line.add(R"(,"trimmed":{{"bytes":{},"queue":{},"sent":{}}})", trimmed->frame_bytes,
                     trimmed->queue, trimmed->sent);
        line.add("}}");
    }
    if (record.punted)
        line.add(R"(,"punt":{{"at_ps":{},"class":"{}"}})", record.end.ps, to_string(record.punted->punt));
    line.add("}}");
    return line;
}

std::string explain(const DecisionRecord& record, const PortNames& ports, const GroupPaused* pause) {
    if (record.paused) return explain_pause(record, ports);
    if (record.dropped) return explain_drop(record, ports, pause);
    if (record.verdict() == Verdict::marked) return explain_draw(record, ports);
    if (record.verdict() == Verdict::sent) return explain_passage(record, ports);
    return {};
}

}  // namespace sluice

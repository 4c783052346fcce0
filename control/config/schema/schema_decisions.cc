// Records for an operator: decisions and mirrors; and commands at a moment.
#include "control/config/schema/schema_sections.hh"
#include "lib/record/erspan.hh"

namespace sluice::schema {
namespace {

Type<DropReason> drop_reason() {
    std::vector<std::pair<std::string, DropReason>> words;
    for (std::size_t i = 1; i < drop_reason_count; ++i)
        words.emplace_back(drop_reason_texts[i].name, static_cast<DropReason>(i));
    return word<DropReason>(std::move(words));
}

Type<MirrorEvent> mirror_event() {
    return word<MirrorEvent>(
        {{"drop", MirrorEvent::drop}, {"delay", MirrorEvent::delay}, {"pause", MirrorEvent::pause}});
}

template <class T>
Type<std::optional<T>> or_any(Type<T> type) {
    return optional_or(std::move(type), "any");
}

Rows<FlowFilter> flow_filter_rows() {
    using F = FlowFilter;
    const auto port = integer<std::uint16_t>(0, 65535);
    Rows<FlowFilter> rows;
    rows.key("source", &F::source, or_any(network()), "Source addresses.");
    rows.key("destination", &F::destination, or_any(network()), "Destination addresses.");
    rows.key("source_port", &F::source_port, or_any(port), "TCP or UDP source port.");
    rows.key("destination_port", &F::destination_port, or_any(port), "TCP or UDP destination port.");
    rows.key("qp", &F::destination_qp, or_any(integer<std::uint32_t>(0, 0xFF'FFFF)),
             "Destination queue pair of RoCEv2.");
    return rows;
}

Type<Verdict> verdict() {
    using V = Verdict;
    return word_of<V>({V::dropped, V::marked, V::paused, V::punted, V::sent, V::unfinished});
}

}  // namespace

Rows<MirrorConfig> mirror_rows() {
    using M = MirrorConfig;
    constexpr std::uint64_t min_file_bytes = 64'000;
    const auto path = [](const char* example) { return text("a file", 0, 1024, example); };
    Rows<MirrorConfig> rows;
    rows.key("enabled", &M::enabled, boolean(), "False: nothing is mirrored, and the file stays open.");
    rows.key("on", &M::on, list_of(mirror_event(), 3),
             "Frames to mirror: dropped packets, packets that leave their queue after a delay, PFC frames "
             "sent and received.");
    rows.key("file", &M::file, path("out/drops.pcapng"),
             "The pcapng file for frames, instead of fifo or collector.");
    rows.key("file_size", &M::file_bytes, size(min_file_bytes, max_buffer_bytes, "64MB"),
             "Bytes of the file. A full one is renamed to FILE.1, replacing the one before.");
    rows.key("fifo", &M::fifo, path("/run/sluice/drops"),
             "A FIFO for frames while a reader has it open; made if missing. Frames that the reader is too "
             "slow for are lost.");
    rows.key("collector", &M::collector, optional_or(address(), "none"),
             "IP address of a collector, which gets frames as ERSPAN type III by the route to it.");
    rows.key("dscp", &M::dscp, integer<std::uint8_t>(0, 63),
             "DSCP of the packets to the collector. One of a lossless class at their egress port goes in the "
             "first lossy class.");
    rows.key("session", &M::session, integer<std::uint16_t>(0, max_erspan_session),
             "ERSPAN session of the packets to the collector.");
    rows.key("snaplen", &M::snap_bytes, stored_as<std::uint16_t>(size(64, max_mirrored_bytes, "128")),
             "Bytes of each frame, from its beginning.");
    rows.key("delay", &M::delay, time(nanoseconds(1), seconds(10), "100us"),
             "Time in its queue from which a packet is delayed.");
    rows.key("rate", &M::limit, &PuntLimit::rate, integer<std::uint32_t>(0, 1'000'000),
             "Frames a second; others are suppressed and counted. 0: no limit.");
    rows.key("burst", &M::limit, &PuntLimit::burst, integer<std::uint32_t>(1, 4096),
             "Frames at once, of a rate.");
    rows.key("port", &M::ports, list_of(name("a port's name"), max_ports),
             "Mirror what comes in by these ports or leaves by them; empty: all.");
    rows.key("class", &M::classes, list_of(class_id(), classes),
             "Traffic classes, or priorities of a pause; empty: all.");
    rows.key("reason", &M::reasons, list_of(drop_reason(), drop_reason_count),
             "Reasons of drops; empty: all.");
    return rows;
}

Rows<DecisionsConfig> decision_rows() {
    using D = DecisionsConfig;
    const auto some_ports = list_of(name("a port's name"), max_ports);
    Rows<DecisionsConfig> rows;
    rows.start_key(
        "record", &D::record,
        optional_or(word<RecordMode>(
                        {{"off", RecordMode::off}, {"ready", RecordMode::ready}, {"on", RecordMode::on}}),
                    "auto"),
        "\"ready\" waits for the command decisions on; \"auto\": on with a file, ready when an event may "
        "start it.");
    rows.start_key("file", &D::file, text("a file", 0, 1024, "out/decisions.jsonl"),
                   "File of records, a JSON object a line; empty: only the report explains.");
    rows.start_key("ring", &D::ring, optional_or(integer<std::uint32_t>(2, 1U << 24), "auto"),
                   "Events of a worker on their way to control; others are lost and counted. \"auto\": two "
                   "for every packet in the buffer, at least 65536.");
    rows.start_key("recorder", &D::recorder, integer<std::uint32_t>(0, 65536),
                   "Entries of each port's flight recorder, for sluicectl why: pauses, drops, microbursts, "
                   "storms and link changes; 0: none.");
    rows.key("port", &D::ports, some_ports, "Record what comes in by these ports; empty: all.");
    rows.key("egress", &D::egress, some_ports, "Record what is routed to these ports; empty: all.");
    rows.key("class", &D::classes, list_of(class_id(), classes), "Traffic classes to record; empty: all.");
    rows.key("verdict", &D::verdicts, list_of(verdict(), verdict_names.size()),
             "Keep records of these outcomes; empty: all.");
    rows.nested("flow", &D::flow, flow_filter_rows(), "Packets to record.");
    return rows;
}

Rows<EventConfig> event_rows() {
    using E = EventConfig;
    Rows<EventConfig> rows;
    rows.required("at", &E::at, time({}, seconds(100LL * 24 * 3600), "5ms"),
                  "Moment of the event, from the run's origin.");
    rows.required("do", &E::command, text("a command", 1, 1024, "port p1 down"),
                  "Control command to run, before the packets of that instant.");
    return rows;
}

}  // namespace sluice::schema

// Decision records, and commands at a moment.
#include "control/config/schema/schema_sections.hh"

namespace sluice::schema {
namespace {

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

Rows<DecisionsConfig> decision_rows() {
    using D = DecisionsConfig;
    const auto some_ports = list_of(name("a port's name"), max_ports);
    Rows<DecisionsConfig> rows;
    rows.start_key(
        "record", &D::record,
        optional_or(word<RecordMode>(
                        {{"off", RecordMode::off}, {"ready", RecordMode::ready}, {"on", RecordMode::on}}),
                    "auto"),
        "Ready: waits for the command \"decisions on\"; \"auto\": on with a file, ready when an event "
        "may switch it on.");
    rows.start_key("file", &D::file, text("a file", 0, 1024, "out/decisions.jsonl"),
                   "Where records go, one JSON object a line; empty: only the report says why.");
    rows.start_key(
        "ring", &D::ring, optional_or(integer<std::uint32_t>(2, 1U << 24), "auto"),
        "Events of a worker on their way to control; what does not fit is lost and counted; \"auto\": "
        "two for every packet the buffer holds, 65536 at least.");
    rows.start_key(
        "recorder", &D::recorder, integer<std::uint32_t>(0, 65536),
        "Entries that the recorder keeps of each port at any time, for sluicectl why: its last pauses, "
        "drops, microbursts, storms and link changes; 0: none.");
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

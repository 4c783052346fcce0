// Mirrors: frames of drops, delays and pauses for an operator to look at.
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

}  // namespace

Rows<MirrorConfig> mirror_rows() {
    using M = MirrorConfig;
    constexpr std::uint64_t min_file_bytes = 64'000;
    const auto path = [](const char* example) { return text("a file", 0, 1024, example); };
    Rows<MirrorConfig> rows;
    rows.key("enabled", &M::enabled, boolean(), "False: nothing is mirrored, and the file stays open.");
    rows.key("on", &M::on, list_of(mirror_event(), 3),
             "Frames to mirror: packets that are dropped, packets that leave their queue after a delay, PFC "
             "frames that the switch sends and takes in.");
    rows.key("file", &M::file, path("out/drops.pcapng"),
             "The pcapng file that they are written to; or a FIFO, or a collector, by the keys fifo and "
             "collector.");
    rows.key("file_size", &M::file_bytes, size(min_file_bytes, max_buffer_bytes, "64MB"),
             "Bytes of the file. A full one is renamed to FILE.1, in the place of the one before, and a new "
             "one begins.");
    rows.key("fifo", &M::fifo, path("/run/sluice/drops"),
             "A FIFO that they are written to while a reader has it open; made if it is not there. Frames "
             "that the reader has not read in time, or that come while there is none, are lost.");
    rows.key("collector", &M::collector, optional_or(address(), "none"),
             "IP address of a collector, which gets them as ERSPAN type III by the port that the routes give "
             "for it.");
    rows.key("dscp", &M::dscp, integer<std::uint8_t>(0, 63),
             "DSCP of the packets to the collector. Where it leads to a lossless class at the port that they "
             "leave by, they go in the first lossy one.");
    rows.key("session", &M::session, integer<std::uint16_t>(0, max_erspan_session),
             "ERSPAN session of the packets to the collector, by which it tells mirrors apart.");
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

}  // namespace sluice::schema

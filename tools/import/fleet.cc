#include "tools/import/fleet.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "control/config/schema/values.hh"
#include "control/config/text/controls.hh"
#include "tools/import/cli.hh"

namespace sluice::import {
namespace {

using FleetJson = nlohmann::ordered_json;

// By Aspect.
constexpr std::array<std::string_view, aspect_count> aspect_names{"speed",    "mtu",      "pfc", "dscp",
                                                                  "headroom", "watchdog", "ecn", "scheduler"};

std::string_view word_of(Aspect aspect) { return aspect_names[static_cast<std::size_t>(aspect)]; }

std::string file_place(const std::string& file, const SourcePlace& place) {
    return place.line == 0 ? file : fmt::format("{}:{}:{}", file, place.line, place.column);
}

FleetJson end_json(const Fleet& fleet, const FleetEnd& end) {
    const FleetDevice& device = fleet.devices[end.device];
    return {{"device", device.name}, {"port", end.port}, {"file", device.file}};
}

FleetJson placed_json(const Fleet& fleet, const FleetEnd& end, const SourcePlace& place) {
    FleetJson out = end_json(fleet, end);
    out["line"] = place.line;
    out["column"] = place.column;
    return out;
}

FleetJson notes_json(const std::vector<FleetNote>& notes) {
    FleetJson list = FleetJson::array();
    for (const FleetNote& note : notes)
        list.push_back({{"file", note.file},
                        {"line", note.place.line},
                        {"column", note.place.column},
                        {"what", note.what}});
    return list;
}

}  // namespace

SourcePlace FleetDevice::place_of(const std::string& port, Aspect aspect) const {
    const auto notes = imported.notes.find(port);
    if (notes == imported.notes.end()) return {};
    return notes->second.said[static_cast<std::size_t>(aspect)].value_or(notes->second.place);
}

bool FleetDevice::says(const std::string& port, Aspect aspect) const {
    const auto notes = imported.notes.find(port);
    return notes != imported.notes.end() && notes->second.said[static_cast<std::size_t>(aspect)].has_value();
}

std::optional<std::size_t> Fleet::find(std::string_view name) const {
    const auto found = std::ranges::find(devices, name, &FleetDevice::name);
    if (found == devices.end()) return std::nullopt;
    return static_cast<std::size_t>(found - devices.begin());
}

std::string Fleet::port_of(std::size_t device, std::string_view text) const {
    const auto& ports = devices[device].config().ports;
    std::string name(text);
    if (ports.contains(name)) return name;
    const InterfaceList list = interfaces_in(text);
    if (list.kind != InterfaceList::Kind::port || list.names.size() != 1 || !list.wrong.empty() ||
        !ports.contains(list.names.front()))
        return {};
    return list.names.front();
}

std::string Fleet::end_text(const FleetEnd& end) const {
    return fmt::format("{} {}", devices[end.device].name, end.port);
}

void add_device(Fleet& fleet, const std::string& file, const std::string& text, const Wishes& wishes) {
    const std::string name = std::filesystem::path(file).stem().string();
    if (fleet.find(name)) {
        fleet.unread.push_back({file, {}, fmt::format("another file is of device {}, too", name)});
        return;
    }
    auto imported = import_text(text, std::nullopt, wishes);
    if (!imported) {
        const ReadError& error = imported.error();
        fleet.unread.push_back(
            {file, error.place, error.remedy.empty() ? error.wrong : error.wrong + "; do: " + error.remedy});
        return;
    }
    for (const Line& line : imported->account.lines())
        if (line.fate == Fate::wrong) {
            fleet.unread.push_back({file, line.place, fmt::format("{}: {}", line.path, line.what)});
            return;
        }
    FleetDevice device{name, file, std::move(*imported), {}};
    device.qos = effective_qos(as_hardware(device.config()));
    const auto at = std::ranges::lower_bound(fleet.devices, name, {}, &FleetDevice::name);
    fleet.devices.insert(at, std::move(device));
}

std::string fleet_text(const Fleet& fleet) {
    const auto errors =
        static_cast<std::size_t>(std::ranges::count(fleet.findings, true, &FleetFinding::is_error));
    std::string out = fmt::format(
        "{}, {}: {}, {}\n", print_count(fleet.devices.size(), "device"),
        print_count(fleet.links.size(), "link"), errors == 0 ? "no error" : print_count(errors, "error"),
        fleet.findings.size() == errors ? "no warning"
                                        : print_count(fleet.findings.size() - errors, "warning"));
    for (const FleetFinding& each : fleet.findings)
        out += without_controls(fmt::format(
                   "{}: {}: {} and {}: {}", each.is_error ? "error" : "warning", word_of(each.aspect),
                   file_place(fleet.devices[each.a.device].file, each.place_a),
                   file_place(fleet.devices[each.b.device].file, each.place_b), each.consequence)) +
               "\n";
    const auto tell = [&](const std::vector<FleetNote>& notes, std::string_view what) {
        if (notes.empty()) return;
        out += fmt::format("{} {}:\n", print_count(notes.size(), what == "ports" ? "port" : "file"),
                           what == "ports" ? "compared with nothing" : "not read");
        for (const FleetNote& note : notes)
            out += "  " + without_controls(file_place(note.file, note.place) + ": " + note.what) + "\n";
    };
    tell(fleet.unread, "files");
    tell(fleet.unpaired, "ports");
    return out;
}

FleetJson fleet_json(const Fleet& fleet) {
    FleetJson out;
    for (const char* list : {"devices", "links", "findings"}) out[list] = FleetJson::array();
    for (const FleetDevice& device : fleet.devices)
        out["devices"].push_back({{"name", device.name},
                                  {"file", device.file},
                                  {"maker", help_of(device.imported.source).name},
                                  {"ports", device.config().ports.size()}});
    for (const FleetLink& link : fleet.links) {
        out["links"].push_back(
            {{"a", end_json(fleet, link.a)}, {"b", end_json(fleet, link.b)}, {"by", link.by}});
        if (link.cable_m) out["links"].back()["cable_m"] = *link.cable_m;
    }
    for (const FleetFinding& each : fleet.findings)
        out["findings"].push_back({{"severity", each.is_error ? "error" : "warning"},
                                   {"aspect", word_of(each.aspect)},
                                   {"a", placed_json(fleet, each.a, each.place_a)},
                                   {"b", placed_json(fleet, each.b, each.place_b)},
                                   {"consequence", each.consequence}});
    out["unpaired"] = notes_json(fleet.unpaired);
    out["unread"] = notes_json(fleet.unread);
    return out;
}

}  // namespace sluice::import

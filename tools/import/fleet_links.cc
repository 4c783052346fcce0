// The link partners of a fleet.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "control/config/schema/values.hh"
#include "tools/import/cli.hh"
#include "tools/import/fleet.hh"

namespace sluice::import {
namespace {

bool is_word_character(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c); }

// `word` stands in `text`, and is not a part of a longer one: "leaf1" is not in "leaf10".
bool holds(std::string_view text, std::string_view word) {
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
        const std::size_t end = at + word.size();
        const bool begins = at == 0 || !is_word_character(text[at - 1]) || !is_word_character(word.front());
        const bool ends = end == text.size() || (!is_word_character(text[end]) && text[end] != '/');
        if (begins && ends) return true;
    }
    return false;
}

// How people write a port: Ethernet1_1, Ethernet1/1, Eth1/1, Et1/1.
std::vector<std::string> spellings(const std::string& port) {
    std::vector<std::string> out{port};
    const std::string interface = interface_of_port(port);
    if (interface != port) out.push_back(interface);
    constexpr std::string_view stem = "Ethernet";
    if (!interface.starts_with(stem)) return out;
    for (const char* cut : {"Eth", "Et", "ethernet", "eth", "et"})
        out.push_back(cut + interface.substr(stem.size()));
    return out;
}

class Pairing {
  public:
    explicit Pairing(Fleet& fleet) : fleet_(fleet) {}

    void take_list(const std::vector<ListedLink>& listed, std::string_view file) {
        for (const ListedLink& link : listed) {
            FleetEnd ends[2];
            bool known = true;
            const std::pair<std::string_view, std::string_view> named[2]{{link.device_a, link.port_a},
                                                                         {link.device_b, link.port_b}};
            for (unsigned n = 0; n < 2; ++n) {
                const auto device = fleet_.find(named[n].first);
                const std::string port = device ? fleet_.port_of(*device, named[n].second) : std::string();
                if (!port.empty()) {
                    ends[n] = {*device, port};
                    continue;
                }
                known = false;
                fleet_.unpaired.push_back(
                    {std::string(file), link.place,
                     device
                         ? fmt::format("device {} has no port {}", named[n].first, in_quotes(named[n].second))
                         : fmt::format("no file is of device {}", in_quotes(named[n].first))});
            }
            if (known)
                join(ends[0], ends[1], link.cable_m, fmt::format("{}:{}", file, link.place.line), link.place,
                     std::string(file));
        }
    }

    // Ports that no line of the list is about.
    void take_files() {
        listed_ = partner_;
        for (std::size_t n = 0; n < fleet_.devices.size(); ++n)
            for (const auto& [name, port] : fleet_.devices[n].config().ports)
                if (!listed_.contains({n, name})) by_neighbor({n, name});
        const auto by_neighbors = partner_;
        for (std::size_t n = 0; n < fleet_.devices.size(); ++n)
            for (const auto& [name, port] : fleet_.devices[n].config().ports)
                if (!by_neighbors.contains({n, name}) && !told_.contains({n, name}))
                    by_description({n, name});
    }

    void finish() {
        for (std::size_t n = 0; n < fleet_.devices.size(); ++n)
            for (const auto& [name, port] : fleet_.devices[n].config().ports) {
                const FleetEnd end{n, name};
                if (!partner_.contains(end) && !told_.contains(end))
                    tell(end, {}, "nothing says its other end");
            }
        std::erase_if(fleet_.links, [&](const FleetLink& link) {
            return ambiguous_.contains(link.a) || ambiguous_.contains(link.b);
        });
    }

  private:
    const PortNotes& notes(const FleetEnd& end) const {
        static const PortNotes none;
        const auto& all = fleet_.devices[end.device].imported.notes;
        const auto found = all.find(end.port);
        return found == all.end() ? none : found->second;
    }

    void tell(const FleetEnd& end, SourcePlace place, const std::string& why) {
        told_.insert(end);
        if (place.line == 0) place = notes(end).place;
        fleet_.unpaired.push_back(
            {fleet_.devices[end.device].file, place, fmt::format("{}: {}", end.port, why)});
    }

    void join(const FleetEnd& a, const FleetEnd& b, std::optional<std::uint32_t> cable_m, std::string by,
              SourcePlace place, const std::string& file) {
        if (a == b) {
            fleet_.unpaired.push_back({file, place, fmt::format("{} is at both ends", fleet_.end_text(a))});
            told_.insert(a);
            return;
        }
        for (const auto& [one, other] : {std::pair{a, b}, std::pair{b, a}}) {
            const auto known = partner_.find(one);
            if (known == partner_.end() || known->second == other) continue;
            ambiguous_.insert(one);
            told_.insert(one);
            fleet_.unpaired.push_back({file, place,
                                       fmt::format("{} has two other ends: {} and {}", fleet_.end_text(one),
                                                   fleet_.end_text(known->second), fleet_.end_text(other))});
            return;
        }
        if (!partner_.emplace(a, b).second) return;  // the same link, from its other end
        partner_.emplace(b, a);
        fleet_.links.push_back({a, b, cable_m, std::move(by)});
    }

    void by_neighbor(const FleetEnd& end) {
        const PortNotes& said = notes(end);
        if (said.neighbor.empty()) return;
        const auto device = fleet_.find(said.neighbor);
        if (!device)
            return tell(end, said.neighbor_place,
                        fmt::format("its neighbor is {}, and no file is of it", in_quotes(said.neighbor)));
        const std::string port = fleet_.port_of(*device, said.neighbor_port);
        if (port.empty())
            return tell(
                end, said.neighbor_place,
                fmt::format("its neighbor {} has no port {}", said.neighbor, in_quotes(said.neighbor_port)));
        if (listed_.contains({*device, port})) return;  // the list has it with another
        join(end, {*device, port}, {}, "DEVICE_NEIGHBOR", said.neighbor_place,
             fleet_.devices[end.device].file);
    }

    void by_description(const FleetEnd& end) {
        const PortNotes& said = notes(end);
        if (said.description.empty()) return;
        std::vector<std::size_t> devices;
        for (std::size_t n = 0; n < fleet_.devices.size(); ++n)
            if (holds(said.description, fleet_.devices[n].name)) devices.push_back(n);
        // "dc1-leaf1" holds "leaf1": the longer name is meant.
        std::erase_if(devices, [&](std::size_t n) {
            return std::ranges::any_of(devices, [&](std::size_t other) {
                return other != n && holds(fleet_.devices[other].name, fleet_.devices[n].name);
            });
        });
        if (devices.empty()) return;
        if (devices.size() > 1)
            return tell(end, said.description_place,
                        fmt::format("its description names {} devices", devices.size()));
        std::vector<std::string> ports;
        for (const auto& [name, port] : fleet_.devices[devices.front()].config().ports)
            if (std::ranges::any_of(spellings(name),
                                    [&](const std::string& word) { return holds(said.description, word); }))
                ports.push_back(name);
        const std::string& device = fleet_.devices[devices.front()].name;
        if (ports.empty())
            return tell(end, said.description_place,
                        fmt::format("its description names {}, and none of its ports", device));
        if (ports.size() > 1)
            return tell(end, said.description_place,
                        fmt::format("its description names {} ports of {}", ports.size(), device));
        if (listed_.contains({devices.front(), ports.front()})) return;
        join(end, {devices.front(), ports.front()}, {}, "description", said.description_place,
             fleet_.devices[end.device].file);
    }

    Fleet& fleet_;
    std::map<FleetEnd, FleetEnd> partner_, listed_;
    std::set<FleetEnd> told_, ambiguous_;
};

}  // namespace

void pair_ports(Fleet& fleet, const std::vector<ListedLink>& listed, std::string_view list_file) {
    Pairing pairing(fleet);
    pairing.take_list(listed, list_file);
    pairing.take_files();
    pairing.finish();
}

}  // namespace sluice::import

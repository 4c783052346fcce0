#include "tools/import/document.hh"

#include <algorithm>
#include <array>
#include <map>

namespace sluice::import {
namespace {

// Calls `take` with each line's offset and text.
template <class Take>
void each_line(std::string_view text, Take take) {
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view line = text.substr(at, text.find('\n', at) - at);
        take(at, line);
        at += line.size() + 1;
    }
}

bool starts_command(std::string_view text) {
    return text == "nv" || text.starts_with("nv ") || text.starts_with("nv\t");
}

// The bytes of a line that are a shell's prompt: "cumulus@switch:~$ ", "admin@sonic:~# ", "switch> ", "$ ".
// A "#" alone begins a comment. Without '@' it is one only before a command.
std::size_t prompt_of(std::string_view line) {
    const std::size_t end = line.find_first_of("$#>%");
    if (end > 100) return 0;  // or none
    const std::string_view before = trimmed(line.substr(0, end));
    const std::string_view rest = line.substr(end + 1);
    if (!rest.empty() && rest.front() != ' ' && rest.front() != '\t' && rest.front() != '\r') return 0;
    if (before.find_first_of("\"'{}[],=") != before.npos) return 0;
    const bool of_user = before.find('@') != before.npos && before.find(' ') == before.npos;
    const bool alone = before.empty() ? line[end] == '$' : before.find(' ') == before.npos;
    if (of_user || (alone && starts_command(trimmed(rest)))) return end + 1;
    return 0;
}

// How lines of a format begin, behind blanks, as none of the other formats has them. A format may have
// several entries.
struct Format {
    std::string_view whose;
    std::array<std::string_view, 19> starts;  // and empty ones
};
constexpr auto formats = std::to_array<Format>({
    {"Arista EOS",
     {"qos map dscp", "qos map traffic-class", "qos map cos", "qos profile ",
      "policy-map type quality-of-service ", "vrf instance ", "qos rewrite ", "qos trust ",
      "service-profile ", "priority-flow-control on", "priority-flow-control priority ",
      "priority-flow-control pause ", "uc-tx-queue ", "tx-queue ",
      "! device: ", "! Command: ", "random-detect ecn ", "management api ", "switchport default mode "}},
    {"Cisco NX-OS",
     {"class-map type qos match-all ", "class-map type network-qos ", "class-map type queuing ",
      "policy-map type network-qos ", "policy-map type queuing ", "policy-map type qos ",
      "priority-flow-control mode ", "priority-flow-control watch-dog"}},
    {"Cisco NX-OS",
     {"system qos", "service-policy type network-qos ", "service-policy type queuing ", "pause pfc-cos ",
      "pause no-drop", "!Command: show ", "feature ", "vdc ", "nxapi ", "boot nxos ", "vrf context ",
      "random-detect minimum-threshold "}},
    {"Junos",
     {"set class-of-service ", "set interfaces ", "set system ", "set version ", "set groups ",
      "set chassis ", "set protocols ", "set policy-options ", "set forwarding-options ",
      "set routing-options ", "class-of-service {", "interfaces {", "forwarding-classes {",
      "congestion-notification-profile ", "routing-options {", "protocols {", "## Last "}},
    {"NVIDIA Onyx",
     {"dcb priority-flow-control ", "interface ethernet 1/", "## Running database ", "traffic pool ",
      "roce lossless", "roce semi-lossless"}},
    {"Dell OS10",
     {"! Version 10.", "trust dot1p-map ", "trust dscp-map ", "qos-map ", "interface ethernet1/1/"}},
    {"Huawei VRP", {"dcb pfc ", "sysname ", "interface 100GE", "interface 25GE", "interface 400GE"}},
    {"Cisco IOS",
     {"Building configuration", "!! IOS XR", "interface HundredGigE", "interface FourHundredGigE"}},
    {"Cumulus Linux's NCLU", {"net add ", "net del ", "net commit"}},
    {"Cumulus Linux's traffic.conf",
     {"pfc.", "ecn_red.", "link_pause.", "traffic.", "ecn.", "egress_sched.", "priority_group",
      "port_group_list", "cos_egr_queue"}},
    {"ifupdown", {"auto ", "iface "}},
    {"FRR", {"frr version ", "frr defaults "}},
});

}  // namespace

std::string without_terminal(std::string text) {
    const auto wipe = [&](std::size_t at, std::size_t count) {
        std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(at), count, ' ');
    };
    if (text.starts_with(byte_order_mark)) wipe(0, byte_order_mark.size());
    bool pasted = false;
    bool commands = false;
    each_line(text, [&](std::size_t at, std::string_view line) {
        const std::size_t prompt = prompt_of(line);
        std::string_view command = trimmed(line.substr(prompt));
        if (command.starts_with("sudo ")) command = trimmed(command.substr(5));
        const bool is_set = command.starts_with("nv set ") || command.starts_with("nv unset ");
        commands = commands || is_set;
        pasted = pasted || prompt != 0;
        if (is_set)
            wipe(at, static_cast<std::size_t>(command.data() - line.data()));
        else if (prompt != 0 || command.starts_with("nv config") || command.starts_with("nv show"))
            wipe(at, line.size());  // what printed it, or another command
    });
    if (pasted && commands)
        each_line(text, [&](std::size_t at, std::string_view line) {
            if (!starts_command(trimmed(line))) wipe(at, line.size());
        });
    return text;
}

Syntax syntax_of(std::string_view text) {
    Syntax found = Syntax::yaml;
    bool done = false;
    each_line(text, [&](std::size_t, std::string_view line) {
        const std::string_view stripped = trimmed(line);
        if (done || stripped.empty() || stripped.front() == '#') return;
        done = true;
        if (starts_command(stripped)) found = Syntax::commands;
        if (stripped.front() == '{' || stripped.front() == '[') found = Syntax::json;
    });
    return found;
}

std::optional<std::string_view> foreign_text(std::string_view text) {
    if (const std::size_t first = text.find_first_not_of(" \t\r\n"); first != text.npos && text[first] == '<')
        return "XML";
    std::map<std::string_view, std::size_t> found;
    bool ours = false;
    each_line(text, [&](std::size_t, std::string_view line) {
        const std::string_view stripped = trimmed(line);
        for (const std::string_view start : {"- set:", "set:", "qos:", "interface:"})
            ours = ours || stripped.starts_with(start);
        for (const Format& format : formats)
            for (const std::string_view start : format.starts)
                if (!start.empty() && stripped.starts_with(start)) ++found[format.whose];
    });
    const auto most = std::ranges::max_element(found, {}, [](const auto& each) { return each.second; });
    if (ours || most == found.end()) return std::nullopt;
    return most->first;
}

}  // namespace sluice::import

#include "tools/import/formats.hh"

#include <algorithm>
#include <array>
#include <map>

#include "tools/import/split.hh"

namespace sluice::import {
namespace {

constexpr std::string_view mark_of_order = "\xEF\xBB\xBF";

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

// How a line of a format begins, behind blanks, as none of the other formats has it.
struct Sign {
    std::string_view start, whose;
};
constexpr std::string_view eos = "Arista EOS";
constexpr std::string_view nx_os = "Cisco NX-OS";
constexpr std::string_view junos = "Junos";
constexpr std::string_view onyx = "NVIDIA Onyx";
constexpr std::string_view os10 = "Dell OS10";
constexpr std::string_view vrp = "Huawei VRP";
constexpr std::string_view ios = "Cisco IOS";
constexpr std::string_view nclu = "Cumulus Linux's NCLU";
constexpr std::string_view traffic_conf = "Cumulus Linux's traffic.conf";
constexpr std::string_view ifupdown = "ifupdown";
constexpr std::string_view frr = "FRR";
constexpr auto signs = std::to_array<Sign>({
    {"qos map dscp", eos},
    {"qos map traffic-class", eos},
    {"qos map cos", eos},
    {"qos profile ", eos},
    {"policy-map type quality-of-service ", eos},
    {"vrf instance ", eos},
    {"qos rewrite ", eos},
    {"qos trust ", eos},
    {"service-profile ", eos},
    {"priority-flow-control on", eos},
    {"priority-flow-control priority ", eos},
    {"priority-flow-control pause ", eos},
    {"uc-tx-queue ", eos},
    {"tx-queue ", eos},
    {"! device: ", eos},
    {"! Command: ", eos},
    {"random-detect ecn ", eos},
    {"management api ", eos},
    {"switchport default mode ", eos},
    {"class-map type qos match-all ", nx_os},
    {"class-map type network-qos ", nx_os},
    {"class-map type queuing ", nx_os},
    {"policy-map type network-qos ", nx_os},
    {"policy-map type queuing ", nx_os},
    {"policy-map type qos ", nx_os},
    {"priority-flow-control mode ", nx_os},
    {"priority-flow-control watch-dog", nx_os},
    {"system qos", nx_os},
    {"service-policy type network-qos ", nx_os},
    {"service-policy type queuing ", nx_os},
    {"pause pfc-cos ", nx_os},
    {"pause no-drop", nx_os},
    {"!Command: show ", nx_os},
    {"feature ", nx_os},
    {"vdc ", nx_os},
    {"nxapi ", nx_os},
    {"boot nxos ", nx_os},
    {"vrf context ", nx_os},
    {"random-detect minimum-threshold ", nx_os},
    {"set class-of-service ", junos},
    {"set interfaces ", junos},
    {"set system ", junos},
    {"set version ", junos},
    {"set groups ", junos},
    {"set chassis ", junos},
    {"set protocols ", junos},
    {"set policy-options ", junos},
    {"set forwarding-options ", junos},
    {"set routing-options ", junos},
    {"class-of-service {", junos},
    {"interfaces {", junos},
    {"forwarding-classes {", junos},
    {"congestion-notification-profile ", junos},
    {"routing-options {", junos},
    {"protocols {", junos},
    {"## Last ", junos},
    {"dcb priority-flow-control ", onyx},
    {"interface ethernet 1/", onyx},
    {"## Running database ", onyx},
    {"traffic pool ", onyx},
    {"roce lossless", onyx},
    {"roce semi-lossless", onyx},
    {"! Version 10.", os10},
    {"trust dot1p-map ", os10},
    {"trust dscp-map ", os10},
    {"qos-map ", os10},
    {"interface ethernet1/1/", os10},
    {"dcb pfc ", vrp},
    {"sysname ", vrp},
    {"interface 100GE", vrp},
    {"interface 25GE", vrp},
    {"interface 400GE", vrp},
    {"Building configuration", ios},
    {"!! IOS XR", ios},
    {"interface HundredGigE", ios},
    {"interface FourHundredGigE", ios},
    {"net add ", nclu},
    {"net del ", nclu},
    {"net commit", nclu},
    {"pfc.", traffic_conf},
    {"ecn_red.", traffic_conf},
    {"link_pause.", traffic_conf},
    {"traffic.", traffic_conf},
    {"ecn.", traffic_conf},
    {"egress_sched.", traffic_conf},
    {"priority_group", traffic_conf},
    {"port_group_list", traffic_conf},
    {"cos_egr_queue", traffic_conf},
    {"auto ", ifupdown},
    {"iface ", ifupdown},
    {"frr version ", frr},
    {"frr defaults ", frr},
});

}  // namespace

std::string without_terminal(std::string text) {
    const auto wipe = [&](std::size_t at, std::size_t count) {
        std::fill_n(text.begin() + static_cast<std::ptrdiff_t>(at), count, ' ');
    };
    if (text.starts_with(mark_of_order)) wipe(0, mark_of_order.size());
    bool pasted = false;
    bool commands = false;
    each_line(text, [&](std::size_t at, std::string_view line) {
        const std::size_t prompt = prompt_of(line);
        const std::size_t length = line.size();
        std::string_view command = trimmed(line.substr(prompt));
        if (command.starts_with("sudo ")) command = trimmed(command.substr(5));
        const bool is_set = command.starts_with("nv set ") || command.starts_with("nv unset ");
        commands = commands || is_set;
        if (prompt != 0) {
            pasted = true;
            const std::size_t before =
                is_set ? static_cast<std::size_t>(command.data() - line.data()) : length;
            wipe(at, before);
        } else if (command.starts_with("nv config") || command.starts_with("nv show")) {
            wipe(at, length);  // what printed it
        } else if (is_set) {
            wipe(at, static_cast<std::size_t>(command.data() - line.data()));
        }
    });
    if (pasted && commands)
        each_line(text, [&](std::size_t at, std::string_view line) {
            const std::size_t length = line.size();
            if (!starts_command(trimmed(line))) wipe(at, length);
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
        for (const Sign& sign : signs)
            if (stripped.starts_with(sign.start)) ++found[sign.whose];
    });
    const auto most = std::max_element(found.begin(), found.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    if (ours || most == found.end()) return std::nullopt;
    return most->first;
}

}  // namespace sluice::import

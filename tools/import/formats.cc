#include "tools/import/document.hh"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

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

// How lines of a format begin, behind blanks, as none of the other formats has them.
struct Format {
    std::string_view whose;
    std::array<std::string_view, 19> starts;  // and empty ones
    std::string_view remedy{};
};
constexpr auto formats = std::to_array<Format>({
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
      "port_group_list", "cos_egr_queue"},
     "convert it to NVUE, and give that: pfc.* is nv set qos pfc PROFILE (xoff_size is port-buffer less "
     "xoff-threshold), ecn_red.* is nv set qos congestion-control, traffic.*_source_* is nv set qos mapping, "
     "priority_group.*.service.percent is nv set qos egress-scheduler"},
    {"ifupdown", {"auto ", "iface "}},
    {"FRR", {"frr version ", "frr defaults "}},
});

// Lines that EOS has, and NX-OS has not, or the other way round. Those that a body may have are `top` ones
// only without an indentation.
struct Mark {
    std::string_view start;
    bool top = false;
};
constexpr auto eos_marks = std::to_array<Mark>({
    {"qos profile "},
    {"service-profile "},
    {"qos map dscp "},
    {"qos map traffic-class "},
    {"qos map cos "},
    {"qos rewrite "},
    {"qos trust "},
    {"policy-map type quality-of-service "},
    {"uc-tx-queue "},
    {"tx-queue "},
    {"mc-tx-queue "},
    {"random-detect ecn "},
    {"random-detect drop "},
    {"priority-flow-control on"},
    {"priority-flow-control priority "},
    {"priority-flow-control pause "},
    {"priority-flow-control all off"},
    {"switchport default mode "},
    {"! device: "},
    {"! Command: show"},
    {"vrf instance ", true},
    {"management api ", true},
    {"interface Management", true},
    {"daemon TerminAttr", true},
    {"transceiver qsfp ", true},
    {"service routing ", true},
    {"interface Vxlan", true},
});
constexpr auto nxos_marks = std::to_array<Mark>({
    {"class-map type network-qos "},
    {"class-map type queuing "},
    {"class-map type qos match-all "},
    {"policy-map type network-qos "},
    {"policy-map type queuing "},
    {"policy-map type qos "},
    {"class type queuing "},
    {"class type network-qos "},
    {"service-policy type network-qos "},
    {"service-policy type queuing "},
    {"set qos-group "},
    {"pause pfc-cos "},
    {"pause no-drop"},
    {"pause buffer-size "},
    {"priority-flow-control watch-dog"},
    {"random-detect minimum-threshold "},
    {"vrf member "},
    {"!Command: show "},
    {"system qos", true},
    {"feature ", true},
    {"no feature ", true},
    {"vdc ", true},
    {"nxapi ", true},
    {"boot nxos ", true},
    {"vrf context ", true},
    {"interface breakout module ", true},
    {"interface mgmt0", true},
    {"vpc domain ", true},
});

// The first line of a maker, and how many there are.
struct Found {
    std::size_t count = 0;
    SourcePlace place{};
    std::string_view line{};

    void add(std::string_view stripped, unsigned number, std::size_t indent) {
        constexpr std::size_t shown = 60;
        if (count++ == 0) {
            place = {number, static_cast<unsigned>(indent + 1)};
            line = stripped.substr(0, shown);
        }
    }
};

template <std::size_t size>
bool has_mark(const std::array<Mark, size>& marks, std::string_view line, bool is_top) {
    return std::ranges::any_of(
        marks, [&](const Mark& mark) { return (is_top || !mark.top) && line.starts_with(mark.start); });
}

// Behind the prompt of a mode of configuration: "leaf1(config-if-Et1/1)# ".
std::string_view without_mode(std::string_view line) {
    const std::size_t mode = line.find("(config");
    const std::size_t end = line.find(")#", mode);
    if (mode == line.npos || end == line.npos || line.substr(0, mode).find(' ') != line.npos) return line;
    return trimmed(line.substr(end + 2));
}

class MakerFinder {
  public:
    explicit MakerFinder(std::string_view text) {
        std::size_t least = text.npos;
        each_line(text, [&](std::size_t, std::string_view line) {
            const std::size_t first = line.find_first_not_of(" \t\r");
            if (first != line.npos) least = std::min(least, first);
        });
        unsigned number = 0;
        each_line(text, [&](std::size_t, std::string_view line) {
            ++number;
            const std::size_t first = line.find_first_not_of(" \t\r");
            if (first != line.npos) look(trimmed(line), number, first, first == least);
        });
    }

    std::optional<Maker> maker() const {
        if (is_nvue_) return std::nullopt;
        const auto foreign =
            std::ranges::max_element(foreign_, {}, [](const auto& each) { return each.second.first.count; });
        const std::size_t most = foreign == foreign_.end() ? 0 : foreign->second.first.count;
        if (most > eos_.count + nxos_.count)
            return Maker{foreign->first, std::nullopt, {}, {}, std::string(foreign->second.second)};
        if (eos_.count != 0 && nxos_.count != 0)
            return two(eos_.count < nxos_.count ? nxos() : eos(), eos_.count < nxos_.count ? eos() : nxos());
        if (eos_.count != 0) return eos();
        if (nxos_.count != 0) return nxos();
        if (nxos_weak_.count != 0) return made(nxos_name, nxos_weak_);
        if (most != 0 || any_.count == 0) return std::nullopt;
        // NX-OS's interfaces have the number of their module first.
        if (any_.line.find('/') == std::string_view::npos) return made(eos_name, any_);
        return Maker{"Arista EOS or Cisco NX-OS: it could be either",
                     std::nullopt,
                     any_.place,
                     {},
                     "say whose it is with --from eos or --from nxos"};
    }

  private:
    static constexpr std::string_view eos_name = "Arista EOS", nxos_name = "Cisco NX-OS";

    void look(std::string_view line, unsigned number, std::size_t indent, bool is_top) {
        for (const std::string_view start : {"- set:", "set:", "qos:", "interface:"})
            is_nvue_ = is_nvue_ || line.starts_with(start);
        const std::string_view statement = without_mode(line);
        is_top = is_top || statement.size() != line.size();
        if (has_mark(eos_marks, statement, is_top)) eos_.add(statement, number, indent);
        if (has_mark(nxos_marks, statement, is_top)) nxos_.add(statement, number, indent);
        if (is_top &&
            (statement.starts_with("interface Ethernet") || statement.starts_with("interface ethernet")))
            any_.add(statement, number, indent);
        // EOS has taken it, too.
        if (statement.starts_with("priority-flow-control mode ")) nxos_weak_.add(statement, number, indent);
        for (const Format& format : formats)
            for (const std::string_view start : format.starts)
                if (!start.empty() && line.starts_with(start)) {
                    auto& found = foreign_[format.whose];
                    found.first.add(line, number, indent);
                    found.second = format.remedy;
                }
    }

    static Maker made(std::string_view name, const Found& found) {
        std::optional<Source> source;
        for (std::size_t n = 0; n < known_sources.size(); ++n)
            if (known_sources[n].name == name) source = static_cast<Source>(n);
        return {name, source, found.place, std::string(found.line)};
    }
    Maker eos() const { return made(eos_name, eos_); }
    Maker nxos() const { return made(nxos_name, nxos_); }
    static Maker two(Maker one, const Maker& other) {
        one.other = other.name;
        one.other_place = other.place;
        one.other_line = other.line;
        return one;
    }

    Found eos_, nxos_, nxos_weak_;
    Found any_;                                                               // interfaces, which both have
    std::map<std::string_view, std::pair<Found, std::string_view>> foreign_;  // with its remedy
    bool is_nvue_ = false;
};

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

std::optional<Maker> maker_of(std::string_view text) {
    if (const std::size_t first = text.find_first_not_of(" \t\r\n"); first != text.npos && text[first] == '<')
        return Maker{"XML", std::nullopt, {}, {}};
    return MakerFinder(text).maker();
}

}  // namespace sluice::import

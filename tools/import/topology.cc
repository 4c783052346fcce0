#include "tools/import/topology.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/predicate.hpp>

#include "control/fabric/plan/fabric_lint.hh"
#include "control/fabric/run/commands.hh"
#include "control/fabric/workload/csv_record.hh"
#include "lib/pfc/headroom.hh"
#include "lib/values/ids.hh"

namespace sluice::import {
namespace {

// How long a signal travels along a meter, as a person counts.
constexpr std::string_view signal_speed = "a signal takes 5.05 ns for a meter";

// Texts that are a topology, too, by how they begin behind blanks.
struct OtherTopology {
    std::string_view start, name;
};
constexpr std::array other_topologies{OtherTopology{"<", "XML, such as GraphML"}, OtherTopology{"{", "JSON"},
                                      OtherTopology{"graph", "a graph in DOT or GML"},
                                      OtherTopology{"digraph", "a graph in DOT"}};

std::string readable_topologies() {
    std::string names;
    for (const TopologyFormatHelp& each : known_topologies) append_item(names, ", or ", each.name);
    return names;
}

std::string_view other_topology(std::string_view text) {
    const auto found = std::ranges::find_if(
        other_topologies, [&](const OtherTopology& each) { return trimmed(text).starts_with(each.start); });
    return found == other_topologies.end() ? std::string_view() : found->name;
}

ReadError unknown_topology(std::string_view text) {
    const std::string_view other = other_topology(text);
    return {{1, 1},
            {},
            other.empty() ? std::string("is not a topology that can be read") : fmt::format("is {}", other),
            fmt::format("give {}", readable_topologies())};
}

bool is_number(const WordLines::Word& word) { return parse_integer(word.text).has_value(); }

std::optional<TopologyFormat> topology_format_of(std::string_view text) {
    WordLines lines(text);
    if (!lines.next()) return std::nullopt;
    const auto& words = lines.line;
    for (const std::string_view key : {"nodes", "tiers", "podsize"})
        if (boost::iequals(words.front().text, key) && words.size() == 2) return TopologyFormat::htsim;
    // Three or more: ns-3's Inet begins with two numbers.
    if (words.size() > 2 && std::ranges::all_of(words, is_number)) return TopologyFormat::hpcc;
    // SimAI's ends with a kind of GPU.
    if (words.size() == 6 && std::ranges::all_of(std::span(words).first(5), is_number))
        return TopologyFormat::hpcc;
    const std::string_view whole = lines.text();
    if (other_topology(whole).empty() && fabric::csv_separator(whole)) return TopologyFormat::csv;
    return std::nullopt;
}

std::uint32_t meters_of(Duration delay) {
    __extension__ using Wide = unsigned __int128;
    constexpr std::uint64_t second_ps = 1'000'000'000'000;
    const Wide product = Wide{static_cast<std::uint64_t>(delay.ps)} * signal_meters_per_second;
    const Wide meters = (product + second_ps / 2) / second_ps;
    return static_cast<std::uint32_t>(std::min<Wide>(std::max<Wide>(meters, 1), UINT32_MAX));
}

}  // namespace

bool WordLines::next() {
    line.clear();
    while (line.empty() && !rest_.empty()) {
        const std::string_view whole = text_ = rest_.substr(0, rest_.find('\n'));
        rest_.remove_prefix(std::min(whole.size() + 1, rest_.size()));
        ++number_;
        constexpr std::string_view blank = " \t\r";
        if (trimmed(whole).starts_with('#')) continue;
        for (std::size_t at = whole.find_first_not_of(blank); at < whole.size();) {
            const std::size_t end = std::min(whole.find_first_of(blank, at), whole.size());
            line.push_back({whole.substr(at, end - at), {number_, static_cast<unsigned>(at + 1)}});
            at = whole.find_first_not_of(blank, end);
        }
    }
    return !line.empty();
}

std::optional<Rate> Drawing::speed(const Item& item, const ParsedValue<Rate>& said) {
    if (said && said->valid_port_speed()) return *said;
    account.wrong(
        item,
        fmt::format("{} {}", in_quotes(item.word), said ? "is not a speed of a port" : said.error().wrong),
        "write 1G, 2.5G, 5G, 10G, 25G, 40G, 50G, 100G, 200G, 400G or 800G");
    return std::nullopt;
}

std::optional<std::uint32_t> Drawing::cable(const Item& item, const ParsedValue<Duration>& delay) {
    if (!delay) {
        account.wrong(item, fmt::format("{} {}", in_quotes(item.word), delay.error().wrong),
                      "write a time, such as 1us or 500ns");
        return std::nullopt;
    }
    const std::uint32_t meters = meters_of(*delay);
    if (!length(item, meters)) return std::nullopt;
    if (known_delays_.emplace(*delay, meters).second)
        account.assumed(item, fmt::format("a delay of {} is a cable of {}: {}", print_time(*delay),
                                          print_length(meters), signal_speed));
    return meters;
}

std::optional<std::uint32_t> Drawing::length(const Item& item, const ParsedValue<std::uint32_t>& said) {
    constexpr std::uint32_t most = HeadroomInputs::max_cable_m;
    constexpr Duration whole_us = microseconds(propagation_delay(most).ps / microseconds(1).ps);
    if (said && *said >= 1 && *said <= most) return *said;
    const std::string wrong =
        said ? fmt::format("is a cable of not 1m to {}", print_length(most)) : said.error().wrong;
    account.wrong(item, fmt::format("{} {}", in_quotes(item.word), wrong),
                  fmt::format("write 1m to {}, or up to {}", print_length(most), print_time(whole_us)));
    return std::nullopt;
}

void Drawing::join(const DrawnLink& link) {
    const DrawnNode &a = nodes[link.a], &b = nodes[link.b];
    if (link.a == link.b)
        account.wrong(*link.item, fmt::format("its ends are one node, {}", a.name), "name two");
    else if (a.is_host && b.is_host)
        account.wrong(*link.item, fmt::format("joins two hosts, {} and {}", a.name, b.name),
                      "put a switch between them");
    else
        links.push_back(link);
}

void Drawing::check_nodes() {
    std::vector<const DrawnLink*> first(nodes.size());
    std::vector<std::size_t> degree(nodes.size());
    std::vector<DrawnLink> kept;
    for (const DrawnLink& link : links) {
        const std::size_t host = nodes[link.b].is_host ? link.b : link.a;
        const std::size_t at = host == link.a ? link.b : link.a;
        if (nodes[host].is_host && first[host] != nullptr) {
            const DrawnLink& before = *first[host];
            const DrawnNode& other = nodes[before.a == host ? before.b : before.a];
            account.wrong(*link.item,
                          fmt::format("host {} has links to {} and to {}, and a host of Sluice has one port",
                                      nodes[host].name, other.name, nodes[at].name),
                          "leave one of them out, make the host two hosts, or keep the first with --force");
            continue;
        }
        if (nodes[host].is_host) first[host] = &link;
        ++degree[link.a];
        ++degree[link.b];
        account.taken(*link.item, fmt::format("link {}-{}, {}, {}", nodes[link.a].name, nodes[link.b].name,
                                              print_rate(link.speed), print_length(link.cable_m)));
        kept.push_back(link);
    }
    for (std::size_t n = 0; n < nodes.size(); ++n) {
        if (degree[n] == 0 && !account.has(Fate::wrong))
            account.wrong(
                *nodes[n].item,
                fmt::format("{} {} has no link", nodes[n].is_host ? "host" : "switch", nodes[n].name),
                "give it one, or leave it out");
        if (degree[n] > max_ports)
            account.wrong(*nodes[n].item,
                          fmt::format("switch {} has {} links, and a switch has at most {} ports",
                                      nodes[n].name, degree[n], max_ports),
                          "use more switches");
    }
    links = std::move(kept);
}

tl::expected<Drawing, ReadError> import_topology(std::string text, std::optional<TopologyFormat> said) try {
    if (text.size() > max_file_bytes)
        return tl::unexpected(
            ReadError{{}, {}, fmt::format("the file is larger than {} bytes", max_file_bytes), {}});
    if (text.starts_with(byte_order_mark))
        text.replace(0, byte_order_mark.size(), byte_order_mark.size(), ' ');
    if (const std::size_t bad = invalid_utf8(text); bad != text.npos)
        return tl::unexpected(ReadError{place_at(text, bad), {}, "is not UTF-8 from here on", {}});
    if (!said) said = topology_format_of(text);
    if (!said) return tl::unexpected(unknown_topology(text));
    Drawing drawing;
    drawing.format = *said;
    constexpr std::array readers{&read_htsim, &read_hpcc, &read_csv};  // by TopologyFormat
    readers.at(static_cast<std::size_t>(*said))(text, drawing);
    if (!drawing.kind) drawing.check_nodes();
    drawing.account.close(*drawing.source);
    return drawing;
} catch (ReadError& error) {
    return tl::unexpected(std::move(error));
}

std::string fabric_refusal(const std::string& text, const std::string& name) {
    const auto lines = [](const std::vector<ConfigError>& errors) {
        std::string out;
        for (const ConfigError& error : errors) out += error.text() + "\n";
        return out;
    };
    auto file = fabric::parse_fabric(text, name);
    if (!file) return lines(file.error());
    auto plan = fabric::make_plan(std::move(*file));
    if (!plan) return lines(plan.error());
    std::string out;
    for (const EventConfig& event : plan->file.events)
        if (const std::string error = fabric::check_command(*plan, event.command); !error.empty())
            out += ConfigError{name, event.place, "event.do", error, {}, {}}.text() + "\n";
    for (const fabric::FabricFinding& each : fabric::judge_plan(*plan, false))
        if (each.finding.severity == Severity::error) out += each.text(name) + "\n";
    return out;
}

void fit_buffer(Drawing& drawing) {
    constexpr std::uint64_t megabyte = 1'000'000, largest = 512 * megabyte;
    const auto is_short = [&] {
        return fabric_refusal(to_fabric_file(drawing, {}, {}), {}).find("[pool-no-shared]") !=
               std::string::npos;
    };
    if (!is_short()) return;
    for (drawing.buffer_bytes = 32 * megabyte; drawing.buffer_bytes < largest && is_short();)
        drawing.buffer_bytes *= 2;
    drawing.account.assumed(
        "buffer.size", fmt::format("{} in each switch: the default does not hold the headrooms of its ports",
                                   print_size(drawing.buffer_bytes)));
}

}  // namespace sluice::import

#include "control/serve/daemon/verbs.hh"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/compile/equal_ports.hh"
#include "control/config/compile/qos.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/say.hh"
#include "control/report/page/report_page.hh"
#include "dataplane/base/file_roles.hh"
#include "dataplane/base/output_file.hh"

namespace sluice {
namespace {

// The lossless classes' pool with this number of ports.
std::string shares_line(const HeadroomQuestion& question, unsigned ports) {
    const EffectiveQos qos = effective_qos(with_equal_ports(question.config, ports));
    const EffectivePool& pool =
        *qos.pool(PoolDirection::ingress, qos.ports.begin()->second.group[lossless_classes(1).front()].pool);
    const std::uint64_t cell = qos.cell.bytes();
    return fmt::format("{:>8}{:>14}{:>14}{:>14}{:>14}\n", ports, pool.size_cells * cell,
                       pool.reserved_cells * cell, pool.headroom_cells * cell,
                       static_cast<std::uint64_t>(pool.shared_cells) * cell);
}

std::string buffer_table(const HeadroomQuestion& question) {
    const unsigned most = equal_ports_that_fit(question.config);
    std::string text = fmt::format("\na buffer of {}, where each port has {} lossless {}",
                                   print_size(question.config.buffer_size_bytes), question.lossless_classes,
                                   question.lossless_classes == 1 ? "class" : "classes");
    if (most == 0) return text + ": takes no such port\n";
    text += fmt::format(": the pool of those (bytes)\n{:>8}{:>14}{:>14}{:>14}{:>14}\n", "ports", "size",
                        "reserved", "headroom", "shared");
    for (unsigned ports = 2; ports < most; ports *= 2) text += shares_line(question, ports);
    return text + shares_line(question, most) +
           fmt::format("{} is the most that {}\n", print_count(most, "port"),
                       most == max_ports ? "a switch may have" : "fits");
}

std::string headroom_answer(HeadroomQuestion question) {
    PortConfig& port = question.config.port_defaults;
    port.pfc = lossless_classes(static_cast<unsigned>(question.lossless_classes));
    const Headroom needed = port_headroom(question.config, port);
    HeadroomInputs theirs = needed.inputs;
    theirs.flavour = HeadroomFlavour::sonic;
    return fmt::format("headroom of a lossless class at {}, {}, MTU {} (bytes)\n{}", print_rate(port.speed),
                       print_length(port.cable_m), port.mtu, headroom_table(needed)) +
           fmt::format("\nSONiC's own formula (no software turn, mixed frame sizes) gives {}\n",
                       headroom(theirs).xoff_bytes) +
           buffer_table(question);
}

tl::expected<std::string, std::string> read_report(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text;
    constexpr std::size_t chunk_bytes = 1U << 20;
    for (std::size_t got = chunk_bytes; file && got == chunk_bytes && text.size() <= max_report_bytes;) {
        text.resize(text.size() + chunk_bytes);
        file.read(text.data() + text.size() - chunk_bytes, chunk_bytes);
        got = static_cast<std::size_t>(file.gcount());
        text.resize(text.size() - chunk_bytes + got);
    }
    if (!file.is_open() || file.bad())
        return tl::unexpected(fmt::format("the report cannot be read: {}", std::strerror(errno)));
    if (text.size() > max_report_bytes)
        return tl::unexpected(
            fmt::format("it is longer than {} MB, more than a browser shows", max_report_bytes >> 20));
    return text;
}

// An error's text, or empty. `is_named`: the output was said, so it may be over another file.
std::string write_page(const std::string& report, const std::string& output, bool is_named) {
    FileRoles roles;
    roles.reads("the report", report);
    roles.writes("--output", output);
    if (std::string clash = roles.clash_text(); !clash.empty()) return clash;
    if (!is_named && std::filesystem::exists(output)) {
        const auto there = read_report(output);
        if (!there || !begins_page(*there))
            return output + ": is there, and is no such page; do: write --output FILE.html";
    }
    const auto text = read_report(report);
    if (!text) return fmt::format("{}: {}", report, text.error());
    const auto charts = read_charts();
    if (!charts) return charts.error();
    const auto page = report_page(*text, std::filesystem::path(report).filename().string(), *charts);
    if (!page) return fmt::format("{}: {}", report, page.error());
    auto file = OutputFile::create(output);
    if (!file) return file.error();
    (*file)->write(*page);
    return (*file)->close();
}

}  // namespace

std::vector<Option> headroom_options(HeadroomQuestion& question) {
    PortConfig& port = question.config.port_defaults;
    return {
        {"speed", "RATE", "of the port: 400G", keep_port_speed(port.speed)},
        {"cable", "LENGTH", "one way: 100m; default: 5m",
         keep_within(parse_length, print_length, 0, HeadroomInputs::max_cable_m, port.cable_m)},
        {"mtu", "BYTES", "IP MTU, of us and of the peer; default: 9100",
         keep_number(min_mtu, max_mtu, port.mtu)},
        {"reaction", "TIME", "of the peer to PFC, with both interfaces; default: the published figures",
         keep_within(parse_time, print_time, {}, milliseconds(1), port.reaction)},
        {"turn", "TIME",
         "longest turn of a worker: a switch in real time; default: the virtual clock, which has none",
         [&config = question.config](const std::string& text) {
             config.clock = ClockKind::real_time;
             return keep_within(parse_time, print_time, microseconds(1), milliseconds(10),
                                config.turn_max)(text);
         }},
        {"classes", "N", "lossless classes of each port; default: 1",
         keep_number(1, classes, question.lossless_classes)},
        {"buffer", "SIZE", "packet memory of the switch; default: 16MB",
         keep_within(parse_size, print_size, 1, std::uint64_t{1} << 40, question.config.buffer_size_bytes)},
        {"cell", "SIZE", "of the buffer; default: 256",
         keep_within(parse_size, print_size, 64, 2048, question.config.cell_bytes)},
    };
}

int headroom_verb(const HeadroomQuestion& question) {
    say("{}", headroom_answer(question));
    return 0;
}

int page_verb(const std::string& report, std::string output) {
    const bool is_named = !output.empty();
    if (!is_named) output = std::filesystem::path(report).replace_extension(".html").string();
    if (output == report)
        return complain_of_usage("sluiced page",
                                 in_quotes(output) + " is the report itself; do: write --output FILE.html");
    if (const std::string error = write_page(report, output, is_named); !error.empty())
        return complain("sluiced page: {}\n", error), 1;
    return say("{}\n", output), 0;
}

}  // namespace sluice

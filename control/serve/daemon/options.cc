#include "control/serve/daemon/options.hh"

#include <fmt/format.h>
#include <rte_version.h>

#include "control/config/schema/finding.hh"
#include "control/config/schema/schema.hh"
#include "control/config/text/json_text.hh"
#include "control/config/text/man_page.hh"
#include "control/report/figures/figures.hh"
#include "control/serve/server/metrics.hh"
#include "control/serve/server/rpc.hh"

namespace sluice {
namespace {

constexpr std::string_view signals =
    "SIGTERM and SIGINT let what is queued leave, release every peer that is held paused, and end; a second "
    "one ends at once. SIGHUP reads the configuration anew: it is applied whole, or not at all and an event "
    "says why.";

constexpr std::string_view service =
    "sluiced.service runs /etc/sluice/sluice.toml, and sluiced@NAME.service /etc/sluice/NAME.toml, as the "
    "user sluice with the capabilities that interfaces of the kernel need. The control sockets are "
    "/run/sluice/sluice.sock and /run/sluice/NAME.sock, for root and the group sluice. XDP ports, and "
    "network cards that DPDK takes by their PCI address, need more: the comments of the unit say what.";

constexpr std::string_view manager =
    "To a service manager (NOTIFY_SOCKET) it says when it is ready, reloads and stops, with a line on its "
    "ports in between. Where the manager has a watchdog (WATCHDOG_USEC) it is told that the switch is alive "
    "as long as every worker goes on; a worker that stands still ends that.";

constexpr std::string_view toml =
    "The configuration of sluiced is one file of TOML 1.0. Every key has a default unless it is required. An "
    "unknown key, a value out of range, or a switch that would lose packets is refused with file, line, "
    "column and what to do: sluiced --config FILE --check says it without running.";

constexpr std::string_view quantities =
    "A size is bytes or has a unit of 1000 (\"150KB\", \"16MB\") or 1024 (\"64KiB\"); a rate is bits a "
    "second (\"100G\", \"25Gbps\"); a time needs its unit (\"200ms\", \"1.5us\"); a length is in meters "
    "(\"5m\", \"2km\"). Numbers have no sign and no exponent, and are exact.";

constexpr std::string_view example =
    "clock = \"real\"\n"
    "\n"
    "[buffer]\n"
    "size = \"32MB\"\n"
    "\n"
    "[default]\n"
    "speed = \"10G\"\n"
    "mtu = 1500\n"
    "\n"
    "[port.p0]\n"
    "device = \"net_af_packet0,iface=eth1\"\n"
    "address = [\"10.0.0.1/24\"]\n"
    "\n"
    "[port.p1]\n"
    "device = \"net_af_packet1,iface=eth2\"\n"
    "address = [\"10.0.1.1/24\"]\n"
    "\n"
    "[[neighbor]]\n"
    "address = \"10.0.0.2\"\n"
    "port = \"p0\"\n"
    "mac = \"02:00:00:00:00:01\"\n"
    "\n"
    "[[neighbor]]\n"
    "address = \"10.0.1.2\"\n"
    "port = \"p1\"\n"
    "mac = \"02:00:00:00:00:02\"\n";

void add_sluiced_sections(ManPage& page) {
    page.heading("SIGNALS").paragraph(signals);
    page.heading("SERVICE").paragraph(service).paragraph(manager);
    page.heading("FILES");
    page.entry("/etc/sluice/sluice.toml", "", "the configuration of the service");
    page.entry("/usr/share/sluice/conf", "",
               "configurations to begin with; their comments say how each is run");
    page.entry("/run/sluice/sluice.sock", "", "its control socket, where sluicectl(1) looks for it");
    page.entry("/var/lib/sluice", "", "where a client's config save NAME writes");
    page.heading("EXAMPLE").lines(
        "sluice-traffic generate /usr/share/sluice/conf/smallest-traffic.toml --out .\n"
        "sluiced --config /usr/share/sluice/conf/smallest.toml --assert verdict.lossless\n"
        "sluiced --config sluice.toml --check\n"
        "sluiced --config sluice.toml --report report.json --assert verdict.lossless");
}

constexpr std::string_view description =
    "sluiced runs a lossless Ethernet switch in software: it routes between its ports, holds its peers by "
    "PFC before its buffer is full, marks congestion, and accounts for every frame. What it does is one file "
    "of TOML, sluice.toml(5). Under the real clock it serves kernel interfaces and network cards until it is "
    "told to end; under the virtual clock it carries captures and simulated hosts through the same switch, "
    "as fast as it can and with the same result each time.";

constexpr std::string_view headroom_description =
    "sluiced headroom says what may still arrive on a port after it has paused its sender, term by term, and "
    "how much of a buffer so many such ports take.";

constexpr std::string_view doctor_description =
    "sluiced doctor says what this machine gives to a switch: CPUs, memory, hugepages, the kernel's sockets, "
    "capabilities, network cards; with a configuration also what of it is wrong for each port, and the "
    "command that mends it. It needs no privileges and changes nothing; its exit status is 2 when the "
    "configuration could not run.";

constexpr std::string_view page_description =
    "sluiced page makes one HTML file of a report that sluiced --report or sluice-fabric run has written, a "
    "fabric's by switch: the page of --page after the end. It needs neither a server nor the network.";

std::vector<Option> switch_options(Arguments& out) {
    return {
        {"config", "FILE", "the switch: ports, routes, classes (TOML; see --reference and conf/)",
         keep(out.config)},
        {"check", "", "say what is wrong with the configuration, or that nothing is, and end",
         keep(out.check)},
        {"force", "",
         "run a configuration although errors say that it is not lossless; the report then says for what",
         keep(out.force)},
        {"report", "FILE", "write what happened to every frame, as one JSON object, at the end",
         keep(out.report)},
        {"assert", "EXPRESSION",
         "exit with 4 if this is false of the report at the end, and say what it has: verdict.lossless, "
         "\"ports.p0.drops.no_route lt 3\", \"queue p1.3 dropped eq 0\"; may be said several times",
         [&out](const std::string& text) {
             auto made = assertion_of(text);
             if (made) out.assertions.push_back(std::move(*made));
             return made ? std::string() : std::move(made.error());
         }},
        {"junit", "FILE", "write the assertions and whether they hold as JUnit XML, at the end",
         keep(out.junit)},
        {"trace", "FILE",
         "write the depth of every queue over time, and of hosts the rates, CNPs and marks, as JSON, at the "
         "end",
         keep(out.trace)},
        {"decisions", "FILE",
         "write what was decided of every packet, one JSON object a line, as [decisions] chooses",
         [&out](const std::string& file) { return out.overrides.decisions = file, std::string(); }},
        {"events", "FILE", "write every event, one JSON object a line, as it happens", keep(out.events)},
        {"log", "LEVEL",
         "say events of this level and above on stderr: error, warning, notice, info; default: warning "
         "under the real clock, nothing under the virtual one",
         keep_one_of<LogLevel>({{"error", LogLevel::error},
                                {"warning", LogLevel::warning},
                                {"notice", LogLevel::notice},
                                {"info", LogLevel::info}},
                               out.log)},
        {"seed", "N", "overrides the configuration's seed", keep(parse_integer, out.overrides.seed)},
        {"duration", "TIME",
         "end after this time of the switch's clock (\"5ms\"); default: when nothing can happen any more "
         "under the virtual clock, never under the real one",
         [&out](const std::string& text) {
             return text == "0" ? (out.duration = Duration{}, std::string())
                                : keep(parse_time, out.duration)(text);
         }},
        {"socket", "PATH", "listen there for sluicectl", keep(out.socket)},
        {"startup", "FILE",
         "the file of a client's config save --startup: it is read instead of the configuration where it "
         "is newer",
         keep(out.startup)},
        {"save-folder", "FOLDER",
         "where a client's config save may write a configuration under another name; default: the folder of "
         "the configuration file",
         keep(out.save_folder)},
        {.name = "interactive",
         .value = {},
         .help = "the virtual clock stands still until a client of the socket lets it run",
         .take = keep(out.interactive),
         .needs = "socket"},
        {"metrics", "[ADDRESS:]PORT",
         "serve Prometheus metrics over HTTP, on 127.0.0.1 unless an address is given", keep(out.metrics)},
        {"page", "[ADDRESS:]PORT",
         "serve a live page for a browser, on 127.0.0.1 unless an address is given; its own address is on "
         "stderr",
         keep(out.page)},
        {"reference", "", "print every configuration key and end", {}, schema_reference},
        {.name = "figures",
         .value = {},
         .help = "print every figure of the report: path, kind, unit, metric, meaning; and end",
         .print = figures_reference},
        {.name = "findings",
         .value = {},
         .help = "print every finding of --check: name, severity, when; and end",
         .print = findings_reference},
        {"metrics-reference", "", "print every metric and end", {}, metrics_reference},
        {.name = "openrpc",
         .value = {},
         .help = "print the control socket's methods as an OpenRPC document and end",
         .print = [] { return json_text(openrpc_document(), 2) + "\n"; }},
        {"man-config", "", "print the man page sluice.toml(5) in troff and end", {}, config_man_page},
    };
}

}  // namespace

std::string config_man_page() {
    ManPage page("sluice.toml", '5', "configuration of sluiced, a lossless Ethernet switch", SLUICE_VERSION);
    page.heading("DESCRIPTION").paragraph(toml).paragraph(quantities).paragraph(inherited_keys());
    page.heading("EXAMPLE").lines(example);
    page.heading("KEYS");
    add_keys(page, schema_sections());
    page.heading("FINDINGS").paragraph(findings_introduction());
    for (const KnownFinding& known : known_findings)
        page.entry(known.name, fmt::format("{}{}", known.severity, known.may_be_forced ? ", --force" : ""),
                   known.when);
    page.heading("SEE ALSO").paragraph("sluiced(8), sluicectl(1), sluice-fabric(1)");
    return page.text();
}

Program sluiced_program(Arguments& out, int (*work)(Arguments&), int (*doctor)(Arguments&)) {
    return {
        .name = "sluiced",
        .section = '8',
        .title = "a lossless Ethernet switch",
        .about = description,
        .verbs = {{"", "--config FILE [OPTION...]", "", [&out, work](const Words&) { return work(out); },
                   switch_options(out)},
                  {"headroom", "--speed RATE [OPTION...]", headroom_description,
                   [&out](const Words&) { return headroom_verb(out.headroom); },
                   headroom_options(out.headroom)},
                  {"doctor",
                   "[--config FILE]",
                   doctor_description,
                   [&out, doctor](const Words&) { return doctor(out); },
                   {{"config", "FILE", "the configuration to judge", keep(out.config)}}},
                  {"page",
                   "REPORT.json [--output FILE.html]",
                   page_description,
                   [&out](const Words& operands) { return page_verb(operands[0], out.page_output); },
                   {{"output", "FILE.html", "the page; the report's name with .html unless given",
                     keep(out.page_output)}}}},
        .options = {},
        .exit_status =
            "0 done, 2 usage or configuration refused, 130 or 143 a virtual run was interrupted by SIGINT or "
            "SIGTERM (its assertions are not judged), 4 an assertion is false, 1 anything else",
        .sections = add_sluiced_sections,
        .see_also = "sluice.toml(5), sluicectl(1), sluice-traffic(1), sluice-fabric(1), sluice-import(1)",
        .version_more = fmt::format(" ({})", rte_version())};
}

}  // namespace sluice

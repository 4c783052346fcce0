#include "control/serve/daemon/man_pages.hh"

#include <fmt/format.h>

#include "control/config/schema/finding_id.hh"
#include "control/config/schema/schema.hh"
#include "control/config/text/man_page.hh"
#include "control/serve/daemon/headroom_verb.hh"
#include "control/serve/daemon/options.hh"
#include "control/serve/daemon/page_verb.hh"

namespace sluice {
namespace {

constexpr std::string_view description =
    "sluiced runs a lossless Ethernet switch in software: it routes between its ports, holds its peers by "
    "PFC "
    "before its buffer is full, marks congestion, and accounts for every frame. What it does is one file of "
    "TOML, sluice.toml(5). Under the real clock it serves kernel interfaces and network cards until it is "
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

constexpr std::string_view signals =
    "SIGTERM and SIGINT let what is queued leave, release every peer that is held paused, and end; a second "
    "one ends at once. SIGHUP reads the configuration anew: it is applied whole, or not at all and an event "
    "says why.";

constexpr std::string_view service =
    "sluiced.service runs /etc/sluice/sluice.toml, and sluiced@NAME.service /etc/sluice/NAME.toml, as the "
    "user "
    "sluice with the capabilities that interfaces of the kernel need. The control sockets are "
    "/run/sluice/sluice.sock and /run/sluice/NAME.sock, for root and the group sluice. XDP ports, and "
    "network "
    "cards that DPDK takes by their PCI address, need more: the comments of the unit say what.";

constexpr std::string_view manager =
    "To a service manager (NOTIFY_SOCKET) it says when it is ready, reloads and stops, with a line on its "
    "ports in between. Where the manager has a watchdog (WATCHDOG_USEC) it is told that the switch is alive "
    "as long as every worker goes on; a worker that stands still ends that.";

constexpr std::string_view toml =
    "The configuration of sluiced is one file of TOML 1.0. Every key has a default unless it is required. An "
    "unknown key, a value out of range, or a switch that would lose packets is refused with file, line, "
    "column "
    "and what to do: sluiced --config FILE --check says it without running.";

constexpr std::string_view quantities =
    "A size is bytes or has a unit of 1000 (\"150KB\", \"16MB\") or 1024 (\"64KiB\"); a rate is bits a "
    "second "
    "(\"100G\", \"25Gbps\"); a time needs its unit (\"200ms\", \"1.5us\"); a length is in meters (\"5m\", "
    "\"2km\"). Numbers have no sign and no exponent, and are exact.";

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

}  // namespace

std::string sluiced_man_page() {
    ManPage page("sluiced", '8', "a lossless Ethernet switch", SLUICE_VERSION);
    page.heading("SYNOPSIS")
        .lines(fmt::format("sluiced --config FILE [OPTION...]\n{}\nsluiced doctor [--config FILE]\n{}",
                           headroom_synopsis, page_synopsis));
    page.heading("DESCRIPTION").paragraph(description);
    page.heading("OPTIONS");
    for (const OptionHelp& option : option_help())
        page.entry(fmt::format("--{}", option.name), option.argument, option.sentence);
    page.heading("HEADROOM").paragraph(headroom_description);
    for (const OptionHelp& option : headroom_option_help())
        page.entry(fmt::format("--{}", option.name), option.argument, option.sentence);
    page.heading("DOCTOR").paragraph(doctor_description);
    page.heading("PAGE").paragraph(page_description);
    page.entry("--output", "FILE", "the page; the report's name with .html unless given");
    page.heading("EXIT STATUS").paragraph(exit_status_text());
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
    page.heading("SEE ALSO")
        .paragraph("sluice.toml(5), sluicectl(1), sluice-traffic(1), sluice-fabric(1), sluice-import(1)");
    return page.text();
}

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

}  // namespace sluice

#include "tools/fabric/cli/manual.hh"

#include <fmt/format.h>

#include <array>

#include "control/config/schema/schema.hh"
#include "control/config/text/man_page.hh"
#include "control/fabric/plan/fabric_config.hh"

namespace sluice::fabric {
namespace {

struct VerbHelp {
    std::string_view name, files, options, sentence;
};
constexpr std::array verbs{
    VerbHelp{"run", "FABRIC.toml...",
             "[--out DIR] [--set PATH=VALUE]... [--seed N] [--duration TIME]\n[--assert EXPRESSION]... "
             "[--junit FILE] "
             "[--html FILE] [--force] [--threads N]\n[--page [ADDRESS:]PORT] [--socket DIR [--interactive]]",
             "simulates it and says what became of every frame; DIR/report.json has it whole, DIR/fabric.svg "
             "shows where it was paused, the page of --html also who held whom and when"},
    VerbHelp{"check", "FABRIC.toml", "[--all] [--set PATH=VALUE]...",
             "says what is wrong with it, its addresses and routes, and what memory it takes"},
    VerbHelp{"draw", "FABRIC.toml", "[--set PATH=VALUE]...", "prints the topology as SVG"},
    VerbHelp{"why", "DIR [HOST]", "",
             "says of a run why hosts waited: which pause held which, and where it began"},
    VerbHelp{"sweep", "SCENARIO.toml",
             "[--out DIR] [--jobs N] [--shard I/N] [--set PATH=VALUE]...\n[--assert EXPRESSION]... "
             "[--duration TIME] "
             "[--html FILE] [--force]",
             "runs every point of [vary], or searches the answer of [find]; goes on where it was; "
             "DIR/sweep.csv has "
             "a row a run"},
    VerbHelp{"merge", "DIR...", "--out DIR", "makes one sweep of its shards"},
    VerbHelp{
        "report", "DIR", "[--html FILE]",
        "makes the page of a run or a sweep again from its folder, DIR/page.html: one file with the verdict, "
        "charts and tables"},
    VerbHelp{
        "compare", "A B", "[--all] [--json] [--exit-code]",
        "says what differs between two runs, of sluice-fabric (a folder or its report.json) or of sluiced (a "
        "report): configuration, assertions, flows, figures, the largest difference first; or between "
        "two folders of sweeps, with the spread over their runs"},
    VerbHelp{"list", "[DIR]", "",
             "names scenarios with their questions; default: conf/scenarios, else those that are installed"},
    VerbHelp{"reference", "", "", "prints every key of a fabric, and its default"},
    VerbHelp{"figures", "", "", "prints the path, kind and unit of every figure of a report"},
    VerbHelp{"man", "", "", "prints the man page in troff"},
};

struct OptionHelp {
    std::string_view option, argument, sentence;
};
constexpr std::array all_options{
    OptionHelp{"--out", "DIR",
               "where files are written; default: out/fabric for a run, out/sweep for a sweep"},
    OptionHelp{"--all", "", "prints tables whole that are long"},
    OptionHelp{"--set", "PATH=VALUE", "gives a key of the file another value: default.pfc_quanta=1000"},
    OptionHelp{"--seed", "N", "the same as --set seed=N"},
    OptionHelp{"--duration", "TIME", "ends a run after this time of its clock"},
    OptionHelp{"--assert", "EXPRESSION", "exits with 4 if this is false of the report at the end"},
    OptionHelp{"--junit", "FILE", "writes assertions as test cases for CI"},
    OptionHelp{"--html", "FILE", "writes the run or sweep as one page"},
    OptionHelp{"--force", "", "runs what is not lossless, or may deadlock, although check says so"},
    OptionHelp{"--threads", "N",
               "lets up to 64 threads share the switches of a run; what it comes to stays the same"},
    OptionHelp{"--jobs", "N", "lets a sweep run so many of its points at once"},
    OptionHelp{"--shard", "I/N",
               "runs every Nth point of a sweep, from the Ith on; merge puts shards together"},
    OptionHelp{"--page", "[ADDRESS:]PORT",
               "serves a live page of the run for a browser, by switch, on 127.0.0.1 unless an address is "
               "given; its own address is on stderr"},
    OptionHelp{"--socket", "DIR", "makes a control socket for every switch, DIR/NAME.sock, for sluicectl"},
    OptionHelp{"--interactive", "",
               "lets the clock stand still until a client of one of the sockets lets it run"},
    OptionHelp{"--json", "", "prints all differences as JSON"},
    OptionHelp{"--exit-code", "",
               "exits with 1 if they differ; sweeps: if a figure differs by more than its spread"},
    OptionHelp{"--version", "", "the version"},
    OptionHelp{"--help", "", "this text"},
};

constexpr std::string_view exit_status =
    "0 done, 2 usage or a file that is refused, 4 an assertion is false, 130 or 143 interrupted, 1 anything "
    "else";

// One line, or more where options are many.
std::string synopsis(const VerbHelp& verb, std::size_t indent) {
    std::string text = fmt::format("sluice-fabric {}", verb.name);
    if (!verb.files.empty()) text += fmt::format(" {}", verb.files);
    if (!verb.options.empty()) text += ' ';
    for (const char c : verb.options) text += c == '\n' ? "\n" + std::string(indent, ' ') : std::string(1, c);
    return text;
}

}  // namespace

std::string usage() {
    std::string text;
    for (const VerbHelp& verb : verbs)
        text += fmt::format("{}{}\n", text.empty() ? "usage: " : "       ", synopsis(verb, 21));
    text += '\n';
    for (const VerbHelp& verb : verbs) text += fmt::format("{:<10}{}\n", verb.name, verb.sentence);
    text += '\n';
    for (const OptionHelp& each : all_options)
        text += fmt::format("{:<21} {}\n", fmt::format("{} {}", each.option, each.argument), each.sentence);
    return text + fmt::format("\nexit status: {}\n", exit_status);
}

std::string man_page(std::string_view version) {
    ManPage page("sluice-fabric", '1', "simulate fabrics of lossless switches and RoCE hosts", version);
    page.heading("SYNOPSIS");
    std::string lines;
    for (const VerbHelp& verb : verbs) lines += synopsis(verb, 8) + "\n";
    page.lines(lines);
    page.heading("DESCRIPTION")
        .paragraph(
            "sluice-fabric runs many switches of sluiced(8), and the hosts at their ports, in one process "
            "under one virtual clock, and says what became of every frame and why hosts waited.");
    page.heading("COMMANDS");
    for (const VerbHelp& verb : verbs) page.entry(verb.name, verb.files, verb.sentence);
    page.heading("OPTIONS");
    for (const OptionHelp& each : all_options) page.entry(each.option, each.argument, each.sentence);
    page.heading("EXIT STATUS").paragraph(exit_status);
    page.heading("KEYS").paragraph(
        "Of a fabric, beside those of sluice.toml(5) under [default], [host.default] and the like:");
    add_keys(page, fabric_sections());
    page.subheading("[vary]").paragraph(vary_help());
    page.heading("SEE ALSO").paragraph("sluiced(8), sluice.toml(5), sluicectl(1)");
    return page.text();
}

}  // namespace sluice::fabric

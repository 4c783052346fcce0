// sluice-import: a switch's own configuration to one of Sluice, and back.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "control/config/lint/memory.hh"
#include "control/config/schema/command_line.hh"
#include "control/config/schema/config.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "control/config/text/say.hh"
#include "control/serve/server/program.hh"
#include "lib/pfc/headroom.hh"
#include "tools/import/importing.hh"
#include "tools/import/verbs.hh"

namespace sluice::import {
namespace {

struct Arguments : FileArguments {
    std::string from;  // a word of known_sources, or "sluice"; empty: by the content
    bool to_sonic = false, lossless = false;
    Wishes wishes;
};

// `text` is the configuration as a file; `account` what became of the lines of its source, if it has one.
int finish(const Arguments& arguments, const Config& config, const std::string& text,
           const std::string& account) {
    // Judged as it is read back, so that findings have its lines.
    const std::string name = arguments.out.empty() || arguments.to_sonic ? "sluice.toml" : arguments.out;
    const auto loaded = parse_config(text, name);
    if (!loaded) {
        complain("sluice-import: internal error: {}\n", loaded.error().front().text());
        return exit_failed;
    }
    const Verdict verdict = judge_import(*loaded, this_machine(), name);
    if (!verdict.refusal.empty() && !arguments.force && !arguments.to_sonic) {
        complain(
            "{}sluice-import: nothing is written, because sluiced --check would refuse it for that; do: "
            "import again with --cell, --buffer or a mended file, or write it all the same with --force\n",
            verdict.refusal);
        return exit_refused;
    }
    const std::string out = arguments.to_sonic ? json_text(to_sonic(config), 4) + "\n" : text;
    if (!deliver(arguments, out, verdict.text + account)) return exit_failed;
    return arguments.lossless && !verdict.lossless ? exit_false : exit_done;
}

int import_file(const Arguments& arguments) {
    if (!check_roles(arguments)) return exit_refused;
    if (arguments.from == "sluice") {
        const auto loaded = load_config(arguments.file);
        if (loaded) return finish(arguments, *loaded, to_toml(*loaded), {});
        for (const ConfigError& error : loaded.error()) complain("{}\n", error.text());
        return exit_refused;
    }
    const auto text = read_file(arguments.file);
    if (!text) return exit_failed;
    std::optional<Source> said;
    for (std::size_t n = 0; n < known_sources.size(); ++n)
        if (arguments.from == known_sources[n].word) said = static_cast<Source>(n);
    const auto imported = import_text(*text, said, arguments.wishes);
    if (!imported) {
        complain("{}\n", imported.error().text(arguments.file));
        return exit_refused;
    }
    const Account& account = imported->account;
    if (const auto status = settle_account(arguments, account)) return *status;
    const int status = finish(arguments, imported->config, to_file(*imported, arguments.file),
                              whole_summary(arguments, account));
    return status == exit_done ? status_of(account) : status;
}

void add_sections(ManPage& page) {
    page.heading("THE ACCOUNT")
        .paragraph(
            "Every line of FILE is told with its place and what became of it, FILE:LINE:COLUMN: PATH: one "
            "of");
    for (const FateHelp& each : known_fates) page.entry(each.name, "", each.sentence);
    page.heading("EXAMPLE").lines(
        "sluice-import config_db.json -o sluice.toml\n"
        "sluice-import config_db.json -o sluice.toml --cable 100m --lossless\n"
        "sluiced --config sluice.toml --check");
}

std::vector<Option> options_of(Arguments& out) {
    constexpr std::uint64_t max_buffer_bytes = std::uint64_t{1} << 40;
    std::vector<Option> options = file_options(
        out, "write what could be read although some could not, or although sluiced --check would refuse it");
    const std::vector<Option> own{
        {"from", "SOURCE",
         "sonic, cumulus, eos, nxos or sluice; default: by the file's content, and sluice by a name that "
         "ends in "
         ".toml",
         keep_one_of<const char*>({{"sonic", "sonic"},
                                   {"cumulus", "cumulus"},
                                   {"eos", "eos"},
                                   {"nxos", "nxos"},
                                   {"sluice", "sluice"}},
                                  out.from)},
        {"to", "TARGET",
         "sluice, or sonic: PORT, CABLE_LENGTH, PFC_WD, the maps, BUFFER_*, QUEUE, SCHEDULER and "
         "WRED_PROFILE as JSON; default: sluice",
         keep_one_of<bool>({{"sonic", true}, {"sluice", false}}, out.to_sonic)},
        {"cable", "LENGTH", "of every port, instead of the file's: \"100m\"",
         keep_within(parse_length, print_length, 0, HeadroomInputs::max_cable_m, out.wishes.cable_m)},
        {"buffer", "SIZE", "packet memory, where the file does not say it: \"42MB\"",
         keep_within(parse_size, print_size, 1, max_buffer_bytes, out.wishes.buffer_bytes)},
        {"cell", "SIZE", "of the buffer; default: 256",
         keep_within(parse_size, print_size, 64, 2048, out.wishes.cell_bytes)},
        {"segment", "SIZE",
         "of thresholds in segments, which are the chip's cells; without it they have no counterpart",
         keep_within(parse_size, print_size, 1, 65'536, out.wishes.segment_bytes)},
        {"device", "TEMPLATE",
         "of each port, with {port} and {n} for its name and number: \"xdp:{port}\", "
         "\"net_pcap{n},rx_pcap={port}.pcap\"; default: a simulated host behind each port, under the virtual "
         "clock",
         [&out](const std::string& text) { return out.wishes.device = text, std::string(); }},
        {"lossless", "", "exit with 4 when a port would lose packets of a lossless class",
         keep(out.lossless)},
    };
    options.insert(options.end(), own.begin(), own.end());
    return options;
}

int run_main(int argc, char** argv) {
    Arguments arguments;
    TopologyArguments topology;
    const auto work = [&](const Words& files) {
        arguments.file = files[0];
        if (arguments.from.empty() && arguments.file.ends_with(".toml")) arguments.from = "sluice";
        return import_file(arguments);
    };
    const Program program{
        .name = "sluice-import",
        .section = '1',
        .title = "make a configuration of sluiced from that of another switch",
        .about =
            "Makes a configuration of Sluice from that of a switch, says of every line what has become "
            "of it, and judges whether the switch loses packets. FILE is SONiC's config_db.json, "
            "Cumulus Linux's configuration as nv config show -o yaml or -o commands prints it, or the "
            "running-config of Arista EOS or Cisco NX-OS, or a part of it.",
        .verbs = {{"", "FILE [OPTION...]", "", work, options_of(arguments)}, topology_verb(topology)},
        .options = {},
        .exit_status =
            "0 written, and sluiced --check (sluice-fabric check) takes it; 1 written in part, and each part "
            "that is left out is "
            "named, or anything else; 2 usage, or nothing is written and the line to mend is named; 4 not "
            "lossless",
        .sections = add_sections,
        .see_also = "sluiced(8), sluice.toml(5), sluice-fabric(1)"};
    return run(program, argc, argv);
}

}  // namespace
}  // namespace sluice::import

int main(int argc, char** argv) {
    using namespace sluice;
    return run_program("sluice-import", import::exit_failed, [&] { return import::run_main(argc, argv); });
}

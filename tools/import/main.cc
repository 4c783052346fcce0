// sluice-import: a switch's own configuration to one of Sluice, and back.
#include <fmt/format.h>

#include <optional>

#include "control/config/lint/memory.hh"
#include "control/config/schema/command_line.hh"
#include "control/config/schema/config.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/say.hh"
#include "control/serve/server/program.hh"
#include "lib/pfc/headroom.hh"
#include "tools/import/export_file.hh"
#include "tools/import/importing.hh"
#include "tools/import/verbs.hh"

namespace sluice::import {
namespace {

struct Arguments : FileArguments {
    std::string from;                      // a word of known_sources, or "sluice"; empty: by the content
    const ExportFormat* format = nullptr;  // null: sluice
    bool patch = false, lossless = false;
    Wishes wishes;
    FleetArguments fleet;
};

// TODAY as it is read, and as a file of sluiced's. Nothing: it cannot be, and stderr says why.
struct Loaded {
    Today today;
    std::optional<Importing> imported;  // of another maker
};

tl::expected<Loaded, int> load(const Arguments& arguments) {
    if (arguments.from == "sluice") {
        auto config = load_config(arguments.file);
        if (config) return Loaded{{std::move(*config), {}, {}, {}, {}}, {}};
        for (const ConfigError& error : config.error()) complain("{}\n", error.text());
        return tl::unexpected(exit_refused);
    }
    const auto text = read_file(arguments.file);
    if (!text) return tl::unexpected(exit_failed);
    std::optional<Source> said;
    for (std::size_t n = 0; n < known_sources.size(); ++n)
        if (arguments.from == known_sources[n].word) said = static_cast<Source>(n);
    auto imported = import_text(*text, said, arguments.wishes);
    if (!imported) {
        complain("{}\n", imported.error().text(arguments.file));
        return tl::unexpected(exit_refused);
    }
    Today today{imported->config, imported->account, imported->document, imported->source, imported->names};
    return Loaded{std::move(today), std::move(*imported)};
}

// Judged as it is read back, so that findings have its lines. Nothing: internal error.
std::optional<Verdict> judge(const std::string& text, const std::string& name) {
    const auto loaded = parse_config(text, name);
    if (loaded) return judge_import(*loaded, this_machine(), name);
    complain("sluice-import: internal error: {}\n", loaded.error().front().text());
    return std::nullopt;
}

int import_file(const Arguments& given) {
    Arguments arguments = given;
    if (arguments.format != nullptr && arguments.patch)
        arguments.beside = beside_name(*arguments.format, arguments.out);
    if (arguments.patch && arguments.format == nullptr) {
        complain("sluice-import: --patch is for another switch; do: name it with --to\n");
        return exit_refused;
    }
    if (!check_roles(arguments)) return exit_refused;
    auto loaded = load(arguments);
    if (!loaded) return loaded.error();
    const Account& account = loaded->today.account;
    if (account.has(Fate::wrong) && !arguments.force)
        return settle_account(arguments, account).value_or(exit_refused);
    auto applied = apply_file(arguments, loaded->today.config);
    if (!applied) return exit_refused;
    std::string text = to_toml(applied->config);
    if (loaded->imported) {
        loaded->imported->config = applied->config;
        text = to_file(*loaded->imported, arguments.file);
    }
    const bool exports = arguments.format != nullptr;
    const std::string name = arguments.out.empty() || exports ? "sluice.toml" : arguments.out;
    const auto verdict = judge(text, name);
    if (!verdict) return exit_failed;
    if (!verdict->refusal.empty() && !arguments.force && !exports) {
        if (const auto status = settle_account(arguments, account)) return *status;
        complain(
            "{}sluice-import: nothing is written, because sluiced --check would refuse it for that; do: "
            "import again with --cell, --buffer or a mended file, or write it all the same with --force\n",
            verdict->refusal);
        return exit_refused;
    }
    int status = exit_done;
    if (exports) {
        status = export_file(arguments, *arguments.format, arguments.patch, loaded->today, *applied,
                             verdict->text);
    } else {
        if (const auto early = settle_account(arguments, account)) return *early;
        const std::string said = loaded->imported ? whole_summary(arguments, account) : std::string();
        if (!deliver(arguments, text, verdict->text + said)) status = exit_failed;
    }
    if (status != exit_done) return status;
    return arguments.lossless && !verdict->lossless ? exit_false : status_of(account);
}

void add_sections(ManPage& page) {
    page.heading("THE ACCOUNT")
        .paragraph(
            "Every line of FILE is told with its place and what became of it, FILE:LINE:COLUMN: PATH: one "
            "of");
    for (const FateHelp& each : known_fates) page.entry(each.name, "", each.sentence);
    page.heading("EXPORTS").paragraph(
        "--to writes FILE, with the keys of --apply, as another switch has it; the account has a line for "
        "each key. With --patch only what changes is written, under the names that FILE has, where it is "
        "of that switch's own format.");
    for (const ExportFormat& format : export_formats()) page.entry(format.word, "", format.help);
    page.heading("EXAMPLE").lines(
        "sluice-import --fleet configurations --links cables.csv\n"
        "sluice-import config_db.json -o sluice.toml\n"
        "sluice-import config_db.json -o sluice.toml --cable 100m --lossless\n"
        "sluiced --config sluice.toml --check\n"
        "sluice-import config_db.json --apply switch.toml --to sonic --patch -o patch.json");
}

auto keep_format(const ExportFormat*& out) {
    return [&out](const std::string& word) {
        std::string known = "sluice";
        out = nullptr;
        for (const ExportFormat& each : export_formats()) {
            if (each.word == word) return out = &each, std::string();
            known += fmt::format(", {}", each.word);
        }
        return word == "sluice" ? std::string() : "is none of " + known;
    };
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
        {"to", "TARGET", "sluice, sonic, nvue, eos or nxos, see EXPORTS; default: sluice",
         keep_format(out.format)},
        {"apply", "KEYS.toml",
         "set these keys first, a part of sluiced's configuration, such as the switch.toml of sluice-fabric "
         "advise; a key of [default] is set at each port, also at those that say it themselves",
         keep(out.apply)},
        {"patch",
         "",
         "write only what changes from FILE to that, for the switch that has FILE; see EXPORTS",
         keep(out.patch),
         {},
         "to"},
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
    const auto many = fleet_options(out.fleet);
    options.insert(options.end(), many.begin(), many.end());
    return options;
}

int run_main(int argc, char** argv) {
    Arguments arguments;
    TopologyArguments topology;
    const auto work = [&](const Words& files) {
        if (!arguments.fleet.folder.empty()) {
            if (files.empty()) return compare_fleet(arguments.fleet, arguments.wishes);
            complain("sluice-import: --fleet takes no FILE; see: sluice-import --help\n");
            return exit_refused;
        }
        if (files.empty()) {
            complain("sluice-import: FILE is missing; see: sluice-import --help\n");
            return exit_refused;
        }
        arguments.file = files[0];
        if (arguments.from.empty() && arguments.file.ends_with(".toml")) arguments.from = "sluice";
        return import_file(arguments);
    };
    const Program program{
        .name = "sluice-import",
        .section = '1',
        .title = "make a configuration of sluiced from that of another switch",
        .about =
            "Makes a configuration of Sluice from that of a switch, or back, says of every line what has "
            "become "
            "of it, and judges whether the switch loses packets. FILE is SONiC's config_db.json, "
            "Cumulus Linux's configuration as nv config show -o yaml or -o commands prints it, or the "
            "running-config of Arista EOS or Cisco NX-OS, or a part of it.",
        .verbs = {{"", "[FILE] [OPTION...]", "", work, options_of(arguments)}, topology_verb(topology)},
        .options = {},
        .exit_status =
            "0 written, and sluiced --check (sluice-fabric check) takes it; 1 written in part, and each part "
            "that is left out is "
            "named, or anything else; 2 usage, or nothing is written and the line to mend is named; 4 not "
            "lossless. With --fleet: 0 no error; 1 some files could not be read; 2 none could; 4 an error",
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

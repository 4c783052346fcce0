// sluice-import: a switch's own configuration to one of Sluice, and back.
#include <fmt/format.h>
#include <getopt.h>

#include <fstream>
#include <optional>
#include <sstream>

#include "control/config/config.hh"
#include "control/config/schema.hh"
#include "control/config/values.hh"
#include "control/server/boundary.hh"
#include "control/text/json_text.hh"
#include "control/text/say.hh"
#include "dataplane/base/output_file.hh"
#include "tools/import/import.hh"
#include "tools/import/to_sonic.hh"
#include "tools/import/verdict.hh"

namespace sluice::import {
namespace {

constexpr int exit_done = 0;
constexpr int exit_failed = 1;
constexpr int exit_refused = 2;
constexpr int exit_false = 4;

constexpr std::string_view usage = R"(usage: sluice-import FILE [OPTION...]

Makes a configuration of Sluice from that of a switch, says of every line what has become of it, and judges whether the switch
loses packets. FILE is SONiC's config_db.json, or Cumulus Linux's configuration as nv config show -o yaml or -o commands prints it.

  -o FILE             write the configuration there; without it stdout has it, and stderr the rest
  --from SOURCE       sonic, cumulus or sluice; default: by the file's content, and sluice by a name that ends in .toml
  --to TARGET         sluice, or sonic: PORT, CABLE_LENGTH, PFC_WD, the maps, BUFFER_*, QUEUE, SCHEDULER and WRED_PROFILE as
                      JSON; default: sluice
  --account FILE      write what became of each line, one by one; the summary has those that are alike as one
  --cable LENGTH      of every port, instead of the file's: "100m"
  --buffer SIZE       packet memory, where the file does not say it: "42MB"
  --cell SIZE         of the buffer; default: 256
  --device TEMPLATE   of each port, with {port} and {n} for its name and number: "xdp:{port}", "net_pcap{n},rx_pcap={port}.pcap";
                      default: a simulated host behind each port, under the virtual clock
  --lossless          exit with 4 when a port would lose packets of a lossless class
  --force             write what could be read although some could not
  --help              print this and end

exit status: 0 done, 2 usage or the file refused, 4 not lossless, 1 anything else
)";

struct Arguments {
    std::string file, out, account;
    std::string from;
    bool to_sonic = false, lossless = false, force = false, help = false;
    Wishes wishes;
};

template <class Value>
std::string take(const ParsedValue<Value>& value, std::optional<Value>& out) {
    if (!value) return value.error().wrong;
    out = *value;
    return {};
}

// An error's text, or empty.
std::string set(Arguments& out, int option, const std::string& value) {
    switch (option) {
        case 'o':
            out.out = value;
            return {};
        case 'a':
            out.account = value;
            return {};
        case 'd':
            out.wishes.device = value;
            return {};
        case 'f':
            out.from = value;
            return value == "sonic" || value == "cumulus" || value == "sluice"
                       ? ""
                       : "is none of sonic, cumulus, sluice";
        case 't':
            out.to_sonic = value == "sonic";
            return value == "sonic" || value == "sluice" ? "" : "is none of sonic, sluice";
        case 'c':
            return take(parse_length(value), out.wishes.cable_m);
        case 'b':
            return take(parse_size(value), out.wishes.buffer_bytes);
        case 'e': {
            const auto bytes = parse_size(value);
            if (!bytes) return bytes.error().wrong;
            if (*bytes < 64 || *bytes > 2048) return "is no size from 64 to 2048 bytes";
            out.wishes.cell_bytes = static_cast<std::uint32_t>(*bytes);
            return {};
        }
        case 'l':
            out.lossless = true;
            return {};
        case 'F':
            out.force = true;
            return {};
        default:
            out.help = true;
            return {};
    }
}

tl::expected<Arguments, std::string> parse_arguments(int argc, char** argv) {
    constexpr std::array<option, 12> known{{{"account", required_argument, nullptr, 'a'},
                                            {"device", required_argument, nullptr, 'd'},
                                            {"from", required_argument, nullptr, 'f'},
                                            {"to", required_argument, nullptr, 't'},
                                            {"cable", required_argument, nullptr, 'c'},
                                            {"buffer", required_argument, nullptr, 'b'},
                                            {"cell", required_argument, nullptr, 'e'},
                                            {"lossless", no_argument, nullptr, 'l'},
                                            {"force", no_argument, nullptr, 'F'},
                                            {"help", no_argument, nullptr, 'h'},
                                            {"output", required_argument, nullptr, 'o'},
                                            {nullptr, 0, nullptr, 0}}};
    Arguments out;
    opterr = 0;
    for (int found = 0; (found = getopt_long(argc, argv, ":o:h", known.data(), nullptr)) != -1;) {
        const std::string word = argv[optind - 1];
        if (found == '?') return tl::unexpected(in_quotes(word) + " is no option");
        if (found == ':') return tl::unexpected(in_quotes(word) + " wants an argument");
        const std::string value = optarg == nullptr ? "" : optarg;
        if (const std::string wrong = set(out, found, value); !wrong.empty())
            return tl::unexpected(fmt::format("{} {}", in_quotes(value), wrong));
    }
    if (out.help) return out;
    if (optind + 1 != argc)
        return tl::unexpected<std::string>(optind == argc ? "FILE is missing" : "more than one FILE");
    out.file = argv[optind];
    if (out.from.empty() && out.file.ends_with(".toml")) out.from = "sluice";
    return out;
}

bool write(const std::string& path, const std::string& text) {
    auto file = OutputFile::create(path);
    std::string error = file ? std::string() : file.error();
    if (file) {
        (*file)->write(text);
        error = (*file)->close();
    }
    if (!error.empty()) complain("sluice-import: {}\n", error);
    return error.empty();
}

std::optional<std::string> read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::string text(max_file_bytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file.is_open() || file.bad()) {
        complain("sluice-import: {} cannot be read\n", in_quotes(path));
        return std::nullopt;
    }
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

// The report goes where the configuration does not.
void report(const Arguments& arguments, const std::string& text) {
    if (arguments.out.empty())
        complain("{}", text);
    else
        say("{}", text);
}

// `text` is the configuration as a file; `account` what became of the lines of its source, if it has one.
int finish(const Arguments& arguments, const Config& config, const std::string& text,
           const std::string& account) {
    const std::string out = arguments.to_sonic ? json_text(to_sonic(config), 4) + "\n" : text;
    if (arguments.out.empty())
        say("{}", out);
    else if (!write(arguments.out, out))
        return exit_failed;
    // Judged as it is read back, so that findings have its lines.
    const std::string name = arguments.out.empty() || arguments.to_sonic ? "sluice.toml" : arguments.out;
    const auto loaded = parse_config(text, name);
    if (!loaded) {
        complain("sluice-import: internal error: {}\n", loaded.error().front().text());
        return exit_failed;
    }
    const Verdict verdict = judge_import(*loaded, name);
    report(arguments, verdict.text + account);
    return arguments.lossless && !verdict.lossless ? exit_false : exit_done;
}

int run(const Arguments& arguments) {
    if (arguments.from == "sluice") {
        const auto loaded = load_config(arguments.file);
        if (loaded) return finish(arguments, *loaded, to_toml(*loaded), {});
        for (const ConfigError& error : loaded.error()) complain("{}\n", error.text());
        return exit_refused;
    }
    const auto text = read(arguments.file);
    if (!text) return exit_failed;
    Source source = source_of(*text);
    if (!arguments.from.empty()) source = arguments.from == "sonic" ? Source::sonic : Source::cumulus;
    const auto imported = import_text(*text, source, arguments.wishes);
    if (!imported) {
        complain("{}\n", imported.error().text(arguments.file));
        return exit_refused;
    }
    const Account& account = imported->account;
    if (!arguments.account.empty() && !write(arguments.account, account.all(arguments.file)))
        return exit_failed;
    if (account.has_wrong() && !arguments.force) {
        complain(
            "{}sluice-import: nothing is written, because of that; do: correct it, or write the rest with "
            "--force\n",
            account.summary(arguments.file, {Fate::wrong}));
        return exit_refused;
    }
    return finish(arguments, imported->config, to_file(*imported, arguments.file, source),
                  account.summary(arguments.file, {Fate::wrong, Fate::assumed, Fate::nothing, Fate::taken}));
}

int run_main(int argc, char** argv) {
    const auto arguments = parse_arguments(argc, argv);
    if (!arguments) {
        complain("sluice-import: {}\n{}", arguments.error(), usage);
        return exit_refused;
    }
    if (!arguments->help) return run(*arguments);
    say("{}", usage);
    return exit_done;
}

}  // namespace
}  // namespace sluice::import

int main(int argc, char** argv) {
    using namespace sluice;
    hold_standard_streams();
    int status = import::exit_failed;
    boundary([&] { status = import::run_main(argc, argv); },
             [](const char* what) { complain("sluice-import: internal error: {}\n", what); });
    return all_said("sluice-import") || status != import::exit_done ? status : import::exit_failed;
}

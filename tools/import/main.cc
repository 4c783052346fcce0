// sluice-import: a switch's own configuration to one of Sluice, and back.
#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "control/config/lint/memory.hh"
#include "control/config/schema/config.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "control/config/text/say.hh"
#include "control/serve/server/program.hh"
#include "dataplane/base/file_roles.hh"
#include "dataplane/base/output_file.hh"
#include "tools/import/arguments.hh"
#include "tools/import/importing.hh"
#include "tools/import/manual.hh"

namespace sluice::import {
namespace {

constexpr int exit_done = 0;
constexpr int exit_part = 1;
constexpr int exit_failed = 1;
constexpr int exit_refused = 2;
constexpr int exit_false = 4;

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
            "import again "
            "with --cell, --buffer or a mended file, or write it all the same with --force\n",
            verdict.refusal);
        return exit_refused;
    }
    const std::string out = arguments.to_sonic ? json_text(to_sonic(config), 4) + "\n" : text;
    if (arguments.out.empty())
        say("{}", out);
    else if (!write(arguments.out, out))
        return exit_failed;
    // The report goes where the configuration does not.
    if (arguments.out.empty())
        complain("{}{}", verdict.text, account);
    else
        say("{}{}", verdict.text, account);
    return arguments.lossless && !verdict.lossless ? exit_false : exit_done;
}

int run(const Arguments& arguments) {
    FileRoles roles;
    roles.reads("FILE", arguments.file);
    roles.writes("--output", arguments.out);
    roles.writes("--account", arguments.account);
    if (const std::string clash = roles.clash_text(); !clash.empty())
        return complain("sluice-import: {}\n", clash), exit_refused;
    if (arguments.from == "sluice") {
        const auto loaded = load_config(arguments.file);
        if (loaded) return finish(arguments, *loaded, to_toml(*loaded), {});
        for (const ConfigError& error : loaded.error()) complain("{}\n", error.text());
        return exit_refused;
    }
    const auto text = read(arguments.file);
    if (!text) return exit_failed;
    std::optional<Source> said;
    if (!arguments.from.empty()) said = arguments.from == "sonic" ? Source::sonic : Source::cumulus;
    const auto imported = import_text(*text, said, arguments.wishes);
    if (!imported) {
        complain("{}\n", imported.error().text(arguments.file));
        return exit_refused;
    }
    const Account& account = imported->account;
    if (!arguments.account.empty() && !write(arguments.account, account.all(arguments.file)))
        return exit_failed;
    if (account.has(Fate::wrong) && !arguments.force) {
        complain(
            "{}sluice-import: nothing is written, because of that; do: correct it, or write the rest with "
            "--force\n",
            account.summary(arguments.file, {Fate::wrong}));
        return exit_refused;
    }
    const int status = finish(arguments, imported->config, to_file(*imported, arguments.file),
                              account.summary(arguments.file, {Fate::wrong, Fate::left_out, Fate::assumed,
                                                               Fate::nothing, Fate::taken}));
    return status == exit_done && (account.has(Fate::wrong) || account.has(Fate::left_out)) ? exit_part
                                                                                            : status;
}

int run_main(int argc, char** argv) {
    const auto arguments = parse_arguments(argc, argv);
    if (!arguments) return complain_of_usage("sluice-import", arguments.error());
    switch (arguments->print) {
        case Print::nothing:
            return run(*arguments);
        case Print::help:
            say("{}", usage());
            break;
        case Print::man:
            say("{}", man_page(SLUICE_VERSION));
            break;
        case Print::version:
            say("sluice-import {}\n", SLUICE_VERSION);
            break;
    }
    return exit_done;
}

}  // namespace
}  // namespace sluice::import

int main(int argc, char** argv) {
    using namespace sluice;
    return run_program("sluice-import", import::exit_failed, [&] { return import::run_main(argc, argv); });
}

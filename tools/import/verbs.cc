#include "tools/import/verbs.hh"

#include <fstream>

#include "control/config/text/say.hh"
#include "dataplane/base/file_roles.hh"
#include "dataplane/base/output_file.hh"

namespace sluice::import {

bool write_file(const std::string& path, const std::string& text) {
    auto file = OutputFile::create(path);
    std::string error = file ? std::string() : file.error();
    if (file) {
        (*file)->write(text);
        error = (*file)->close();
    }
    if (!error.empty()) complain("sluice-import: {}\n", error);
    return error.empty();
}

std::vector<Option> file_options(FileArguments& out, std::string_view force_help) {
    return {
        {"output",
         "FILE",
         "or -o FILE: write the configuration there; without it stdout has it, and stderr the rest",
         keep(out.out),
         {},
         {},
         'o'},
        {"account", "FILE",
         "write what became of each line, one by one; the summary has those that are alike as one, and "
         "counts those taken as they are",
         keep(out.account)},
        {"force", "", force_help, keep(out.force)},
    };
}

std::optional<std::string> read_file(const std::string& path) {
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

bool check_roles(const FileArguments& arguments) {
    FileRoles roles;
    roles.reads("FILE", arguments.file);
    roles.reads("--apply", arguments.apply);
    roles.writes("--output", arguments.out);
    roles.writes("the tables beside --output", arguments.beside);
    roles.writes("--account", arguments.account);
    const std::string clash = roles.clash_text();
    if (!clash.empty()) complain("sluice-import: {}\n", clash);
    return clash.empty();
}

std::optional<int> settle_account(const FileArguments& arguments, const Account& account,
                                  const std::string& more) {
    if (!arguments.account.empty() && !write_file(arguments.account, account.all(arguments.file) + more))
        return exit_failed;
    if (!account.has(Fate::wrong) || arguments.force) return std::nullopt;
    complain(
        "{}sluice-import: nothing is written, because of that; do: correct it, or write the rest with "
        "--force\n",
        account.summary(arguments.file, {Fate::wrong}));
    return exit_refused;
}

bool deliver(const FileArguments& arguments, const std::string& text, const std::string& said) {
    if (arguments.out.empty())
        say("{}", text);
    else if (!write_file(arguments.out, text))
        return false;
    // The report goes where the configuration does not.
    if (arguments.out.empty())
        complain("{}", said);
    else
        say("{}", said);
    return true;
}

std::string whole_summary(const FileArguments& arguments, const Account& account) {
    return account.summary(arguments.file,
                           {Fate::wrong, Fate::left_out, Fate::assumed, Fate::nothing, Fate::taken});
}

int status_of(const Account& account) {
    return account.has(Fate::wrong) || account.has(Fate::left_out) ? exit_part : exit_done;
}

}  // namespace sluice::import

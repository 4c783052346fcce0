#include "tools/import/import.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema.hh"
#include "tools/import/commands_reader.hh"
#include "tools/import/cumulus.hh"
#include "tools/import/sonic.hh"

namespace sluice::import {
namespace {

std::size_t count(const Account& account, Fate fate) {
    return static_cast<std::size_t>(std::count_if(account.lines().begin(), account.lines().end(),
                                                  [&](const Line& line) { return line.fate == fate; }));
}

// How the file is run at once: the first two hosts, and a flow between them.
std::string example(const Config& config) {
    if (config.hosts.size() < 2) return "# Run it: sluiced --config FILE --check, then without --check.\n";
    const std::string& from = config.hosts.begin()->first;
    const std::string& to = std::next(config.hosts.begin())->first;
    return fmt::format(
        "# Every port has a simulated RoCE host behind it. Traffic is a flow, for example an incast:\n"
        "#\n"
        "#     [[flow]]\n"
        "#     from = [\"{}\"]        # more hosts, by name\n"
        "#     to = \"{}\"\n"
        "#     stop = \"5ms\"\n"
        "#\n"
        "# For captures or interfaces instead of hosts, import again with --device.\n",
        from, to);
}

}  // namespace

Source source_of(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r\n");
    return first != text.npos && text[first] == '{' ? Source::sonic : Source::cumulus;
}

tl::expected<Importing, ReadError> import_text(const std::string& text, Source source, const Wishes& wishes) {
    if (text.size() > max_file_bytes)
        return tl::unexpected(
            ReadError{{}, {}, fmt::format("the file is larger than {} bytes", max_file_bytes), {}});
    Document document = source == Source::sonic ? read_json(text)
                        : is_commands(text)     ? read_commands(text)
                                                : read_yaml(text);
    if (!document) return tl::unexpected(document.error());
    Importing imported;
    imported.wishes = wishes;
    if (source == Source::sonic) {
        regroup(**document);
        import_sonic(**document, imported);
    } else {
        import_cumulus(**document, imported);
    }
    if (imported.config.ports.empty() && !imported.account.has_wrong())
        imported.account.wrong(**document, "has no ports", "give the whole of the switch's configuration");
    finish(imported);
    imported.account.close(**document);
    return imported;
}

std::string to_file(const Importing& imported, std::string_view from, Source source) {
    std::string name(from);
    for (char& c : name)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
    return fmt::format(
        "# Made by sluice-import from {} ({}): {} lines taken, {} assumed, {} without a counterpart.\n"
        "# sluice-import says which.\n{}\n{}",
        name, source == Source::sonic ? "SONiC" : "Cumulus Linux", count(imported.account, Fate::taken),
        count(imported.account, Fate::assumed), count(imported.account, Fate::nothing),
        example(imported.config), to_toml(imported.config));
}

}  // namespace sluice::import

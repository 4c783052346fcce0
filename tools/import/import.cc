#include "tools/import/import.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/schema.hh"
#include "control/config/text/controls.hh"
#include "tools/import/commands_reader.hh"
#include "tools/import/cumulus.hh"
#include "tools/import/sonic.hh"
#include "tools/import/sonic_shapes.hh"

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

bool has_member(const Item& node, std::string_view start) {
    return std::any_of(node.members.begin(), node.members.end(),
                       [&](const auto& member) { return member->name.starts_with(start); });
}

// By what a document has: NVUE's `set` and `header`, else SONiC's tables. An error: OpenConfig.
tl::expected<Source, ReadError> source_of(const Item& root) {
    const Item* first =
        root.kind == Item::Kind::list && !root.members.empty() ? root.members.front().get() : &root;
    if (has_member(*first, "openconfig-") || has_member(*first, "ietf-"))
        return tl::unexpected(ReadError{first->members.front()->place,
                                        {},
                                        "is OpenConfig's model",
                                        fmt::format("give {}", readable_formats)});
    for (const auto* key : {"set", "unset", "header"})
        if (first->find(key) != nullptr) return Source::cumulus;
    return Source::sonic;
}

Document read_document(const std::string& text, Syntax syntax) {
    if (syntax == Syntax::json) return read_json(text);
    return syntax == Syntax::commands ? read_commands(text) : read_yaml(text);
}

}  // namespace

tl::expected<Importing, ReadError> import_text(const std::string& given, std::optional<Source> said,
                                               const Wishes& wishes) {
    if (given.size() > max_file_bytes)
        return tl::unexpected(
            ReadError{{}, {}, fmt::format("the file is larger than {} bytes", max_file_bytes), {}});
    const std::string text = without_terminal(given);
    const Syntax syntax = said == Source::sonic ? Syntax::json : syntax_of(text);
    if (syntax == Syntax::yaml && !said)
        if (const auto maker = foreign_text(text))
            return tl::unexpected(ReadError{{1, 1},
                                            {},
                                            fmt::format("is a configuration of {}", *maker),
                                            fmt::format("give {}", readable_formats)});
    Document document = read_document(text, syntax);
    if (!document) {
        if (syntax == Syntax::yaml && !said && document.error().remedy.empty())
            document.error().remedy = fmt::format("give {}", readable_formats);
        return tl::unexpected(document.error());
    }
    Item& root = **document;
    Importing imported;
    imported.wishes = wishes;
    imported.source = Source::cumulus;
    if (said) {
        imported.source = *said;
    } else if (syntax == Syntax::json) {
        const auto found = source_of(root);
        if (!found) return tl::unexpected(found.error());
        imported.source = *found;
    }
    if (imported.source == Source::sonic) {
        if (const auto error = shape_sonic(root)) return tl::unexpected(*error);
        import_sonic(root, imported);
    } else {
        shape_cumulus(root);
        import_cumulus(root, imported);
    }
    if (imported.config.ports.empty() && !imported.account.has(Fate::wrong))
        imported.account.wrong(root, "has no ports", "give the whole of the switch's configuration");
    finish(imported);
    imported.account.close(root);
    return imported;
}

std::string to_file(const Importing& imported, std::string_view from) {
    return fmt::format(
        "# Made by sluice-import from {} ({}): {} lines taken, {} assumed, {} left out, {} without a "
        "counterpart.\n"
        "# sluice-import says which.\n{}\n{}",
        without_controls(from), imported.source == Source::sonic ? "SONiC" : "Cumulus Linux",
        count(imported.account, Fate::taken), count(imported.account, Fate::assumed),
        count(imported.account, Fate::left_out), count(imported.account, Fate::nothing),
        example(imported.config), to_toml(imported.config));
}

}  // namespace sluice::import

#include "tools/import/importing.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/config/schema/schema.hh"
#include "control/config/schema/schema_types.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/controls.hh"
#include "lib/values/class_mask.hh"
#include "tools/import/cumulus.hh"
#include "tools/import/eos.hh"
#include "tools/import/nxos.hh"
#include "tools/import/sonic.hh"

namespace sluice::import {
namespace {

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
    // yaml-cpp would replace such bytes.
    if (const std::size_t bad = invalid_utf8(text); bad != text.npos)
        return tl::unexpected(ReadError{place_at(text, bad), {}, "is not UTF-8 from here on", {}});
    if (syntax == Syntax::json) return read_json(text);
    if (syntax == Syntax::statements) return read_statements(text);
    return syntax == Syntax::commands ? read_commands(text) : read_yaml(text);
}

// A file with lines of two makers, or of one that cannot be read.
std::optional<ReadError> refusal_of(const Maker& maker) {
    if (!maker.other.empty())
        return ReadError{maker.other_place,
                         {},
                         fmt::format("{} is {}'s, and {} of line {} {}'s", in_quotes(maker.other_line),
                                     maker.other, in_quotes(maker.line), maker.place.line, maker.name),
                         "give one switch's configuration in a file, or say whose it is with --from"};
    if (maker.source) return std::nullopt;
    return ReadError{{1, 1},
                     {},
                     fmt::format("is a configuration of {}", maker.name),
                     maker.remedy.empty() ? fmt::format("give {}", readable_formats) : maker.remedy};
}

// People paste one maker's statements under the name of another.
void tell_maker(Importing& imported, const Maker& maker, std::string_view text) {
    std::string what =
        fmt::format("{}, by {} in line {}", maker.name, in_quotes(maker.line), maker.place.line);
    const bool is_eos = maker.source == Source::eos;
    for (const std::string_view other : {"Cisco Nexus", "Cisco", "Nexus", "NX-OS", "Arista", "EOS"}) {
        const bool is_own = is_eos == (other == "Arista" || other == "EOS");
        if (is_own || text.find(other) == text.npos) continue;
        what += fmt::format(", although the text says {}", other);
        break;
    }
    imported.account.assumed("syntax", what + "; --from says another");
}

}  // namespace

std::string key_of_port(std::string_view port, std::string_view key) {
    return fmt::format("port.{}.{}", port, key);
}

std::optional<std::uint64_t> Importing::number(const Item& node, std::uint64_t low, std::uint64_t high) {
    return read_number(account, node, static_cast<std::int64_t>(low), static_cast<std::int64_t>(high));
}

std::optional<std::uint64_t> Importing::take_number(const Item* node, std::uint64_t low, std::uint64_t high,
                                                    std::string what) {
    const auto value = node == nullptr ? std::nullopt : number(*node, low, high);
    if (value) account.taken(*node, std::move(what));
    return value;
}

std::optional<ClassId> Importing::class_of(const Item& node, std::string_view word, unsigned most) {
    const auto value = parse_integer(word);
    if (value && *value <= most) return static_cast<ClassId>(*value);
    account.wrong(node, in_quotes(word) + " is not a class from 0 to 7");
    return std::nullopt;
}

std::vector<ClassId> Importing::classes_of(const Item& node, std::string_view text, unsigned most) {
    unsigned named = 0;
    std::optional<unsigned> beyond;
    for (const std::string_view part : split(text, ',')) {
        const std::size_t dash = part.find('-');
        const auto first = class_of(node, trimmed(part.substr(0, dash)), most);
        const auto last = dash == part.npos ? first : class_of(node, trimmed(part.substr(dash + 1)), most);
        if (!first || !last) return {};
        if (*last < *first) {
            account.wrong(node, in_quotes(part) + " ends before it begins");
            return {};
        }
        for (unsigned n = *first; n <= *last; ++n) {
            if (n >= classes)
                beyond = n;
            else
                named |= 1U << n;
        }
    }
    if (beyond)
        account.nothing(node, fmt::format("{}: Sluice has eight queues and priority groups, 0 to 7",
                                          named == 0 ? "it is beyond" : fmt::format("up to {}", *beyond)));
    else if (named == 0)
        account.wrong(node, "names no class");
    std::vector<ClassId> list;
    for_each_class(named, [&](ClassId n) { list.push_back(n); });
    return list;
}

std::optional<IpPrefix> Importing::interface_address(const Item& node, std::string_view text) {
    auto prefix = parse_prefix(text);
    if (prefix) return *prefix;
    account.wrong(node, in_quotes(text) + " " + prefix.error().wrong, prefix.error().remedy);
    return std::nullopt;
}

bool Importing::check_name(const Item& node, std::string_view name) {
    if (schema::valid_name(name)) return true;
    account.wrong(node, in_quotes(name) + " cannot be a name: " + std::string(schema::name_rule));
    return false;
}

PortConfig* Importing::add_port(const Item& node, const std::string& name) {
    if (const auto known = config.ports.find(name); known != config.ports.end()) return &known->second;
    if (ports_left_out.contains(name)) return nullptr;
    if (config.ports.size() >= max_ports) {
        leave_out_port(node, name, fmt::format("more than {} ports: port {} is left out", max_ports, name));
        return nullptr;
    }
    PortConfig port;
    port.map = "default";
    notes[name].place = node.place;
    return &config.ports.emplace(name, std::move(port)).first->second;
}

PortNotes* Importing::notes_of(const PortConfig& port) {
    for (const auto& [name, each] : config.ports)
        if (&each == &port) return &notes[name];
    return nullptr;
}

void Importing::note(const PortConfig& port, Aspect aspect, const Item& item) {
    if (PortNotes* of_port = notes_of(port)) of_port->said[static_cast<std::size_t>(aspect)] = item.place;
}

void Importing::leave_out_port(const Item& node, const std::string& name, const std::string& why) {
    config.ports.erase(name);
    std::erase_if(config.events, [&](const EventConfig& event) {
        return event.command == fmt::format("port {} down", name);
    });
    ports_left_out.insert(name);
    account.left_out(node, why);
}

// Link speeds that there are, in Mb/s, and that Sluice has not.
constexpr std::array other_speeds{10U, 100U, 20'000U, 56'000U, 1'600'000U};

void Importing::set_speed(const Item& node, PortConfig& port, std::string_view name, std::uint64_t megabits) {
    const Rate rate{megabits * 1'000'000};
    if (rate.valid_port_speed()) {
        port.speed = rate;
        return account.taken(node, key_of_port(name, "speed") + fmt::format(" = \"{}\"", print_rate(rate)));
    }
    const std::string why = fmt::format(
        "{} Mb/s is not a speed of a port: Sluice has 1G, 2.5G, 5G, 10G, 25G, 40G, 50G, 100G, 200G, 400G and "
        "800G",
        megabits);
    if (std::find(other_speeds.begin(), other_speeds.end(), megabits) == other_speeds.end())
        return account.wrong(node, why);
    leave_out_port(node, std::string(name), fmt::format("{}; port {} is left out", why, name));
}

tl::expected<Importing, ReadError> import_text(const std::string& given, std::optional<Source> said,
                                               const Wishes& wishes) {
    if (given.size() > max_file_bytes)
        return tl::unexpected(
            ReadError{{}, {}, fmt::format("the file is larger than {} bytes", max_file_bytes), {}});
    const std::string text = without_terminal(given);
    const bool by_content = !said;
    Syntax syntax = said == Source::sonic ? Syntax::json : syntax_of(text);
    std::optional<Maker> maker;
    if (syntax == Syntax::yaml && by_content) maker = maker_of(text);
    if (maker)
        if (const auto refusal = refusal_of(*maker)) return tl::unexpected(*refusal);
    if (maker) said = maker->source;
    if (said == Source::eos || said == Source::nxos) syntax = Syntax::statements;
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
    if (maker) tell_maker(imported, *maker, text);
    if (imported.source == Source::sonic) {
        if (const auto error = shape_sonic(root)) return tl::unexpected(*error);
        import_sonic(root, imported);
    } else if (imported.source == Source::eos) {
        import_eos(root, imported);
    } else if (imported.source == Source::nxos) {
        import_nxos(root, imported);
    } else {
        shape_cumulus(root);
        import_cumulus(root, imported);
    }
    if (imported.config.ports.empty() && !imported.account.has(Fate::wrong))
        imported.account.wrong_alone(root, "has no ports", "give the whole of the switch's configuration");
    finish(imported);
    imported.account.close(root);
    imported.document = std::move(*document);
    return imported;
}

std::string to_file(const Importing& imported, std::string_view from) {
    const Account& account = imported.account;
    return fmt::format(
        "# Made by sluice-import from {} ({}): {} taken, {} assumed, {} left out, {} without a counterpart.\n"
        "# sluice-import says which.\n{}\n{}",
        without_controls(from), help_of(imported.source).name,
        print_count(account.count(Fate::taken), "line"), account.count(Fate::assumed),
        account.count(Fate::left_out), account.count(Fate::nothing), example(imported.config),
        to_toml(imported.config));
}

}  // namespace sluice::import

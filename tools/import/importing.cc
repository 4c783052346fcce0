#include "tools/import/importing.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/config/schema/schema_types.hh"
#include "control/config/schema/values.hh"
#include "tools/import/split.hh"

namespace sluice::import {
namespace {

// The word of a node; nothing, and told, when it is a map or a list.
std::optional<std::string_view> word_of(Account& account, const Item& node) {
    if (node.is_word()) return node.word;
    account.wrong(node, "must be a word or a number");
    return std::nullopt;
}

}  // namespace

std::string key_of_port(std::string_view port, std::string_view key) {
    return fmt::format("port.{}.{}", port, key);
}

std::optional<std::uint64_t> Importing::number(const Item& node, std::uint64_t low, std::uint64_t high) {
    const auto word = word_of(account, node);
    if (!word) return std::nullopt;
    const auto value = parse_integer(*word);
    if (value && *value >= low && *value <= high) return *value;
    account.wrong(node, in_quotes(*word) + " is no number from " + fmt::format("{} to {}", low, high));
    return std::nullopt;
}

std::optional<int> Importing::signed_number(const Item& node, int low, int high) {
    const auto word = word_of(account, node);
    if (!word) return std::nullopt;
    const bool negative = word->starts_with('-');
    const auto value = parse_integer(negative ? word->substr(1) : *word);
    constexpr std::uint64_t most = 1'000'000;
    if (value && *value <= most) {
        const int number = negative ? -static_cast<int>(*value) : static_cast<int>(*value);
        if (number >= low && number <= high) return number;
    }
    account.wrong(node, in_quotes(*word) + " is no number from " + fmt::format("{} to {}", low, high));
    return std::nullopt;
}

std::optional<ClassId> Importing::class_of(const Item& node, std::string_view word) {
    const auto value = parse_integer(word);
    if (value && *value < classes) return static_cast<ClassId>(*value);
    account.wrong(node, in_quotes(word) + " is no class from 0 to 7");
    return std::nullopt;
}

std::vector<ClassId> Importing::classes_of(const Item& node, std::string_view text, unsigned most) {
    std::vector<ClassId> list;
    unsigned seen = 0;
    std::optional<unsigned> beyond;
    const auto number_of = [&](std::string_view word) -> std::optional<unsigned> {
        const auto value = parse_integer(word);
        if (value && *value <= most) return static_cast<unsigned>(*value);
        account.wrong(node, in_quotes(word) + " is no class from 0 to 7");
        return std::nullopt;
    };
    for (const std::string_view part : split(text, ',')) {
        const std::size_t dash = part.find('-');
        const auto first = number_of(trimmed(part.substr(0, dash)));
        const auto last = dash == part.npos ? first : number_of(trimmed(part.substr(dash + 1)));
        if (!first || !last) return {};
        if (*last < *first) {
            account.wrong(node, in_quotes(part) + " ends before it begins");
            return {};
        }
        for (unsigned n = *first; n <= *last; ++n) {
            if (n >= classes)
                beyond = n;
            else if ((seen >> n & 1U) == 0)
                list.push_back(static_cast<ClassId>(n));
            if (n < classes) seen |= 1U << n;
        }
    }
    if (beyond)
        account.nothing(node, fmt::format("{}: Sluice has eight queues and priority groups, 0 to 7",
                                          list.empty() ? "it is beyond" : fmt::format("up to {}", *beyond)));
    else if (list.empty())
        account.wrong(node, "names no class");
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
    return &config.ports.emplace(name, std::move(port)).first->second;
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
        "{} Mb/s is no speed of a port: Sluice has 1G, 2.5G, 5G, 10G, 25G, 40G, 50G, 100G, 200G, 400G and "
        "800G",
        megabits);
    if (std::find(other_speeds.begin(), other_speeds.end(), megabits) == other_speeds.end())
        return account.wrong(node, why);
    leave_out_port(node, std::string(name), fmt::format("{}; port {} is left out", why, name));
}

}  // namespace sluice::import

#include "tools/import/cumulus.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "control/config/schema/values.hh"
#include "tools/import/document.hh"

namespace sluice::import {
namespace {

constexpr std::uint64_t megabyte = 1'000'000;
constexpr std::uint64_t smallest_buffer = 16 * megabyte;

// Packet memory of the chips that run Cumulus Linux, by the number that a model's name begins with.
struct Chip {
    std::string_view models;  // a letter of the name's digits each
    std::string_view name;
    std::uint64_t bytes;
};
constexpr std::array chips{
    Chip{"2", "Spectrum", 16 * megabyte},
    Chip{"3", "Spectrum-2", 42 * megabyte},
    Chip{"4", "Spectrum-3", 64 * megabyte},
    Chip{"5", "Spectrum-4", 160 * megabyte},
};

std::uint64_t buffer_of(Importing& out, const Item* header) {
    if (out.wishes.buffer_bytes) return *out.wishes.buffer_bytes;
    const Item* model = Cumulus::at(header, {"model"});
    if (model != nullptr && model->is_word()) {
        const std::size_t digit = model->word.find_first_of("0123456789");
        for (const Chip& chip : chips)
            if (digit != std::string::npos && chip.models.front() == model->word[digit]) {
                out.account.assumed(*model, fmt::format("{}, a {}: {} of buffer", in_quotes(model->word),
                                                        chip.name, print_size(chip.bytes)));
                return chip.bytes;
            }
    }
    out.account.assumed("buffer", fmt::format("{}: the file does not say the model; --buffer says another",
                                              print_size(smallest_buffer)));
    return smallest_buffer;
}

// A number at the end of `text`, or of its range: "4" of "swp1-4".
std::optional<unsigned> number(std::string_view text) {
    const auto value = parse_integer(text);
    if (!value || *value > 1024) return std::nullopt;
    return static_cast<unsigned>(*value);
}

void add_range(std::string_view part, std::vector<std::string>& ports) {
    const std::size_t dash = part.find('-');
    std::string_view first = part.substr(0, dash);
    const std::size_t stem = first.find_last_not_of("0123456789") + 1;
    const auto low = number(first.substr(stem));
    auto high = dash == part.npos ? low : number(part.substr(dash + 1));
    if (!low || !high) return;
    high = std::min(*high, *low + max_ports);
    for (unsigned n = *low; n <= *high; ++n) ports.push_back(fmt::format("{}{}", first.substr(0, stem), n));
}

}  // namespace

const Item* Cumulus::at(const Item* from, std::initializer_list<std::string_view> path) {
    for (const std::string_view name : path) {
        if (from == nullptr) return nullptr;
        from = from->find(name);
    }
    return from;
}

std::string_view Cumulus::value(const Item* node) {
    if (node == nullptr) return {};
    if (node->is_word()) return node->word;
    const bool leaves = std::all_of(node->members.begin(), node->members.end(), [](const auto& member) {
        return member->members.empty() && !member->is_word();
    });
    if (!node->is_map() || node->members.empty() || !leaves) return {};
    return node->members.back()->name;  // the last command holds
}

bool Cumulus::is_on(const Item* node) {
    const std::string_view word = value(node);
    return word == "on" || word == "true" || word == "enable" || word == "enabled" || word == "yes";
}

std::vector<std::string> front_ports(std::string_view name) {
    std::vector<std::string> ports;
    for (const std::string_view part : split(name, ','))
        if (part.starts_with("swp") && ports.size() <= 2 * max_ports) add_range(part, ports);
    return ports;
}

void shape_cumulus(Item& root) {
    if (root.kind != Item::Kind::list) return;
    auto entries = std::exchange(root.members, {});
    root.kind = Item::Kind::map;
    for (auto& entry : entries)
        for (auto& member : std::exchange(entry->members, {})) {
            const auto set = root.index.find("set");
            if (member->name == "unset" && set != root.index.end()) take_away(*set->second, *member);
            if (!entry->is_map() || member->name == "unset") continue;
            member->parent = &root;
            if (member->repeated.line == 0)
                adopt(root, std::move(member));
            else
                root.members.push_back(std::move(member));
        }
}

void import_cumulus(const Item& root, Importing& out) {
    const Item* set = root.find("set");
    const Item* header = root.find("header");
    if (set == nullptr && (root.find("interface") != nullptr || root.find("qos") != nullptr)) set = &root;
    if (set == nullptr || !set->is_map()) {
        out.account.wrong(root, "has no `set` with interface or qos below",
                          fmt::format("give {}", readable_formats));
        return;
    }
    Cumulus in{set, out, buffer_of(out, header)};
    if (header != nullptr) {
        for (const auto& member : header->members)
            if (!member->accounted) out.account.nothing(*member, "of the file itself");
    }
    take_cumulus_interfaces(in);
    const Item* roce = Cumulus::at(set, {"qos", "roce"});
    const Item* state = Cumulus::at(roce, {"enable"});
    if (state == nullptr) state = Cumulus::at(roce, {"state"});
    const bool is_roce = roce != nullptr && (state == nullptr || Cumulus::is_on(state));
    if (is_roce)
        take_cumulus_roce(in);
    else
        take_cumulus_defaults(in);
    if (state != nullptr) out.account.taken(*state, is_roce ? "RoCE is on" : "RoCE is off");
    take_cumulus_profiles(in);
    take_cumulus_routes(in);
}

}  // namespace sluice::import

// Changes of values: set, unset, the modes of RoCE.
#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "control/config/schema/values.hh"
#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

// Those that may stand without dashes, and whether they have a value. No key begins one of them.
struct OptionWord {
    std::string_view name;
    bool has_value;
};
constexpr std::array option_words{OptionWord{"confirm", true}, OptionWord{"watch", true},
                                  OptionWord{"force", false}, OptionWord{"keep", false}};

// The one that a word is or begins; null: none.
const OptionWord* option_said(std::string_view word) {
    constexpr std::size_t shortest = 3;
    if (word.size() < shortest) return nullptr;
    for (const OptionWord& option : option_words)
        if (option.name.starts_with(word)) return &option;
    return nullptr;
}

}  // namespace

Json values_said(Arguments& arguments) {
    Json changes = Json::array();
    const Words& words = arguments.rest;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        const auto next = [&](const std::string& of, const char* what) -> const std::string& {
            if (i + 1 == words.size())
                throw Failure{exit_usage, of + ": " + what + " is missing; wanted: set KEY=VALUE..."};
            return words[++i];
        };
        if (const OptionWord* option = option_said(word)) {
            arguments.values[std::string(option->name)] = option->has_value ? next(word, "TIME") : word;
        } else if (const auto equals = word.find('='); equals != std::string::npos && equals != 0) {
            changes.push_back({{"path", word.substr(0, equals)}, {"value", word.substr(equals + 1)}});
        } else {
            if (i + 1 < words.size() && words[i + 1] == "=") ++i;
            changes.push_back({{"path", word}, {"value", next(word, "VALUE")}});
        }
    }
    return changes;
}

std::optional<std::string> key_before(std::span<const std::string> words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        const bool dashes = word.starts_with("--");
        if (const OptionWord* option = option_said(dashes ? word.substr(2) : word); option || dashes) {
            i += option != nullptr && option->has_value;
            continue;
        }
        const auto equals = word.find('=');
        if (equals != std::string::npos && equals + 1 < word.size()) continue;
        const std::string key = word.substr(0, equals);
        if (equals == std::string::npos && i + 1 < words.size() && words[i + 1] == "=") ++i;
        if (i + 1 == words.size()) return key;
        if (equals == std::string::npos)
            ++i;  // its value
        else if (++i == words.size())
            return key;
    }
    return std::nullopt;
}

namespace {

Answer set(Context& context, const Arguments& said) {
    Arguments arguments = said;
    Json changes = values_said(arguments);
    if (changes.empty()) throw Failure{exit_usage, "KEY=VALUE is missing; wanted: set KEY=VALUE..."};
    if (arguments.has("watch")) return try_changes(context, changes, arguments);
    if (arguments.has("keep"))
        throw Failure{exit_usage, "keep belongs to watch; do: set --watch 10s ... --keep"};
    return applied(context.call("config.change", with_options({{"changes", std::move(changes)}}, arguments)));
}

Answer unset(Context& context, const Arguments& arguments) {
    Json changes = Json::array();
    for (const std::string& key : arguments.rest) changes.push_back({{"path", key}});
    return applied(context.call("config.change", with_options({{"changes", std::move(changes)}}, arguments)));
}

// As `nv set qos roce mode` of Cumulus Linux and `roce` of Onyx have them.
Answer roce(Context& context, const Arguments& arguments) {
    const std::string mode = arguments.value("lossless|semi-lossless|lossy");
    const Json changes = Json::array({{{"path", "default.qos"}, {"value", mode}}});
    Answer answer = applied(context.call("config.change", with_options({{"changes", changes}}, arguments)));
    const Json qos = context.call("qos.show");
    std::string others;
    for (const auto& [name, port] : qos["ports"].items())
        if (port["preset"] != mode)
            append_item(others, ", ", fmt::format("{} ({})", name, word_text(port["preset"])));
    if (!others.empty())
        answer.text += fmt::format("ports that say otherwise: {}; do: unset port.NAME.qos\n", others);
    return answer;
}

}  // namespace

std::span<const Command> set_commands() {
    static constexpr std::array table{
        Command{"set KEY=VALUE... [confirm TIME] [force] [watch TIME] [keep]",
                "changes values, all of them or none: set wred.mine.green_min=20KB "
                "wred.mine.green_max=40KB; KEY VALUE says the same; with watch rates of as long a window "
                "before and behind it, and back again unless keep",
                set},
        Command{"unset KEY... [confirm TIME] [force]",
                "back to the default: a key, or a section with all of its keys: unset port.h1.queue.3",
                unset},
        Command{"qos roce lossless|semi-lossless|lossy [confirm TIME] [force]",
                "RoCE on every port that does not say otherwise; marked by ECN in each mode. lossless: PFC "
                "is sent and obeyed; semi-lossless: obeyed, not sent; lossy: neither",
                roce},
    };
    return table;
}

}  // namespace sluice::ctl

#include "tools/sluicectl/complete.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/config/schema/values.hh"
#include "control/config/text/man_page.hh"
#include "control/config/text/wrapped.hh"

namespace sluice::ctl {
namespace {

constexpr std::string_view synopsis =
    "sluicectl [--socket PATH] [--wait TIME] [--json] [--watch [TIME]] [--count N] OBJECT VERB ...";
constexpr std::string_view shortening =
    "Words may be shortened as long as they mean one thing. Without words: a shell on a terminal, else "
    "commands\nfrom the input, a line each.";

std::string usage() {
    OptionsSaid said;
    return fmt::format("usage: {}\n\n{}\n{}\n\n", synopsis, option_lines(options_of(said)), shortening);
}

constexpr std::string_view exit_codes = R"(
exit status: 0 done, 1 refused, 2 usage or configuration, 3 no switch, 4 condition false or out of time,
5 not permitted
)";

// Each program lists its own words each time, so the script is never out of date.
constexpr std::string_view bash_script =
    R"bash(# bash completion of Sluice's programs: source <(sluicectl completion bash)
_sluice() {
    local IFS=$'\n' word="${COMP_WORDS[COMP_CWORD]}" given=("${COMP_WORDS[@]:1:COMP_CWORD-1}")
    if [[ $word == = ]]; then given+=("$word") word=; fi
    COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" --complete "${given[@]}" "$word" 2>/dev/null)" \
        -- "$word"))
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *. ]]; then compopt -o nospace 2>/dev/null; fi
    if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "$word"; fi
}
complete -o default -F _sluice sluicectl sluiced sluice-traffic sluice-fabric sluice-import sluice-peer
)bash";

Answer help(Context&, const Arguments& arguments) {
    std::string text = help_text(arguments.value("OBJECT"));
    return {text, text};
}

std::string man_page() {
    ManPage page("sluicectl", '1', "look at a running switch and change it", SLUICE_VERSION);
    page.heading("SYNOPSIS").lines(synopsis);
    page.heading("DESCRIPTION")
        .paragraph(
            "sluicectl speaks to a switch over its control socket, sluiced(8) or one of sluice-fabric(1).")
        .paragraph(shortening);
    OptionsSaid said;
    add_options(page.heading("OPTIONS"), options_of(said));
    page.heading("COMMANDS");
    for (const Task& task : tasks()) {
        page.paragraph(fmt::format("{}: sluicectl {}", task.title, task.example));
        if (!task.note.empty()) page.paragraph(task.note);
        for (const Command& command : task.commands) page.entry(command.pattern, "", command.sentence);
    }
    page.heading("EXIT STATUS").paragraph(exit_codes.substr(exit_codes.find(':') + 2));
    page.heading("ENVIRONMENT").entry("SLUICE_SOCKET", "", "the control socket, where --socket names none");
    page.heading("EXAMPLE").lines(
        "sluicectl port show\n"
        "sluicectl --socket /run/sluice/lab.sock wait port p0 up --timeout 5s\n"
        "sluicectl --json stats show verdict");
    page.heading("SEE ALSO").paragraph("sluiced(8), sluice.toml(5)");
    return page.text();
}

Answer man(Context&, const Arguments&) { return {man_page(), man_page()}; }

Answer completion(Context&, const Arguments&) { return {std::string(bash_script), std::string(bash_script)}; }

std::string_view object_of(std::string_view pattern) { return pattern.substr(0, pattern.find(' ')); }

Words objects() {
    Words words;
    for (const Command& command : commands())
        if (const auto object = std::string(object_of(command.pattern));
            std::find(words.begin(), words.end(), object) == words.end())
            words.push_back(object);
    return words;
}

// The candidates for a place behind `words`.
Words names_for(Context& context, std::span<const std::string> words, const std::string& place,
                std::string_view partial) {
    Words names;
    const auto add = [&](const Json& list, const char* member) {
        for (const Json& one : list)
            names.push_back(member == nullptr ? one.get<std::string>() : one[member].get<std::string>());
    };
    const auto add_keys = [&](const Json& part) {
        for (const auto& [key, value] : part.items()) names.push_back(key);
    };
    if (place == "PORT" || place == "QUEUE" || place == "GROUP") add(context.call("hello")["ports"], nullptr);
    if (place == "QUEUE" || place == "GROUP") {
        const Words ports = std::exchange(names, {});
        for (const std::string& port : ports)
            for (unsigned n = 0; n < 8; ++n) names.push_back(fmt::format("{}.{}", port, n));
    }
    if (place == "KEY") names = key_candidates(context, partial);
    if (place == "KEY=VALUE") names = assignment_candidates(context, words.subspan(1), partial);
    for (const auto& [of, part] : {std::pair{"PLACE", "ports"},
                                   {"PLACE", "hosts"},
                                   {"HOST", "hosts"},
                                   {"FLOW", "flows"},
                                   {"WIRE", "wires"},
                                   {"PATH", ""}})
        if (place == of) add_keys(context.stats(part));
    if (place == "RULE")
        for (const Json& wire : context.stats("wires")) add_keys(wire["rules"]);
    if (place == "PREFIX") add(context.call("route.list"), "prefix");
    if (place == "ADDRESS") add(context.call("neighbor.list"), "address");
    if (place == "HOPS") names = {"via", "weight", "nexthop", "dev", "blackhole", "balance"};
    if (place == "CONDITION") names = {"port", "queue", "group", "pool", "ledger", "stats"};
    if (place == "OBJECT") names = objects();
    return names;
}

}  // namespace

std::vector<Option> options_of(OptionsSaid& said) {
    return {
        {"socket", "PATH", "the switch's control socket; else $SLUICE_SOCKET, else /run/sluice/sluice.sock",
         keep(said.options.socket)},
        {"wait", "TIME",
         "so long for a switch that only starts; default: 2s where the socket's folder is there",
         [&said](const std::string& text) {
             return text == "0" ? (said.wait = Duration{}, std::string()) : keep(parse_time, said.wait)(text);
         }},
        {"json", "", "the result of the method as JSON", keep(said.options.json)},
        {"watch", "[TIME]", "again and again, every second or TIME",
         [&every = said.repeat.every](const std::string& text) {
             return text == "0" ? (every = Duration{}, std::string())
                                : keep(parse_time, every)(text.empty() ? "1s" : text);
         }},
        {"count", "N", "no more often than that",
         [&count = said.repeat.count](const std::string& text) {
             const auto number = parse_integer(text);
             const bool is_good = number && *number != 0;
             if (is_good) count = *number;
             return is_good ? std::string() : std::string("is not a number of looks; allowed: 1 and more");
         }},
        {"version", "", "the version of this tool; `sluicectl version` asks the switch, too",
         keep(said.version)},
        {"help", "", "this text", keep(said.help), {}, {}, 'h'},
    };
}

std::span<const Command> help_commands() {
    static constexpr std::array table{
        Command{"completion bash", "prints a script: source <(sluicectl completion bash)", completion},
        Command{"man", "prints the man page: sluicectl man | man -l -", man},
        Command{"help [OBJECT]", "this text, or an object's part of it", help},
    };
    return table;
}

std::string help_text(std::string_view object) {
    const std::string wanted = object.empty() ? "" : resolve_word(object, objects(), "object");
    std::string text = wanted.empty() ? usage() : "";
    constexpr std::size_t column = 40, width = 110;
    for (const Task& task : tasks()) {
        if (wanted.empty()) text += fmt::format("{}\n    $ sluicectl {}\n", task.title, task.example);
        for (const Command& command : task.commands) {
            if (!wanted.empty() && object_of(command.pattern) != wanted) continue;
            const std::string sentence = wrapped(command.sentence, 2 + column, width);
            if (command.pattern.size() + 1 < column)
                text += fmt::format("  {:<{}}{}\n", command.pattern, column, sentence);
            else
                text += fmt::format("  {}\n  {:<{}}{}\n", command.pattern, "", column, sentence);
        }
        if (wanted.empty() && !task.note.empty())
            text += fmt::format("    {}\n", wrapped(task.note, 4, width));
        if (wanted.empty()) text += "\n";
    }
    return wanted.empty() ? text + std::string(exit_codes.substr(1)) : text;
}

std::string what_may_follow(std::span<const std::string> words) {
    if (words.empty()) return help_text("");
    const Grammar::Next next = grammar().next(words);
    std::string text;
    for (const Words& list : {next.words, next.places})
        for (const std::string& word : list) append_item(text, ", ", word);
    return fmt::format("{}: {}\n{}", joined(words, " "), text.empty() ? "nothing more" : text,
                       help_text(words[0]));
}

Words complete(Context& context, std::span<const std::string> words, std::string_view partial) {
    Words found;
    try {
        Grammar::Next next = grammar().next(words);
        found = std::move(next.words);
        for (const std::string& place : next.places) {
            Words names = names_for(context, words, place, partial);
            found.insert(found.end(), names.begin(), names.end());
        }
    } catch (const Failure&) {  // nothing can be said of it
    }
    std::erase_if(found, [&](const std::string& word) { return !word.starts_with(partial); });
    return found;
}

}  // namespace sluice::ctl

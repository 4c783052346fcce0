#include "tools/sluicectl/complete.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/config/values.hh"

namespace sluice::ctl {
namespace {

constexpr std::string_view usage =
    R"(usage: sluicectl [--socket PATH] [--json] [--watch [TIME]] [--count N] OBJECT VERB ...

  --socket PATH   the switch's control socket; else $SLUICE_SOCKET, else /run/sluice/sluice.sock
  --json          the result of the method as JSON
  --watch [TIME]  again and again, every second or TIME
  --count N       no more often than that

Words may be shortened as long as they mean one thing. Without words: a shell on a terminal, else commands
from the input, a line each.

)";

constexpr std::string_view exit_codes = R"(
exit status: 0 done, 1 refused, 2 usage or configuration, 3 no switch, 4 condition false or out of time,
5 not permitted
)";

// Words come from this program each time, so that the script never ages.
constexpr std::string_view bash_script =
    R"bash(# bash completion of sluicectl: source <(sluicectl completion bash)
_sluicectl() {
    local IFS=$'\n' word="${COMP_WORDS[COMP_CWORD]}"
    COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$word" 2>/dev/null)" \
        -- "$word"))
    if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "$word"; fi
}
complete -o default -F _sluicectl sluicectl
)bash";

Answer help(Context&, const Said& said) {
    std::string text = help_text(said.value("OBJECT"));
    return {text, text};
}

// Lines of the usage that begin with an option, then a line for each command.
std::string man_page() {
    std::string out = ".TH SLUICECTL 1 \"\" \"sluice " SLUICE_VERSION
                      "\"\n.SH NAME\nsluicectl \\- looks at a running switch and changes it\n"
                      ".SH DESCRIPTION\n.nf\n" +
                      troff(usage) + ".fi\n.SH COMMANDS\n";
    for (const Command& command : commands())
        out += fmt::format(".TP\n.B {}\n{}\n", troff(command.pattern), troff(command.sentence));
    return out + ".SH EXIT STATUS\n" + troff(exit_codes.substr(1));
}

Answer man(Context&, const Said&) { return {man_page(), man_page()}; }

Answer completion(Context&, const Said&) { return {std::string(bash_script), std::string(bash_script)}; }

std::string_view object_of(std::string_view pattern) { return pattern.substr(0, pattern.find(' ')); }

Words objects() {
    Words words;
    for (const Command& command : commands())
        if (const auto object = std::string(object_of(command.pattern));
            std::find(words.begin(), words.end(), object) == words.end())
            words.push_back(object);
    return words;
}

// What may stand for a place.
Words names_for(Context& context, const std::string& place) {
    Words names;
    const auto add = [&](const Json& list, const char* member) {
        for (const Json& one : list)
            names.push_back(member == nullptr ? one.get<std::string>() : one[member].get<std::string>());
    };
    if (place == "PORT" || place == "QUEUE") add(context.call("hello")["ports"], nullptr);
    if (place == "QUEUE") {
        const Words ports = std::exchange(names, {});
        for (const std::string& port : ports)
            for (unsigned n = 0; n < 8; ++n) names.push_back(fmt::format("{}.{}", port, n));
    }
    if (place == "KEY") add(context.call("config.keys"), "path");
    if (place == "PREFIX") add(context.call("route.list"), "prefix");
    if (place == "ADDRESS") add(context.call("neighbor.list"), "address");
    if (place == "PATH") {
        const Json report = context.stats("");
        for (const auto& [key, value] : report.items()) names.push_back(key);
    }
    if (place == "HOPS") names = {"via", "weight", "nexthop", "dev", "blackhole"};
    if (place == "CONDITION") names = {"port", "queue", "group", "pool", "ledger", "stats"};
    if (place == "OBJECT") names = objects();
    return names;
}

}  // namespace

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
    std::string text = wanted.empty() ? std::string(usage) : "";
    constexpr std::size_t column = 40;
    for (const Command& command : commands()) {
        if (!wanted.empty() && object_of(command.pattern) != wanted) continue;
        if (command.pattern.size() < column)
            text += fmt::format("  {:<{}}{}\n", command.pattern, column, command.sentence);
        else
            text += fmt::format("  {}\n  {:<{}}{}\n", command.pattern, "", column, command.sentence);
    }
    return wanted.empty() ? text + std::string(exit_codes) : text;
}

Words complete(Context& context, std::span<const std::string> words, std::string_view partial) {
    Words found;
    try {
        Grammar::Next next = grammar().next(words);
        found = std::move(next.words);
        for (const std::string& place : next.places) {
            Words names = names_for(context, place);
            found.insert(found.end(), names.begin(), names.end());
        }
    } catch (const Failure&) {  // nothing can be said of it
    }
    std::erase_if(found, [&](const std::string& word) { return !word.starts_with(partial); });
    return found;
}

}  // namespace sluice::ctl

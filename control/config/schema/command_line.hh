// A program's command line as one table, from which parsing, help, man page and completion are made.
//
// Words are as getopt_long(3) takes them: --key VALUE or --key=VALUE, cut to any unambiguous beginning,
// before or behind the operands; -- ends the options. Every program has --help, --man, --version, and for
// bash
// --complete WORDS..., which prints completions of the last word.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <initializer_list>
#include <type_traits>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/config/text/man_page.hh"

namespace sluice {

struct Option {
    std::string_view name, value;  // "output", "FILE"; no value: a flag; "[TIME]": the next word, if it fits
    std::string_view help;
    std::function<std::string(const std::string&)> take{};  // keeps a value; what is wrong with it, or empty
    std::function<std::string()> print{};                   // what is printed instead of all else
    std::string_view needs{};                               // another option
    char letter = 0;                                        // -o
};

struct ProgramVerb {
    std::string_view name;  // empty: the program without a verb
    // Its operands, and the options that it takes: "DIR... [FILE] --out DIR [--jobs N]"; [OPTION...]: any.
    std::string_view synopsis;
    std::string_view help;
    std::function<int(const Words& operands)> run;  // the exit status
    std::vector<Option> options{};                  // its own; none: the program's
};

struct Program {
    std::string_view name;
    char section;
    std::string_view title, about;  // of the man page; `about` is in the help as well
    std::vector<ProgramVerb> verbs;
    std::vector<Option> options;  // shared by its verbs
    std::string_view exit_status;
    void (*sections)(ManPage& page);  // further ones of its man page
    std::string_view see_also;
    std::string version_more{};  // " (DPDK 22.11.4)"
};

struct CommandLine {
    const ProgramVerb* verb = nullptr;
    Words operands{};
    std::function<std::string()> print{};  // there: what is asked for instead of the verb's work
};
// An error is the whole line that names it.
tl::expected<CommandLine, std::string> parse(const Program& program, std::span<const std::string> words);
// Does what the words say. The exit status; 2: they are wrong, and stderr says why.
int run(const Program& program, int argc, char** argv);

std::string help_text(const Program& program);
std::string man_page(const Program& program);
Words completions(const Program& program, std::span<const std::string> words);

// For a program with a grammar of its own (sluicectl): returns the words that are not options, or what is
// wrong. Unless `strict`, an option must be whole, and an unknown one is a word. `said`: the options found.
tl::expected<Words, std::string> take_options(std::span<const Option> options,
                                              std::span<const std::string> words, bool strict,
                                              std::vector<const Option*>& said);
std::string option_lines(std::span<const Option> options);
void add_options(ManPage& page, std::span<const Option> options);

// Ways to take a value. The variable outlives the program.
inline auto keep(std::string& out) {
    return [&out](const std::string& text) { return out = text, std::string(); };
}
inline auto keep(Words& out) {
    return [&out](const std::string& text) { return out.push_back(text), std::string(); };
}
inline auto keep(bool& flag) {
    return [&flag](const std::string&) { return flag = true, std::string(); };
}
template <class Value, class Out>
auto keep(ParsedValue<Value> (*parse)(std::string_view), Out& out) {
    return [parse, &out](const std::string& text) {
        const auto value = parse(text);
        if (value) out = *value;
        return value ? std::string() : value.error().wrong;
    };
}
template <class Value, class Out>
auto keep_within(ParsedValue<Value> (*parse)(std::string_view), std::string (*print)(Value),
                 std::type_identity_t<Value> low, std::type_identity_t<Value> high, Out& out) {
    return [=, &out](const std::string& text) {
        const auto value = parse(text);
        if (!value) return value.error().wrong;
        if (*value < low || *value > high)
            return fmt::format("is not from {} to {}", print(low), print(high));
        out = static_cast<Out>(*value);
        return std::string();
    };
}
inline std::string print_integer(std::uint64_t number) { return std::to_string(number); }
template <class Out>
auto keep_number(std::uint64_t low, std::uint64_t high, Out& out) {
    return keep_within(parse_integer, print_integer, low, high, out);
}
// The speed of a port.
template <class Out>
auto keep_port_speed(Out& out) {
    return [&out](const std::string& text) {
        const auto rate = parse_rate(text);
        if (rate && !rate->valid_port_speed())
            return std::string("is not a speed of a port from 1G to 800G, such as 25G");
        return keep(parse_rate, out)(text);
    };
}
template <class Value, class Out>
auto keep_one_of(std::initializer_list<std::pair<std::string_view, Value>> known, Out& out) {
    return [words = std::vector(known), &out](const std::string& text) {
        std::string names;
        for (const auto& [name, value] : words) {
            if (name == text) return out = value, std::string();
            append_item(names, ", ", name);
        }
        return "is none of: " + names;
    };
}

}  // namespace sluice

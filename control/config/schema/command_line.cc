#include "control/config/schema/command_line.hh"

#include <algorithm>
#include <cctype>
#include <map>

#include "control/config/text/say.hh"
#include "control/config/text/wrapped.hh"

namespace sluice {
namespace {

constexpr std::size_t help_width = 110;

struct Synopsis {
    Words operands;                                    // "DIR...", "[FILE]"
    std::map<std::string, bool, std::less<>> options;  // whether each is needed
    bool takes_all = false;

    explicit Synopsis(std::string_view text) {
        const Words words = split_words(text);
        for (std::size_t n = 0; n < words.size(); ++n) {
            const std::string& word = words[n];
            const bool is_optional = word.starts_with('[');
            const std::size_t end = word.find(']');
            if (word == "[OPTION...]") {
                takes_all = true;
            } else if (word.compare(is_optional, 2, "--") != 0) {
                operands.push_back(word);
            } else {
                options.emplace(word.substr(is_optional + 2, end - is_optional - 2), !is_optional);
                n += end == word.npos;  // its value
            }
        }
    }
    bool takes(std::string_view option) const { return takes_all || options.contains(option); }
};

const ProgramVerb* find_verb(const Program& program, std::string_view name) {
    const auto found = std::ranges::find(program.verbs, name, &ProgramVerb::name);
    return found == program.verbs.end() ? nullptr : &*found;
}

// `sluiced page --help` shows a verb with options of its own alone.
bool is_on_its_own(const ProgramVerb* verb) {
    return verb != nullptr && !verb->name.empty() && !verb->options.empty();
}

std::string usage_lines(const Program& program, std::span<const ProgramVerb> verbs, std::string_view first,
                        std::size_t indent) {
    std::string text;
    for (const ProgramVerb& verb : verbs) {
        text += fmt::format("{:<{}}{}", text.empty() ? first : "", first.size(), program.name);
        for (const std::string_view part : {verb.name, verb.synopsis})
            if (!part.empty()) {
                text += ' ';
                for (const char c : part)
                    text += c == '\n' ? "\n" + std::string(indent, ' ') : std::string(1, c);
            }
        text += '\n';
    }
    return text;
}

std::string verb_help(const Program& program, const ProgramVerb& verb);

// With the options that every program has, or every verb.
std::vector<Option> options_of(const Program& program, const ProgramVerb* verb) {
    if (verb == nullptr) verb = &program.verbs.front();
    std::vector<Option> options = verb->options.empty() ? program.options : verb->options;
    if (is_on_its_own(verb)) {
        options.push_back({"help",
                           "",
                           "print this and end",
                           {},
                           [&program, verb] { return verb_help(program, *verb); },
                           {},
                           'h'});
        return options;
    }
    options.push_back(
        {"man", "", "print the man page in troff and end", {}, [&] { return man_page(program); }});
    options.push_back({"version", "", "print the version and end", {}, [&] {
                           return fmt::format("{} {}{}\n", program.name, SLUICE_VERSION,
                                              program.version_more);
                       }});
    options.push_back({"help", "", "print this and end", {}, [&] { return help_text(program); }, {}, 'h'});
    return options;
}

std::string verb_help(const Program& program, const ProgramVerb& verb) {
    return fmt::format("{}\n{}\n\n{}", usage_lines(program, {&verb, 1}, "usage: ", 8 + program.name.size()),
                       wrapped(verb.help, 0, help_width), option_lines(options_of(program, &verb)));
}

std::string with_value(const Option& option) {
    return fmt::format("--{}{}{}", option.name, option.value.empty() ? "" : " ", option.value);
}

// The one that a word says, up to '='; null: none, or several.
const Option* option_said(std::span<const Option> options, std::string_view word, bool strict) {
    if (word.size() < 2 || word[0] != '-') return nullptr;
    if (word[1] != '-') {
        const auto found = std::ranges::find(options, word[1], &Option::letter);
        return found == options.end() || (!strict && word.size() > 2) ? nullptr : &*found;
    }
    word = word.substr(2, strict ? word.find('=') - 2 : word.npos);
    const Option* begun = nullptr;
    unsigned count = 0;
    for (const Option& each : options) {
        if (each.name == word) return &each;
        if (each.name.starts_with(word)) begun = &each, ++count;
    }
    return strict && count == 1 ? begun : nullptr;
}

}  // namespace

tl::expected<Words, std::string> take_options(std::span<const Option> options,
                                              std::span<const std::string> words, bool strict,
                                              std::vector<const Option*>& said) {
    Words operands;
    for (std::size_t n = 0; n < words.size(); ++n) {
        const std::string& word = words[n];
        if (strict && word == "--") {
            operands.insert(operands.end(), words.begin() + static_cast<std::ptrdiff_t>(n) + 1, words.end());
            break;
        }
        const Option* option = option_said(options, word, strict);
        if (option == nullptr) {
            if (strict && word.size() > 1 && word[0] == '-')
                return tl::unexpected(in_quotes(word) + " is not an option");
            operands.push_back(word);
            continue;
        }
        said.push_back(option);
        const bool is_long = word[1] == '-';
        const std::size_t value_at = !is_long ? 2 : strict ? word.find('=') : word.npos;
        std::string value;
        if (value_at < word.size() && (is_long || word.size() > 2)) {
            if (option->value.empty())
                return tl::unexpected(fmt::format("--{} takes no value", option->name));
            value = word.substr(value_at + (is_long ? 1 : 0));
        } else if (option->value.starts_with('[')) {
            if (n + 1 < words.size() && option->take(words[n + 1]).empty()) {
                ++n;
                continue;
            }
        } else if (!option->value.empty()) {
            if (++n == words.size())
                return tl::unexpected(fmt::format("--{} wants a value: {}", option->name, option->value));
            value = words[n];
        }
        if (!option->take) continue;
        if (const std::string wrong = option->take(value); !wrong.empty())
            return tl::unexpected(fmt::format("--{} {} {}", option->name, in_quotes(value), wrong));
    }
    return operands;
}

tl::expected<CommandLine, std::string> parse(const Program& program, std::span<const std::string> words) {
    CommandLine line;
    std::string name(program.name);
    const auto refuse = [&](const std::string& why) {
        return tl::unexpected(fmt::format("{0}: {1}; see: {0} --help", name, why));
    };
    line.verb = find_verb(program, "");
    const bool has_verb = line.verb == nullptr;  // always
    if (const ProgramVerb* verb = has_verb || words.empty() ? nullptr : find_verb(program, words.front())) {
        line.verb = verb;
        words = words.subspan(1);
        name += " " + std::string(verb->name);
    }
    const std::vector<Option> options = options_of(program, line.verb);
    std::vector<const Option*> said;
    auto operands = take_options(options, words, true, said);
    if (!operands) return refuse(operands.error());
    for (const Option* each : said)
        if (each->print) return line.print = each->print, line;
    if (has_verb) {
        if (operands->empty()) return refuse("a command is missing");
        Words known;
        for (const ProgramVerb& verb : program.verbs) known.emplace_back(verb.name);
        const auto found = find_word(operands->front(), known, "command");
        if (!found) return refuse(found.error());
        line.verb = find_verb(program, *found);
        operands->erase(operands->begin());
    }
    const auto is_said = [&](std::string_view option) {
        return std::ranges::find(said, option, &Option::name) != said.end();
    };
    const Synopsis synopsis(line.verb->synopsis);
    for (const Option* each : said) {
        if (!synopsis.takes(each->name))
            return refuse(fmt::format("{} takes no --{}", line.verb->name, each->name));
        if (!each->needs.empty() && !is_said(each->needs))
            return refuse(fmt::format("--{} needs --{}", each->name, each->needs));
    }
    for (const auto& [option, is_needed] : synopsis.options)
        if (is_needed && !is_said(option)) return refuse(fmt::format("--{} is missing", option));
    const Words& wanted = synopsis.operands;
    const bool takes_more = !wanted.empty() && wanted.back().ends_with("...");
    if (operands->size() > wanted.size() && !takes_more)
        return refuse("unexpected argument " + in_quotes((*operands)[wanted.size()]));
    if (operands->size() < wanted.size() && !wanted[operands->size()].starts_with('['))
        return refuse(wanted[operands->size()] + " is missing");
    line.operands = std::move(*operands);
    return line;
}

int run(const Program& program, int argc, char** argv) {
    constexpr int exit_done = 0, exit_usage = 2;  // of every program
    const Words words(argv + std::min(argc, 1), argv + argc);
    if (!words.empty() && words[0] == "--complete") {
        for (const std::string& each : completions(program, std::span(words).subspan(1))) say("{}\n", each);
        return exit_done;
    }
    const auto line = parse(program, words);
    if (!line) return complain("{}\n", line.error()), exit_usage;
    if (line->print) return say("{}", line->print()), exit_done;
    return line->verb->run(line->operands);
}

std::string option_lines(std::span<const Option> options) {
    std::size_t widest = 0;
    for (const Option& each : options) widest = std::max(widest, with_value(each).size());
    std::string text;
    for (const Option& each : options)
        text += fmt::format("  {:<{}}  {}\n", with_value(each), widest,
                            wrapped(each.help, widest + 4, help_width));
    return text;
}

void add_options(ManPage& page, std::span<const Option> options) {
    for (const Option& each : options) page.entry("--" + std::string(each.name), each.value, each.help);
}

std::string help_text(const Program& program) {
    std::string text = usage_lines(program, program.verbs, "usage: ", 8 + program.name.size());
    text += fmt::format("\n{}\n\n", wrapped(program.about, 0, help_width));
    std::size_t widest = 0;
    for (const ProgramVerb& verb : program.verbs) widest = std::max(widest, verb.name.size());
    for (const ProgramVerb& verb : program.verbs)
        if (!verb.name.empty())
            text +=
                fmt::format("  {:<{}}  {}\n", verb.name, widest, wrapped(verb.help, widest + 4, help_width));
    if (widest != 0) text += '\n';
    return text + fmt::format("{}\nexit status: {}\n", option_lines(options_of(program, nullptr)),
                              wrapped(program.exit_status, 13, help_width));
}

std::string man_page(const Program& program) {
    ManPage page(program.name, program.section, program.title, SLUICE_VERSION);
    page.heading("SYNOPSIS").lines(usage_lines(program, program.verbs, "", 8));
    page.heading("DESCRIPTION").paragraph(program.about);
    if (!program.verbs.front().name.empty()) {
        page.heading("COMMANDS");
        for (const ProgramVerb& verb : program.verbs)
            page.entry(verb.name, joined(Synopsis(verb.synopsis).operands, " "), verb.help);
    }
    add_options(page.heading("OPTIONS"), options_of(program, nullptr));
    for (const ProgramVerb& verb : program.verbs) {
        if (!is_on_its_own(&verb)) continue;
        std::string title(verb.name);
        std::ranges::transform(title, title.begin(), [](unsigned char c) { return std::toupper(c); });
        add_options(page.heading(title).paragraph(verb.help), verb.options);
    }
    page.heading("EXIT STATUS").paragraph(program.exit_status);
    if (program.sections != nullptr) program.sections(page);
    page.heading("SEE ALSO").paragraph(program.see_also);
    return page.text();
}

Words completions(const Program& program, std::span<const std::string> words) {
    const std::string begun = words.empty() ? std::string() : words.back();
    const ProgramVerb* verb = words.size() > 1 ? find_verb(program, words.front()) : nullptr;
    Words found;
    if (begun.starts_with('-')) {
        const Synopsis synopsis(verb == nullptr ? "[OPTION...]" : verb->synopsis);
        for (const Option& each : options_of(program, verb))
            if (each.print || synopsis.takes(each.name)) found.push_back("--" + std::string(each.name));
    } else if (words.size() < 2) {
        for (const ProgramVerb& each : program.verbs)
            if (!each.name.empty()) found.emplace_back(each.name);
    }
    std::erase_if(found, [&](const std::string& word) { return !word.starts_with(begun); });
    return found;
}

}  // namespace sluice

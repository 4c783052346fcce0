// sluicectl: looks at a running switch and changes it, over its control socket.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>

#include "control/config/schema/values.hh"
#include "control/config/text/say.hh"
#include "control/serve/server/program.hh"
#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/complete.hh"
#include "tools/sluicectl/failure.hh"
#include "tools/sluicectl/grammar.hh"
#include "tools/sluicectl/shell.hh"

namespace sluice::ctl {
namespace {

void print_answer(const Answer& answer, bool as_json, bool one_line) {
    if (!as_json)
        say("{}", answer.text);
    else if (!answer.json.is_null())
        say("{}\n", json_text(answer.json, one_line ? -1 : 2));
    std::fflush(stdout);
    for (const std::string& note : answer.notes) complain("sluicectl: {}\n", note);
}

// Again and again until it fails, has been said often enough, or Ctrl-C ends it, which is its usual end.
int run_repeatedly(Context& context, const Command& command, const Arguments& arguments,
                   const Repeat& repeat) {
    catch_interrupts();
    const bool as_json = context.is_json();
    context.set_watching(true);
    try {
        for (std::uint64_t n = 1;; ++n) {
            const Answer answer = command.run(context, arguments);
            if (!as_json && isatty(STDOUT_FILENO) == 1) say("\033[H\033[2J");
            print_answer(answer, as_json, true);
            if (answer.status != exit_done || (repeat.count && n >= *repeat.count)) return answer.status;
            pause_for(std::chrono::nanoseconds(repeat.every->ps / 1000));
        }
    } catch (const Interrupted&) {
        return exit_done;
    }
}

// True when --watch or --count of this program is a value of the command's own: of its window, its looks.
bool takes(const Command& command, std::string_view key) {
    return command.pattern.find(fmt::format("[{} ", key)) != std::string_view::npos;
}

// Translates the words of another switch.
Arguments matched(const Words& words) {
    try {
        return grammar().match(words);
    } catch (const Failure&) {
        const std::string ours = our_words(words);
        if (ours.empty()) throw;
        throw Failure{exit_usage,
                      sluice::in_quotes(joined(words, " ")) + " is unknown; did you mean: " + ours};
    }
}

int run_command(Context& context, const Words& words, const Repeat& repeat) {
    try {
        if (!words.empty() && words.back() == "?") {
            say("{}", what_may_follow(std::span(words).first(words.size() - 1)));
            return exit_done;
        }
        Arguments arguments = matched(words);
        const Command& command = commands()[arguments.command];
        context.set_watching(false);
        if (repeat.count && takes(command, "count"))
            arguments.values["count"] = std::to_string(*repeat.count);
        if (repeat.every && (takes(command, "watch") || takes(command, "every")))
            arguments.values[takes(command, "watch") ? "watch" : "every"] = print_time(*repeat.every);
        else if (repeat.every)
            return run_repeatedly(context, command, arguments, repeat);
        const Answer answer = command.run(context, arguments);
        print_answer(answer, context.is_json(), false);
        return answer.status;
    } catch (const nlohmann::json::exception& error) {
        throw Failure{exit_refused, "the switch speaks another version of the API: " +
                                        std::string(sluice::without_tag(error.what()))};
    }
}

// Takes the options off; the rest are words.
Words take_options(const Words& arguments, OptionsSaid& said) {
    std::vector<const Option*> found;
    auto words = sluice::take_options(options_of(said), arguments, false, found);
    if (!words) throw Failure{exit_usage, std::move(words.error())};
    if (said.repeat.every && said.repeat.every->ps <= 0)
        throw Failure{exit_usage, "--watch \"0\": it is no time between two looks; do: write --watch 1s"};
    if (said.help) words->insert(words->begin(), "help");
    std::error_code error;
    const auto folder = std::filesystem::path(said.options.socket).parent_path();
    const bool has_folder = std::filesystem::is_directory(folder.empty() ? "." : folder, error);
    const Duration wait = said.wait.value_or(has_folder ? seconds(2) : Duration{});
    said.options.wait = std::chrono::nanoseconds(wait.ps / 1000);
    return std::move(*words);
}

// A line of a shell, which may have options of its own.
int run_line(Context& context, const Words& arguments) {
    OptionsSaid said{context.options()};
    const Words words = take_options(arguments, said);
    if (said.options.socket != context.options().socket)
        throw Failure{exit_usage, "a shell stays with its switch; do: call sluicectl with --socket"};
    context.set_json(said.options.json);
    return run_command(context, words, said.repeat);
}

std::string default_socket() {
    const char* named = std::getenv("SLUICE_SOCKET");
    return named != nullptr && *named != '\0' ? named : "/run/sluice/sluice.sock";
}

// For the shell's completion: all arguments but the last are there, the last is begun.
int print_candidates(const Words& arguments) {
    OptionsSaid said{{default_socket(), false}};
    Words words(arguments.begin() + 1, arguments.end());
    const std::string partial = words.empty() ? "" : words.back();
    if (!words.empty()) words.pop_back();
    words = take_options(words, said);
    said.options.wait = {};
    Context context(said.options);
    for (const std::string& word : complete(context, words, partial)) say("{}\n", word);
    return exit_done;
}

int run_main(const Words& arguments) {
    try {
        if (!arguments.empty() && arguments[0] == "--complete") return print_candidates(arguments);
        OptionsSaid said{{default_socket(), false}};
        const Words words = take_options(arguments, said);
        if (said.version) return say("sluicectl {}\n", SLUICE_VERSION), exit_done;
        Context context(said.options);
        context.is_shell = words.empty();
        if (words.empty()) return run_shell(context, run_line);
        return run_command(context, words, said.repeat);
    } catch (const Failure& failure) {
        complain("sluicectl: {}\n", failure.message);
        return failure.status;
    }
}

}  // namespace
}  // namespace sluice::ctl

int main(int argc, char** argv) {
    using namespace sluice;
    return run_program("sluicectl", ctl::exit_refused, [&] {
        return ctl::run_main({argv + 1, argv + argc});
    });
}

#include "tools/sluicectl/shell.hh"

#include <editline/readline.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iostream>

#include "tools/sluicectl/complete.hh"

namespace sluice::ctl {
namespace {

// editline's callbacks carry no pointer of ours.
Context* shell_context = nullptr;
Words shell_candidates;

char* next_candidate(const char*, int state) {
    const auto index = static_cast<std::size_t>(state);
    return index < shell_candidates.size() ? strdup(shell_candidates[index].c_str()) : nullptr;
}

char** candidates(const char* text, int start, int) {
    rl_attempted_completion_over = 1;  // no names of files
    Words words;
    try {
        words = words_of(std::string_view(rl_line_buffer, static_cast<std::size_t>(start)));
    } catch (const Failure&) {
        return nullptr;
    }
    shell_candidates = complete(*shell_context, words, text);
    return shell_candidates.empty() ? nullptr : rl_completion_matches(text, next_candidate);
}

// False at the end of the input.
bool read_from_terminal(std::string& line) {
    char* said = readline("sluice> ");
    if (said == nullptr) return false;
    line = said;
    if (!line.empty()) add_history(said);
    std::free(said);
    return true;
}

bool is_end(const Words& words) { return words[0] == "exit" || words[0] == "quit"; }

}  // namespace

Words words_of(std::string_view line) {
    Words words;
    bool in_word = false;
    bool in_quotes = false;
    for (const char c : line) {
        const bool blank = c == ' ' || c == '\t' || c == '\r';
        if (c == '#' && !in_word) break;
        if (blank && !in_quotes) {
            in_word = false;
            continue;
        }
        if (!in_word) words.emplace_back();
        in_word = true;
        if (c == '"')
            in_quotes = !in_quotes;
        else
            words.back() += c;
    }
    if (in_quotes) throw Failure{exit_usage, "a quote is not closed"};
    return words;
}

int run_shell(Context& context, RunLine run) {
    const bool terminal = isatty(STDIN_FILENO) == 1;
    if (terminal) {
        shell_context = &context;
        using_history();
        rl_attempted_completion_function = candidates;
    }
    int status = exit_done;
    std::string line;
    for (unsigned number = 1; terminal ? read_from_terminal(line) : bool(std::getline(std::cin, line));
         ++number) {
        try {
            const Words words = words_of(line);
            if (words.empty()) continue;
            if (is_end(words)) break;
            status = run(context, words);
        } catch (const Failure& failure) {
            fmt::print(stderr, "{}\n", failure.message);
            status = failure.status;
        }
        if (terminal) continue;
        if (status != exit_done) {
            fmt::print(stderr, "line {}: stopped here\n", number);
            break;
        }
    }
    if (terminal) fmt::print("\n");
    return status;
}

}  // namespace sluice::ctl

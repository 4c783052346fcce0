#include "tools/sluicectl/shell.hh"

#include <editline/readline.h>
#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>

#include "control/config/text/say.hh"
#include "tools/sluicectl/complete.hh"
#include "tools/sluicectl/history.hh"
#include "tools/sluicectl/interrupt.hh"

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
    const bool goes_on = std::all_of(shell_candidates.begin(), shell_candidates.end(),
                                     [](const std::string& word) { return word.ends_with('.'); });
    rl_completion_append_character = goes_on ? 0 : ' ';
    return shell_candidates.empty() ? nullptr : rl_completion_matches(text, next_candidate);
}

// While a line is edited Ctrl-C and Ctrl-D are keys like others: the one gives the line up, the other ends.
// So from before the prompt is seen, for the editor takes the terminal over only behind it.
class PlainKeys {
  public:
    PlainKeys() {
        if (tcgetattr(STDIN_FILENO, &before_) != 0) return;
        termios now = before_;
        now.c_cc[VINTR] = now.c_cc[VEOF] = _POSIX_VDISABLE;
        changed_ = tcsetattr(STDIN_FILENO, TCSADRAIN, &now) == 0;
    }
    ~PlainKeys() {
        if (changed_) tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
    }
    PlainKeys(const PlainKeys&) = delete;
    PlainKeys& operator=(const PlainKeys&) = delete;

  private:
    termios before_{};
    bool changed_ = false;
};

bool gave_up = false;  // the line that is edited
int give_up(int, int) {
    gave_up = true;
    rl_done = 1;
    return 0;
}

// The terminal's lines, with those of earlier sessions.
class Terminal {
  public:
    explicit Terminal(Context& context) : history_(History::default_path()) {
        constexpr int ctrl_c = 3;
        shell_context = &context;
        rl_readline_name = "sluicectl";
        using_history();
        stifle_history(static_cast<int>(History::max_lines));
        for (const std::string& line : history_.earlier()) add_history(line.c_str());
        rl_attempted_completion_function = candidates;
        rl_add_defun("give-up", give_up, ctrl_c);
        catch_interrupts();
    }
    ~Terminal() {
        say("\n");
        if (!history_.save()) complain("the history cannot be kept in {}\n", history_.path());
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    // False at the end of the input.
    bool read(std::string& line) {
        const PlainKeys keys;
        rl_done = 0;
        gave_up = false;
        char* typed = readline("sluice> ");
        if (typed == nullptr && !gave_up) return false;
        line = typed == nullptr || gave_up ? "" : typed;
        std::free(typed);
        if (gave_up) say("^C\n");
        if (!line.empty() && line != last_) {
            add_history(line.c_str());
            history_.add(line);
            last_ = line;
        }
        return true;
    }

  private:
    History history_;
    std::string last_;
};

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
    std::optional<Terminal> terminal;
    if (isatty(STDIN_FILENO) == 1) terminal.emplace(context);
    int status = exit_done;
    std::string line;
    for (unsigned number = 1; terminal ? terminal->read(line) : bool(std::getline(std::cin, line));
         ++number) {
        try {
            const Words words = words_of(line);
            if (words.empty()) continue;
            if (is_end(words)) break;
            status = run(context, words);
        } catch (const Failure& failure) {
            complain("{}\n", failure.message);
            status = failure.status;
        } catch (const Interrupted&) {
            say("\n");
            status = exit_refused;
        }
        if (terminal) continue;
        if (status != exit_done) {
            complain("line {}: stopped here\n", number);
            break;
        }
    }
    return status;
}

}  // namespace sluice::ctl

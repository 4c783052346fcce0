#include "tools/sluicectl/shell.hh"

#include <editline/readline.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/text/say.hh"
#include "tools/sluicectl/complete.hh"
#include "tools/sluicectl/failure.hh"

namespace sluice::ctl {
namespace {

constexpr std::size_t max_lines = 1000, max_line_bytes = 4096;  // of the history

std::string from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && value[0] == '/' ? value : "";
}

std::filesystem::file_type type_of(const std::string& path) {
    std::error_code error;
    return std::filesystem::symlink_status(path, error).type();
}

// A line with control characters is refused: it would move the cursor when it is recalled.
bool is_text(std::string_view line) {
    return !line.empty() && line.size() <= max_line_bytes &&
           std::none_of(line.begin(), line.end(),
                        [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

void keep_last(std::vector<std::string>& lines) {
    if (lines.size() > max_lines)
        lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(max_lines));
}

// The folder and its last three parents that are missing; nobody else may look into ours.
bool make_folder(const std::string& path, unsigned parents) {
    if (mkdir(path.c_str(), S_IRWXU) == 0 || errno == EEXIST) return true;
    const auto slash = path.rfind('/');
    return errno == ENOENT && parents != 0 && slash != 0 && slash != std::string::npos &&
           make_folder(path.substr(0, slash), parents - 1) && mkdir(path.c_str(), S_IRWXU) == 0;
}

bool write_private(const std::string& path, const std::string& text) {
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
    if (fd < 0) return false;
    std::size_t written = 0;
    while (written < text.size()) {
        const ssize_t n = write(fd, text.data() + written, text.size() - written);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        written += static_cast<std::size_t>(n);
    }
    return close(fd) == 0 && written == text.size();
}

// The shell's history: a file of lines, the oldest first, kept from one session to the next.
//
// A convenience that never stands in the way: a file that cannot be read or written, or is not a plain file
// (a link, a device), is left as it is. Sessions side by side keep each other's lines.
class History {
  public:
    // $XDG_STATE_HOME/sluice/history, or under ~/.local/state; empty: no home is known.
    static std::string default_path() {
        if (const std::string state = from_environment("XDG_STATE_HOME"); !state.empty())
            return state + "/sluice/history";
        const std::string home = from_environment("HOME");
        return home.empty() ? home : home + "/.local/state/sluice/history";
    }

    explicit History(std::string path) : path_(std::move(path)) {}

    // Lines of earlier sessions, at most max_lines, without those that are too long or not text.
    std::vector<std::string> earlier() const {
        std::vector<std::string> lines;
        if (path_.empty() || type_of(path_) != std::filesystem::file_type::regular) return lines;
        constexpr std::size_t max_bytes = max_lines * (max_line_bytes + 1);
        std::ifstream file(path_);
        std::size_t read = 0;
        for (std::string line; read < max_bytes && std::getline(file, line); read += line.size() + 1)
            if (is_text(line)) lines.push_back(line);
        keep_last(lines);
        return lines;
    }
    const std::string& path() const { return path_; }
    void add(std::string_view line) {
        if (is_text(line)) added_.emplace_back(line);
        keep_last(added_);
    }
    // Appends the new lines to the file's present ones: mode 0600, in folders of 0700 that it makes as far as
    // the first of them may be missing. False when it cannot.
    bool save() {
        using enum std::filesystem::file_type;
        if (path_.empty() || added_.empty()) return true;
        constexpr unsigned parents = 2;  // of ~/.local/state/sluice; a home that is not there is not made
        if (!make_folder(path_.substr(0, path_.rfind('/')), parents)) return false;
        if (const auto there = type_of(path_); there != not_found && there != regular) return false;
        std::vector<std::string> lines = earlier();
        lines.insert(lines.end(), added_.begin(), added_.end());
        keep_last(lines);
        std::string text;
        for (const std::string& line : lines) text += line + "\n";
        const std::string part = path_ + "." + std::to_string(getpid());
        const bool saved = write_private(part, text) && std::rename(part.c_str(), path_.c_str()) == 0;
        if (!saved) unlink(part.c_str());
        if (saved) added_.clear();
        return saved;
    }

  private:
    std::string path_;
    std::vector<std::string> added_;
};

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
        stifle_history(static_cast<int>(max_lines));
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
        if (!terminal && status != exit_done) {
            complain("line {}: stopped here\n", number);
            break;
        }
    }
    return status;
}

}  // namespace sluice::ctl

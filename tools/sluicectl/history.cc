#include "tools/sluicectl/history.hh"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace sluice::ctl {
namespace {

std::string from_environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && value[0] == '/' ? value : "";
}

enum class Kind { missing, plain, other };
Kind kind_of(const std::string& path) {
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0) return errno == ENOENT ? Kind::missing : Kind::other;
    return S_ISREG(status.st_mode) ? Kind::plain : Kind::other;
}

// A line with control characters is refused: it would move the cursor when it is recalled.
bool is_text(std::string_view line) {
    return !line.empty() && line.size() <= History::max_line_bytes &&
           std::none_of(line.begin(), line.end(),
                        [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

void keep_last(std::vector<std::string>& lines) {
    if (lines.size() > History::max_lines)
        lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(History::max_lines));
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

}  // namespace

std::string History::default_path() {
    if (const std::string state = from_environment("XDG_STATE_HOME"); !state.empty())
        return state + "/sluice/history";
    const std::string home = from_environment("HOME");
    return home.empty() ? home : home + "/.local/state/sluice/history";
}

std::vector<std::string> History::earlier() const {
    std::vector<std::string> lines;
    if (path_.empty() || kind_of(path_) != Kind::plain) return lines;
    constexpr std::size_t max_bytes = max_lines * (max_line_bytes + 1);
    std::ifstream file(path_);
    std::size_t read = 0;
    for (std::string line; read < max_bytes && std::getline(file, line); read += line.size() + 1)
        if (is_text(line)) lines.push_back(line);
    keep_last(lines);
    return lines;
}

void History::add(std::string_view line) {
    if (is_text(line)) added_.emplace_back(line);
    keep_last(added_);
}

bool History::save() {
    if (path_.empty() || added_.empty()) return true;
    constexpr unsigned parents = 2;  // of ~/.local/state/sluice; a home that is not there is not made
    if (!make_folder(path_.substr(0, path_.rfind('/')), parents) || kind_of(path_) == Kind::other)
        return false;
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

}  // namespace sluice::ctl

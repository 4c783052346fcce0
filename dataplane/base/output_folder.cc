#include "dataplane/base/output_folder.hh"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>

#include "dataplane/base/output_file.hh"
#include "lib/values/rng.hh"

namespace sluice {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view list_name = ".sluice-outputs";
constexpr std::size_t max_list_bytes = 1U << 24;

std::string cannot_be_written(const std::string& file, int error) {
    return file + ": cannot be written: " + std::strerror(error);
}

// Cuts a number and the blank behind it off `line`.
bool take_number(std::string_view& line, std::uint64_t& number) {
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
    if (error != std::errc() || end == line.data() + line.size() || *end != ' ') return false;
    line.remove_prefix(static_cast<std::size_t>(end - line.data()) + 1);
    return true;
}

// A hash of the whole file, to detect changes, not attacks. Nothing: it cannot be read.
std::optional<std::uint64_t> hash_of(const std::string& path) {
    const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    std::array<std::uint64_t, 8192> words{};
    const auto block = std::as_writable_bytes(std::span(words));
    std::uint64_t hash = 0;
    std::size_t held = 0;
    for (ssize_t got = 1; got > 0;) {
        got = file ? ::read(file.get(), &block[held], block.size() - held) : -1;
        if (got < 0) return std::nullopt;
        held += static_cast<std::size_t>(got);
        if (got != 0 && held < block.size()) continue;
        std::fill(block.begin() + static_cast<std::ptrdiff_t>(held), block.end(), std::byte{});
        for (const std::uint64_t word : std::span(words).first((held + 7) / 8)) hash = scramble(hash ^ word);
        held = 0;
    }
    return hash;
}

std::string read_all(int file) {
    struct stat status {};
    if (fstat(file, &status) != 0) return {};
    std::string text(std::min<std::size_t>(static_cast<std::size_t>(status.st_size), max_list_bytes), '\0');
    const ssize_t got = pread(file, text.data(), text.size(), 0);
    text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    return text;
}

}  // namespace

std::optional<OutputFolder::Content> OutputFolder::content_of(const std::string& path) {
    struct stat status {};
    if (lstat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    const auto hash = hash_of(path);
    if (!hash) return std::nullopt;
    return Content{static_cast<std::uint64_t>(status.st_size), *hash};
}

tl::expected<OutputFolder, std::string> OutputFolder::open(const std::string& path) {
    const auto refuse = [&](const std::string& why) { return tl::unexpected(path + ": " + why); };
    std::error_code error;
    fs::create_directories(path, error);
    if (!error && !fs::is_directory(path)) error = std::make_error_code(std::errc::not_a_directory);
    if (error) return refuse(error.message());
    OutputFolder made;
    made.path_ = path;
    made.list_ = open_locked(made.file(list_name), O_RDWR | O_CREAT | O_APPEND);
    if (!made.list_)
        return refuse(errno == EWOULDBLOCK
                          ? "another program writes there; do: wait for its end, or name another folder"
                          : std::string("nothing can be written there: ") + std::strerror(errno));
    std::string text = read_all(made.list_.get());
    for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != text.npos; at = end + 1) {
        std::string_view line = std::string_view(text).substr(at, end - at);
        Content content{};
        if (!take_number(line, content.bytes) || !take_number(line, content.hash)) continue;
        made.entries_.emplace(line, content);
    }
    if (std::string why = made.remember(); !why.empty()) return refuse(why);
    return made;
}

OutputFolder::~OutputFolder() {
    if (!list_ || owner_ != getpid()) return;
    if (entries_.empty())
        static_cast<void>(std::remove(file(list_name).c_str()));
    else
        static_cast<void>(rewrite());  // the list is right without it, in the order of writing
}

bool OutputFolder::owns(const std::string& name, const Content& content) const {
    const auto [first, last] = entries_.equal_range(name);
    return std::any_of(first, last, [&](const auto& entry) { return entry.second == content; });
}

bool OutputFolder::is_as_left(const std::string& name) const {
    const auto there = content_of(file(name));
    return there && owns(name, *there);
}

// Writes the list anew, without files that have changed.
std::string OutputFolder::remember() {
    const auto known = std::exchange(entries_, {});
    for (const auto& [name, content] : known)
        if (content_of(file(name)) == content && !owns(name, content)) entries_.emplace(name, content);
    return entries_.size() == known.size() ? std::string() : rewrite();
}

// In the order of names, so that equal files have equal lists.
std::string OutputFolder::rewrite() {
    std::string text;
    for (const auto& [name, content] : entries_) text += line_of(name, content);
    return ftruncate(list_.get(), 0) != 0 ? std::strerror(errno) : add(text);
}

std::string OutputFolder::line_of(const std::string& name, const Content& content) {
    return std::to_string(content.bytes) + " " + std::to_string(content.hash) + " " + name + "\n";
}

std::string OutputFolder::add(const std::string& lines) {
    return ::write(list_.get(), lines.data(), lines.size()) == static_cast<ssize_t>(lines.size())
               ? std::string()
               : cannot_be_written(file(list_name), errno);
}

std::string OutputFolder::no_way_to(const std::string& name) const {
    for (std::size_t slash = name.find('/'); slash != name.npos; slash = name.find('/', slash + 1)) {
        struct stat folder {};
        const std::string part = file(name.substr(0, slash));
        if (lstat(part.c_str(), &folder) == 0 && !S_ISDIR(folder.st_mode))
            return part + ": is there, and is not a folder; do: move it away, or name another folder";
    }
    return {};
}

std::string OutputFolder::refusal(const std::string& name) const {
    if (std::string why = no_way_to(name); !why.empty()) return why;
    struct stat there {};
    if (lstat(file(name).c_str(), &there) != 0)
        return errno == ENOENT ? std::string() : cannot_be_written(file(name), errno);
    if (is_as_left(name)) return {};
    return file(name) +
           ": is there, and is not as a program of Sluice wrote it; do: move it away, or name another folder";
}

std::string OutputFolder::prepare(const std::string& name) const {
    if (std::string why = refusal(name); !why.empty()) return why;
    const std::string folder = fs::path(file(name)).parent_path();
    std::error_code error;
    fs::create_directories(folder, error);
    if (!error && access(folder.c_str(), W_OK) != 0) error = {errno, std::generic_category()};
    return error ? cannot_be_written(file(name), error.value()) : std::string();
}

std::string OutputFolder::write(const std::string& name, std::string_view text) {
    if (std::string why = prepare(name); !why.empty()) return why;
    auto made = OutputFile::create(file(name));
    if (!made) return made.error();
    (*made)->write(text);
    return (*made)->close([&](const std::string& part) { return own(name, part); });
}

std::string OutputFolder::own(const std::string& name, const std::string& made) {
    const auto content = content_of(made);
    if (!content) return cannot_be_written(made, errno);
    if (owns(name, *content)) return {};
    entries_.erase(name);
    if (std::string error = add(line_of(name, *content)); !error.empty()) return error;
    entries_.emplace(name, *content);
    return {};
}

std::vector<std::string> OutputFolder::own_files(const std::string& folder) const {
    std::vector<std::string> names;
    for (auto at = entries_.lower_bound(folder + "/");
         at != entries_.end() && at->first.starts_with(folder + "/"); ++at)
        if (is_as_left(at->first) && (names.empty() || names.back() != at->first)) names.push_back(at->first);
    return names;
}

}  // namespace sluice

#include "control/server/config_file.hh"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "control/config/config_edit.hh"
#include "control/config/config_paths.hh"
#include "control/config/schema.hh"
#include "control/config/values.hh"
#include "dataplane/base/output_file.hh"

namespace sluice {
namespace {

bool is_plain_name(std::string_view name) {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
    return !name.empty() && name.size() <= NAME_MAX && name.front() != '.' && name.front() != '-' &&
           name.find('/') == name.npos && std::none_of(name.begin(), name.end(), is_control);
}

// Of a regular file; nothing: it cannot be read.
std::optional<std::string> file_text(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) return std::nullopt;
    return std::move(text).str();
}

// The path without links; as it is where there are none, or nothing.
std::string resolved(const std::string& path) {
    std::error_code error;
    const std::filesystem::path real = std::filesystem::canonical(path, error);
    return error ? path : real.string();
}

std::string folder_of(const std::string& path) {
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    return folder.empty() ? "." : folder;
}

}  // namespace

ConfigFile::ConfigFile(std::string file, std::string folder, Overrides overrides)
    : name_(std::move(file)),
      path_(resolved(name_)),
      folder_(resolved(folder.empty() ? folder_of(path_) : folder)),
      overrides_(std::move(overrides)) {}

tl::expected<ConfigFile::Saved, std::string> ConfigFile::save(const std::string& name, const Config& config,
                                                              const Config& read) const {
    const auto failed = [&](const std::string& why) { return tl::unexpected(in_quotes(name) + " " + why); };
    if (name != name_ && !is_plain_name(name)) return failed("is not a plain file name");
    const std::string path = name == name_ ? path_ : folder_ + "/" + name;
    const bool is_ours = path == path_;
    struct stat there {};
    const bool exists = lstat(path.c_str(), &there) == 0;
    if (exists && S_ISLNK(there.st_mode)) return failed("is a link");
    if (exists && !S_ISREG(there.st_mode)) return failed("is no file that could be saved to");

    const std::optional<std::string> before = exists ? file_text(path) : std::nullopt;
    if (exists && !before) return failed("cannot be read");
    std::optional<Config> said;
    if (before) {
        auto parsed = parse_config(*before, "");
        if (parsed) said = std::move(*parsed);
    }
    if (exists && !is_ours && !said) return failed("is there and no configuration");
    if (said) overrides_.apply(*said);
    // A new file is a copy of ours, with its comments.
    const std::optional<std::string> model = before ? before : file_text(path_);
    const std::optional<std::string> text = model ? edited(*model, config) : std::nullopt;
    // The file has been changed by others since: their text is not lost.
    const bool stale = is_ours && (!said || !config_changes(*said, read).empty());

    auto file = OutputFile::create(path);
    if (!file) return tl::unexpected(file.error());
    (*file)->write(text ? *text : to_toml(config));
    Saved saved{path, {}};
    if (exists && (!text || stale)) {
        saved.original = path + ".orig";
        if ((std::remove(saved.original.c_str()) != 0 && errno != ENOENT) ||
            link(path.c_str(), saved.original.c_str()) != 0)
            return tl::unexpected(
                fmt::format("{}: cannot be written: {}", saved.original, std::strerror(errno)));
    }
    if (std::string error = (*file)->close(true); !error.empty()) return tl::unexpected(std::move(error));
    return saved;
}

}  // namespace sluice

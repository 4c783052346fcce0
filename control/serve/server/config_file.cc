#include "control/serve/server/config_file.hh"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "control/config/schema/config_paths.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "dataplane/base/output_file.hh"

namespace sluice {
namespace {

bool is_plain_name(std::string_view name) {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
    return !name.empty() && name.size() <= NAME_MAX && name.front() != '.' && name.front() != '-' &&
           name.find('/') == name.npos && std::none_of(name.begin(), name.end(), is_control);
}

// Nothing: the file cannot be read.
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

// Gives the file a second name that was free. An error's text, or empty.
std::string keep_original(const std::string& path, std::string& kept) {
    constexpr unsigned max_kept = 1000;
    for (unsigned n = 0; n < max_kept; ++n) {
        kept = path + ".orig" + (n == 0 ? "" : fmt::format(".{}", n));
        if (link(path.c_str(), kept.c_str()) == 0) return {};
        if (errno != EEXIST) break;
    }
    return fmt::format("{}: cannot be written: {}", kept, std::strerror(errno));
}

// With a slash behind it.
std::string folder_of(const std::string& path) {
    const std::string folder = path.substr(0, path.rfind('/') + 1);
    return folder.empty() ? "./" : folder;
}

}  // namespace

StartupChoice startup_choice(const std::string& config, const std::string& startup) {
    std::error_code no_startup, no_config;
    const auto saved = std::filesystem::last_write_time(startup, no_startup);
    const auto written = std::filesystem::last_write_time(config, no_config);
    if (startup.empty() || no_startup) return {config, {}};
    if (!no_config && written >= saved)
        return {config,
                fmt::format("{} is newer than {}, which config save --startup wrote", config, startup)};
    return {startup, fmt::format("config save --startup wrote {}, which is newer than {}", startup, config)};
}

ConfigFile::ConfigFile(std::string file, std::string startup, std::string folder, Overrides overrides)
    : name_(std::move(file)),
      path_(resolved(name_)),
      startup_(startup.empty() ? startup
                               : resolved(folder_of(startup)) + "/" + startup.substr(startup.rfind('/') + 1)),
      folder_(resolved(folder.empty() ? folder_of(path_) : folder)),
      overrides_(std::move(overrides)) {}

tl::expected<ConfigFile::Saved, std::string> ConfigFile::save(const std::string& name, const Config& config,
                                                              const Config& read) const {
    if (name == name_) return write(path_, config, &read);
    if (!is_plain_name(name)) return tl::unexpected(in_quotes(name) + " is not a plain file name");
    const std::string path = folder_ + "/" + name;
    if (path == startup_) return tl::unexpected(in_quotes(name) + " is the file of config save --startup");
    return write(path, config, path == path_ ? &read : nullptr);
}

tl::expected<ConfigFile::Saved, std::string> ConfigFile::save_startup(const Config& config) const {
    if (startup_.empty())
        return tl::unexpected<std::string>(
            "nothing is read at the start but the configuration: sluiced has no --startup");
    return write(startup_, config, nullptr);
}

tl::expected<bool, std::string> ConfigFile::reset_startup() const {
    if (startup_.empty() || std::remove(startup_.c_str()) == 0) return !startup_.empty();
    if (errno == ENOENT) return false;
    return tl::unexpected(fmt::format("{}: cannot be removed: {}", startup_, std::strerror(errno)));
}

tl::expected<ConfigFile::Saved, std::string> ConfigFile::write(const std::string& path, const Config& config,
                                                               const Config* read) const {
    const std::string name = path.substr(path.rfind('/') + 1);
    const auto failed = [&](const std::string& why) { return tl::unexpected(in_quotes(name) + " " + why); };
    struct stat there {};
    const bool exists = lstat(path.c_str(), &there) == 0;
    if (exists && S_ISLNK(there.st_mode)) return failed("is a link");
    if (exists && !S_ISREG(there.st_mode)) return failed("is not a file that could be saved to");

    const std::optional<std::string> before = exists ? file_text(path) : std::nullopt;
    if (exists && !before) return failed("cannot be read");
    std::optional<Config> said;
    if (before) {
        auto parsed = parse_config(*before, "");
        if (parsed) said = std::move(*parsed);
    }
    if (exists && read == nullptr && !said) return failed("is there and no configuration");
    if (said) overrides_.apply(*said);
    // A new file is a copy of ours, with its comments.
    const std::optional<std::string> model = before ? before : file_text(path_);
    const std::optional<std::string> text = model ? edited(*model, config) : std::nullopt;
    // The file has been changed by others since: their text is not lost.
    const bool stale = read != nullptr && (!said || !config_changes(*said, *read).empty());

    auto file = OutputFile::create(path);
    if (!file) return tl::unexpected(file.error());
    (*file)->write(text ? *text : to_toml(config));
    Saved saved{path, {}};
    if (exists && (!text || stale)) {
        if (std::string error = keep_original(path, saved.original); !error.empty())
            return tl::unexpected(std::move(error));
    }
    if (std::string error = (*file)->close(true); !error.empty()) return tl::unexpected(std::move(error));
    return saved;
}

}  // namespace sluice

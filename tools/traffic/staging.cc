#include "tools/traffic/staging.hh"

#include <fmt/format.h>
#include <cstdlib>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ranges>

#include "tools/traffic/failure.hh"

namespace sluice::traffic {
namespace fs = std::filesystem;
namespace {

volatile std::sig_atomic_t interrupted = 0;

[[noreturn]] void fail(const fs::path& path, const std::error_code& error) {
    throw Failure{fmt::format("{}: {}", path.string(), error.message())};
}

// Something has this name, be it a link to nowhere.
bool present(const fs::path& path) {
    std::error_code ignored;
    return fs::exists(fs::symlink_status(path, ignored));
}

}  // namespace

StagedFolder::StagedFolder(const fs::path& out) : out_{out} {
    std::error_code error;
    for (fs::path folder = out; !folder.empty() && !fs::exists(folder, error);
         folder = folder.parent_path()) {
        if (folder.has_filename()) made_.insert(made_.begin(), folder);
    }
    fs::create_directories(out, error);
    if (error || !fs::is_directory(out)) {
        withdraw();
        fail(out, error ? error : std::make_error_code(std::errc::not_a_directory));
    }
    std::string pattern = (out / ".sluice-traffic-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
        const std::error_code reason{errno, std::generic_category()};
        withdraw();
        fail(out, reason);
    }
    staging_ = pattern;
    backup_ = staging_ / ".replaced";
    fs::create_directory(backup_, error);
    if (error) {
        withdraw();
        fail(backup_, error);
    }
}

StagedFolder::~StagedFolder() { withdraw(); }

void StagedFolder::publish(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
        std::error_code error;
        if (present(out_ / name)) fs::rename(out_ / name, backup_ / name, error);
        if (error) fail(out_ / name, error);
        published_.push_back(name);
        fs::rename(staging_ / name, out_ / name, error);
        if (error) fail(out_ / name, error);
    }
    done_ = true;
}

// Puts everything back as it was unless all is done; errors here have nowhere to go.
void StagedFolder::withdraw() {
    std::error_code ignored;
    if (!done_) {
        for (const std::string& name : published_ | std::views::reverse) {
            fs::remove_all(out_ / name, ignored);
            if (present(backup_ / name)) fs::rename(backup_ / name, out_ / name, ignored);
        }
    }
    if (!staging_.empty()) fs::remove_all(staging_, ignored);
    if (done_) return;
    for (const fs::path& folder : made_ | std::views::reverse) fs::remove(folder, ignored);
}

void note_interrupts() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, [](int) { interrupted = 1; });
}

void stop_if_interrupted() {
    if (interrupted != 0) throw Failure{"interrupted; nothing was written"};
}

}  // namespace sluice::traffic

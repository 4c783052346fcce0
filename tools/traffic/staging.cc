#include "tools/traffic/staging.hh"

#include <fmt/format.h>
#include <cstdlib>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ranges>
#include <set>

#include "dataplane/base/file_roles.hh"
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

StagedFolder::StagedFolder(const fs::path& out, const std::vector<std::string>& inputs)
    : out_{out}, inputs_{inputs} {
    std::error_code error;
    for (fs::path folder = out; !folder.empty() && !fs::exists(folder, error);
         folder = folder.parent_path()) {
        if (folder.has_filename()) made_.insert(made_.begin(), folder);
    }
    auto folder = OutputFolder::open(out.string());
    if (!folder) {
        withdraw();
        throw Failure{folder.error()};
    }
    folder_.emplace(std::move(*folder));
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

void StagedFolder::check(const std::vector<std::string>& names) const {
    FileRoles roles;
    for (const std::string& input : inputs_) roles.reads("what it reads", input);
    for (const std::string& name : names) roles.writes("--out", folder_->file(name));
    if (const std::string clash = roles.clash_text(); !clash.empty()) throw Failure{clash};
    for (const std::string& name : names)
        if (const std::string why = folder_->refusal(name); !why.empty()) throw Failure{why};
}

void StagedFolder::publish(const std::vector<std::string>& names) {
    check(names);
    for (const std::string& name : names)
        if (const std::string why = folder_->prepare(name); !why.empty()) throw Failure{why};
    std::set<std::string> left;  // of an earlier run
    for (const std::string& name : names)
        if (const std::string below = fs::path(name).parent_path(); !below.empty())
            for (const std::string& old : folder_->own_files(below)) left.insert(old);
    for (const std::string& name : names) left.erase(name);
    for (const std::string& name : left) withdraw_from(name);
    for (const std::string& name : names) {
        if (const std::string why = folder_->own(name, staging_ / name); !why.empty()) throw Failure{why};
        withdraw_from(name);
        std::error_code error;
        fs::rename(staging_ / name, out_ / name, error);
        if (error) fail(out_ / name, error);
    }
    done_ = true;
}

// Makes room for `name`.
void StagedFolder::withdraw_from(const std::string& name) {
    std::error_code error;
    const fs::path kept = backup_ / std::to_string(taken_.size());
    if (present(out_ / name)) fs::rename(out_ / name, kept, error);
    if (error) fail(out_ / name, error);
    taken_.push_back(name);
}

// Puts everything back as it was unless all is done; errors here have nowhere to go.
void StagedFolder::withdraw() {
    std::error_code ignored;
    for (std::size_t n = taken_.size(); !done_ && n-- > 0;) {
        const fs::path place = out_ / taken_[n], kept = backup_ / std::to_string(n);
        fs::remove(place, ignored);
        if (present(kept)) fs::rename(kept, place, ignored);
    }
    if (!staging_.empty()) fs::remove_all(staging_, ignored);
    folder_.reset();
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

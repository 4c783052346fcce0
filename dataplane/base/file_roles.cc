#include "dataplane/base/file_roles.hh"

#include <sys/stat.h>

#include <map>
#include <utility>

namespace sluice {
namespace fs = std::filesystem;

namespace {

constexpr unsigned max_links = 40;  // that the kernel follows

}  // namespace

fs::path link_target(fs::path path) {
    std::error_code error;
    for (unsigned n = 0; n < max_links && fs::is_symlink(fs::symlink_status(path, error)); ++n) {
        const fs::path target = fs::read_symlink(path, error);
        path = target.is_absolute() ? target : path.parent_path() / target;
    }
    return path;
}

std::string FileRoles::Clash::text() const {
    return written.path + ": " + written.what + " would overwrite " +
           (other_is_written ? "what " + other.what + " writes" : other.what) +
           (other.path == written.path ? "" : ", " + other.path) + "; do: name another file";
}

// Nothing: several may write it.
std::optional<FileRoles::Identity> FileRoles::identity_of(const std::string& path) {
    struct stat there {};
    if (stat(path.c_str(), &there) == 0) {
        if (S_ISCHR(there.st_mode) || S_ISSOCK(there.st_mode)) return std::nullopt;
        return Identity{there.st_dev, there.st_ino, ""};
    }
    const fs::path target = link_target(path);
    fs::path name = target.filename(), folder = target.parent_path();
    while (stat(folder.empty() ? "." : folder.c_str(), &there) != 0 && folder.has_relative_path()) {
        name = folder.filename() / name;
        folder = folder.parent_path();
    }
    return Identity{there.st_dev, there.st_ino, name.lexically_normal().string()};
}

void FileRoles::add(Role role, bool is_written) {
    if (role.path.empty()) return;
    if (auto identity = identity_of(role.path)) all_.push_back({std::move(role), is_written, *identity});
}

std::vector<FileRoles::Clash> FileRoles::clashes() const {
    std::vector<Clash> found;
    std::map<Identity, const Known*> known;
    for (const Known& each : all_) {
        const auto [there, is_new] = known.emplace(each.identity, &each);
        const Known& other = *there->second;
        if (is_new || (!each.is_written && !other.is_written)) continue;
        if (each.is_written)
            found.push_back({each.role, other.role, other.is_written});
        else
            found.push_back({other.role, each.role, false});
    }
    return found;
}

std::string FileRoles::clash_text() const {
    const auto found = clashes();
    return found.empty() ? std::string() : found.front().text();
}

}  // namespace sluice

#include "control/config/lint/memory.hh"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

namespace sluice {
namespace {

// "KEY VALUE" or "KEY: VALUE kB", one a line, of which the values are wanted as they are.
std::map<std::string, std::uint64_t> read_numbers(const std::string& path) {
    std::map<std::string, std::uint64_t> numbers;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
        std::istringstream words(line);
        std::string key;
        std::uint64_t number = 0;
        if (!(words >> key >> number)) continue;
        if (key.ends_with(':')) key.pop_back();
        numbers[key] = number;
    }
    return numbers;
}

// Nothing when the file is not there, or says "max".
std::optional<std::uint64_t> read_number(const std::string& path) {
    std::ifstream file(path);
    std::uint64_t number = 0;
    return file >> number ? std::optional(number) : std::nullopt;
}

// The files of a memory cgroup, by the version of cgroups.
struct CgroupFiles {
    std::string_view limit, usage, inactive_file, active_file;
};
constexpr CgroupFiles files_v1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file",
                               "total_active_file"};
constexpr CgroupFiles files_v2{"memory.max", "memory.current", "inactive_file", "active_file"};
// Version 1 says so for "no limit", rounded to a page.
constexpr std::uint64_t no_limit = std::uint64_t{1} << 62;

// A hierarchy of cgroups that limits memory, and the place of this process in it.
struct Hierarchy {
    const CgroupFiles* files;
    std::string mount;  // folder
    std::string path;   // below it, "/a/b", or empty
};

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, separator);) parts.push_back(part);
    return parts;
}

// Of each hierarchy the path of this process, from /proc/self/cgroup: "" stands for version 2.
std::map<std::string, std::string> cgroup_paths(const std::string& root) {
    std::map<std::string, std::string> paths;
    std::ifstream file(root + "/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {  // "4:memory:/a/b", "0::/a/b"
        const std::size_t first = line.find(':');
        const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
        if (second == line.npos) continue;
        std::vector<std::string> controllers = split(line.substr(first + 1, second - first - 1), ',');
        if (controllers.empty()) controllers.emplace_back();
        for (const std::string& controller : controllers) paths[controller] = line.substr(second + 1);
    }
    return paths;
}

std::vector<Hierarchy> hierarchies(const std::string& root) {
    const auto paths = cgroup_paths(root);
    std::vector<Hierarchy> found;
    std::ifstream file(root + "/proc/self/mountinfo");
    for (std::string line; std::getline(file, line);) {
        // "ID PARENT DEVICE ROOT MOUNT OPTIONS... - TYPE SOURCE OPTIONS"
        const std::vector<std::string> words = split(line, ' ');
        const auto dash = std::find(words.begin(), words.end(), "-");
        if (words.size() < 5 || words.end() - dash < 4) continue;
        const std::vector<std::string> options = split(dash[3], ',');
        const bool v2 = dash[1] == "cgroup2";
        if (!v2 &&
            (dash[1] != "cgroup" || std::find(options.begin(), options.end(), "memory") == options.end()))
            continue;
        const auto path = paths.find(v2 ? "" : "memory");
        if (path == paths.end()) continue;
        // In a container a part of the hierarchy may be mounted; the levels above it cannot be seen.
        std::string below = path->second;
        if (words[3] != "/") below = below.starts_with(words[3]) ? below.substr(words[3].size()) : "";
        if (below.find("..") != below.npos) below.clear();
        while (below.ends_with('/')) below.pop_back();
        found.push_back({v2 ? &files_v2 : &files_v1, root + words[4], below});
    }
    return found;
}

void keep_least(std::optional<MemoryRoom>& least, MemoryRoom room) {
    if (!least || room.bytes < least->bytes) least = std::move(room);
}

}  // namespace

std::optional<MemoryRoom> memory_room(const std::string& root) {
    std::optional<MemoryRoom> least;
    const auto machine = read_numbers(root + "/proc/meminfo");
    if (const auto available = machine.find("MemAvailable"); available != machine.end())
        keep_least(least,
                   {available->second * 1024, "the machine has " + in_megabytes(available->second * 1024)});
    for (Hierarchy& hierarchy : hierarchies(root)) {
        const CgroupFiles& files = *hierarchy.files;
        while (true) {
            const std::string folder = hierarchy.mount + hierarchy.path + "/";
            const auto limit = read_number(folder + std::string(files.limit));
            const auto usage = read_number(folder + std::string(files.usage));
            if (limit && usage && *limit < no_limit) {
                auto stat = read_numbers(folder + "memory.stat");
                const std::uint64_t cached =
                    stat[std::string(files.inactive_file)] + stat[std::string(files.active_file)];
                const std::uint64_t taken = *usage - std::min(*usage, cached);
                const std::uint64_t left = *limit - std::min(*limit, taken);
                keep_least(least, {left, fmt::format("the cgroup {} has {} of {} left",
                                                     hierarchy.path.empty() ? "/" : hierarchy.path,
                                                     in_megabytes(left), in_megabytes(*limit))});
            }
            if (hierarchy.path.empty()) break;
            hierarchy.path.erase(hierarchy.path.rfind('/'));
        }
    }
    return least;
}

Machine this_machine() {
    Machine machine{std::thread::hardware_concurrency()};
    machine.memory = memory_room();
    return machine;
}

}  // namespace sluice

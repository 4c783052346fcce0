#include "control/config/lint/memory.hh"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>
#include <thread>
#include <vector>

#include "control/config/compile/compile.hh"
#include "control/config/decisions/decision_joiner.hh"
#include "control/config/routes/routes.hh"
#include "control/config/schema/decision_filter.hh"
#include "control/config/schema/findings.hh"
#include "control/config/schema/words.hh"
#include "dataplane/base/packet_pool.hh"
#include "dataplane/run/switch_resources.hh"
#include "lib/record/mirror_ring.hh"

namespace sluice {
namespace {

// The program, its libraries and DPDK's own tables, as measured of a switch of two idle ports.
constexpr std::uint64_t program_bytes = 48'000'000;

MemoryPart packet_buffers(const Config& config) {
    const PacketDemand demand = packet_demand(config);
    const std::size_t each = PacketPool::bytes_each(packet_buffer_bytes(config));
    std::string count = fmt::format("{} for cells + {} for rings + {} for caches", demand.buffer,
                                    demand.rings, demand.caches);
    if (demand.captures != 0) count += fmt::format(" + {} for captures", demand.captures);
    return {"packet buffers", demand.total() * each,
            fmt::format("({}) x {}: {} of data, {} of headers", count, each, packet_buffer_bytes(config),
                        each - packet_buffer_bytes(config))};
}

// Cells as large as their packet buffers waste least. Empty: they are.
std::string larger_cells(const Config& config) {
    constexpr std::uint32_t large = 2048;
    if (config.cell_bytes >= large) return {};
    Config other = config;
    other.cell_bytes = large;
    other.packet_buffer_bytes = large;
    return fmt::format("or cell = {0} and packet_buffer = {0} under [buffer], with which it takes {1}, ",
                       large, in_megabytes(sum_of(memory_parts(other))));
}

// The numbers of "KEY VALUE" or "KEY: VALUE kB" lines.
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
// Version 1's value for "no limit", rounded to a page.
constexpr std::uint64_t no_limit = std::uint64_t{1} << 62;

// A hierarchy of cgroups that limits memory, and the place of this process in it.
struct Hierarchy {
    const CgroupFiles* files;
    std::string mount;  // folder
    std::string path;   // below it, "/a/b", or empty
};

// The path of this process in each hierarchy, from /proc/self/cgroup; "" is version 2.
std::map<std::string, std::string> cgroup_paths(const std::string& root) {
    std::map<std::string, std::string> paths;
    std::ifstream file(root + "/proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {  // "4:memory:/a/b", "0::/a/b"
        const std::size_t first = line.find(':');
        const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
        if (second == line.npos) continue;
        for (const std::string& controller : split(line.substr(first + 1, second - first - 1), ','))
            paths[controller] = line.substr(second + 1);
    }
    return paths;
}

std::vector<Hierarchy> hierarchies(const std::string& root) {
    const auto paths = cgroup_paths(root);
    std::vector<Hierarchy> found;
    std::ifstream file(root + "/proc/self/mountinfo");
    for (std::string line; std::getline(file, line);) {
        // "ID PARENT DEVICE ROOT MOUNT OPTIONS... - TYPE SOURCE OPTIONS"
        const Words words = split(line, ' ');
        const auto dash = std::find(words.begin(), words.end(), "-");
        if (words.size() < 5 || words.end() - dash < 4) continue;
        const Words options = split(dash[3], ',');
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

std::vector<MemoryPart> memory_parts(const Config& config) {
    std::vector<MemoryPart> parts{packet_buffers(config)};
    const Fib::Sizes sizes = fib_sizes(config);
    parts.push_back({"forwarding tables", 2 * Fib::bytes(sizes),
                     fmt::format("2 x ({} for IPv4, {} for IPv6)", sizes.v4.tables, sizes.v6.tables)});
    const auto ports = static_cast<unsigned>(config.ports.size());
    const SwitchMemory of_switch = switch_memory(
        config.workers, ports, switch_resources(config, nullptr, packet_demand(config).total()));
    parts.push_back(
        {"workers", of_switch.workers, fmt::format("{}: queues, inboxes, counters", config.workers)});
    if (of_switch.mailboxes != 0)
        parts.push_back({"mailboxes", of_switch.mailboxes,
                         fmt::format("{} x {} between workers", config.workers, config.workers - 1)});
    parts.push_back({"ports", of_switch.ports, fmt::format("{}: state, frames to and from control", ports)});
    if (of_switch.decisions != 0)
        parts.push_back({"decision records",
                         of_switch.decisions + DecisionJoiner::bytes(packet_demand(config).total()),
                         fmt::format("rings of {} events, records under way", decision_ring(config))});
    if (of_switch.recorder != 0)
        parts.push_back({"recorder", of_switch.recorder,
                         fmt::format("the last {} events of each port", config.decisions.recorder)});
    if (!config.mirrors.empty())
        parts.push_back(
            {"mirrors",
             std::uint64_t{config.workers} * mirror_ring_frames(config) * sizeof(MirrorRing::Frames::Slot),
             fmt::format("rings of {} frames", mirror_ring_frames(config))});
    if (of_switch.fill != 0)
        parts.push_back({"cells by queue", of_switch.fill, fmt::format("{0} x {0} ports x 1 KiB", ports)});
    parts.push_back({"program", program_bytes, "its libraries, DPDK"});
    return parts;
}

std::string in_megabytes(std::uint64_t bytes) {
    return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::uint64_t sum_of(const std::vector<MemoryPart>& parts) {
    std::uint64_t sum = 0;
    for (const MemoryPart& part : parts) sum += part.bytes;
    return sum;
}

std::string memory_account(const Config& config) {
    const auto parts = memory_parts(config);
    const std::uint64_t sum = sum_of(parts);
    std::string list;
    for (const MemoryPart& part : parts)
        if (part.bytes > sum / 100)
            list += fmt::format("{}{} {}", list.empty() ? "" : ", ", part.name, in_megabytes(part.bytes));
    return fmt::format("{} ({})", in_megabytes(sum), list);
}

std::string memory_table(const Config& config) {
    const auto parts = memory_parts(config);
    std::string text = "\nmemory (bytes)\n";
    for (const MemoryPart& part : parts)
        text += fmt::format("    {:<22}{:>22}  {}\n", part.name, part.bytes, part.formula);
    const std::uint64_t sum = sum_of(parts);
    return text + fmt::format("    {:<22}{:>22}  {}, {:.1f} times the buffer\n", "sum", sum,
                              in_megabytes(sum),
                              static_cast<double>(sum) / static_cast<double>(config.buffer_size_bytes));
}

std::vector<Finding> lint_memory(const Config& config, const Machine& machine) {
    if (!machine.memory) return {};
    lint::Findings findings(config);
    const EalOptions eal = eal_options(config);
    const auto hugepages = Eal::finds_hugepages(eal);
    if (!hugepages) return {};  // of a card: the start says it, once it has found the card
    const auto parts = memory_parts(config);
    const std::uint64_t sum = sum_of(parts);
    const std::uint64_t elsewhere = *hugepages ? parts[0].bytes + parts[1].bytes : 0;
    if (sum - elsewhere <= machine.memory->bytes) return {};
    findings.error(
        "memory", "buffer.size",
        fmt::format("the switch takes {} of memory{}, and {}", memory_account(config),
                    elsewhere != 0 ? fmt::format(", {} of it in hugepages", in_megabytes(elsewhere)) : "",
                    machine.memory->where),
        fmt::format("write a smaller size, of which each {} bytes take a packet buffer of {}, {}or "
                    "give more memory",
                    config.cell_bytes, PacketPool::bytes_each(packet_buffer_bytes(config)),
                    larger_cells(config)));
    return findings.take();
}

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

Machine this_machine() { return {std::thread::hardware_concurrency(), memory_room()}; }

}  // namespace sluice

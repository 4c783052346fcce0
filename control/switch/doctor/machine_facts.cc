#include "control/switch/doctor/machine_facts.hh"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "control/config/lint/memory.hh"
#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "dataplane/base/eal.hh"
#include "dataplane/ports/kernel_interface.hh"

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr unsigned max_cpus = 65'536;

// The first line; empty where there is no such file.
std::string line_of(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

std::uint64_t number_of(const std::string& path) {
    std::ifstream file(path);
    std::uint64_t number = 0;
    return file >> number ? number : 0;
}

std::string link_name(const std::string& path) {
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    return error ? std::string() : target.filename().string();
}

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
         at.increment(error))
        names.push_back(at->path().filename().string());
    std::sort(names.begin(), names.end());
    return names;
}

// The value of "KEY:  VALUE" in /proc/self/status.
std::string status_value(const std::string& root, std::string_view key) {
    std::ifstream file(root + "/proc/self/status");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with(key) && line.size() > key.size() && line[key.size()] == ':') {
            const std::size_t begin = line.find_first_not_of(" \t", key.size() + 1);
            return begin == line.npos ? std::string() : line.substr(begin);
        }
    return {};
}

std::uint64_t effective_capabilities(const std::string& root) {
    const std::string text = status_value(root, "CapEff");
    std::uint64_t bits = 0;
    std::from_chars(text.data(), text.data() + text.size(), bits, 16);
    return bits;
}

// The least limit up to the root of version 2's hierarchy, in CPUs; 0: none.
double cpu_quota(const std::string& root) {
    std::string path;
    std::ifstream file(root + "/proc/self/cgroup");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("0::")) path = line.substr(3);
    if (path.empty() || path.find("..") != path.npos) return 0;
    double least = 0;
    for (;; path.erase(path.rfind('/'))) {
        std::ifstream limit(root + "/sys/fs/cgroup" + path + "/cpu.max");
        double quota = 0, period = 0;
        if (limit >> quota >> period && period > 0 && (least == 0 || quota / period < least))
            least = quota / period;
        if (path.find('/') == path.npos) return least;
    }
}

std::vector<HugepagePool> hugepage_kinds(const std::string& root) {
    std::vector<HugepagePool> kinds;
    const std::string folder = root + "/sys/kernel/mm/hugepages";
    for (const std::string& name : names_in(folder)) {  // "hugepages-2048kB"
        constexpr std::string_view head = "hugepages-";
        std::uint64_t kilobytes = 0;
        if (!name.starts_with(head)) continue;
        std::from_chars(name.data() + head.size(), name.data() + name.size(), kilobytes);
        const std::string own = folder + "/" + name;
        kinds.push_back(
            {kilobytes * 1024, number_of(own + "/nr_hugepages"), number_of(own + "/free_hugepages")});
    }
    return kinds;
}

// Families of sockets that the kernel has.
void read_sockets(const std::string& root, MachineFacts& facts) {
    std::ifstream file(root + "/proc/net/protocols");
    for (std::string line; std::getline(file, line);) {
        const std::string name = line.substr(0, line.find(' '));
        if (name == "PACKET") facts.packet_sockets = true;
        if (name == "XDP") facts.xdp_sockets = true;
    }
}

NetworkCard card_of(const std::string& root, const std::string& folder, const std::string& name) {
    constexpr unsigned up = 1;  // IFF_UP
    const std::string own = folder + "/" + name;
    NetworkCard card;
    card.interface = name;
    card.driver = link_name(own + "/device/driver");
    if (!card.driver.empty()) card.pci_address = link_name(own + "/device");
    card.mtu = static_cast<unsigned>(number_of(own + "/mtu"));
    const std::string flags = line_of(own + "/flags");  // "0x1003"
    unsigned bits = 0;
    if (flags.starts_with("0x")) std::from_chars(flags.data() + 2, flags.data() + flags.size(), bits, 16);
    card.is_up = (bits & up) != 0;
    for (const std::string& queue : names_in(own + "/queues"))
        if (queue.starts_with("rx-")) ++card.receive_queues;
    const std::string node = line_of(own + "/device/numa_node");
    std::from_chars(node.data(), node.data() + node.size(), card.numa_node);
    card.owner = InterfaceClaim::owner(static_cast<unsigned>(number_of(own + "/ifindex")),
                                       root + InterfaceClaim::usual_folder);
    return card;
}

}  // namespace

std::vector<unsigned> cpu_list(std::string_view text) {
    std::vector<unsigned> cpus;
    for (const std::string& range : split(text, ',')) {
        const std::size_t dash = range.find('-');
        const auto first = parse_integer(range.substr(0, dash));
        const auto last = dash == range.npos ? first : parse_integer(range.substr(dash + 1));
        if (!first || !last || *last < *first || *last >= max_cpus) return cpus;
        for (std::uint64_t cpu = *first; cpu <= *last; ++cpu) cpus.push_back(static_cast<unsigned>(cpu));
    }
    return cpus;
}

MachineFacts machine_facts(const std::string& root) {
    MachineFacts facts;
    const std::string devices = root + "/sys/devices/system";
    facts.kernel = line_of(root + "/proc/sys/kernel/osrelease");
    facts.cpus = cpu_list(status_value(root, "Cpus_allowed_list"));
    facts.isolated = cpu_list(line_of(devices + "/cpu/isolated"));
    facts.smt = line_of(devices + "/cpu/smt/active") == "1";
    for (const unsigned node : cpu_list(line_of(devices + "/node/online")))
        facts.numa.push_back(line_of(devices + "/node/node" + std::to_string(node) + "/cpulist"));
    facts.cpu_quota = cpu_quota(root);
    facts.memory = memory_room(root);
    facts.hugepages = hugepage_kinds(root);
    facts.clock_source = line_of(devices + "/clocksource/clocksource0/current_clocksource");
    facts.sysfs_lack = Eal::lacks_of_sysfs(false, root);
    facts.sysfs_lack_of_cards = Eal::lacks_of_sysfs(true, root);
    facts.iommu = !names_in(root + "/sys/class/iommu").empty();
    std::error_code error;
    facts.vfio = fs::exists(root + "/sys/module/vfio_pci", error);
    read_sockets(root, facts);
    facts.capabilities = effective_capabilities(root);
    const std::string interfaces = root + "/sys/class/net";
    for (const std::string& name : names_in(interfaces)) {
        // The folder may have files, as bonding_masters.
        if (name != "lo" && fs::is_directory(interfaces + "/" + name, error))
            facts.cards.push_back(card_of(root, interfaces, name));
    }
    return facts;
}

}  // namespace sluice

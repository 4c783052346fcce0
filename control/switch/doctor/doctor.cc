#include "control/switch/doctor/doctor.hh"

#include <fmt/format.h>
#include <linux/capability.h>

#include <algorithm>
#include <array>

#include "control/config/compile/compile.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/wrapped.hh"
#include "dataplane/base/eal.hh"
#include "dataplane/ports/device.hh"
#include "dataplane/ports/kernel_interface.hh"
#include "dataplane/ports/pci_device.hh"
#include "dataplane/ports/port_capabilities.hh"

namespace sluice {
namespace {

struct Capability {
    std::string_view name;
    unsigned bit;
};
constexpr Capability net_raw{"CAP_NET_RAW", CAP_NET_RAW}, net_admin{"CAP_NET_ADMIN", CAP_NET_ADMIN},
    bpf{"CAP_BPF", CAP_BPF}, sys_admin{"CAP_SYS_ADMIN", CAP_SYS_ADMIN};

bool has(const MachineFacts& facts, const Capability& capability) {
    return (facts.capabilities >> capability.bit & 1U) != 0;
}

std::string lacking(const MachineFacts& facts, const std::vector<Capability>& wanted) {
    std::string names;
    for (const Capability& each : wanted)
        if (!has(facts, each)) append_item(names, " ", each.name);
    return names;
}

std::string list_text(const std::vector<unsigned>& numbers) {
    std::string text;
    for (std::size_t n = 0; n < numbers.size();) {
        std::size_t end = n + 1;
        while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
        append_item(
            text, ",",
            end - n > 1 ? fmt::format("{}-{}", numbers[n], numbers[end - 1]) : std::to_string(numbers[n]));
        n = end;
    }
    return text;
}

// Drivers of the kernel, and those of DPDK for the same cards. Other cards are asked at the start.
struct DriverPair {
    std::string_view kernel, dpdk;
};
constexpr std::array driver_pairs{
    DriverPair{"ixgbe", "net_ixgbe"},       DriverPair{"txgbe", "net_txgbe"},
    DriverPair{"ngbe", "net_ngbe"},         DriverPair{"igb", "net_e1000_igb"},
    DriverPair{"e1000", "net_e1000_em"},    DriverPair{"e1000e", "net_e1000_em"},
    DriverPair{"igc", "net_igc"},           DriverPair{"i40e", "net_i40e"},
    DriverPair{"virtio_net", "net_virtio"}, DriverPair{"virtio-pci", "net_virtio"},
    DriverPair{"vmxnet3", "net_vmxnet3"}};

// PFC of the card under DPDK, as far as known without asking its driver.
std::string pfc_of(const NetworkCard& card) {
    const auto* pair = std::find_if(driver_pairs.begin(), driver_pairs.end(),
                                    [&](const DriverPair& each) { return each.kernel == card.driver; });
    if (pair == driver_pairs.end()) return "PFC as a DPDK port: its driver is asked at the start";
    PfcAnswers answers;
    answers.is_virtual = false;
    answers.forward_is_on = true;
    const PfcAbility pfc = pfc_ability(pair->dpdk, answers);
    return fmt::format("PFC as a DPDK port: {}, {}", to_string(pfc.tx), pfc.why);
}

Diagnosis wrong(std::string what, std::string remedy) {
    return {Health::wrong, {}, std::move(what), std::move(remedy)};
}

// Splits "what; do: command".
Diagnosis refused_text(const std::string& subject, const std::string& text) {
    const std::size_t at = text.find("; do: ");
    return {Health::wrong, subject, text.substr(0, at),
            at == text.npos ? std::string() : text.substr(at + 6)};
}

Diagnosis of_cpus(const MachineFacts& facts) {
    const std::string threads = facts.smt ? ", two threads a core" : "";
    std::string what = fmt::format("{} usable: {}{}", facts.cpus.size(), list_text(facts.cpus), threads);
    if (facts.cpu_quota != 0 && facts.cpu_quota < static_cast<double>(facts.cpus.size()))
        return {
            Health::note, "CPUs",
            fmt::format("{}; a cgroup stops this process after {:.2f} CPUs, and a worker polls all the time",
                        what, facts.cpu_quota),
            "give the service CPUs of its own (AllowedCPUs=) instead of CPUQuota="};
    std::vector<unsigned> isolated;
    std::set_intersection(facts.cpus.begin(), facts.cpus.end(), facts.isolated.begin(), facts.isolated.end(),
                          std::back_inserter(isolated));
    if (isolated.empty())
        return {Health::note, "CPUs", what + "; none isolated, so other programs interrupt workers",
                "boot with isolcpus=LIST nohz_full=LIST, and name the list as cores"};
    return {Health::good, "CPUs", fmt::format("{}; isolated: {}", what, list_text(isolated)), {}};
}

Diagnosis of_numa(const MachineFacts& facts) {
    if (facts.numa.size() < 2) return {Health::good, "NUMA", "one node", {}};
    return {Health::note, "NUMA",
            fmt::format("{} nodes, with CPUs {}", facts.numa.size(), fmt::join(facts.numa, " | ")),
            "name cores of the node of the card"};
}

Diagnosis of_memory(const MachineFacts& facts) {
    if (!facts.memory) return {Health::note, "memory", "not known", {}};
    return {Health::good, "memory", facts.memory->where, {}};
}

Diagnosis of_hugepages(const MachineFacts& facts) {
    std::string text;
    for (const HugepagePool& kind : facts.hugepages)
        if (kind.pages != 0)
            append_item(
                text, ", ",
                fmt::format("{} of {} free of {} KiB", kind.free, kind.pages, kind.page_bytes / 1024));
    if (text.empty())
        return {
            Health::note, "hugepages",
            "none: real-time switches take ordinary memory, which costs some of their speed; cards of DPDK "
            "need them",
            "sysctl vm.nr_hugepages=N, with the N of: sluiced doctor --config FILE"};
    return {Health::good, "hugepages", text, {}};
}

Diagnosis of_clock(const MachineFacts& facts) {
    if (facts.clock_source.empty() || facts.clock_source == "tsc")
        return {Health::good, "clock source", facts.clock_source.empty() ? "not said" : "tsc", {}};
    return {Health::note, "clock source",
            facts.clock_source + ": reading the time may take a system call, which a worker does every turn",
            "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"};
}

Diagnosis of_iommu(const MachineFacts& facts) {
    const std::string vfio = facts.vfio ? "vfio-pci is loaded" : "vfio-pci is not loaded";
    if (facts.iommu) return {Health::good, "IOMMU", "there; " + vfio, {}};
    return {
        Health::note, "IOMMU", "none, or off: DPDK takes PCI cards without protection only; " + vfio,
        "boot with intel_iommu=on or amd_iommu=on iommu=pt; until then give cards to uio_pci_generic, since "
        "vfio-pci does not take them"};
}

// DPDK reads /sys when it starts; containers may lack parts of it.
Diagnosis of_sysfs(const MachineFacts& facts) {
    if (!facts.sysfs_lack.empty()) return refused_text("sysfs", facts.sysfs_lack);
    if (facts.sysfs_lack_of_cards.empty()) return {Health::good, "sysfs", "mounted", {}};
    Diagnosis found = refused_text("sysfs", facts.sysfs_lack_of_cards);
    found.health = Health::note;
    return found;
}

Diagnosis of_kernel(const MachineFacts& facts) {
    const auto ports = [](bool there, std::string_view name) {
        return fmt::format("{} ports: {}", name, there ? "yes" : "no");
    };
    std::string what = fmt::format("{}; {}, {}", facts.kernel, ports(facts.packet_sockets, "net_af_packet"),
                                   ports(facts.xdp_sockets, "xdp:"));
    if (facts.packet_sockets && facts.xdp_sockets) return {Health::good, "kernel", what, {}};
    return {Health::note, "kernel", what, "a kernel with CONFIG_PACKET and CONFIG_XDP_SOCKETS"};
}

Diagnosis of_rights(const MachineFacts& facts) {
    const std::string missing = lacking(facts, {net_raw, net_admin, bpf, sys_admin});
    if (missing.empty()) return {Health::good, "capabilities", "all that ports need", {}};
    return {Health::note, "capabilities",
            fmt::format("without {}: net_af_packet ports need CAP_NET_RAW, kernel.routes and TAPs "
                        "CAP_NET_ADMIN, xdp: ports CAP_BPF and CAP_SYS_ADMIN, too",
                        missing),
            "run as root, or by the service sluiced@NAME"};
}

Diagnosis of_card(const NetworkCard& card) {
    std::string what = fmt::format(
        "driver {}{}, {}, MTU {}, {}", card.driver.empty() ? "none (of the kernel alone)" : card.driver,
        card.pci_address.empty() ? "" : " at " + card.pci_address, card.is_up ? "up" : "down", card.mtu,
        print_count(card.receive_queues, "receive queue"));
    if (card.numa_node >= 0) what += fmt::format(", NUMA node {}", card.numa_node);
    if (!card.driver.empty()) what += "; " + pfc_of(card);
    if (!card.owner.empty()) what += "; a port of a switch that runs, process " + card.owner;
    return {Health::good, "interface " + card.interface, what, {}};
}

// The first problem of a port on an interface of the kernel.
Diagnosis of_interface(const PortConfig& port, const std::string& name, const MachineFacts& facts) {
    const bool is_xdp = port.device.starts_with("xdp:");
    const auto card = std::find_if(facts.cards.begin(), facts.cards.end(),
                                   [&](const NetworkCard& each) { return each.interface == name; });
    if (card == facts.cards.end())
        return wrong(fmt::format("there is no interface {}", name), "ip link show");
    if (!card->owner.empty()) return refused_text({}, InterfaceClaim::taken_text(name, card->owner));
    if (!(is_xdp ? facts.xdp_sockets : facts.packet_sockets))
        return wrong("this kernel has no sockets of its kind",
                     is_xdp ? "use net_af_packet, or a kernel with CONFIG_XDP_SOCKETS"
                            : "use a kernel with CONFIG_PACKET");
    const std::string missing =
        is_xdp ? lacking(facts, {net_raw, net_admin, bpf, sys_admin}) : lacking(facts, {net_raw});
    if (!missing.empty())
        return wrong(fmt::format("{} needs {}", port.device, missing),
                     "run as root, or grant it in the unit (AmbientCapabilities=)");
    if (is_xdp && card->receive_queues != port.rx_queues)
        return wrong(fmt::format("{} has {} receive queues, and the port takes the frames of {}", name,
                                 card->receive_queues, port.rx_queues),
                     fmt::format("ethtool -L {} combined {}, or rx_queues = {}", name, port.rx_queues,
                                 card->receive_queues));
    if (card->mtu < port.mtu)
        return wrong(fmt::format("MTU {} of {} is below the port's {}: the kernel refuses larger packets",
                                 card->mtu, name, port.mtu),
                     fmt::format("ip link set {} mtu {}", name, port.mtu));
    if (!card->is_up)
        return {Health::note,
                {},
                fmt::format("{} is down, and so will the port be", name),
                fmt::format("ip link set {} up", name)};
    return {Health::good, {}, fmt::format("{} is there, up, MTU {}", name, card->mtu), {}};
}

Diagnosis of_pci(const Config& config, const std::string& address, const MachineFacts& facts,
                 const std::string& root) {
    const PciDevice device(address, root + PciDevice::usual_folder);
    for (const std::string& obstacle : {facts.sysfs_lack_of_cards, device.obstacle()})
        if (!obstacle.empty()) return refused_text({}, obstacle);
    const HugepagePool pool = read_hugepages(root);
    if (auto lack = Eal::lacks_of_hugepages(eal_options(config), pool, pool.free_bytes()))
        return wrong(std::move(lack->wrong), std::move(lack->remedy));
    return {Health::good, {}, fmt::format("{} is handed over by {}", address, device.driver()), {}};
}

Diagnosis of_cores(const Config& config, const MachineFacts& facts) {
    for (const unsigned core : config.cores)
        if (std::find(facts.cpus.begin(), facts.cpus.end(), core) == facts.cpus.end())
            return {Health::wrong, "cores", fmt::format("CPU {} may not be used here", core),
                    fmt::format("choose of {}", list_text(facts.cpus))};
    if (config.workers >= facts.cpus.size())
        return {Health::note, "workers",
                fmt::format("{} on {} leave none to control and to other programs",
                            print_count(config.workers, "worker"), print_count(facts.cpus.size(), "CPU")),
                facts.cpus.size() > 1
                    ? fmt::format("write workers = {}, or idle_sleep", facts.cpus.size() - 1)
                    : "write idle_sleep = \"20us\""};
    return {Health::good, "workers", fmt::format("{} of {} CPUs", config.workers, facts.cpus.size()), {}};
}

}  // namespace

std::vector<Diagnosis> diagnose(const MachineFacts& facts) {
    std::vector<Diagnosis> all{of_cpus(facts),      of_numa(facts),   of_memory(facts),
                               of_hugepages(facts), of_clock(facts),  of_sysfs(facts),
                               of_iommu(facts),     of_kernel(facts), of_rights(facts)};
    for (const NetworkCard& card : facts.cards) all.push_back(of_card(card));
    return all;
}

std::vector<Diagnosis> diagnose(const Config& config, const MachineFacts& facts, const std::string& root) {
    if (!facts.sysfs_lack.empty()) return {refused_text("sysfs", facts.sysfs_lack)};
    if (config.clock != ClockKind::real_time)
        return {{Health::good, "clock", "virtual: needs nothing of the machine but memory", {}}};
    std::vector<Diagnosis> all{of_cores(config, facts)};
    if (const std::string missing = lacking(facts, {net_admin});
        !missing.empty() && (config.kernel.routes || config.kernel.has_taps()))
        all.push_back({Health::wrong, "kernel", "routes and TAPs need " + missing,
                       "run as root, or grant it in the unit (AmbientCapabilities=)"});
    for (const auto& [name, port] : config.ports) {
        const DeviceText device = parse_device(port.device);
        Diagnosis found{Health::good, {}, "a software device", {}};
        if (device.has("pci"))
            found = of_pci(config, device.pci_address, facts, root);
        else if (!device.interface.empty())
            found = of_interface(port, device.interface, facts);
        found.subject = "port " + name;
        all.push_back(std::move(found));
    }
    return all;
}

std::string doctor_text(const std::vector<Diagnosis>& found) {
    constexpr std::array<std::string_view, 3> marks{"ok", "note", "error"};
    constexpr std::size_t indent = 26, width = 130;
    std::string text;
    for (const Diagnosis& each : found) {
        text += fmt::format("{:<7}{:<18} {}\n", marks[static_cast<std::size_t>(each.health)], each.subject,
                            wrapped(each.what, indent, width));
        if (!each.remedy.empty()) text += fmt::format("{:{}}do: {}\n", "", indent, each.remedy);
    }
    return text;
}

bool is_wrong(const std::vector<Diagnosis>& found) {
    return std::any_of(found.begin(), found.end(),
                       [](const Diagnosis& each) { return each.health == Health::wrong; });
}

}  // namespace sluice

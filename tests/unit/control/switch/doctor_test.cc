#include "control/switch/doctor/doctor.hh"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "control/config/compile/compile.hh"
#include "dataplane/base/eal.hh"
#include "dataplane/base/file_descriptor.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::doctor_test {
namespace {

namespace fs = std::filesystem;

// A machine of files: two nodes, a card of each kind.
class MachineFiles {
  public:
    MachineFiles() : root_(fs::temp_directory_path() / ("sluice-doctor-" + std::to_string(getpid()))) {
        write("proc/self/status", "Name:\tx\nCapEff:\t0000000000003000\nCpus_allowed_list:\t0-3,8\n");
        write("proc/self/cgroup", "0::/a/b\n");
        write("proc/meminfo", "MemAvailable: 100000 kB\n");
        write("proc/net/protocols", "protocol  size\nPACKET    1\nXDP       2\n");
        write("proc/sys/kernel/osrelease", "6.1.0\n");
        write("sys/module/x", "");
        write("sys/devices/system/cpu/isolated", "2-3,9\n");
        write("sys/devices/system/cpu/smt/active", "1\n");
        write("sys/devices/system/node/online", "0-1\n");
        write("sys/devices/system/node/node0/cpulist", "0-3\n");
        write("sys/devices/system/node/node1/cpulist", "8-9\n");
        write("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
        write("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "8\n");
        write("sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "5\n");
        write("sys/class/iommu/dmar0/name", "x\n");
        write("sys/class/net/bonding_masters", "\n");
        card("eth1", "ixgbe", "0000:03:00.0", 9000, 1);
        card("eth2", "i40e", "0000:04:00.0", 1500, 4);
    }
    ~MachineFiles() { fs::remove_all(root_); }
    MachineFiles(const MachineFiles&) = delete;
    MachineFiles& operator=(const MachineFiles&) = delete;

    void write(const std::string& path, const std::string& text) const {
        fs::create_directories((root_ / path).parent_path());
        std::ofstream(root_ / path) << text;
    }
    void hugepages(unsigned pages, unsigned free, unsigned promised = 0) const {
        write("proc/meminfo", "MemAvailable: 100000 kB\nHugePages_Total: " + std::to_string(pages) +
                                  "\nHugePages_Free: " + std::to_string(free) + "\nHugePages_Rsvd: " +
                                  std::to_string(promised) + "\nHugepagesize: 2048 kB\n");
    }
    void card(const std::string& name, const std::string& driver, const std::string& address, unsigned mtu,
              unsigned queues) const {
        const std::string own = "sys/class/net/" + name;
        const std::string device = "sys/bus/pci/devices/" + address;
        write(device + "/class", "0x020000\n");
        write(device + "/numa_node", "1\n");
        fs::create_directories(root_ / device / "iommu_group");
        write("sys/bus/pci/drivers/" + driver + "/x", "");
        fs::create_symlink("../../drivers/" + driver, root_ / device / "driver");
        write(own + "/mtu", std::to_string(mtu) + "\n");
        write(own + "/flags", "0x1003\n");
        write(own + "/ifindex", name.substr(name.size() - 1) + "\n");
        for (unsigned n = 0; n < queues; ++n) write(own + "/queues/rx-" + std::to_string(n) + "/x", "");
        fs::create_symlink("../../../bus/pci/devices/" + address, root_ / own / "device");
    }
    std::string root() const { return root_.string(); }
    MachineFacts facts() const { return machine_facts(root()); }

  private:
    fs::path root_;
};

const Diagnosis& about(const std::vector<Diagnosis>& all, const std::string& subject) {
    static const Diagnosis none;
    for (const Diagnosis& each : all)
        if (each.subject == subject) return each;
    FAIL(("nothing about " + subject).c_str());
    return none;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

Diagnosis of_port(const MachineFiles& machine, const std::string& device, const std::string& more = {}) {
    const ConfigResult config = parse_config(
        "clock = \"real\"\n[default]\nmtu = 1500\n[port.p0]\ndevice = \"" + device + "\"\n" + more, "f");
    if (!config) FAIL(config.error().front().text().c_str());
    return about(diagnose(*config, machine.facts(), machine.root()), "port p0");
}

constexpr std::uint64_t all_capabilities = ~std::uint64_t{0};

}  // namespace

TEST_GROUP(Doctor) {
    MachineFiles machine;
    void grant(const char* mask) {
        machine.write("proc/self/status", std::string("CapEff:\t") + mask + "\nCpus_allowed_list:\t0-3,8\n");
    }
};

TEST(Doctor, ReadsWhatTheKernelShows) {
    const MachineFacts facts = machine.facts();
    CHECK((facts.cpus == std::vector<unsigned>{0, 1, 2, 3, 8}));
    CHECK((facts.isolated == std::vector<unsigned>{2, 3, 9}));
    CHECK(facts.smt && facts.iommu && facts.packet_sockets && facts.xdp_sockets && !facts.vfio);
    CHECK((facts.numa == std::vector<std::string>{"0-3", "8-9"}));
    CHECK_EQUAL(1U, facts.hugepages.size());
    CHECK_EQUAL(2048U * 1024, facts.hugepages[0].page_bytes);
    CHECK_EQUAL(5U, facts.hugepages[0].free);
    CHECK_EQUAL(2U, facts.cards.size());
    STRCMP_EQUAL("eth1", facts.cards[0].interface.c_str());
    STRCMP_EQUAL("ixgbe", facts.cards[0].driver.c_str());
    STRCMP_EQUAL("0000:03:00.0", facts.cards[0].pci_address.c_str());
    CHECK_EQUAL(1, facts.cards[0].numa_node);
    CHECK_EQUAL(4U, facts.cards[1].receive_queues);
    CHECK(facts.cards[0].is_up);
}

TEST(Doctor, AMachineThatShowsNothingIsNoFault) {
    const MachineFacts facts = machine_facts("/nowhere");
    CHECK(facts.cpus.empty() && facts.cards.empty() && facts.capabilities == 0);
    CHECK(!doctor_text(diagnose(facts)).empty());
}

TEST(Doctor, ListsOfCpusAreReadOrLeft) {
    CHECK((cpu_list("0-2,7") == std::vector<unsigned>{0, 1, 2, 7}));
    CHECK(cpu_list("").empty());
    CHECK(cpu_list("x").empty());
    CHECK(cpu_list("3-1").empty());
    CHECK(cpu_list("0-4294967295").empty());
    CHECK((cpu_list("1,2-") == std::vector<unsigned>{1}));
}

TEST(Doctor, SaysWhatTheMachineGives) {
    const auto all = diagnose(machine.facts());
    CHECK(has(about(all, "CPUs").what, "5 usable: 0-3,8, two threads a core; isolated: 2-3"));
    CHECK(has(about(all, "NUMA").what, "2 nodes, with CPUs 0-3 | 8-9"));
    CHECK(has(about(all, "hugepages").what, "5 of 8 free of 2048 KiB"));
    CHECK(about(all, "capabilities").health == Health::note);
    CHECK(has(about(all, "capabilities").what, "without CAP_BPF CAP_SYS_ADMIN"));
    CHECK(has(about(all, "interface eth1").what, "PFC as a DPDK port: software"));
    CHECK(has(about(all, "interface eth2").what, "PFC as a DPDK port: hardware"));
    CHECK(!is_wrong(all));
}

TEST(Doctor, SaysWhatCostsSpeed) {
    machine.write("sys/devices/system/cpu/isolated", "\n");
    machine.write("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
    machine.write("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0\n");
    auto all = diagnose(machine.facts());
    CHECK(has(about(all, "CPUs").remedy, "isolcpus"));
    CHECK(has(about(all, "clock source").what, "hpet"));
    CHECK(has(about(all, "hugepages").remedy, "vm.nr_hugepages"));
    machine.write("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    machine.write("sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
    all = diagnose(machine.facts());
    CHECK(has(about(all, "CPUs").what, "after 1.50 CPUs"));
}

TEST(Doctor, APortOnAnInterface) {
    CHECK(of_port(machine, "net_af_packet0,iface=eth1").health == Health::good);
    CHECK(has(of_port(machine, "net_af_packet0,iface=eth9").what, "no interface eth9"));
    CHECK(has(of_port(machine, "net_af_packet0,iface=eth2", "mtu = 1900\n").remedy,
              "ip link set eth2 mtu 1900"));
    machine.write("sys/class/net/eth1/flags", "0x1002\n");
    CHECK(of_port(machine, "net_af_packet0,iface=eth1").health == Health::note);
    grant("0000000000000000");
    CHECK(has(of_port(machine, "net_af_packet0,iface=eth1").what, "needs CAP_NET_RAW"));
    grant("000001ffffffffff");
    machine.write("proc/net/protocols", "XDP 1\n");
    CHECK(of_port(machine, "net_af_packet0,iface=eth1").health == Health::wrong);
}

TEST(Doctor, AnInterfaceThatAnotherSwitchHas) {
    struct stat network {};
    CHECK_EQUAL(0, stat("/proc/self/ns/net", &network));
    const std::string claim = "run/lock/sluice-netns-" + std::to_string(network.st_ino) + "-interface-1";
    machine.write(claim, "");
    CHECK(of_port(machine, "net_af_packet0,iface=eth1").health == Health::good);  // of one that was killed
    const FileDescriptor locked = open_locked(machine.root() + "/" + claim, O_RDONLY);
    const std::string process = std::to_string(getpid());
    const Diagnosis found = of_port(machine, "net_af_packet0,iface=eth1");
    CHECK(found.health == Health::wrong);
    STRCMP_EQUAL(("interface eth1 is a port of a switch that runs, process " + process).c_str(),
                 found.what.c_str());
    STRCMP_EQUAL("end that one first, or name another interface", found.remedy.c_str());
    CHECK(of_port(machine, "net_af_packet0,iface=eth2").health == Health::good);
    const auto all = diagnose(machine.facts());
    CHECK(has(about(all, "interface eth1").what, "; a port of a switch that runs, process " + process));
    CHECK(!has(about(all, "interface eth2").what, "a switch that runs"));
}

TEST(Doctor, APortByXdp) {
    CHECK(has(of_port(machine, "xdp:eth1").what, "needs CAP_BPF CAP_SYS_ADMIN"));
    grant("000001ffffffdfff");
    CHECK(has(of_port(machine, "xdp:eth1").what, "needs CAP_NET_RAW"));
    grant("000001ffffffffff");
    CHECK(of_port(machine, "xdp:eth1").health == Health::good);
    CHECK(has(of_port(machine, "xdp:eth2").remedy, "ethtool -L eth2 combined 1, or rx_queues = 4"));
    machine.write("proc/net/protocols", "PACKET 1\n");
    CHECK(has(of_port(machine, "xdp:eth1").what, "no sockets"));
}

TEST(Doctor, APortOnACard) {
    CHECK(has(of_port(machine, "0000:03:00.0").what, "the kernel's driver ixgbe has it"));
    CHECK(has(of_port(machine, "0000:03:00.0").remedy, "dpdk-devbind.py --bind=vfio-pci 0000:03:00.0"));
    fs::remove(fs::path(machine.root()) / "sys/bus/pci/devices/0000:03:00.0/iommu_group");
    CHECK(
        has(of_port(machine, "0000:03:00.0").remedy, "dpdk-devbind.py --bind=uio_pci_generic 0000:03:00.0"));
    machine.write("sys/module/vfio/parameters/enable_unsafe_noiommu_mode", "Y\n");
    CHECK(has(of_port(machine, "0000:03:00.0").remedy, "--bind=vfio-pci"));
    CHECK(has(of_port(machine, "0000:09:00.0").what, "no such device"));
    machine.card("gone", "vfio-pci", "0000:05:00.0", 0, 0);
    machine.hugepages(9000, 9000);
    CHECK(of_port(machine, "0000:05:00.0").health == Health::good);
    machine.hugepages(9000, 20);
    CHECK(has(of_port(machine, "0000:05:00.0").what, "MB of hugepages and 40 MB are free"));
}

TEST(Doctor, AdviceOnHugepagesIsATotalThatShrinksNoPool) {
    machine.card("gone", "vfio-pci", "0000:05:00.0", 0, 0);
    const auto advised = [&](unsigned pages, unsigned free, unsigned promised = 0) {
        machine.hugepages(pages, free, promised);
        const std::string remedy = of_port(machine, "0000:05:00.0").remedy;
        const std::string command = "sysctl vm.nr_hugepages=";
        CHECK(remedy.starts_with(command));
        return static_cast<unsigned>(std::stoul(remedy.substr(command.size())));
    };
    const unsigned need = advised(0, 0);
    CHECK(need > 32 && need < 10'000);
    CHECK_EQUAL(450 + need, advised(450, 0));
    CHECK_EQUAL(440 + need, advised(450, 10));
    CHECK_EQUAL(445 + need, advised(450, 10, 5));
    // The same number as a start.
    const ConfigResult config =
        parse_config("clock = \"real\"\n[default]\nmtu = 1500\n[port.p0]\ndevice = \"0000:05:00.0\"\n", "f");
    const HugepagePool pool = read_hugepages(machine.root());
    const auto lack = Eal::lacks_of_hugepages(eal_options(*config), pool, pool.free_bytes());
    STRCMP_EQUAL(("sysctl vm.nr_hugepages=" + std::to_string(445 + need)).c_str(), lack->remedy.c_str());
    // Enough is free for the number alone, and too little for the switch: what is there stays.
    STRCMP_EQUAL("sysctl vm.nr_hugepages=450", (HugepagePool{2U << 20, 450, 450}.command_for(1)).c_str());
}

TEST(Doctor, WorkersAndTheVirtualClock) {
    Config config;
    CHECK(has(diagnose(config, machine.facts()).front().what, "virtual"));
    config.clock = ClockKind::real_time;
    config.workers = 2;
    CHECK(diagnose(config, machine.facts()).front().health == Health::good);
    config.workers = 5;
    CHECK(diagnose(config, machine.facts()).front().health == Health::note);
    config.cores = {1, 5};
    CHECK(has(diagnose(config, machine.facts()).front().what, "CPU 5 may not be used"));
    config.cores.clear();
    config.kernel.routes = true;
    MachineFacts facts = machine.facts();
    facts.capabilities = 0;
    CHECK(about(diagnose(config, facts), "kernel").health == Health::wrong);
    facts.capabilities = all_capabilities;
    CHECK(!is_wrong(diagnose(config, facts)));
}

TEST(Doctor, TheTextHasAMarkAndTheCommand) {
    const std::string text =
        doctor_text({{Health::wrong, "port p0", "there is no interface eth9", "ip link show"}});
    STRCMP_EQUAL(
        "error  port p0            there is no interface eth9\n                          do: ip link show\n",
        text.c_str());
}

}  // namespace sluice::doctor_test

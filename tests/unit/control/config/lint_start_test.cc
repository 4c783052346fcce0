#include "control/config/lint/judge.hh"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "control/config/lint/memory.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::lint_start_test {
namespace {

Config config_of(const std::string& text) {
    const ConfigResult config = parse_config(text, "f");
    if (!config) FAIL(config.error().front().text().c_str());
    return *config;
}

std::string found(const std::string& text, const Machine& machine = {}) {
    std::string lines;
    for (const Finding& finding : lint_start(config_of(text), machine)) lines += finding.text("f") + "\n";
    return lines;
}

void finds(const std::string& start, const std::string& text, const Machine& machine = {}) {
    const std::string got = found(text, machine);
    if (start.empty())
        STRCMP_EQUAL_TEXT("", got.c_str(), text.c_str());
    else
        STRCMP_EQUAL_TEXT(start.c_str(), got.substr(0, start.size()).c_str(), text.c_str());
}

const std::string real = "clock = \"real\"\n";

}  // namespace

TEST_GROUP(LintStart){};

TEST(LintStart, refusesFramesThatAPacketBufferDoesNotTake) {
    finds("f:3:10: error: port.p1.device: the device makes frames larger than a packet buffer [device-frame]",
          real + "[port.p1]\ndevice = \"net_null0,size=2049\"");
    finds("", "[port.p1]\ndevice = \"net_null0,size=2049\"");  // nothing comes from it there
}

// Ports on interfaces of the kernel copy frames into as many packet buffers as they take.
TEST(LintStart, takesAnyMtuWithAnyPacketBufferOnAnInterface) {
    for (const char* device : {"xdp:eth1", "net_af_packet0,iface=eth1"})
        for (const int room : {768, 2048, 9216, 16384})
            for (const char* mtu : {"", "mtu = 9216\n"})
                finds("", fmt::format("{}[buffer]\npacket_buffer = {}\n[port.p1]\ndevice = \"{}\"\n{}", real,
                                      room, device, mtu));
}

TEST(LintStart, refusesTooFewTablesForTheRoutes) {
    // Steps of 8 bits from /16 on: 10.0/16 and 10.0.1/24 of the port, 10.1/16 and 255 of /24 of the routes.
    std::string routes;
    for (int n = 0; n < 255; ++n)
        routes += fmt::format("[[route]]\nprefix = \"10.1.{}.0/25\"\nvia = \"blackhole\"\n", n);
    const auto tables = [&](int count) {
        return fmt::format("[fib]\nipv4_tables = {}\n[port.p1]\naddress = [\"10.0.1.1/24\"]\n{}", count,
                           routes);
    };
    finds(
        "f:2:15: error: fib.ipv4_tables: 257 tables for longer prefixes do not hold the configuration's own, "
        "which "
        "take 258 [fib-tables]; do: write ipv4_tables = 516, or leave it out",
        tables(257));
    finds("", tables(258));
}

TEST(LintStart, refusesWhatTheMachineHasNoMemoryFor) {
    const std::string text = "[buffer]\nsize = \"1GB\"\n[port.p1]\n[port.p2]\n";
    const std::uint64_t sum = sum_of(memory_parts(config_of(text)));
    finds("", text);  // of a machine of which nothing is known
    finds("", text, {1, MemoryRoom{sum, "the machine has as much"}});
    finds(fmt::format("f:2:8: error: buffer.size: the switch takes {:.1f} MB (packet buffers ",
                      static_cast<double>(sum) / 1e6),
          text, {1, MemoryRoom{sum - 1, "the machine has less"}});
    STRCMP_CONTAINS(
        ") of memory, and the machine has less [memory]; do: write a smaller size, of which each 256 bytes "
        "take a packet buffer of 1088, or cell = 2048 and packet_buffer = 2048 under [buffer], with which it "
        "takes ",
        found(text, {1, MemoryRoom{sum - 1, "the machine has less"}}).c_str());
}

// At cells of 256 bytes a buffer costs at most five times its size.
TEST(LintStart, countsFiveTimesTheBufferAtMost) {
    const auto sum = [](int megabytes, int workers) {
        return sum_of(memory_parts(config_of(fmt::format(
            "workers = {}\n[buffer]\nsize = \"{}MB\"\n[port.p1]\n[port.p2]\n", workers, megabytes))));
    };
    for (const int workers : {1, 2}) {
        const std::uint64_t more = sum(1064, workers) - sum(64, workers);
        CHECK_TRUE(more > 4'000'000'000 && more <= 5'000'000'000);
    }
}

TEST_GROUP(MachineMemory) {
    void teardown() override { std::filesystem::remove_all(root); }

    void write(const std::string& path, const std::string& text) const {
        std::filesystem::create_directories((root + path).substr(0, (root + path).rfind('/')));
        std::ofstream(root + path) << text;
    }
    void room(std::uint64_t bytes, const std::string& where) const {
        const auto got = memory_room(root);
        CHECK_TRUE(got.has_value());
        UNSIGNED_LONGLONGS_EQUAL(bytes, got->bytes);
        STRCMP_EQUAL(where.c_str(), got->where.c_str());
    }

    std::string root = std::filesystem::temp_directory_path() / fmt::format("sluice-machine-{}", getpid());
};

TEST(MachineMemory, isWhatTheMachineHas) {
    CHECK_FALSE(memory_room(root).has_value());
    write("/proc/meminfo", "MemTotal: 4000000 kB\nMemAvailable: 3000000 kB\n");
    room(3'072'000'000, "the machine has 3072.0 MB");
}

TEST(MachineMemory, isWhatTheCgroupHasLeftUpToTheRoot) {
    write("/proc/meminfo", "MemAvailable: 3000000 kB\n");
    write("/proc/self/cgroup", "0::/a/b\n");
    write("/proc/self/mountinfo", "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n");
    const std::string of = "/sys/fs/cgroup/a/";
    write(of + "b/memory.max", "max\n");
    write(of + "b/memory.current", "1000000\n");
    room(3'072'000'000, "the machine has 3072.0 MB");
    write(of + "memory.max", "2000000000\n");
    write(of + "memory.current", "500000000\n");
    write(of + "memory.stat", "anon 100000000\ninactive_file 150000000\nactive_file 50000000\n");
    room(1'700'000'000, "the cgroup /a has 1700.0 MB of 2000.0 MB left");
    write(of + "b/memory.max", "400000000\n");
    room(399'000'000, "the cgroup /a/b has 399.0 MB of 400.0 MB left");
    write(of + "b/memory.current", "500000000\n");
    room(0, "the cgroup /a/b has 0.0 MB of 400.0 MB left");
}

TEST(MachineMemory, isWhatAContainersPartOfTheHierarchyHas) {
    write("/proc/meminfo", "MemAvailable: 3000000 kB\n");
    write("/proc/self/cgroup", "5:cpu,cpuacct:/docker/x\n4:memory:/docker/x\n0::/docker/x\n");
    write("/proc/self/mountinfo",
          "31 23 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
          "32 23 0:30 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
          "33 23 0:31 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    const std::string of = "/sys/fs/cgroup/memory/";
    write(of + "memory.limit_in_bytes", "9223372036854771712\n");
    write(of + "memory.usage_in_bytes", "5000000\n");
    room(3'072'000'000, "the machine has 3072.0 MB");
    write(of + "memory.limit_in_bytes", "1000000000\n");
    write(of + "memory.stat", "total_inactive_file 1000000\ntotal_active_file 1000000\n");
    room(997'000'000, "the cgroup / has 997.0 MB of 1000.0 MB left");
}

}  // namespace sluice::lint_start_test

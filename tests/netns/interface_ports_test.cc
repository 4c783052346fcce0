// Ports on a veth whose interface is removed and comes back again and again, under traffic: everything that a
// port takes it gives back. In a network namespace of its own. SLUICE_LONG=1: a thousand times.
#include <sched.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "dataplane/base/eal.hh"
#include "dataplane/base/packet_pool.hh"
#include "dataplane/ports/device_port.hh"
#include "tests/tries.hh"

#include "CppUTest/CommandLineTestRunner.h"
#include "CppUTest/TestHarness.h"

namespace {

using namespace sluice;

bool shell(const std::string& command) { return std::system((command + " 2>/dev/null").c_str()) == 0; }

bool make_cable() {
    return shell(
               "ip link add sw0 mtu 9000 numtxqueues 1 numrxqueues 1 type veth peer name host0 mtu 9000 "
               "numtxqueues 1 numrxqueues 1") &&
           shell(
               "ip link set sw0 addrgenmode none; ip link set host0 addrgenmode none; ip link set sw0 up; ip "
               "link set host0 up");
}

struct Held {
    std::size_t descriptors = 0, mappings = 0, kilobytes = 0;
};

Held held() {
    Held now;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
        ++now.descriptors;
    std::ifstream maps("/proc/self/maps"), status("/proc/self/status");
    for (std::string line; std::getline(maps, line);) ++now.mappings;
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:")) now.kilobytes = std::strtoul(line.c_str() + 6, nullptr, 10);
    return now;
}

int cycles() { return is_soak() ? 1000 : 6; }

Packet* frame(rte_mempool* pool, std::uint16_t bytes) {
    std::array<std::uint8_t, 9014> all{};
    all.fill(0x45);
    all[0] = 2;
    all[12] = 0x88, all[13] = 0xB5;
    return make_packet(pool, std::span(all).first(bytes), false);
}

}  // namespace

TEST_GROUP(InterfacePorts) {
    PacketPool pool{"interface_ports", 4095, 0};

    // From the other end, and to it: some stay in its rings when the interface goes.
    void exchange(Port & here, Port & there) {
        std::array<Packet*, 32> burst{};
        for (const std::uint16_t bytes : {60, 1514, 9014})
            for (Port* port : {&here, &there}) {
                for (Packet*& packet : burst) packet = frame(pool.pool(), bytes);
                const unsigned sent = port->transmit(burst);
                rte_pktmbuf_free_bulk(burst.data() + sent, static_cast<unsigned>(burst.size()) - sent);
            }
        for (Port* port : {&here, &there})
            for (unsigned n = port->receive(burst, {}); n != 0;) rte_pktmbuf_free(burst[--n]);
    }

    std::unique_ptr<DevicePort> start(const std::string& device) {
        auto port = DevicePort::start({device, {9000, pool.pool()}});
        if (!port) FAIL(port.error().c_str());
        return std::move(*port);
    }

    void goes_and_returns(const std::string& device) {
        CHECK_TRUE(make_cable());
        const auto port = start(device);
        Held warm;
        for (int n = 0; n < cycles(); ++n) {
            const auto other = start("net_af_packet0,iface=host0");
            port->poll_link();
            CHECK_TRUE(port->link_up());
            exchange(*port, *other);
            CHECK_TRUE(shell("ip link delete sw0"));
            port->poll_link();
            CHECK_TRUE(port->is_removed() && !port->link_up());
            CHECK_TRUE(port->link_cause() == LinkCause::interface_gone);
            port->release();
            other->close();
            LONGS_EQUAL(0, pool.in_use());
            CHECK_FALSE(port->has_returned());
            CHECK_TRUE(make_cable());
            CHECK_TRUE(port->has_returned());
            STRCMP_EQUAL("", port->reopen().c_str());
            if (n == 2) warm = held();
        }
        const Held now = held();
        LONGS_EQUAL(warm.descriptors, now.descriptors);
        LONGS_EQUAL(warm.mappings, now.mappings);
        CHECK_TRUE_TEXT(now.kilobytes < warm.kilobytes + 1024, std::to_string(now.kilobytes).c_str());
        port->close();
        LONGS_EQUAL(0, pool.in_use());
        CHECK_TRUE(shell("ip link delete sw0"));
    }
};

TEST(InterfacePorts, byAfPacketGiveAllBack) { goes_and_returns("net_af_packet1,iface=sw0"); }

TEST(InterfacePorts, byAfXdpGiveAllBack) { goes_and_returns("xdp:sw0"); }

int main(int argc, char** argv) {
    if (unshare(CLONE_NEWNET) != 0 || !make_cable() || !shell("ip link delete sw0")) {
        std::printf("SKIP: no network namespace with veth pairs\n");
        return 77;
    }
    EalOptions options;
    options.allow_hugepages = false;
    options.memory_bytes = std::size_t{64} << 20;
    const auto eal = Eal::start(options);
    if (!eal) {
        std::printf("%s\n", eal.error().c_str());
        return 1;
    }
    return RUN_ALL_TESTS(argc, argv);
}

// Facts about this machine from /proc and /sys, read without privileges; empty or 0 where not shown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "control/config/lint/lint.hh"
#include "dataplane/base/eal.hh"

namespace sluice {

struct NetworkCard {
    std::string interface, driver;  // of the kernel; driver empty: no device is behind the interface
    std::string pci_address;
    unsigned mtu = 0;
    unsigned receive_queues = 0;
    int numa_node = -1;  // -1: not said
    bool is_up = false;
    std::string owner;  // process of the switch that has the interface as a port; empty: none has
};

struct MachineFacts {
    std::string kernel;                   // "6.1.0-13-amd64"
    std::vector<unsigned> cpus;           // that this process may run on
    std::vector<unsigned> isolated;       // CPUs kept free of other programs
    std::vector<std::string> numa;        // CPUs of each node: "0-15"
    bool smt = false;                     // two threads share a core
    double cpu_quota = 0;                 // CPUs that a cgroup allows, 0: no limit
    std::optional<MemoryRoom> memory;     // that is left
    std::vector<HugepagePool> hugepages;  // by size
    std::string clock_source;             // "tsc"
    std::string sysfs_lack;               // a part of /sys without which nothing starts, with the remedy
    std::string sysfs_lack_of_cards;      // likewise no port on a card
    bool iommu = false;
    bool vfio = false;  // its module is there
    bool packet_sockets = false, xdp_sockets = false;
    std::uint64_t capabilities = 0;  // effective ones of this process, by bit
    std::vector<NetworkCard> cards;  // interfaces but lo, in order of names
};

// `root`: of the file system, for tests.
MachineFacts machine_facts(const std::string& root = {});

// "0-3,8" as numbers; empty for text that is not a list.
std::vector<unsigned> cpu_list(std::string_view text);

}  // namespace sluice

// The main function of every test program. SLUICE_KEEPS_MEMORY: what is tested keeps memory from its first
// use on, such as the schema of the configuration. SLUICE_NEEDS_EAL: DPDK's EAL runs meanwhile, in ordinary
// memory, with no devices and no privilege.
#include <cstdio>

#ifdef SLUICE_NEEDS_EAL
#include "dataplane/base/eal.hh"
#endif

#include "CppUTest/CommandLineTestRunner.h"
#include "CppUTest/MemoryLeakWarningPlugin.h"

int main(int argc, char** argv) {
#if defined(SLUICE_KEEPS_MEMORY) || defined(SLUICE_NEEDS_EAL)
    // CppUTest would call it a leak of the first test; the sanitizers look for leaks of ours.
    MemoryLeakWarningPlugin::turnOffNewDeleteOverloads();
#endif
#ifdef SLUICE_NEEDS_EAL
    sluice::EalOptions options;
    options.memory_bytes = std::size_t{256} << 20;
    options.allow_hugepages = false;
    const auto eal = sluice::Eal::start(options);
    if (!eal) {
        std::fprintf(stderr, "%s\n", eal.error().c_str());
        return 1;
    }
#endif
    return CommandLineTestRunner::RunAllTests(argc, argv);
}

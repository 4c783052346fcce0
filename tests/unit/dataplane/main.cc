// The tests of dataplane/ share one EAL: ordinary memory, no devices, no privilege.
#include <cstdio>

#include "dataplane/base/eal.hh"

#include "CppUTest/CommandLineTestRunner.h"
#include "CppUTest/MemoryLeakWarningPlugin.h"

#ifndef EAL_MEGABYTES
#define EAL_MEGABYTES 256
#endif

int main(int argc, char** argv) {
    // DPDK allocates where CppUTest cannot follow; the sanitizers look for leaks of ours.
    MemoryLeakWarningPlugin::turnOffNewDeleteOverloads();
    sluice::EalOptions options;
    options.memory_bytes = std::size_t{EAL_MEGABYTES} << 20;
    options.allow_hugepages = false;
    const auto eal = sluice::Eal::start(options);
    if (!eal) {
        std::fprintf(stderr, "%s\n", eal.error().c_str());
        return 1;
    }
    return CommandLineTestRunner::RunAllTests(argc, argv);
}

// EAL starts once a process, so once for all system tests.
#include <cstdio>
#include <string>

#include "dataplane/base/eal.hh"

#include "CppUTest/CommandLineTestRunner.h"
#include "CppUTest/MemoryLeakWarningPlugin.h"

int main(int argc, char** argv) {
    // DPDK keeps what it has allocated; LeakSanitizer knows better.
    MemoryLeakWarningPlugin::turnOffNewDeleteOverloads();
    sluice::EalOptions options;
    // The largest switch, 32 ports at 400G over 300 m, and gaps that others have left; touched when it is
    // used.
    options.memory_bytes = std::size_t{1024} << 20;
    options.allow_hugepages = false;
    const auto eal = sluice::Eal::start(options);
    if (!eal) {
        std::fprintf(stderr, "%s\n", eal.error().c_str());
        return 1;
    }
    return RUN_ALL_TESTS(argc, argv);
}

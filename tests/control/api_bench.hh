// A switch of two ports under an interactive virtual clock, in process, with what a client of the control
// socket may ask it: for tests of answers, and for the fuzzer. One a process, because EAL starts once.
#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "control/config/schema/config.hh"
#include "control/serve/server/api.hh"
#include "control/serve/server/rpc.hh"
#include "control/switch/running/standalone_switch.hh"
#include "dataplane/base/eal.hh"

namespace sluice {

struct ApiBench {
    static constexpr const char* text = R"(
[port.p0]
device = "net_pcap0"
address = ["10.0.0.1/24"]
[port.p1]
device = "net_pcap1"
address = ["10.0.1.1/24"]
[wred.mine]
green_min = "10KB"
green_max = "20KB"
[[neighbor]]
address = "10.0.1.2"
port = "p1"
mac = "02:00:00:00:00:02"
[decisions]
record = "ready"
)";

    static ApiBench& get() {
        static ApiBench made;
        return made;
    }

    // A client's own view: no history yet. Nothing is ever written, because there is no such folder.
    std::unique_ptr<Api> api() {
        auto made = std::make_unique<Api>(*running,
                                          Api::Options{"no folder of that name/bench.toml", {}, true, false});
        made->advance = [this](std::optional<Duration> asked) { advance(asked.value_or(microseconds(1))); };
        return made;
    }

    // As configured first, with everything up.
    void reset() {
        if (const std::string error = running->apply(config, {}); !error.empty()) fail(error);
        static_cast<void>(running->big_red_switch(false));
        for (const std::string& port : running->port_names()) {
            static_cast<void>(running->set_port(port, true));
            static_cast<void>(running->run_watchdog(port, true));
            for (ClassId queue = 0; queue < classes; ++queue)
                static_cast<void>(running->hold_queue(port, queue, false));
        }
    }

    Config config;
    std::unique_ptr<Eal> eal;
    std::unique_ptr<StandaloneSwitch> alone;
    RunningSwitch* running = nullptr;  // of `alone`

  private:
    ApiBench() : config(*parse_config(text, "bench")) {
        auto started = Eal::start(eal_options(config));
        if (!started) fail(started.error());
        eal = std::make_unique<Eal>(std::move(*started));
        auto made = StandaloneSwitch::create(config, {});
        if (!made) fail(made.error());
        alone = std::move(*made);
        running = &alone->running();
    }

    [[noreturn]] static void fail(const std::string& error) {
        std::fprintf(stderr, "no switch to test: %s\n", error.c_str());
        std::abort();
    }

    // Time passes, though no more than packets would need to leave.
    void advance(Duration asked) {
        VirtualLoop& loop = *alone->virtual_loop();
        loop.run(loop.now() + std::min(asked, microseconds(100)));
    }
};

}  // namespace sluice

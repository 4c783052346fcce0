#include "dataplane/run/real_runner.hh"

#include <pthread.h>
#include <rte_cycles.h>
#include <rte_lcore.h>
#include <rte_pause.h>
#include <sys/prctl.h>

#include <chrono>

#include "dataplane/path/egress.hh"
#include "dataplane/run/switch.hh"
#include "dataplane/run/worker.hh"

namespace sluice {

TscClock::TscClock()
    : origin_(rte_rdtsc()),
      ps_per_cycle_fixed_(static_cast<std::uint64_t>(
          (1'000'000'000'000.0L / static_cast<long double>(rte_get_tsc_hz())) * 4'294'967'296.0L)) {}

Time TscClock::now() const {
    __extension__ using Wide = unsigned __int128;
    return {static_cast<std::uint64_t>(static_cast<Wide>(rte_rdtsc() - origin_) * ps_per_cycle_fixed_ >> 32)};
}

RealRunner::RealRunner(Switch& device, std::vector<unsigned> cores, Duration idle_sleep)
    : device_(device), cores_(std::move(cores)), idle_sleep_(idle_sleep) {}

void RealRunner::start() {
    stop_.store(false, std::memory_order_relaxed);
    for (unsigned w = 0; w < device_.worker_count(); ++w)
        threads_.emplace_back([this, w] { loop(static_cast<WorkerId>(w)); });
}

// From counters alone, which any thread may read.
bool RealRunner::drained() const {
    const Ledger ledger = device_.counted();
    return ledger.queued == 0 && ledger.balanced();
}

void RealRunner::stop() {
    if (threads_.empty()) return;
    device_.shared().draining.store(true, std::memory_order_relaxed);
    for (unsigned ms = 0; ms < 1000 && !drained(); ++ms)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stop_.store(true, std::memory_order_relaxed);  // join orders later reads
    for (auto& thread : threads_) thread.join();
    threads_.clear();
}

void RealRunner::loop(WorkerId id) {
    if (id < cores_.size()) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(cores_[id], &set);
        // A container's cpuset may refuse it; the worker then floats, which is only slower.
        static_cast<void>(pthread_setaffinity_np(pthread_self(), sizeof set, &set));
    }
    pthread_setname_np(pthread_self(), ("sluice-w" + std::to_string(id)).c_str());
    // Gives the thread an lcore id, and with it a cache of the mbuf pool; without one the pool still works.
    const bool registered = rte_thread_register() == 0;
    WorkerContext& worker = device_.worker(id);
    begin_turn(worker);  // even a run of no length has a policy to stop under
    constexpr unsigned turns_between_settling = 4096;
    // Some tens of microseconds: no worker sleeps between the packets of a flow.
    constexpr unsigned idle_turns = 256;
    unsigned idle = 0;  // turns without work, in a row
    // The kernel's default adds 50 us to a sleep.
    if (idle_sleep_.ps != 0) prctl(PR_SET_TIMERSLACK, 1);
    Time now = worker.now = clock_.now();  // the first turn
    for (unsigned turns = 1; !stop_.load(std::memory_order_relaxed); ++turns) {
        const unsigned work = turn(worker, now);
        if (turns % turns_between_settling == 0) settle_pauses(worker, now);
        const Time end = clock_.now();
        worker.turns.add(work, end - now);
        now = end;
        idle = work == 0 ? idle + 1 : 0;
        if (idle_sleep_.ps != 0 && idle >= idle_turns) {
            std::this_thread::sleep_for(std::chrono::nanoseconds(idle_sleep_.ps / 1000));
            now = clock_.now();
            worker.turns.slept(now - end);
        }
    }
    for (PortContext* port : worker.own_ports)
        for (unsigned tries = 0; tries < 1000 && !release_peer(worker, *port, clock_.now()); ++tries)
            rte_pause();
    if (registered) rte_thread_unregister();
}

}  // namespace sluice

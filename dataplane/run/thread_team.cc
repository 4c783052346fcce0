#include "dataplane/run/thread_team.hh"

#include <pthread.h>
#include <rte_lcore.h>
#include <rte_pause.h>

#include <string>
#include <utility>

namespace sluice {
namespace {

constexpr unsigned max_spins = 1000;  // some 20 us

// Returns what `value` is once it is no longer `known`.
std::uint32_t await_change(const std::atomic<std::uint32_t>& value, std::uint32_t known) {
    for (unsigned n = 0; n < max_spins; ++n) {
        if (const std::uint32_t now = value.load(std::memory_order_acquire); now != known) return now;
        rte_pause();
    }
    value.wait(known, std::memory_order_acquire);
    return value.load(std::memory_order_acquire);
}

}  // namespace

ThreadTeam::ThreadTeam(unsigned threads, std::function<void(unsigned)> work) : work_(std::move(work)) {
    for (unsigned number = 1; number < threads; ++number)
        threads_.emplace_back([this, number] { serve(number); });
}

ThreadTeam::~ThreadTeam() {
    stop_ = true;
    begin_round();
    for (std::thread& thread : threads_) thread.join();
}

void ThreadTeam::begin_round() {
    // relaxed: the next line publishes it.
    at_work_.store(static_cast<std::uint32_t>(threads_.size()), std::memory_order_relaxed);
    rounds_.fetch_add(1, std::memory_order_release);
    rounds_.notify_all();
}

void ThreadTeam::run() {
    begin_round();
    work_(0);
    for (std::uint32_t left = at_work_.load(std::memory_order_acquire); left != 0;)
        left = await_change(at_work_, left);
}

void ThreadTeam::serve(unsigned number) {
    pthread_setname_np(pthread_self(), ("sluice-t" + std::to_string(number)).c_str());
    // Gives the thread an lcore id, and with it a cache of the mbuf pool; without one the pool still works.
    const bool registered = rte_thread_register() == 0;
    for (std::uint32_t round = 0;;) {
        round = await_change(rounds_, round);
        if (stop_) break;
        work_(number);
        if (at_work_.fetch_sub(1, std::memory_order_acq_rel) == 1) at_work_.notify_one();
    }
    if (registered) rte_thread_unregister();
}

}  // namespace sluice

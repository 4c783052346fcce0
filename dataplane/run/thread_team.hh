// Threads that work in rounds, each on its own part: the windows of a virtual clock on several cores. Between
// two calls of `run` all of them wait, and each sees everything that any of them has written before.
//
// A waiting thread spins for some microseconds, then sleeps, so that more threads than cores are only slow.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace sluice {

class ThreadTeam {
  public:
    // EAL runs. `work(n)` for n below `threads`, which is at least 1, throws nothing; 0 is the thread that
    // calls `run`.
    ThreadTeam(unsigned threads, std::function<void(unsigned)> work);
    ~ThreadTeam();
    ThreadTeam(const ThreadTeam&) = delete;
    ThreadTeam& operator=(const ThreadTeam&) = delete;

    unsigned threads() const { return static_cast<unsigned>(threads_.size()) + 1; }
    // Once: every thread does its part.
    void run();

  private:
    void begin_round();
    void serve(unsigned number);

    std::function<void(unsigned)> work_;
    bool stop_ = false;  // written between rounds
    // Rounds that have begun. The caller of `run` writes it, the others read it: release and acquire, so that
    // they see what was written between rounds.
    alignas(64) std::atomic<std::uint32_t> rounds_{0};
    // Threads that have not done their part of the round. All write it, the caller of `run` reads it: release
    // and acquire, so that it sees what they have written.
    alignas(64) std::atomic<std::uint32_t> at_work_{0};
    std::vector<std::thread> threads_;
};

}  // namespace sluice

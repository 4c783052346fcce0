#include "tools/sluicectl/failure.hh"

#include <poll.h>

#include <cerrno>
#include <csignal>
#include <ctime>

namespace sluice::ctl {
namespace {

volatile std::sig_atomic_t interrupted = 0;
extern "C" void on_interrupt(int) { interrupted = 1; }

// The signal is let in nowhere else, so that it never comes just before the wait that it should end. After
// another signal the rest of the time is waited again.
bool wait_on(pollfd* descriptor, std::optional<std::chrono::nanoseconds> patience) {
    constexpr std::int64_t second = 1'000'000'000;
    const std::int64_t ns = patience ? patience->count() : 0;
    const timespec time{static_cast<std::time_t>(ns / second), static_cast<long>(ns % second)};
    sigset_t mask;
    sigprocmask(SIG_SETMASK, nullptr, &mask);
    sigdelset(&mask, SIGINT);
    int ready = -1;
    do {
        ready = ppoll(descriptor, descriptor == nullptr ? 0 : 1, patience ? &time : nullptr, &mask);
        if (interrupted != 0) {
            interrupted = 0;
            throw Interrupted{};
        }
    } while (ready < 0 && errno == EINTR);
    return ready != 0;
}

}  // namespace

void catch_interrupts() {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    sigaction(SIGINT, &action, nullptr);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGINT);
    sigprocmask(SIG_BLOCK, &mask, nullptr);
}

bool wait_for_input(int fd, std::optional<std::chrono::nanoseconds> patience) {
    pollfd descriptor{fd, POLLIN, 0};
    return wait_on(&descriptor, patience);
}

void pause_for(std::chrono::nanoseconds time) { static_cast<void>(wait_on(nullptr, time)); }

}  // namespace sluice::ctl

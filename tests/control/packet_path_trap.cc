// Preloaded into sluiced (LD_PRELOAD): while a worker runs its turns, memory asked for or given back and any
// system call end the process with what it was and a backtrace.
//
// A worker's turns lie between rte_thread_register and rte_thread_unregister, in its thread. Memory is seen
// by malloc and its kin, system calls by the kernel's user dispatch (prctl(2), Linux 5.11), which a byte of
// the thread switches. SLUICE_TRAP_PROVE=memory|call does a forbidden thing as soon as it is forbidden, to
// show that this works.
#include <dlfcn.h>
#include <execinfo.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "tests/control/libc_malloc.hh"

namespace {

constexpr int dispatch_user_calls = 59;  // PR_SET_SYSCALL_USER_DISPATCH
constexpr unsigned long dispatch_on = 1;
constexpr char let_pass = 0;
constexpr char stop = 1;

// Initial-exec: to reach the others may allocate.
[[gnu::tls_model("initial-exec")]] thread_local bool armed = false;
[[gnu::tls_model("initial-exec")]] thread_local volatile char system_calls = let_pass;

void disarm() {
    system_calls = let_pass;
    armed = false;
}

[[noreturn]] void caught(const char* what, long number) {
    disarm();
    std::array<char, 128> line;
    const int length = std::snprintf(line.data(), line.size(), "\npacket path trap: %s %ld\n", what, number);
    if (write(STDERR_FILENO, line.data(), static_cast<std::size_t>(length)) != length) std::abort();
    std::array<void*, 48> frames;
    backtrace_symbols_fd(frames.data(), backtrace(frames.data(), static_cast<int>(frames.size())),
                         STDERR_FILENO);
    std::abort();
}

void forbid(const char* what, std::size_t bytes) {
    if (armed) caught(what, static_cast<long>(bytes));
}

void on_system_call(int, siginfo_t* info, void*) { caught("system call", info->si_syscall); }

bool wants_proof(const char* of) {
    const char* wanted = std::getenv("SLUICE_TRAP_PROVE");
    return wanted != nullptr && std::strcmp(wanted, of) == 0;
}

template <class Function>
Function next(const char* name) {
    return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

[[gnu::constructor]] void prepare() {
    std::array<void*, 1> frame;
    static_cast<void>(backtrace(frame.data(), 1));  // loads its libraries
    struct sigaction action {};
    action.sa_sigaction = on_system_call;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSYS, &action, nullptr);
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) {
    forbid("malloc", bytes);
    return __libc_malloc(bytes);
}
void* calloc(std::size_t count, std::size_t bytes) {
    forbid("calloc", count * bytes);
    return __libc_calloc(count, bytes);
}
void* realloc(void* memory, std::size_t bytes) {
    forbid("realloc", bytes);
    return __libc_realloc(memory, bytes);
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    forbid("aligned_alloc", bytes);
    return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
    forbid("posix_memalign", bytes);
    *out = __libc_memalign(alignment, bytes);
    return *out == nullptr ? 12 : 0;  // ENOMEM
}
void free(void* memory) {
    if (memory != nullptr) forbid("free", 0);
    __libc_free(memory);
}

int rte_thread_register() {
    const int result = next<int (*)()>("rte_thread_register")();
    const bool dispatch = prctl(dispatch_user_calls, dispatch_on, 0, 0, &system_calls) == 0;
    std::fprintf(stderr, "packet path trap: armed%s\n", dispatch ? "" : ", but not for system calls");
    armed = true;
    system_calls = dispatch ? stop : let_pass;
    if (wants_proof("memory")) {
        void* volatile memory = std::malloc(1);
        std::free(memory);
    }
    if (wants_proof("call")) static_cast<void>(getppid());
    return result;
}

void rte_thread_unregister() {
    disarm();
    std::fprintf(stderr, "packet path trap: nothing was caught\n");
    next<void (*)()>("rte_thread_unregister")();
}

}  // extern "C"

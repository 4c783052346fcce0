// Preloaded into sluiced (LD_PRELOAD): limits the memory that its main thread, which is control, may still
// allocate.
//
// The file that $SLUICE_MEMORY_LIMIT names is four 64-bit figures, shared with the test: bytes that may be
// allocated from the moment at which the test writes them, less what is freed meanwhile (negative: no limit);
// bytes that may be allocated at once, while there is a limit; how many requests for memory were refused; and
// the most bytes that were in use since then.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <malloc.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/control/libc_malloc.hh"

namespace {

struct Shared {
    std::atomic<std::int64_t> limit;
    std::atomic<std::int64_t> largest;
    std::atomic<std::int64_t> refused;
    std::atomic<std::int64_t> most;
};

Shared* shared = nullptr;
std::int64_t in_use = 0;  // of the main thread, since the limit was last written
std::int64_t limit_seen = -1;
[[gnu::tls_model("initial-exec")]] thread_local bool is_main = false;

[[gnu::constructor]] void open_shared() {
    const char* path = std::getenv("SLUICE_MEMORY_LIMIT");
    if (path == nullptr) return;
    const int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void* mapped = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (mapped == MAP_FAILED) return;
    is_main = true;
    shared = static_cast<Shared*>(mapped);
}

bool is_limited() { return is_main && shared != nullptr && shared->limit >= 0; }

bool fits(std::size_t bytes) {
    if (!is_main || shared == nullptr) return true;
    const std::int64_t limit = shared->limit;
    if (limit != limit_seen) limit_seen = limit, in_use = 0;
    const auto wanted = static_cast<std::int64_t>(bytes);
    if (limit < 0 || (wanted <= shared->largest && in_use + wanted <= limit)) return true;
    ++shared->refused;
    errno = ENOMEM;
    return false;
}

void take(std::size_t bytes) {
    in_use += static_cast<std::int64_t>(bytes);
    shared->most = std::max<std::int64_t>(shared->most, in_use);
}

void* taken(void* memory) {
    if (memory != nullptr && is_limited()) take(malloc_usable_size(memory));
    return memory;
}

void given_back(void* memory) {
    if (memory != nullptr && is_limited()) in_use -= static_cast<std::int64_t>(malloc_usable_size(memory));
}

}  // namespace

extern "C" {

void* malloc(std::size_t bytes) { return fits(bytes) ? taken(__libc_malloc(bytes)) : nullptr; }
void* calloc(std::size_t count, std::size_t bytes) {
    return fits(count * bytes) ? taken(__libc_calloc(count, bytes)) : nullptr;
}
void* realloc(void* memory, std::size_t bytes) {
    if (!fits(bytes)) return nullptr;
    given_back(memory);
    return taken(__libc_realloc(memory, bytes));
}
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
    return fits(bytes) ? taken(__libc_memalign(alignment, bytes)) : nullptr;
}
int posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
    *out = fits(bytes) ? taken(__libc_memalign(alignment, bytes)) : nullptr;
    return *out == nullptr ? ENOMEM : 0;
}
void free(void* memory) {
    given_back(memory);
    __libc_free(memory);
}

}  // extern "C"

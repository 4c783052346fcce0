#include "dataplane/base/file_descriptor.hh"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <chrono>
#include <thread>

namespace sluice {
namespace {

constexpr unsigned lock_attempts = 200;
// A process that is killed has its locks until the kernel has taken all of its memory back: half a second.
constexpr unsigned refusals = 50;
constexpr mode_t mode_of_new = 0666;  // less the process's umask

bool is_named(const struct stat& ours, const std::string& path) {
    struct stat named {};
    return lstat(path.c_str(), &named) == 0 && named.st_dev == ours.st_dev && named.st_ino == ours.st_ino;
}

}  // namespace

// Between opening and lock the owner may have removed or renamed the file: the next attempt opens the name
// again.
FileDescriptor open_locked(const std::string& path, int how) {
    for (unsigned attempt = 0, refused = 0; attempt < lock_attempts; ++attempt) {
        FileDescriptor file(open(path.c_str(), how | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode_of_new));
        if (!file) return {};
        // A file system without locks has no second owner either that could be seen.
        if (flock(file.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            if (++refused == refusals) return {};
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            continue;
        }
        struct stat ours {};
        if (fstat(file.get(), &ours) != 0) return {};
        if (!S_ISREG(ours.st_mode)) {
            errno = EEXIST;
            return {};
        }
        if (is_named(ours, path)) return file;
    }
    errno = EWOULDBLOCK;
    return {};
}

}  // namespace sluice

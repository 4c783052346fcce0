// A file descriptor that is closed with its owner.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace sluice {

class FileDescriptor {
  public:
    FileDescriptor() = default;
    explicit FileDescriptor(int number) : number_(number) {}
    ~FileDescriptor() {
        if (number_ >= 0) close(number_);
    }
    FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(number_, other.number_);
        return *this;
    }
    FileDescriptor(const FileDescriptor&) = delete;
    FileDescriptor& operator=(const FileDescriptor&) = delete;

    int get() const { return number_; }
    explicit operator bool() const { return number_ >= 0; }

  private:
    int number_ = -1;
};

// A refusal of the kernel, with its reason (errno).
inline std::string because(const std::string& what) { return what + ": " + std::strerror(errno); }

// A file with one owner, in this process or another. The kernel ends the lock (flock) with the descriptor, so
// with a killed process, too.
//
// Opens as `how` says (O_RDWR | O_CREAT, ...), follows no link, and locks. errno says why not: EWOULDBLOCK
// when another has had it for half a second, EEXIST when it is not a regular file. The owner may remove or
// rename it.
FileDescriptor open_locked(const std::string& path, int how);

}  // namespace sluice

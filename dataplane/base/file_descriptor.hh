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

// What the kernel refused, with its reason (errno).
inline std::string because(const std::string& what) { return what + ": " + std::strerror(errno); }

// A file that has one owner, in this process or another: the kernel takes its lock (flock) away with the
// descriptor, so with a process that is killed, too.
//
// Opened as `how` says (O_RDWR | O_CREAT, ...), no link followed, and locked. errno says why not: EWOULDBLOCK
// when it has an owner, for half a second, EEXIST when it is no regular file. The owner may remove or rename
// it.
FileDescriptor open_locked(const std::string& path, int how);

}  // namespace sluice

// A file that has one owner, in this process or another: the kernel takes its lock (flock) away with the
// descriptor, so with a process that is killed, too.
#pragma once

#include <string>

#include "dataplane/base/file_descriptor.hh"

namespace sluice {

// Opened as `how` says (O_RDWR | O_CREAT, ...), no link followed, and locked. errno says why not: EWOULDBLOCK
// when it has an owner, for half a second, EEXIST when it is no regular file. The owner may remove or rename
// it.
FileDescriptor open_locked(const std::string& path, int how);

}  // namespace sluice

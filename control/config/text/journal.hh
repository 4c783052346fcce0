// journald takes the priority of a line from its beginning, as sd-daemon(3) has it; other readers see no such
// mark.
#pragma once

#include <sys/stat.h>

#include <cstdio>
#include <cstdlib>

namespace sluice {

enum class Priority { error = 3, warning = 4, notice = 5, info = 6 };  // syslog's

// Whether what is written to `fd` is read by journald. A child whose stream goes elsewhere inherits the
// variable all the same.
inline bool goes_to_journal(int fd) noexcept {
    const char* stream = std::getenv("JOURNAL_STREAM");
    struct stat there {};
    unsigned long long device = 0;
    unsigned long long inode = 0;
    char rest = 0;
    return stream != nullptr && std::sscanf(stream, "%llu:%llu%c", &device, &inode, &rest) == 2 &&
           fstat(fd, &there) == 0 && there.st_dev == device && there.st_ino == inode;
}

}  // namespace sluice

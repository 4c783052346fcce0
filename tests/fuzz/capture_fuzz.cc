// Any bytes as a capture file: the frames read, and the error at the end, are libpcap's, though usual records
// are read without it. Of pcapng we read more than libpcap: it is read, and that is all.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "dataplane/base/file_descriptor.hh"
#include "tests/unit/dataplane/two_readers.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const sluice::FileDescriptor file(memfd_create("capture", MFD_CLOEXEC));
    if (!file || write(file.get(), data, size) != static_cast<ssize_t>(size)) return 0;
    const std::string path = "/proc/self/fd/" + std::to_string(file.get());
    const std::string wanted = sluice::by_libpcap(path);
    const std::string found = sluice::by_reader(path);
    if (found == wanted || (size >= 4 && std::memcmp(data, "\n\r\r\n", 4) == 0)) return 0;
    std::fprintf(stderr, "libpcap:\n%s\nours:\n%s\n", wanted.c_str(), found.c_str());
    std::abort();
}

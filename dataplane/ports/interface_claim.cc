#include "dataplane/ports/interface_claim.hh"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <utility>

#include "dataplane/base/locked_file.hh"

namespace sluice {
namespace {

// Empty where /proc does not tell the namespace.
std::string claim_path(unsigned index, const std::string& folder) {
    struct stat network {};
    if (stat("/proc/self/ns/net", &network) != 0) return {};
    return folder + "/sluice-netns-" + std::to_string(network.st_ino) + "-interface-" + std::to_string(index);
}

// The number of the process that has locked a file, as this one sees it; empty where the kernel does not say.
std::string lock_owner(const std::string& path) {
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) return {};
    std::ifstream locks("/proc/locks");  // "1: FLOCK  ADVISORY  WRITE 4711 00:19:1234 0 EOF"
    for (std::string line; std::getline(locks, line);) {
        unsigned long process = 0, inode = 0;
        unsigned major_number = 0, minor_number = 0;
        if (std::sscanf(line.c_str(), "%*u: FLOCK %*s %*s %lu %x:%x:%lu", &process, &major_number,
                        &minor_number, &inode) == 4 &&
            inode == status.st_ino && makedev(major_number, minor_number) == status.st_dev)
            return std::to_string(process);
    }
    return {};
}

}  // namespace

tl::expected<InterfaceClaim, std::string> InterfaceClaim::take(const KernelInterface& interface,
                                                               const std::string& folder) {
    InterfaceClaim claim;
    claim.path_ = claim_path(static_cast<unsigned>(interface.index()), folder);
    if (claim.path_.empty()) return claim;
    // Another user's file is found before one is made, which the kernel would refuse in a folder for all.
    claim.file_ = open_locked(claim.path_, O_RDONLY);
    if (!claim.file_ && errno == ENOENT) claim.file_ = open_locked(claim.path_, O_RDONLY | O_CREAT);
    if (claim.file_ || errno != EWOULDBLOCK) return claim;
    return tl::unexpected(taken_text(interface.name(), lock_owner(claim.path_)));
}

std::string InterfaceClaim::owner(unsigned index, const std::string& folder) {
    return lock_owner(claim_path(index, folder));
}

std::string InterfaceClaim::taken_text(const std::string& interface, const std::string& owner) {
    return "interface " + interface + " is a port of a switch that runs" +
           (owner.empty() ? "" : ", process " + owner) +
           "; do: end that one first, or name another interface";
}

InterfaceClaim& InterfaceClaim::operator=(InterfaceClaim&& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(file_, other.file_);
    return *this;
}

InterfaceClaim::~InterfaceClaim() {
    if (file_) static_cast<void>(std::remove(path_.c_str()));
}

}  // namespace sluice

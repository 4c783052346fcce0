// The right to be the port of an interface of the kernel, whatever the kind of port: two switches on one
// would double its traffic, or take each other's XDP program away. A living process has it, by a lock on a
// file below /run/lock that goes with the process. The file is named after the network namespace and the
// interface's index there: two namespaces may each have an eth0, and an interface of a new name is the same.
//
// Where the file cannot be written nobody claims anything: of XDP ports the queue then says that it is taken.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "dataplane/base/file_descriptor.hh"
#include "dataplane/ports/kernel_interface.hh"

namespace sluice {

class InterfaceClaim {
  public:
    static constexpr const char* usual_folder = "/run/lock";

    InterfaceClaim() = default;  // of nothing
    // An error's text names the owner.
    static tl::expected<InterfaceClaim, std::string> take(const KernelInterface& interface,
                                                          const std::string& folder = usual_folder);
    // The number of the process that has claimed an interface, by its index, in this network namespace;
    // nothing is claimed. Empty: nobody has, or the kernel does not say.
    static std::string owner(unsigned index, const std::string& folder = usual_folder);
    static std::string taken_text(const std::string& interface, const std::string& owner);
    InterfaceClaim(InterfaceClaim&& other) noexcept { *this = std::move(other); }
    InterfaceClaim& operator=(InterfaceClaim&& other) noexcept;
    ~InterfaceClaim();

  private:
    std::string path_;
    FileDescriptor file_;  // none: nothing is claimed
};

}  // namespace sluice

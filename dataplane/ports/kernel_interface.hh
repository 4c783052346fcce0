// A network interface of the kernel that is a port's device: by its index, so that a new name is no other
// interface.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "dataplane/base/file_descriptor.hh"
#include "lib/frame/headers.hh"

namespace sluice {

// The cause of a port's link being down.
enum class LinkCause : std::uint8_t {
    none,            // the link is up
    command,         // an operator's, or the configuration's
    interface_down,  // of the kernel: `ip link set ... down`
    no_carrier,      // the interface is up, and its peer's end or the cable is not
    interface_gone,
    device_gone,
    no_link,           // a device that is no interface of the kernel says so
    program_removed,   // of an XDP port, and it cannot be attached again
    program_replaced,  // likewise, by somebody else's, which is left alone
};

class KernelInterface {
  public:
    // Nothing where there is no such interface.
    static std::optional<KernelInterface> named(const std::string& name);

    // A device of the machine is behind the name, not the kernel alone.
    static bool is_card(const std::string& name, const std::string& folder = "/sys/class/net");

    int index() const { return index_; }
    // As it is called now; empty when it is gone.
    std::string name() const;
    // Up, whether or not with a carrier.
    bool is_up() const;
    // Nothing holds it down: up, and with a carrier.
    LinkCause link() const;
    // 0 when it is gone, and likewise of its address.
    unsigned mtu() const;
    MacAddress mac() const;

  private:
    explicit KernelInterface(int index) : index_(index) {}
    int index_;
};

// The right to be the port of an interface of the kernel, whatever the kind of port: two switches on one
// would double its traffic, or take each other's XDP program away. A living process has it, by a lock on a
// file below /run/lock that goes with the process. The file is named after the network namespace and the
// interface's index there: two namespaces may each have an eth0, and an interface of a new name is the same.
//
// Where the file cannot be written nobody claims anything: of XDP ports the queue then says that it is taken.
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

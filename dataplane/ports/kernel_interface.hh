// A network interface of the kernel that is a port's device, followed by its index through renames.
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
    no_link,           // a device that is not an interface of the kernel says so
    program_removed,   // of an XDP port, and cannot be attached again
    program_replaced,  // likewise, by another's, which stays
};

class KernelInterface {
  public:
    // Nothing where there is no such interface.
    static std::optional<KernelInterface> named(const std::string& name);

    // True when a device of the machine is behind the name.
    static bool is_card(const std::string& name, const std::string& folder = "/sys/class/net");

    int index() const { return index_; }
    // Its name now; empty when it is gone.
    std::string name() const;
    // Up, whether or not with a carrier.
    bool is_up() const;
    // `none`: up, and with a carrier.
    LinkCause link() const;
    // 0 when it is gone, and likewise of its address.
    unsigned mtu() const;
    MacAddress mac() const;

  private:
    explicit KernelInterface(int index) : index_(index) {}
    int index_;
};

// The claim on an interface of the kernel, by any kind of port: two switches on one would double its traffic,
// or remove each other's XDP program. A living process holds it, by a lock on a file below /run/lock, named
// after the network namespace and the interface's index there.
//
// Where the file cannot be written there are no claims; an XDP port's queue then says that it is taken.
class InterfaceClaim {
  public:
    static constexpr const char* usual_folder = "/run/lock";

    InterfaceClaim() = default;  // of nothing
    // An error's text names the owner.
    static tl::expected<InterfaceClaim, std::string> take(const KernelInterface& interface,
                                                          const std::string& folder = usual_folder);
    // The process that has claimed an interface, by its index, in this network namespace. Empty: none, or
    // unknown.
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

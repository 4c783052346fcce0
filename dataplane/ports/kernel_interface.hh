// A network interface of the kernel that is a port's device: by its index, so that a new name is no other
// interface.
#pragma once

#include <optional>
#include <string>

#include "dataplane/ports/link_cause.hh"
#include "lib/frame/headers.hh"

namespace sluice {

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

}  // namespace sluice

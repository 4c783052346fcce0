// A network interface of the kernel that is a port's device: by its index, so that a new name is no other
// interface.
#pragma once

#include <optional>
#include <string>

namespace sluice {

class KernelInterface {
  public:
    // Nothing where there is no such interface.
    static std::optional<KernelInterface> named(const std::string& name);

    int index() const { return index_; }
    // As it is called now; empty when it is gone.
    std::string name() const;
    // Up, and with a carrier.
    bool is_running() const;

  private:
    explicit KernelInterface(int index) : index_(index) {}
    int index_;
};

}  // namespace sluice

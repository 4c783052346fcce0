// A PCI device as the kernel shows it, before DPDK probes it.
#pragma once

#include <string>

namespace sluice {

class PciDevice {
  public:
    static constexpr const char* usual_folder = "/sys/bus/pci/devices";

    // `address` in full: "0000:03:00.0".
    explicit PciDevice(std::string address, const std::string& folder = usual_folder);

    bool is_there() const;
    // The kernel's driver of it; empty: none.
    std::string driver() const;
    // The kernel's interface of it; empty: none.
    std::string interface() const;
    // Why DPDK cannot take it, and the remedy; empty: it may.
    std::string obstacle() const;

  private:
    bool has_iommu() const;

    std::string address_;
    std::string folder_;
    std::string mode_file_;  // of vfio: whether it takes devices without an IOMMU
};

}  // namespace sluice

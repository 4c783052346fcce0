#include "dataplane/ports/pci_device.hh"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

// The kernel's drivers that hand a device over, and those that DPDK works beside (v22.11: mlx4, mlx5).
constexpr std::array<std::string_view, 5> usable{"vfio-pci", "uio_pci_generic", "igb_uio", "mlx4_core",
                                                 "mlx5_core"};

constexpr std::string_view class_of_networks = "0x02";

}  // namespace

PciDevice::PciDevice(std::string address, const std::string& folder)
    : address_(std::move(address)),
      folder_(folder + "/" + address_),
      mode_file_(folder + "/../../../module/vfio/parameters/enable_unsafe_noiommu_mode") {}

bool PciDevice::is_there() const {
    std::error_code error;
    return fs::exists(folder_, error);
}

std::string PciDevice::driver() const {
    std::error_code error;
    const fs::path target = fs::read_symlink(folder_ + "/driver", error);
    return error ? std::string() : target.filename().string();
}

std::string PciDevice::interface() const {
    const auto first_in = [](const fs::path& folder) {
        std::error_code error;
        const fs::directory_iterator first(folder, error);
        return error || first == fs::directory_iterator() ? std::string() : first->path().filename().string();
    };
    std::string name = first_in(folder_ + "/net");
    // A virtio device is between the card and its interface.
    std::error_code error;
    for (fs::directory_iterator at(folder_, error); name.empty() && !error && at != fs::directory_iterator();
         at.increment(error))
        if (at->path().filename().string().starts_with("virtio")) name = first_in(at->path() / "net");
    return name;
}

// vfio-pci needs an IOMMU, except in a mode that Debian's kernel lacks.
bool PciDevice::has_iommu() const {
    std::error_code error;
    if (fs::exists(folder_ + "/iommu_group", error)) return true;
    std::string mode;
    std::ifstream(mode_file_) >> mode;
    return mode == "Y";
}

std::string PciDevice::obstacle() const {
    if (!is_there()) return "there is no such device; do: choose one of: dpdk-devbind.py --status-dev net";
    std::string kind;
    std::ifstream(folder_ + "/class") >> kind;
    if (!kind.starts_with(class_of_networks))
        return "it is not a network card (class " + (kind.empty() ? "unknown" : kind) +
               "); do: choose one of: dpdk-devbind.py --status-dev net";
    const std::string owner = driver();
    if (std::ranges::find(usable, owner) != usable.end()) return {};
    const std::string taker = has_iommu() ? "vfio-pci" : "uio_pci_generic";
    const std::string bind = "do: modprobe " + taker + "; dpdk-devbind.py --bind=" + taker + " " + address_ +
                             ", or: driverctl set-override " + address_ + " " + taker;
    if (owner.empty()) return "no driver of the kernel has it; " + bind;
    const std::string name = interface();
    return "the kernel's driver " + owner + " has it" +
           (name.empty() ? "" : ", as interface " + name + ", which will be gone") + "; " + bind;
}

}  // namespace sluice

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

// Drivers of the kernel that hand a device over whole, and those that DPDK works beside (v22.11: mlx4, mlx5).
constexpr std::array<std::string_view, 3> handing_over{"vfio-pci", "uio_pci_generic", "igb_uio"};
constexpr std::array<std::string_view, 2> beside{"mlx4_core", "mlx5_core"};

constexpr std::string_view class_of_networks = "0x02";

template <std::size_t Size>
bool is_in(const std::array<std::string_view, Size>& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
}

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

// vfio-pci takes no other device, but in the mode without an IOMMU that a kernel may have; Debian's has none.
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
        return "it is no network card (class " + (kind.empty() ? "unknown" : kind) +
               "); do: choose one of: dpdk-devbind.py --status-dev net";
    const std::string owner = driver();
    if (is_in(handing_over, owner) || is_in(beside, owner)) return {};
    const std::string taker = has_iommu() ? "vfio-pci" : "uio_pci_generic";
    const std::string bind = "do: modprobe " + taker + "; dpdk-devbind.py --bind=" + taker + " " + address_ +
                             ", or: driverctl set-override " + address_ + " " + taker;
    if (owner.empty()) return "no driver of the kernel has it; " + bind;
    const std::string name = interface();
    return "the kernel's driver " + owner + " has it" +
           (name.empty() ? "" : ", as interface " + name + ", which will be gone") + "; " + bind;
}

}  // namespace sluice

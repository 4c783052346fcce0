#include "dataplane/ports/pci_device.hh"

#include "dataplane/ports/device.hh"
#include "dataplane/ports/kernel_interface.hh"

#include "tests/unit/nic/fake_ethdev.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::pci_device_test {
namespace {

const std::string address = "0000:03:00.0";

}  // namespace

TEST_GROUP(PciDevice) {
    fake::Machine machine;
    void setup() override { machine.plug(address); }
    std::string obstacle(const std::string& of = address) const {
        return PciDevice(of, machine.folder()).obstacle();
    }
};

TEST(PciDevice, saysThatThereIsNone) {
    STRCMP_EQUAL("there is no such device; do: choose one of: dpdk-devbind.py --status-dev net",
                 obstacle("0000:04:00.0").c_str());
    STRCMP_CONTAINS("no such device", PciDevice(address, "/nowhere").obstacle().c_str());
}

TEST(PciDevice, saysWhatIsNoNetworkCard) {
    machine.set_class(address, "0x010802");
    STRCMP_CONTAINS("it is not a network card (class 0x010802)", obstacle().c_str());
    machine.set_class(address, "");
    STRCMP_CONTAINS("(class unknown)", obstacle().c_str());
}

TEST(PciDevice, saysWhoHasItAndWhatToDo) {
    machine.bind(address, "");
    STRCMP_EQUAL(
        "no driver of the kernel has it; do: modprobe vfio-pci; dpdk-devbind.py --bind=vfio-pci "
        "0000:03:00.0, or: driverctl set-override 0000:03:00.0 vfio-pci",
        obstacle().c_str());
    machine.bind(address, "ixgbe");
    STRCMP_CONTAINS("the kernel's driver ixgbe has it; do: ", obstacle().c_str());
    machine.bind(address, "ixgbe", "enp3s0");
    STRCMP_CONTAINS("the kernel's driver ixgbe has it, as interface enp3s0, which will be gone; do: modprobe",
                    obstacle().c_str());
}

TEST(PciDevice, namesADriverThatTakesItWithoutAnIommu) {
    machine.bind(address, "e1000");
    std::filesystem::remove(machine.folder() + "/" + address + "/iommu_group");
    STRCMP_EQUAL(
        "the kernel's driver e1000 has it; do: modprobe uio_pci_generic; dpdk-devbind.py "
        "--bind=uio_pci_generic 0000:03:00.0, or: driverctl set-override 0000:03:00.0 uio_pci_generic",
        obstacle().c_str());
}

TEST(PciDevice, findsTheInterfaceBehindAVirtioDevice) {
    machine.bind(address, "virtio-pci");
    std::filesystem::create_directories(machine.folder() + "/" + address + "/virtio2/net/eth0");
    STRCMP_CONTAINS("the kernel's driver virtio-pci has it, as interface eth0, which will be gone",
                    obstacle().c_str());
}

TEST(PciDevice, canBeTriedWhereTheKernelHandsItOverOrStaysBeside) {
    for (const char* driver : {"vfio-pci", "uio_pci_generic", "igb_uio", "mlx4_core", "mlx5_core"}) {
        machine.bind(address, driver, driver[0] == 'm' ? "enp3s0np0" : "");
        STRCMP_EQUAL_TEXT("", obstacle().c_str(), driver);
    }
}

TEST(PciDevice, isBehindAnInterfaceOfTheKernelOrNot) {
    std::filesystem::create_directories(machine.folder() + "/enp3s0/device");
    std::filesystem::create_directories(machine.folder() + "/veth0");
    CHECK_TRUE(KernelInterface::is_card("enp3s0", machine.folder()));
    CHECK_FALSE(KernelInterface::is_card("veth0", machine.folder()));
    CHECK_FALSE(KernelInterface::is_card("none", machine.folder()));
}

TEST(PciDevice, isNamedInFullByADeviceString) {
    STRCMP_EQUAL("0000:03:00.0", parse_device("3:00.0,representor=0").pci_address.c_str());
    STRCMP_EQUAL("pci", parse_device("0000:03:00.0").driver.c_str());
    for (const char* other : {"net_null0", "xdp:eth1", "03:00.9", ""})
        STRCMP_EQUAL_TEXT("", parse_device(other).pci_address.c_str(), other);
}

}  // namespace sluice::pci_device_test

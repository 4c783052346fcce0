#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>

#include "tests/unit/nic/fake_ethdev.hh"

namespace fake {

namespace fs = std::filesystem;

Machine* Machine::current = nullptr;

int Card::answer(const char* function) {
    const std::lock_guard lock(mutex);
    calls.emplace_back(function);
    const auto found = fails.find(function);
    if (removed) return -EIO;
    return found != fails.end() ? found->second : 0;
}

std::size_t Card::count(const std::string& function) const {
    const std::lock_guard lock(mutex);
    return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), function));
}

void Card::tell(rte_eth_event_type event) {
    std::vector<Callback> now;
    {
        const std::lock_guard lock(mutex);
        now = callbacks;
    }
    for (const Callback& callback : now)
        if (callback.event == event) callback.function(id, event, callback.argument, nullptr);
}

void Card::set_link(bool up, std::uint32_t mbps) {
    {
        const std::lock_guard lock(mutex);
        link.link_status = up ? 1 : 0;
        link.link_speed = mbps;
    }
    if (conf.intr_conf.lsc == 0 || !link_interrupt_comes) return;
    told_link = link;
    tell(RTE_ETH_EVENT_INTR_LSC);
}

void Card::pull() {
    Machine::current->unplug(address);
    {
        const std::lock_guard lock(mutex);
        removed = true;
    }
    if (conf.intr_conf.rmv != 0) tell(RTE_ETH_EVENT_INTR_RMV);
}

void Card::request() {
    const auto now = device_callbacks;
    for (const auto& [function, argument] : now) function(address.c_str(), RTE_DEV_EVENT_REMOVE, argument);
}

Machine::Machine() {
    std::string name = (fs::temp_directory_path() / "fake_pci_XXXXXX").string();
    folder_ = mkdtemp(name.data());
    current = this;
}

Machine::~Machine() {
    current = nullptr;
    std::error_code error;
    fs::remove_all(folder_, error);
}

Card& Machine::plug(const std::string& address) {
    cards_.push_back(std::make_unique<Card>(address));
    replug(address);
    return *cards_.back();
}

void Machine::unplug(const std::string& address) { fs::remove_all(folder_ / address); }

void Machine::replug(const std::string& address) {
    fs::create_directories(folder_ / address);
    set_class(address, "0x020000");
    fs::create_directories(folder_ / address / "iommu_group");
    bind(address, "vfio-pci");
    find(address)->removed = false;
}

void Machine::bind(const std::string& address, const std::string& driver, const std::string& interface) {
    const fs::path link = folder_ / address / "driver";
    fs::remove(link);
    if (!driver.empty()) fs::create_symlink("../../../bus/pci/drivers/" + driver, link);
    fs::remove_all(folder_ / address / "net");
    if (!interface.empty()) fs::create_directories(folder_ / address / "net" / interface);
}

void Machine::set_class(const std::string& address, const std::string& value) {
    std::ofstream(folder_ / address / "class") << value << '\n';
}

Card* Machine::find(const std::string& address) {
    const auto found = std::find_if(cards_.begin(), cards_.end(),
                                    [&](const auto& card) { return card->address == address; });
    return found != cards_.end() ? found->get() : nullptr;
}

Card* Machine::probed(std::uint16_t id) {
    const auto found = std::find_if(cards_.begin(), cards_.end(),
                                    [&](const auto& card) { return card->probed && card->id == id; });
    return found != cards_.end() ? found->get() : nullptr;
}

}  // namespace fake

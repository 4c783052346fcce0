#include "control/switch/running/standalone_switch.hh"

#include <fmt/format.h>

#include <numeric>
#include <thread>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/switch/running/virtual_ports.hh"
#include "dataplane/ports/device.hh"

namespace sluice {

std::string StandaloneSwitch::unusable_cards(const Config& config, const std::string& pci_folder) {
    std::string errors;
    for (const auto& [name, port] : config.ports) {
        const DeviceText device = parse_device(port.device);
        if (config.clock != ClockKind::real_time || !device.has("pci")) continue;
        if (const std::string why = PciDevice(device.pci_address, pci_folder).obstacle(); !why.empty())
            append_item(errors, "\n",
                        fmt::format("port {}: device {}: {}", name, in_quotes(port.device), why));
    }
    return errors;
}

tl::expected<std::unique_ptr<StandaloneSwitch>, std::string> StandaloneSwitch::create(
    const Config& config, const StandaloneOptions& options) {
    std::unique_ptr<StandaloneSwitch> made(new StandaloneSwitch);
    if (std::string error = made->open(config, options); !error.empty())
        return tl::unexpected(std::move(error));
    return made;
}

StandaloneSwitch::~StandaloneSwitch() {
    if (real_) real_->stop();
}

std::string StandaloneSwitch::open(const Config& config, const StandaloneOptions& options) {
    const bool is_virtual = config.clock == ClockKind::virtual_time;
    if (is_virtual) {
        auto captures = VirtualPorts::create(config);
        if (!captures) return captures.error();
        surroundings_ = std::move(*captures);
    } else {
        auto devices = DevicePorts::create(config, options.force, options.pci_folder);
        if (!devices) return devices.error();
        devices_ = devices->get();
        surroundings_ = std::move(*devices);
    }
    auto running = RunningSwitch::create(config, options.running, *surroundings_);
    if (!running) return running.error();
    running_ = std::move(*running);
    if (is_virtual) {
        virtual_ = std::make_unique<VirtualLoop>(std::vector{running_.get()}, config.virtual_turn,
                                                 LoopWindows{.instants = 16});
        return {};
    }
    std::vector<unsigned> cores = config.cores;
    if (cores.empty() && std::thread::hardware_concurrency() > config.workers) {
        cores.resize(config.workers);
        std::iota(cores.begin(), cores.end(), 1U);
    }
    real_ = std::make_unique<RealRunner>(running_->device(), cores, config.idle_sleep);
    running_->clock().set(*real_);
    return {};
}

}  // namespace sluice

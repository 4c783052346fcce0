#include "control/switch/running/virtual_ports.hh"

#include <utility>

#include "control/config/compile/compile.hh"
#include "control/switch/running/running_switch.hh"
#include "dataplane/peers/capture_port.hh"
#include "dataplane/ports/device.hh"

namespace sluice {

tl::expected<ScannedCaptures, std::string> scan_captures(const Config& config) {
    ScannedCaptures scanned;
    for (const auto& [name, port] : config.ports) {
        const DeviceText device = parse_device(port.device);
        for (const std::string& file : device.rx_pcaps) {
            const auto capture = CaptureReader::scan(file);
            if (!capture) return tl::unexpected("port " + name + ": " + capture.error());
            if (capture->packets == 0)
                scanned.notes.emplace_back("empty_capture",
                                           "port " + name + ": " + file + " holds no frames");
            else
                scanned.span.add(file, capture->stamps);
            for (const std::string& note : capture->notes)
                scanned.notes.emplace_back("partial_capture", "port " + name + ": " + file + ": " + note);
        }
    }
    return scanned;
}

tl::expected<std::unique_ptr<VirtualPorts>, std::string> VirtualPorts::create(const Config& config) {
    auto scanned = scan_captures(config);
    if (!scanned) return tl::unexpected(scanned.error());
    if (std::string error = scanned->span.too_long(); !error.empty()) return tl::unexpected(std::move(error));
    return std::unique_ptr<VirtualPorts>(new VirtualPorts(config, std::move(*scanned)));
}

VirtualPorts::VirtualPorts(const Config& config, ScannedCaptures scanned)
    : notes_(std::move(scanned.notes)),
      timeline_(scanned.span.timeline()),
      hosts_(host_port_specs(config, effective_qos(config)), config.hosts) {}

tl::expected<std::unique_ptr<Port>, std::string> VirtualPorts::open(const std::string& name,
                                                                    const PortConfig& port,
                                                                    const Config& config, rte_mempool* pool) {
    const auto failed = [&](const std::string& error) {
        return tl::unexpected("port " + name + ": " + error);
    };
    if (hosts_.has(name)) {
        auto opened = hosts_.open(name, port, pool, timeline_);
        if (!opened) return failed(opened.error());
        return opened;
    }
    const DeviceText device = parse_device(port.device);
    CapturePortSpec spec{device.rx_pcaps.empty() ? std::string{} : device.rx_pcaps.back(),
                         device.tx_pcap,
                         &timeline_,
                         port.speed,
                         pool,
                         config.virtual_ring_frames,
                         peer_delay(port),
                         class_map(map_of(config, port), port)};
    auto opened = CapturePort::open(spec);
    if (!opened) return failed(opened.error());
    return std::move(*opened);
}

std::string VirtualPorts::join(RunningSwitch& running) {
    running_ = &running;
    for (const auto& [kind, text] : notes_) running.events().note(kind, text);
    if (std::string text = shortened_text(timeline_); !text.empty())
        running.events().note("capture_gaps", std::move(text));
    return {};
}

}  // namespace sluice

#include "control/switch/running/virtual_ports.hh"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "control/config/compile/compile.hh"
#include "control/config/schema/values.hh"
#include "dataplane/peers/capture_port.hh"
#include "dataplane/ports/device.hh"

namespace sluice {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::uint64_t day_ns = 86'400 * second_ns;

std::string date(std::uint64_t stamp_ns) {
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC",
                       fmt::gmtime(static_cast<std::time_t>(stamp_ns / second_ns)));
}

std::string days(std::uint64_t ns) {
    if (ns < day_ns) return fmt::format("{:.1f} hours", static_cast<double>(ns) / 3600e9);
    return fmt::format("{:.1f} days", static_cast<double>(ns) / 86'400e9);
}

std::uint64_t first_of(const StampRanges& stamps) { return stamps.all().begin()->first; }
std::uint64_t last_of(const StampRanges& stamps) { return stamps.all().rbegin()->second; }

void add(ScannedCaptures& scanned, const std::string& file, const StampRanges& stamps) {
    if (scanned.first_file.empty() || first_of(stamps) < first_of(scanned.stamps)) scanned.first_file = file;
    if (scanned.last_file.empty() || last_of(stamps) > last_of(scanned.stamps)) scanned.last_file = file;
    scanned.stamps.add(stamps);
}

// An error's text that names the first and the last file and the remedy, or empty.
std::string too_long(const ScannedCaptures& scanned) {
    constexpr std::uint64_t max_days = 100;
    const std::uint64_t span_ns = CaptureTimeline(scanned.stamps).span_ns();
    if (span_ns <= max_days * day_ns) return {};
    const std::string begins = date(first_of(scanned.stamps)), ends = date(last_of(scanned.stamps));
    const std::string first = in_quotes(scanned.first_file, 200), last = in_quotes(scanned.last_file, 200);
    const bool is_one = scanned.first_file == scanned.last_file;
    return fmt::format(
        "{} {}, with every gap above an hour counted as an hour; at most {} days are allowed; do: take a "
        "part of it with editcap -A START -B STOP{}",
        is_one ? fmt::format("{} begins at {} and ends at {}:", first, begins, ends)
               : fmt::format("{} begins at {} and {} ends at {}:", first, begins, last, ends),
        days(span_ns), max_days,
        is_one ? "" : ", or shift a file whose clock is wrong with editcap -t SECONDS");
}

// "3 gaps ... are shortened", for an event; empty without gaps.
std::string shortened_text(const CaptureTimeline& timeline) {
    const std::size_t gaps = timeline.shortened_gaps();
    if (gaps == 0) return {};
    return fmt::format("{} above an hour, common to all captures, {} shortened to an hour{}: {} left out",
                       print_count(gaps, "gap"), gaps == 1 ? "is" : "are", gaps == 1 ? "" : " each",
                       days(timeline.removed_ns()));
}

}  // namespace

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
                add(scanned, file, capture->stamps);
            for (const std::string& note : capture->notes)
                scanned.notes.emplace_back("partial_capture", "port " + name + ": " + file + ": " + note);
        }
    }
    return scanned;
}

tl::expected<std::unique_ptr<VirtualPorts>, std::string> VirtualPorts::create(const Config& config) {
    auto scanned = scan_captures(config);
    if (!scanned) return tl::unexpected(scanned.error());
    if (std::string error = too_long(*scanned); !error.empty()) return tl::unexpected(std::move(error));
    return std::unique_ptr<VirtualPorts>(new VirtualPorts(config, std::move(*scanned)));
}

VirtualPorts::VirtualPorts(const Config& config, ScannedCaptures scanned)
    : notes_(std::move(scanned.notes)),
      timeline_(scanned.stamps),
      hosts_(host_port_specs(config, effective_qos(config)), config.hosts) {}

tl::expected<std::unique_ptr<Port>, std::string> VirtualPorts::open(const std::string& name,
                                                                    const PortConfig& port,
                                                                    const Config& config, rte_mempool* pool) {
    const auto named = [&](const std::string& error) { return "port " + name + ": " + error; };
    if (hosts_.has(name)) return hosts_.open(name, port, pool, timeline_).map_error(named);
    const DeviceText device = parse_device(port.device);
    CapturePortSpec spec{device.rx_pcaps.empty() ? std::string{} : device.rx_pcaps.back(),
                         device.tx_pcap,
                         &timeline_,
                         port.speed,
                         pool,
                         config.virtual_ring_frames,
                         peer_delay(port),
                         class_map(map_of(config, port), port)};
    return CapturePort::open(spec).map_error(named);
}

std::string VirtualPorts::join(RunningSwitch& running) {
    running_ = &running;
    for (const auto& [kind, text] : notes_) running.events().note(kind, text);
    if (std::string text = shortened_text(timeline_); !text.empty())
        running.events().note("capture_gaps", std::move(text));
    return {};
}

}  // namespace sluice

#include "dataplane/ports/kernel/packet_device.hh"

#include <algorithm>
#include <charconv>
#include <optional>

namespace sluice {
namespace {

std::optional<unsigned> number_in(std::string_view text, unsigned least, unsigned most) {
    unsigned number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size() || number < least || number > most)
        return std::nullopt;
    return number;
}

// An error's text, or empty.
std::string take(PacketDevice& device, std::string_view key, std::string_view value) {
    if (key == "iface") {
        device.interface = value;
        return {};
    }
    struct Range {
        std::string_view key;
        unsigned least, most;
    };
    constexpr Range ranges[] = {{"qpairs", 1, 16},
                                {"framecnt", 16, PacketDevice::max_slots},
                                {"qdisc_bypass", 0, 1},
                                {"blocksz", 1, 1U << 30},
                                {"framesz", 1, 1U << 30}};
    const auto* range = std::find_if(std::begin(ranges), std::end(ranges),
                                     [&](const Range& candidate) { return candidate.key == key; });
    if (range == std::end(ranges))
        return "it has no argument \"" + std::string(key) +
               "\"; do: write iface=NAME, and qpairs, framecnt or qdisc_bypass where they are wanted";
    const auto number = number_in(value, range->least, range->most);
    if (!number)
        return std::string(key) + "=" + std::string(value) + " is no number from " +
               std::to_string(range->least) + " to " + std::to_string(range->most) + "; do: write " +
               std::string(key) + "=" + std::to_string(std::max(range->least, 1U));
    if (key == "qpairs") device.queues = *number;
    if (key == "framecnt") device.slots = *number;
    if (key == "qdisc_bypass") device.qdisc_bypass = *number != 0;
    return {};
}

}  // namespace

tl::expected<PacketDevice, std::string> parse_packet_device(std::string_view text) {
    PacketDevice device;
    std::string_view rest = text.substr(std::min(text.find(','), text.size()));
    while (!rest.empty()) {
        rest.remove_prefix(1);
        const std::string_view argument = rest.substr(0, rest.find(','));
        rest.remove_prefix(argument.size());
        const auto equals = std::min(argument.find('='), argument.size());
        const std::string_view value = argument.substr(std::min(equals + 1, argument.size()));
        if (std::string error = take(device, argument.substr(0, equals), value); !error.empty())
            return tl::unexpected(std::move(error));
    }
    if (device.interface.empty())
        return tl::unexpected(std::string("it names no interface; do: write net_af_packet0,iface=NAME"));
    return device;
}

}  // namespace sluice

#include "control/report/figures/losses.hh"

#include <array>
#include <utility>

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

void add_loss(std::vector<Loss>& losses, const std::string& reason, const Json& packets) {
    if (packets.is_number_integer() && packets != 0) losses.push_back({reason, packets.get<std::uint64_t>()});
}

}  // namespace

std::vector<Loss> missed_of(const Json& port) {
    constexpr std::array kinds{std::pair{"imissed", "ring_overrun"}, std::pair{"rx_errors", "rx_errors"},
                               std::pair{"beyond_mtu_in_packets", "beyond_mtu"}};
    std::vector<Loss> losses;
    for (const auto& [figure, reason] : kinds) add_loss(losses, reason, port.value(figure, Json()));
    return losses;
}

std::vector<Loss> losses_of(const Json& port) {
    std::vector<Loss> losses = missed_of(port);
    for (const auto& [reason, packets] : port["drops"].items()) add_loss(losses, reason, packets);
    return losses;
}

}  // namespace sluice

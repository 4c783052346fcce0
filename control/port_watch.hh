// What becomes of the ports' devices while the switch runs: links, cards that go and come back, what their
// MACs count. Called by control now and then under the real clock; a worker is never asked to wait.
#pragma once

#include <string>
#include <vector>

#include "control/config.hh"
#include "dataplane/ethdev_port.hh"
#include "dataplane/switch.hh"

namespace sluice {

struct PortNews {
    std::string kind;  // "device_gone", ...
    std::string text;
};

class PortWatch {
  public:
    // How often a card that went is looked for, counters and modules are read.
    static constexpr Duration return_period = seconds(1);
    static constexpr Duration counter_period = seconds(1);
    static constexpr Duration module_period = seconds(10);

    // `ports` by id, and their names.
    PortWatch(std::vector<EthdevPort*> ports, std::vector<std::string> names);

    // In order of the ports.
    std::vector<PortNews> look(const Config& config, const Switch& device, Time now);
    // Ports whose MAC counts PFC frames that never reach the switch, with the reason.
    const std::vector<std::string>& broken_promises() const { return broken_; }

  private:
    enum class Place : std::uint8_t { there, going, gone };
    struct Watched {
        EthdevPort* port;
        std::string name;
        Place place = Place::there;
        Time next_try{};
        Time next_counters{};
        Time next_module{};
        std::string last_error{};
        std::string last_mismatch{};
        std::optional<std::uint64_t> first_pfc{};  // of its MAC, when it was first read
        bool seen_pfc = false;                     // that did not reach us, at the last reading
        bool swallows = false;
    };
    void look_for_device(Watched& watched, bool owner_sees_link, Time now, std::vector<PortNews>& news) const;
    void look_at_speed(Watched& watched, const Config& config, std::vector<PortNews>& news) const;
    void look_at_counters(Watched& watched, const PortContext& context, Time now,
                          std::vector<PortNews>& news);

    std::vector<Watched> ports_;
    std::vector<std::string> broken_;
};

}  // namespace sluice

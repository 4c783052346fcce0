// Watches the ports' devices under the real clock: links, cards and interfaces of the kernel that go and come
// back, the counters of cards' MACs. Control calls it periodically; workers never wait for it.
#pragma once

#include <string>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/switch/kernel/slow_path.hh"
#include "dataplane/ports/bpf/steer.hh"
#include "dataplane/ports/device_port.hh"

namespace sluice {

class Switch;
class PfcHonor;

struct PortNotice {
    std::string kind;  // "device_gone", "interface_gone", ...
    std::string text;
    bool another = false;  // another interface of the kernel is the port's device now, or none
};

class PortWatch {
  public:
    // How often it looks for a lost device, tries a refused interface, reads counters and modules, and checks
    // the programs of XDP ports.
    static constexpr Duration return_period = seconds(1);
    static constexpr Duration refused_period = seconds(10);
    static constexpr Duration counter_period = seconds(1);
    static constexpr Duration module_period = seconds(10);
    static constexpr Duration program_period = milliseconds(256);

    // `ports` by id, and their names.
    PortWatch(std::vector<DevicePort*> ports, std::vector<std::string> names);

    // In order of the ports.
    std::vector<PortNotice> find_changes(const Config& config, const Switch& device, Time now);
    // Ports whose MAC consumes PFC frames, and those that have been without their program, with the reason.
    const std::vector<std::string>& broken_promises() const { return broken_; }

  private:
    enum class Place : std::uint8_t { there, going, gone };
    struct Watched {
        DevicePort* port;
        std::string name;
        Place place = Place::there;
        Time next_try{};
        Time next_counters{};
        Time next_module{};
        Time next_program{};
        SteerPlace program = SteerPlace::here;
        bool lost_program = false;  // at any time
        std::string last_error{};
        std::string last_mismatch{};
        std::optional<std::uint64_t> first_pfc{};  // of its MAC, when it was first read
        bool seen_pfc = false;                     // that did not reach us, at the last reading
        bool swallows = false;
        bool told_segments = false;
    };
    static void look_for_device(Watched& watched, const PortConfig& config, bool owner_sees_link, Time now,
                                std::vector<PortNotice>& notice);
    void look_at_program(Watched& watched, Time now, std::vector<PortNotice>& notice);
    void look_at_speed(Watched& watched, const Config& config, std::vector<PortNotice>& notice) const;
    // Checks the driver's promise to receive frames into several packet buffers (scattered_receive).
    static void look_for_segments(Watched& watched, const PortConfig& config,
                                  std::vector<PortNotice>& notice);
    void look_at_counters(Watched& watched, const PfcHonor& honor, Time now, std::vector<PortNotice>& notice);

    std::vector<Watched> ports_;
    std::vector<std::string> broken_;
};

// Watches the ports' TAPs, and makes a deleted one again.
class TapWatch {
  public:
    // The least time between two makings of a TAP, so that repeated deletes do not keep control busy.
    static constexpr Duration make_period = seconds(1);

    // In order of the ports.
    std::vector<PortNotice> find_changes(SlowPath& slow_path, const ServedSwitch& of);

  private:
    struct Watched {
        bool is_gone = false;
        Time next_make{};
        std::string last_error{};
    };
    std::vector<Watched> taps_;  // by port
};

}  // namespace sluice

// Frames that a device of DPDK received and did not hand over, by rte_eth_stats and the driver's extended
// statistics. Read by control, never by a worker.
//
// `missed` is imissed + rx_nombuf: no room in a ring, no packet buffer. `errors` is all else. Drivers count a
// lost frame in one place or several, so errors are the largest of ierrors, its sum by queues, and any
// extended counter beyond `missed`; counters of a MAC that rte_eth_stats leaves out are added.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// The kind of an extended counter, by its name. `seen`: its lost frames may be among those of rte_eth_stats;
// `apart`: they are not.
enum class LossCounter : std::uint8_t { none, seen, apart };
LossCounter loss_counter(std::string_view xstat);

class ReceiveLosses {
  public:
    struct Count {
        std::uint64_t missed = 0, errors = 0;
    };
    // Adds the losses of this device, which counts from 0, to those before it.
    void follow(std::uint16_t device);
    // Counts never fall; they stay where the device does not answer.
    void read();
    const Count& count() const { return count_; }
    // Errors by receive queue, where the driver counts them so: 0 beyond.
    std::uint64_t errors_at(unsigned queue) const { return queue < at_.size() ? at_[queue] : 0; }

  private:
    struct Named {                       // one for each of `ids_`
        std::optional<std::size_t> sum;  // of `seen_`: those whose names differ in numbers alone; none: apart
        std::optional<unsigned> queue;
    };
    std::uint16_t device_ = 0;
    std::vector<Named> named_;
    std::vector<std::uint64_t> ids_;
    std::size_t sums_ = 0;
    Count count_, before_;  // `before_`: of the devices before this one
    std::vector<std::uint64_t> at_, at_before_;
};

// A driver's extended statistics (xstats), by id. Read by control. Empty: none, or they changed meanwhile.
std::vector<std::string> extended_names(std::uint16_t device);

// The values of these ids; empty: the device does not answer.
std::vector<std::uint64_t> extended_values(std::uint16_t device, std::span<const std::uint64_t> ids);

}  // namespace sluice

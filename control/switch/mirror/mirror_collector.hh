// A mirror's third output: a collector somewhere in the network, to which frames go as ERSPAN
// (lib/record/erspan.hh) by the port that the switch's routes give for it.
//
// Control makes the packets and hands them to the worker of that port as it hands over its other frames. They
// are admitted there as any frame, in a lossy class: they have a place in the buffer while others leave them
// one, and pause nobody. A frame waits here only for room in that hand-off. One for which there is no way is
// lost, and so is one that finds `max_waiting` others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "control/config/schema/mirror_config.hh"
#include "control/switch/kernel/slow_path.hh"
#include "control/switch/mirror/mirror_output.hh"
#include "dataplane/path/policy.hh"

namespace sluice {

class MirrorCollector final : public MirrorOutput {
  public:
    // Frames: a mirror's burst waits, and leaves room in the hand-off for frames of others.
    static constexpr std::size_t max_waiting = 4096, max_at_once = 16;

    // `identity`: of the frames that it hands over, unique in the switch.
    explicit MirrorCollector(std::uint32_t identity) : identity_(identity) {}
    void configure(const MirrorConfig& config);
    std::uint32_t identity() const { return identity_; }
    bool is_waiting() const { return !waiting_.empty(); }
    // The neighbor on its way is to be found out for it.
    std::optional<IpAddress> unresolved() const;

    // The way to the collector as it is now; the port, while there is one.
    std::optional<PortId> find_way(const ServedSwitch& of);
    // By the way that was found last: frames that wait go to the worker. True when any did.
    bool send(const ServedSwitch& of);
    // The worker has not taken one of them, and never will.
    void take_back() { --written_, ++lost_; }

    void write(const MirroredFrame& frame) override;
    std::string state() const override;
    std::string fault() const override;
    std::string close() override;

  private:
    struct Waiting {
        MirrorHead head;
        std::uint64_t stamp_ns;
        std::vector<std::uint8_t> bytes;
    };
    struct Way {
        NextHop hop;
        IpAddress from;
        std::uint16_t mtu;
        std::string port;
    };

    std::uint32_t identity_;
    IpAddress to_;
    std::uint8_t dscp_ = 0;
    std::uint16_t session_ = 0;
    std::uint32_t sequence_ = 0;
    std::deque<Waiting> waiting_;
    std::optional<Way> way_;
    std::string obstacle_ = "not looked for yet";  // where there is no way
    DropReason drop_ = DropReason::none;           // of a frame that would go it
    bool lost_last_ = false;                       // the last frame found no way
};

}  // namespace sluice

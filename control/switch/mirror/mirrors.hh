// The mirrors of a switch: from the workers' rings to files, FIFOs and collectors (mirror_writer.hh).
//
// Control drains the rings after every step of the clock, sorts the frames of all workers, and applies each
// mirror's rate, so that under the virtual clock a file does not depend on the number of workers. A change of
// the configuration opens outputs first (one that fails changes nothing), then publishes the policy, then
// installs them. A mirror keeps its number in the policy, and its counts, while its name exists.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/switch/mirror/mirror_writer.hh"
#include "lib/clock/capture_timeline.hh"
#include "lib/queue/token_bucket.hh"
#include "lib/record/mirror_ring.hh"

namespace sluice {

class Mirrors {
  public:
    // The new outputs of a configuration, by name.
    using Outputs = std::map<std::string, std::unique_ptr<MirrorWriter>>;
    // The fate of frames that a mirror chose.
    struct Counts {
        std::uint64_t mirrored = 0;
        std::uint64_t suppressed = 0;  // above its rate
        // No room in a ring, no reader, no way to the collector, or the file could not be written.
        std::uint64_t lost = 0;
    };
    struct Status {
        std::string name;
        MirrorConfig config;
        Counts counts;
        std::string state;
    };

    // `timeline`, which outlives this: stamps on the clock of captures; null: the time of day.
    Mirrors(const Config& config, const std::vector<std::string>& ports, const CaptureTimeline* timeline);

    // An error's text: nothing is changed.
    tl::expected<Outputs, std::string> open_new(const Config& config);
    // Makes the workers' rings when they are first needed.
    MirrorPolicy policy(const Config& config);
    void configure(const Config& config, Outputs opened);

    bool is_on() const;      // any is enabled
    bool is_in_use() const;  // there is any, or has been
    // Takes frames from the workers and writes them. True when it handed any for a collector to a worker, and
    // the instant of the virtual clock must run again.
    bool serve(const ServedSwitch& of);
    // Once a round of control: looks for readers of FIFOs and routes to collectors.
    void check_outputs(const ServedSwitch& of);
    // Collectors whose neighbor is to be resolved.
    std::vector<IpAddress> unresolved() const;
    // Error texts of outputs that cannot be written any more, each once until it can be.
    std::vector<std::string> take_faults();
    // After the last turn: an error's text for each incomplete output. Frames not taken are lost.
    std::vector<std::string> close(const ServedSwitch& of);
    std::vector<Status> status() const;  // by name

  private:
    struct Mirror {
        std::string name;
        MirrorConfig config;
        std::uint32_t identity;  // among all that there have been
        Counts counts;           // `lost` is without those in the rings now, less those when it began
        std::unique_ptr<MirrorWriter> writer{};
        std::deque<MirroredFrame> waiting{};
        TokenBucket bucket{};
        Time latest{};  // of its frames
        bool fault_told = false;
    };
    using Slot = MirrorRing::Frames::Slot;
    using Numbers = std::array<std::string, max_mirrors>;  // names

    Numbers numbers(const Config& config) const;
    const Mirror* find(const std::string& name) const;
    std::uint64_t lost_in_rings(unsigned number) const;
    void drain(Time now);
    void take(const Slot& frame);
    static bool write(Mirror& mirror, const ServedSwitch& of);
    std::uint64_t stamp_of(Time at) const;
    void look_at_clock(Time now);

    std::vector<MirrorInterface> ports_;
    unsigned workers_;
    std::uint16_t ring_frames_;  // of each worker
    const CaptureTimeline* timeline_;
    std::uint64_t epoch_ns_ = 0;  // the time of day at time 0 of the switch's clock
    std::vector<std::unique_ptr<MirrorRing>> rings_;
    std::vector<MirrorRing*> ring_list_;  // of them, for the workers
    std::array<std::unique_ptr<Mirror>, max_mirrors> mirrors_;
    std::vector<Slot> frames_;        // of one drain
    std::vector<const Slot*> order_;  // of frames_
    std::uint32_t made_ = 0;          // mirrors that there have been
};

}  // namespace sluice

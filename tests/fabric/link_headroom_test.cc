// The headroom of a link between two switches: the worst that the first can do takes what is computed but for
// one frame of the worst mix, which the formula counts as the last that starts in time and as the frame just
// started. With just what it takes nothing is lost, with one cell less a packet is.
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "dataplane/path/port_context.hh"
#include "tests/sim/linked_ports.hh"
#include "tests/sim/outcomes.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::link_headroom_test {

using namespace sluice::sim;

namespace {

constexpr unsigned ports_each = LinkedPorts::ports_each;
enum : unsigned { sender, receiver, cable };

struct Case {
    std::uint64_t gigabit;
    std::uint32_t cable_m;
    std::uint32_t mtu;
    std::uint32_t cell;
    std::optional<Duration> reaction{};
    bool at_end = true;  // frames are handed over
};

IpAddress address(unsigned net, std::uint8_t host) {
    IpAddress made;
    made.bytes = {10, 0, static_cast<std::uint8_t>(net), host};
    return made;
}

// The first switch's sender sends class 3 over the cable to the second's receiver, whose queue is held; the
// second's sender sends large frames the other way, so that the PFC frame has to wait.
class LinkAttack {
  public:
    // `xoff_cells`: of the second's end of the cable; nothing: what is computed.
    LinkAttack(const Case& c, std::optional<std::uint64_t> xoff_cells, Duration shift) : case_(c) {
        for (unsigned which = 0; which < 2; ++which) {
            ports_[which] = std::make_unique<LinkedPorts>(c.at_end);
            RunningOptions options;
            static unsigned number = 0;
            options.name = "attack" + std::to_string(number++);
            options.identity = which;
            auto made = RunningSwitch::create(config_of(which, xoff_cells), options, *ports_[which]);
            if (!made) FAIL(made.error().c_str());
            switches_[which] = std::move(*made);
            choose_pools(switches_[which]->device());
        }
        LinkPort::join(*ports_[0]->link, *ports_[1]->link);
        const EffectivePort& port = switches_[1]->qos().ports.at("p5");
        computed_ = port.headroom.xoff_cells;
        wire_bytes_ = port.headroom.wire_bytes;
        worst_ = static_cast<std::uint32_t>(port.headroom.worst_frame_bytes);
        largest_ = c.mtu + 14;
        if (const std::string error = switches_[1]->hold_queue("p4", lossless, true); !error.empty())
            FAIL(error.c_str());
        Flow flow;
        flow.to = ports_each + receiver;
        flow.size = [this](Time) { return size_of(sent_++); };
        ports_[0]->hosts[sender]->add(flow);
        Flow other;
        other.dscp = other.priority = 0;
        other.to = receiver;
        other.size = [this](Time) { return largest_; };
        other.start = Time{} + shift;
        ports_[1]->hosts[sender]->add(other);
        run();
    }
    ~LinkAttack() {
        for (const auto& each : ports_) each->link->close();  // on its cable are packets of the other's pool
        for (const auto& each : switches_) each->device().empty();
    }

    std::uint64_t computed() const { return computed_; }
    std::uint64_t used() const { return group().headroom_watermark.persistent.get(); }
    std::uint64_t worst_cells() const { return cells(worst_); }
    std::uint64_t lost() const { return switches_[1]->device().ledger().dropped; }
    // With it the PFC frame finds a large frame just begun.
    Duration best_shift() const {
        const Duration frame = byte_time() * wire_bytes(largest_);
        return frame - waits_ - Duration{1};
    }

  private:
    Duration byte_time() const { return gigabits(case_.gigabit).byte_time(); }
    std::uint64_t cells(std::uint32_t bytes) const { return (bytes + case_.cell - 1) / case_.cell; }
    PriorityGroup& group() const { return switches_[1]->device().port(cable).group[lossless]; }

    // Large ones until one fires XOFF, then the worst mix as long as a frame of it ends before the pause
    // takes effect, then large ones again.
    std::uint32_t size_of(std::uint64_t number) const {
        if (number <= before_xoff) return largest_;
        const std::uint64_t in_time = (wire_bytes_ - 1) / wire_bytes(worst_);
        return number <= before_xoff + in_time ? worst_ : largest_;
    }
    static constexpr std::uint64_t before_xoff = 20;  // frames that fit without headroom

    Config config_of(unsigned which, std::optional<std::uint64_t> xoff_cells) const {
        Config all = sim_config(2 * ports_each, gigabits(case_.gigabit), case_.cable_m, case_.mtu);
        Config config = sim_config(0, gigabits(case_.gigabit));
        config.cell_bytes = case_.cell;
        config.buffer_size_bytes = 1'000'000'000;
        const unsigned first = which * ports_each, other = (1 - which) * ports_each;
        for (unsigned id = first; id < first + ports_each; ++id) {
            PortConfig port = port_of(all, id);
            port.reaction = case_.reaction;
            config.ports["p" + std::to_string(id)] = port;
            const MacAddress host{{2, 0, 0, 0, 9, static_cast<std::uint8_t>(id)}};
            const MacAddress peer = id == first + cable ? *port_of(all, other + cable).mac : host;
            add(config, NeighborConfig{address(id, 2), "p" + std::to_string(id), peer, {}, {}});
        }
        for (unsigned id = other; id < other + cable; ++id)
            add(config, RouteConfig{{address(id, 0), 24}, {{address(first + cable, 2), 1}}, {}});
        const std::uint64_t computed = effective_qos(config).ports.begin()->second.headroom.xoff_cells;
        auto& attacked = config.ports.at("p" + std::to_string(first + cable));
        attacked.small_xoff = true;
        attacked.priority_group[lossless].xoff_bytes = xoff_cells.value_or(computed) * case_.cell;
        attacked.priority_group[lossless].size_bytes = before_xoff * cells(case_.mtu + 14) * case_.cell;
        attacked.priority_group[lossless].static_bytes = 1;  // of the shared buffer: less than a cell
        config.buffer_size_bytes = (8 * computed * case_.cell + 4'000'000) / 3 * 4;
        return config;
    }

    void run() {
        VirtualLoop loop({switches_[0].get(), switches_[1].get()}, {});
        const PortContext& paused = switches_[0]->device().port(cable);
        bool fired = false;
        loop.run(Time{} + milliseconds(20), [&] {
            if (!fired && group().in_xoff()) {
                fired = true;
                waits_ = switches_[1]->device().port(cable).link.busy_until() - loop.now();
            }
            // The first switch obeys; what is on the cable comes within its time and two frames.
            if (fired && !end_ && (paused.honor.unexpired() >> lossless & 1U) != 0)
                end_ = loop.now() + cable_delay(switches_[0]->config().ports.at("p2")) +
                       byte_time() * (3 * wire_bytes(largest_));
            return !end_ || loop.now() < *end_;
        });
        CHECK_TRUE(fired && end_);
    }

    Case case_;
    std::array<std::unique_ptr<LinkedPorts>, 2> ports_;
    std::array<std::unique_ptr<RunningSwitch>, 2> switches_;
    std::uint64_t computed_ = 0, wire_bytes_ = 0;
    std::uint32_t worst_ = 0, largest_ = 0;
    std::uint64_t sent_ = 0;
    Duration waits_{};
    std::optional<Time> end_;
};

}  // namespace

TEST_GROUP(HeadroomOfALink){};

TEST(HeadroomOfALink, IsExactBetweenTwoSwitches) {
    for (const Case& c :
         {Case{100, 40, 4200, 256, {}}, Case{100, 300, 1500, 208, {}}, Case{25, 40, 9100, 144, {}},
          Case{100, 40, 4200, 256, microseconds(12)}, Case{400, 100, 4096, 254, {}}}) {
        const std::string text = fmt::format("{}G {} m mtu {} cell {}", c.gigabit, c.cable_m, c.mtu, c.cell);
        const Duration shift = LinkAttack(c, {}, {}).best_shift();
        const LinkAttack worst(c, {}, shift);
        LONGS_EQUAL_TEXT(0, worst.lost(), text.c_str());
        LONGS_EQUAL_TEXT(worst.computed(), worst.used() + worst.worst_cells(), text.c_str());
        LONGS_EQUAL_TEXT(0, LinkAttack(c, worst.used(), shift).lost(), text.c_str());
        LONGS_EQUAL_TEXT(1, LinkAttack(c, worst.used() - 1, shift).lost(), text.c_str());
    }
}

TEST(HeadroomOfALink, AFrameThatIsHandedOverAtItsFirstBitLeavesALargeFrameOfIt) {
    Case c{100, 40, 4200, 256, {}};
    c.at_end = false;
    const LinkAttack worst(c, {}, LinkAttack(c, {}, {}).best_shift());
    LONGS_EQUAL(0, worst.lost());
    CHECK_TRUE(worst.used() + (c.mtu + 14) / c.cell <= worst.computed());
}

}  // namespace sluice::link_headroom_test

#include "control/config/lint/judge.hh"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "control/config/compile/qos.hh"
#include "control/config/compile/qos_pools.hh"
#include "control/config/lint/lint_parts.hh"
#include "control/config/schema/values.hh"
#include "dataplane/ports/device.hh"
#include "dataplane/ports/ring_size.hh"
#include "lib/values/class_mask.hh"

namespace sluice {
namespace lint {
namespace {

constexpr unsigned usual_lossless_classes = 2;
constexpr std::uint64_t min_wire_bytes = 84;

// The problems that effective_qos found.
void report_problems(const Config& config, const EffectiveQos& qos, Findings& findings) {
    const auto report = [&](Severity severity, const QosProblem& problem, std::string_view accepted) {
        findings.add(severity, problem.id, problem.path(), fmt::format("{}{}", problem.wrong, accepted),
                     problem.fix, problem.near.empty() ? SourcePlace{} : config.ports.at(problem.near).place);
    };
    for (const QosProblem& problem : qos.problems) report(Severity::error, problem, "");
    for (const QosProblem& problem : qos.tolerated)
        report(Severity::warning, problem,
               problem.id.name() == "headroom-small" ? ": accepted by small_xoff, not lossless"
                                                     : ": not lossless by configuration");
}

// A shared headroom serves as many groups at once as fit in it, the largest first.
void check_shared_headroom(const Config& config, const EffectiveQos& qos, Findings& findings) {
    for (const EffectivePool& pool : qos.pools) {
        if (pool.direction != PoolDirection::ingress || pool.shared_headroom_cells == 0) continue;
        std::vector<std::uint64_t> headrooms;
        bool accepted = true;  // by the ports of which it does not hold one group
        for (const auto& [name, port] : qos.ports)
            for (const GroupLimits& group : port.group) {
                if (!group.lossless || group.pool != pool.index) continue;
                headrooms.push_back(group.headroom_cells);
                if (exceeds_shared_headroom(qos, group))
                    accepted = accepted && config.ports.at(name).small_xoff;
            }
        std::sort(headrooms.rbegin(), headrooms.rend());
        std::uint64_t sum = 0;
        std::size_t served = 0;
        for (const std::uint64_t headroom : headrooms) {
            sum += headroom;
            if (sum <= pool.shared_headroom_cells) ++served;
        }
        if (served == headrooms.size()) continue;
        const std::uint64_t cell = qos.cell.bytes();
        findings.add(
            served == 0 && !accepted ? Severity::error : Severity::warning, "headroom-pool",
            fmt::format("pool.{}.shared_headroom", pool.name),
            fmt::format("{} bytes are {} fewer than the {} of headroom that its {} lossless groups may need: "
                        "lossless while no more than {} of them are in XOFF{}",
                        pool.shared_headroom_cells * cell, (sum - pool.shared_headroom_cells) * cell,
                        sum * cell, headrooms.size(), served,
                        served == 0 && accepted ? ": accepted by small_xoff, not lossless" : ""),
            fmt::format("write shared_headroom = {}, or 0{}", sum * cell,
                        served == 0 && !accepted ? ", or small_xoff = true at its ports" : ""));
    }
}

void check_lossless_classes(const std::string& name, const EffectivePort& port, std::uint32_t cell,
                            Findings& findings) {
    const auto count = static_cast<unsigned>(std::popcount(port.lossless));
    if (count > usual_lossless_classes)
        findings.warn(
            "lossless-classes", port_path(name, "pfc"),
            fmt::format("{} lossless classes take {} bytes of headroom on a port, {} take {}: more "
                        "than {} are seldom worth it",
                        count, count * port.headroom.xoff_cells * cell, usual_lossless_classes,
                        usual_lossless_classes * port.headroom.xoff_cells * cell, usual_lossless_classes),
            "name two priorities at most in pfc");
}

void check_xon_offset(const Config& config, const std::string& name, const EffectivePort& port, CellSize cell,
                      Findings& findings) {
    const std::uint64_t least = 2ULL * config.ports.at(name).mtu;
    for_each_class(port.lossless, [&](ClassId n) {
        const GroupLimits& group = port.group[n];
        if (group.xon_offset_cells >= least / cell.bytes()) return;
        // A buffer profile has the values of a real switch.
        const bool is_said = config.ports.at(name).priority_group[n].xon_offset_bytes.has_value();
        findings.add(
            is_said ? Severity::warning : Severity::note, "xon-offset",
            port_path(name, fmt::format("priority_group.{}.xon_offset", n)),

            fmt::format("XON {} bytes below the limit is fewer than two packets of the MTU, {} bytes: XOFF "
                        "and XON alternate with each",
                        std::uint64_t{group.xon_offset_cells} * cell.bytes(), least),
            fmt::format("write xon_offset = {}", least));
    });
}

// A pause that a wire passes on would cancel one of ours.
void check_passing_pfc(const Config& config, const EffectiveQos& qos, Findings& findings) {
    for (const auto& [name, wire] : config.wires)
        for (const std::string& port : wire.ports)
            if (const auto found = qos.ports.find(port);
                wire.passes_pfc && found != qos.ports.end() && found->second.lossless != 0)
                findings.add(
                    Severity::error, "wire-pfc", port_path(port, "qos"),
                    fmt::format("wire {} passes PFC on, and the port has lossless classes of its own", name),
                    "write qos = \"lossy\" for the port, or pfc = \"end\" for the wire");
}

// The frames that arrive between two turns must fit the receive ring.
void check_receive_ring(const Config& config, const std::string& name, Findings& findings) {
    const PortConfig& port = config.ports.at(name);
    const bool real = config.clock == ClockKind::real_time;
    const Duration turn = real ? config.turn_max : config.virtual_turn;
    const auto bytes = static_cast<std::uint64_t>(turn.ps / port.speed.byte_time().ps);
    const auto turn_for = [&](std::uint64_t ring) {
        return print_time(port.speed.byte_time() * static_cast<std::int64_t>(ring) / 1000 * 1000);
    };
    if (real) {
        const bool is_nic = parse_device(port.device).has("pci");
        const std::uint64_t descriptors =
            is_nic ? ring_sizes(port.speed, turn, modeled_ring, packet_buffer_bytes(config)).receive
                   : ring_descriptors;
        const std::uint64_t real_ring_bytes = descriptors * packet_buffer_bytes(config);
        if (real_ring_bytes < bytes)
            findings.warn("receive-ring", port_path(name, "speed"),
                          fmt::format("{} bytes arrive in a turn of {}, the receive ring takes {}", bytes,
                                      print_time(turn), real_ring_bytes),
                          fmt::format("write turn_max = \"{}\"", turn_for(real_ring_bytes)));
        return;
    }
    const std::uint64_t frames = (bytes + min_wire_bytes - 1) / min_wire_bytes;
    if (config.virtual_ring_frames < frames)
        findings.warn(
            "receive-ring", port_path(name, "speed"),
            fmt::format("{} frames of 64 bytes may arrive in a turn of {}, the receive ring takes {}", frames,
                        print_time(turn), config.virtual_ring_frames),
            fmt::format("write virtual.rx_ring = {}", frames));
}

}  // namespace
}  // namespace lint

std::vector<Finding> lint_qos(const Config& config, const EffectiveQos& qos) {
    using namespace lint;
    Findings findings(config, true);
    if (qos.profile != nullptr)
        findings.add(Severity::note, "buffer-profile", "buffer.profile",
                     profile_sentence(config, *qos.profile),
                     "see sluiced --check for its values, and write those that should differ");
    report_problems(config, qos, findings);
    check_shared_headroom(config, qos, findings);
    for (const auto& [name, port] : qos.ports) {
        check_lossless_classes(name, port, qos.cell.bytes(), findings);
        check_xon_offset(config, name, port, qos.cell, findings);
        check_pause_time(config, name, port, findings);
        check_receive_ring(config, name, findings);
    }
    check_passing_pfc(config, qos, findings);
    check_marking(config, qos, findings);
    check_class_ways(config, qos, findings);
    check_minimums(qos, findings);
    check_host_pauses(config, qos, findings);
    check_host_classes(config, qos, findings);
    check_mirror_classes(config, qos, findings);
    check_trimming(config, qos, findings);
    return findings.take();
}

}  // namespace sluice

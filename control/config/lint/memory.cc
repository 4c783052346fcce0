#include "control/config/lint/memory.hh"

#include <fmt/format.h>

#include "control/config/compile/compile.hh"
#include "control/config/decisions/decision_joiner.hh"
#include "control/config/routes/routes.hh"
#include "control/config/schema/decision_filter.hh"
#include "control/config/schema/findings.hh"
#include "dataplane/base/packet_pool.hh"
#include "dataplane/run/switch_resources.hh"
#include "lib/record/mirror_ring.hh"

namespace sluice {
namespace {

// The program, its libraries and DPDK's own tables, as measured of a switch of two idle ports.
constexpr std::uint64_t program_bytes = 48'000'000;

MemoryPart packet_buffers(const Config& config) {
    const PacketDemand demand = packet_demand(config);
    const std::size_t each = PacketPool::bytes_each(packet_buffer_bytes(config));
    std::string count = fmt::format("{} for cells + {} for rings + {} for caches", demand.buffer,
                                    demand.rings, demand.caches);
    if (demand.captures != 0) count += fmt::format(" + {} for captures", demand.captures);
    return {"packet buffers", demand.total() * each,
            fmt::format("({}) x {}: {} of data, {} of headers", count, each, packet_buffer_bytes(config),
                        each - packet_buffer_bytes(config))};
}

// Cells as large as their packet buffers waste least. Empty: they are.
std::string larger_cells(const Config& config) {
    constexpr std::uint32_t large = 2048;
    if (config.cell_bytes >= large) return {};
    Config other = config;
    other.cell_bytes = large;
    other.packet_buffer_bytes = large;
    return fmt::format("or cell = {0} and packet_buffer = {0} under [buffer], with which it takes {1}, ",
                       large, in_megabytes(sum_of(memory_parts(other))));
}

}  // namespace

std::vector<MemoryPart> memory_parts(const Config& config) {
    std::vector<MemoryPart> parts{packet_buffers(config)};
    const Fib::Sizes sizes = fib_sizes(config);
    parts.push_back({"forwarding tables", 2 * Fib::bytes(sizes),
                     fmt::format("2 x ({} for IPv4, {} for IPv6)", sizes.v4.tables, sizes.v6.tables)});
    const auto ports = static_cast<unsigned>(config.ports.size());
    const SwitchMemory of_switch = switch_memory(
        config.workers, ports, switch_resources(config, nullptr, packet_demand(config).total()));
    parts.push_back(
        {"workers", of_switch.workers, fmt::format("{}: queues, inboxes, counters", config.workers)});
    if (of_switch.mailboxes != 0)
        parts.push_back({"mailboxes", of_switch.mailboxes,
                         fmt::format("{} x {} between workers", config.workers, config.workers - 1)});
    parts.push_back({"ports", of_switch.ports, fmt::format("{}: state, frames to and from control", ports)});
    if (of_switch.decisions != 0)
        parts.push_back({"decision records",
                         of_switch.decisions + DecisionJoiner::bytes(packet_demand(config).total()),
                         fmt::format("rings of {} events, records under way", decision_ring(config))});
    if (of_switch.recorder != 0)
        parts.push_back({"recorder", of_switch.recorder,
                         fmt::format("the last {} events of each port", config.decisions.recorder)});
    if (!config.mirrors.empty())
        parts.push_back(
            {"mirrors",
             std::uint64_t{config.workers} * mirror_ring_frames(config) * sizeof(MirrorRing::Frames::Slot),
             fmt::format("rings of {} frames", mirror_ring_frames(config))});
    if (of_switch.fill != 0)
        parts.push_back({"cells by queue", of_switch.fill, fmt::format("{0} x {0} ports x 1 KiB", ports)});
    parts.push_back({"program", program_bytes, "its libraries, DPDK"});
    return parts;
}

std::string in_megabytes(std::uint64_t bytes) {
    return fmt::format("{:.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::uint64_t sum_of(const std::vector<MemoryPart>& parts) {
    std::uint64_t sum = 0;
    for (const MemoryPart& part : parts) sum += part.bytes;
    return sum;
}

std::string memory_account(const Config& config) {
    const auto parts = memory_parts(config);
    const std::uint64_t sum = sum_of(parts);
    std::string list;
    for (const MemoryPart& part : parts)
        if (part.bytes > sum / 100)
            list += fmt::format("{}{} {}", list.empty() ? "" : ", ", part.name, in_megabytes(part.bytes));
    return fmt::format("{} ({})", in_megabytes(sum), list);
}

std::string memory_table(const Config& config) {
    const auto parts = memory_parts(config);
    std::string text = "\nmemory (bytes)\n";
    for (const MemoryPart& part : parts)
        text += fmt::format("    {:<22}{:>22}  {}\n", part.name, part.bytes, part.formula);
    const std::uint64_t sum = sum_of(parts);
    return text + fmt::format("    {:<22}{:>22}  {}, {:.1f} times the buffer\n", "sum", sum,
                              in_megabytes(sum),
                              static_cast<double>(sum) / static_cast<double>(config.buffer_size_bytes));
}

std::vector<Finding> lint_memory(const Config& config, const Machine& machine) {
    if (!machine.memory) return {};
    lint::Findings findings(config);
    const EalOptions eal = eal_options(config);
    const auto hugepages = Eal::finds_hugepages(eal);
    if (!hugepages) return {};  // of a card: the start says it, once it has found the card
    const auto parts = memory_parts(config);
    const std::uint64_t sum = sum_of(parts);
    const std::uint64_t elsewhere = *hugepages ? parts[0].bytes + parts[1].bytes : 0;
    if (sum - elsewhere <= machine.memory->bytes) return {};
    findings.error(
        "memory", "buffer.size",
        fmt::format("the switch takes {} of memory{}, and {}", memory_account(config),
                    elsewhere != 0 ? fmt::format(", {} of it in hugepages", in_megabytes(elsewhere)) : "",
                    machine.memory->where),
        fmt::format("write a smaller size, of which each {} bytes take a packet buffer of {}, {}or "
                    "give more memory",
                    config.cell_bytes, PacketPool::bytes_each(packet_buffer_bytes(config)),
                    larger_cells(config)));
    return findings.take();
}

}  // namespace sluice

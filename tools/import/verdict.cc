#include "tools/import/importing.hh"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include "control/config/compile/qos.hh"
#include "control/config/compile/qos_pools.hh"
#include "control/config/lint/judge.hh"
#include "control/config/schema/values.hh"
#include "lib/values/class_mask.hh"

namespace sluice::import {
namespace {

// Ports that lack the same are one line.
struct Lack {
    std::uint64_t given, needed, by_sonic;
    Rate speed;
    std::uint32_t cable_m, mtu;
    std::optional<std::uint32_t> enough_for_m;
    bool operator==(const Lack&) const = default;
};

struct Lacking {
    Lack lack;
    std::vector<std::string> ports;
    unsigned classes = 0;
};

std::string ports_text(const std::vector<std::string>& names) {
    if (names.size() == 1) return names.front();
    return fmt::format("{} to {} ({} ports)", names.front(), names.back(), names.size());
}

std::string kilobytes(std::uint64_t bytes) {
    constexpr std::uint64_t kilo = 1000;
    return bytes < 10 * kilo ? fmt::format("{} B", bytes) : fmt::format("{} KB", (bytes + kilo / 2) / kilo);
}

std::string text_of(const Lacking& lacking) {
    const Lack& lack = lacking.lack;
    std::string out = fmt::format("  {}, {}", ports_text(lacking.ports),
                                  std::popcount(lacking.classes) == 1 ? "class" : "classes");
    for_each_class(lacking.classes, [&](ClassId n) { out += fmt::format(" {}", n); });
    out +=
        fmt::format(": would lose packets at {}, {} and MTU {}: headroom short by {}", print_rate(lack.speed),
                    print_length(lack.cable_m), lack.mtu, kilobytes(lack.needed - lack.given));
    if (lack.enough_for_m)
        out += fmt::format(" or {} m", lack.cable_m - *lack.enough_for_m);
    else
        out += ", more than the cable takes";
    return out +
           fmt::format(
               "\n    headroom (SONiC's xoff) is {} bytes, {} can still arrive; SONiC's own formula (mixed "
               "frame sizes) asks for {}\n",
               lack.given, lack.needed, lack.by_sonic);
}

// In the order of the ports.
std::vector<Lacking> lacks_of(const EffectiveQos& qos, const Config& config) {
    std::vector<Lacking> lacks;
    for (const auto& [name, port] : qos.ports)
        for_each_class(port.lossless, [&, &port_name = name, &effective = port](ClassId n) {
            const std::uint64_t cell = config.cell_bytes;
            const std::uint64_t given = effective.group[n].headroom_cells * cell;
            const std::uint64_t needed = effective.headroom.xoff_cells * cell;
            if (given >= needed) return;
            HeadroomInputs sonic = effective.headroom.inputs;
            sonic.flavour = HeadroomFlavour::sonic;
            const PortConfig& said = config.ports.at(port_name);
            Lack lack{given, needed, headroom(sonic).xoff_bytes, said.speed, said.cable_m, said.mtu, {}};
            lack.enough_for_m = longest_cable(effective.headroom.inputs, effective.group[n].headroom_cells);
            auto known = std::ranges::find(lacks, lack, &Lacking::lack);
            if (known == lacks.end()) known = lacks.insert(lacks.end(), {lack, {}, 0});
            if (known->ports.empty() || known->ports.back() != port_name) known->ports.push_back(port_name);
            known->classes |= 1U << n;
        });
    return lacks;
}

// Pools whose shared headroom does not hold that of one group.
std::string small_shared_headroom(const EffectiveQos& qos, const Config& config) {
    std::string text;
    for (const EffectivePool& pool : qos.pools) {
        std::uint64_t largest = 0;
        for (const auto& [name, port] : qos.ports)
            for (const GroupLimits& group : port.group)
                if (pool.direction == PoolDirection::ingress && group.pool == pool.index &&
                    exceeds_shared_headroom(qos, group))
                    largest = std::max<std::uint64_t>(largest, group.headroom_cells);
        if (largest != 0)
            text +=
                fmt::format("  pool {}: {} of shared headroom do not hold the {} of one group\n", pool.name,
                            kilobytes(pool.shared_headroom_cells * std::uint64_t{config.cell_bytes}),
                            kilobytes(largest * config.cell_bytes));
    }
    return text;
}

}  // namespace

Config as_hardware(const Config& config) {
    Config own = config;
    own.clock = ClockKind::virtual_time;
    own.virtual_turn = {};
    return own;
}

Verdict judge_import(const Config& config, const Machine& machine, const std::string& file) {
    const Config hardware = as_hardware(config);
    const EffectiveQos qos = effective_qos(hardware);
    Verdict verdict;
    std::size_t lossless_ports = 0;
    for (const auto& [name, port] : qos.ports) lossless_ports += port.lossless != 0 ? 1 : 0;
    const auto lacks = lacks_of(qos, hardware);
    const std::string shared = small_shared_headroom(qos, hardware);
    verdict.lossless = lacks.empty() && shared.empty();
    std::string findings;
    // Devices and the clock are ours, not theirs.
    for (const Finding& finding : judge_config(config, machine)) {
        if (finding.severity == Severity::error) {
            verdict.lossless = verdict.lossless && finding.id == "memory";
            verdict.refusal += finding.text(file) + "\n";
        }
        if (finding.severity == Severity::note || finding.id == "headroom-small") continue;
        findings += finding.text(file) + "\n";
    }
    if (lossless_ports == 0)
        verdict.text = "no port has a lossless class: nothing is promised\n";
    else if (verdict.lossless)
        verdict.text =
            fmt::format("lossless: {} with PFC have the headroom that speed, cable and MTU ask for\n",
                        print_count(lossless_ports, "port"));
    else
        verdict.text = fmt::format("NOT lossless: of {} with PFC,\n", print_count(lossless_ports, "port"));
    for (const Lacking& lacking : lacks) verdict.text += text_of(lacking);
    verdict.text += shared;
    if (!findings.empty()) verdict.text += "lint:\n" + findings;
    return verdict;
}

}  // namespace sluice::import

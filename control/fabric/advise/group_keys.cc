#include "control/fabric/advise/group_keys.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "control/config/schema/values.hh"
#include "control/config/text/quantity_text.hh"
#include "control/fabric/advise/grids.hh"

namespace sluice::fabric {
namespace {

using NoKeys = tl::unexpected<std::string>;

constexpr int least_advised_th = -4, most_advised_th = 3;

AdviseSpace::Axis axis_of(std::string path, AdviseConfig::Group group, std::string today,
                          std::vector<std::string> grid, bool is_exported = true) {
    AdviseKey key{std::move(path), std::string(to_string(group)), std::move(today), {}, {}, is_exported};
    return {std::move(key), std::move(grid)};
}

std::vector<std::string> texts(const std::vector<std::uint64_t>& values, Quantity::Unit unit) {
    std::vector<std::string> made;
    for (const std::uint64_t value : values)
        made.push_back(Quantity{unit, static_cast<double>(value)}.text());
    return made;
}

// The dynamic_th of a lossless group at a port; nothing: its limit is fixed.
struct GroupThreshold {
    std::string where;
    std::optional<int> n;
};
// By the number of the group: all ports that have it lossless.
std::map<unsigned, std::vector<GroupThreshold>> lossless_thresholds(const FabricPlan& plan) {
    std::map<unsigned, std::vector<GroupThreshold>> all;
    for (const SwitchPlan& each : plan.switches)
        for (const auto& [name, port] : effective_qos(each.config).ports)
            for (unsigned n = 0; n < classes; ++n)
                if (const Threshold& threshold = port.group[n].threshold; port.group[n].lossless)
                    all[n].push_back({fmt::format("{} of {}", name, each.name),
                                      threshold.is_dynamic() ? std::optional(threshold.n()) : std::nullopt});
    return all;
}

// The path that sets dynamic_th of the group at every port that has it lossless; empty: none does.
std::string path_of_alpha(const BareFile& file, unsigned group, int today) {
    for (const char* of : {"default", "*"}) {
        const std::string path = fmt::format("switch.{}.default.priority_group.{}.dynamic_th", of, group);
        const int other = today == 0 ? 1 : 0;
        const auto plan = file.plan({fmt::format("{}={}", path, other)});
        if (!plan) continue;
        const auto reached = lossless_thresholds(*plan);
        const auto found = reached.find(group);
        if (found != reached.end() &&
            std::ranges::all_of(found->second, [&](const GroupThreshold& each) { return each.n == other; }))
            return path;
    }
    return {};
}

}  // namespace

tl::expected<AdviseAxes, std::string> wred_keys(const std::vector<MarkedCurve>& curves) {
    using enum AdviseConfig::Group;
    AdviseAxes axes;
    for (const MarkedCurve& curve : curves) {
        const std::uint64_t cell = curve.cell_bytes, least = 2ULL * curve.mtu;
        const std::uint64_t low = (least + cell - 1) / cell * cell, high = curve.limit_bytes / cell * cell;
        if (high < low)
            return NoKeys(
                fmt::format("a lone sender is paused at {}, below two packets of the MTU ({}), so no min "
                            "fits in between; "
                            "do: enlarge buffer.size, or leave out the group wred",
                            size_text(curve.limit_bytes), size_text(least)));
        axes.push_back(axis_of(curve.prefix + "min", wred, print_size(curve.today.min_bytes),
                               texts(root_two_grid(low, high, cell), Quantity::Unit::size)));
        axes.push_back(axis_of(curve.prefix + "max", wred, print_size(curve.today.max_bytes),
                               {"1", "2", "4", "8", "16"}));
        axes.back().is_of_min = true;
        axes.push_back(axis_of(curve.prefix + "probability", wred, per_cent_text(curve.today.probability),
                               {"1", "5", "10", "20", "50", "100"}));
    }
    return axes;
}

tl::expected<AdviseAxes, std::string> alpha_keys(const BareFile& file, const FabricPlan& today) {
    AdviseAxes axes;
    const auto all = lossless_thresholds(today);
    if (all.empty())
        return NoKeys("no priority group is lossless; do: leave out the group alpha, or write a port's pfc");
    for (const auto& [group, ports] : all) {
        const GroupThreshold& first = ports.front();
        for (const GroupThreshold& each : ports) {
            if (!each.n)
                return NoKeys(
                    fmt::format("priority group {} of {} has a fixed limit, no alpha; do: write a "
                                "range of its static_th in [advise.range], or leave out the group "
                                "alpha",
                                group, each.where));
            if (each.n != first.n)
                return NoKeys(fmt::format(
                    "priority group {} has dynamic_th {} at {} and {} at {}; do: leave out the group alpha, "
                    "and write a range for each kind of switch, as "
                    "\"switch.leaf*.default.priority_group.{}.dynamic_th\" = [-1, 0, 1]",
                    group, *first.n, first.where, *each.n, each.where, group));
        }
        std::string path = path_of_alpha(file, group, *first.n);
        if (path.empty())
            return NoKeys(
                fmt::format("ports have a dynamic_th of their own for priority group {}; do: write it "
                            "under [switch.default.default] alone, or leave out the group alpha",
                            group));
        std::vector<std::string> grid;
        for (int n = least_advised_th; n <= most_advised_th; ++n) grid.push_back(std::to_string(n));
        axes.push_back(
            axis_of(std::move(path), AdviseConfig::Group::alpha, std::to_string(*first.n), std::move(grid)));
    }
    return axes;
}

std::vector<HostConstant> constants_of(const FabricPlan& plan, NodeId host) {
    const HostConfig& said = plan.host(host);
    if (said.cc == roce::CongestionControl::none) return {};
    const Rate line = plan.switch_at(host).config.ports.at(said.port).speed;
    const roce::ReactionParameters all = reaction_parameters(said, line);
    const auto time = static_cast<std::uint64_t>(all.increase_period.ps);
    return {{"rate_ai", all.additive.bits_per_second, print_rate(all.additive)},
            {"rate_hai", all.hyper.bits_per_second, print_rate(all.hyper)},
            {"increase_timer", time, print_time(all.increase_period)},
            {"byte_counter", all.byte_counter, print_size(all.byte_counter)}};
}

tl::expected<AdviseAxes, std::string> dcqcn_keys(const BareFile& file, const FabricPlan& today,
                                                 std::vector<AdviseLeftOut>& left_out) {
    std::vector<NodeId> hosts;  // with congestion control
    for (const NodeId host : today.hosts)
        if (!constants_of(today, host).empty()) hosts.push_back(host);
    if (hosts.empty())
        return NoKeys(
            "no host has congestion control; do: write cc = \"dcqcn\" under [host.default], or leave "
            "out the group dcqcn");
    const auto constants = constants_of(today, hosts.front());
    constexpr std::array units{Quantity::Unit::rate, Quantity::Unit::rate, Quantity::Unit::time,
                               Quantity::Unit::size};
    const auto name_of = [&](NodeId host) { return today.topology.nodes[host].name; };
    AdviseAxes axes;
    for (std::size_t n = 0; n < constants.size(); ++n) {
        const auto& [key, value, text] = constants[n];
        for (const NodeId host : hosts)
            if (const auto other = constants_of(today, host)[n]; other.value != value)
                return NoKeys(
                    fmt::format("hosts have different values of {}: {} has {}, {} has {}; do: leave out the "
                                "group dcqcn, or "
                                "write one value under [host.default]",
                                key, name_of(hosts.front()), text, name_of(host), other.text));
        const std::string path = fmt::format("host.default.{}", key);
        if (value == 0) {
            left_out.push_back({path, "it is 0 today, which has no quarter"});
            continue;
        }
        const auto grid = texts(grid_around(value), units[n]);
        const auto probe = file.plan({fmt::format("{}={}", path, grid.front())});
        const auto reached = [&](NodeId host) { return constants_of(*probe, host)[n].text == grid.front(); };
        if (!probe || !std::ranges::all_of(hosts, reached))
            return NoKeys(
                fmt::format("hosts have a {} of their own; do: write it under [host.default] alone, or "
                            "leave out the group dcqcn",
                            key));
        axes.push_back(axis_of(path, AdviseConfig::Group::dcqcn, text, grid, false));
    }
    return axes;
}

}  // namespace sluice::fabric

#include "control/fabric/advise/headroom_rows.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/compile/qos.hh"
#include "control/config/schema/values.hh"

namespace sluice::fabric {
namespace {

// A port of the row, and how many more are like it.
struct AlikePorts {
    std::string device, port;
    unsigned group;
    std::uint64_t today_bytes, computed_bytes;
    bool is_given;  // by xoff in the file
    std::size_t others = 0;

    bool is_like(const AlikePorts& other) const {
        return group == other.group && today_bytes == other.today_bytes &&
               computed_bytes == other.computed_bytes && is_given == other.is_given;
    }
};

std::string edit_of(const AlikePorts& row) {
    if (row.today_bytes == row.computed_bytes) return {};
    const std::string key =
        fmt::format("switch.{}.port.{}.priority_group.{}.xoff", row.device, row.port, row.group);
    const std::string all = row.others == 0 ? std::string() : fmt::format(", and likewise of the others");
    if (row.is_given && row.today_bytes > row.computed_bytes)
        return fmt::format("leave {} out{}: {} less", key, all,
                           print_size(row.today_bytes - row.computed_bytes));
    return fmt::format("write {} = {}{}", key, row.computed_bytes, all);
}

}  // namespace

std::vector<AdviseHeadroom> headroom_rows(const FabricPlan& plan) {
    std::vector<AlikePorts> rows;
    for (const SwitchPlan& each : plan.switches) {
        const EffectiveQos qos = effective_qos(each.config);
        const std::uint64_t cell = qos.cell.bytes();
        for (const auto& [name, port] : qos.ports)
            for (unsigned n = 0; n < classes; ++n) {
                if (!port.group[n].lossless) continue;
                const AlikePorts row{each.name,
                                     name,
                                     n,
                                     port.group[n].headroom_cells * cell,
                                     port.headroom.xoff_cells * cell,
                                     port.headroom_is_given[n]};
                const auto known =
                    std::ranges::find_if(rows, [&](const AlikePorts& other) { return other.is_like(row); });
                if (known == rows.end())
                    rows.push_back(row);
                else
                    ++known->others;
            }
    }
    std::vector<AdviseHeadroom> made;
    for (const AlikePorts& row : rows) {
        const std::string others =
            row.others == 0 ? std::string() : fmt::format(" and {}", print_count(row.others, "other"));
        made.push_back({fmt::format("{} {}{}, group {}", row.device, row.port, others, row.group),
                        row.today_bytes, row.computed_bytes, edit_of(row)});
    }
    return made;
}

}  // namespace sluice::fabric

// The ends of each link: what does not match is an error. Ports of one speed and role: what most have is
// right, and another's value is a warning.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "control/config/compile/wred_profiles.hh"
#include "control/config/schema/values.hh"
#include "lib/values/class_mask.hh"
#include "tools/import/fleet.hh"

namespace sluice::import {
namespace {

// "3", "24 to 31 and 46".
std::string ranges_text(std::uint64_t bits) {
    std::vector<std::string> parts;
    for (unsigned n = 0; n < 64; ++n) {
        if ((bits >> n & 1U) == 0) continue;
        unsigned last = n;
        while (last < 63 && (bits >> (last + 1) & 1U) != 0) ++last;
        parts.push_back(last == n ? std::to_string(n) : fmt::format("{} to {}", n, last));
        n = last;
    }
    std::string out;
    for (std::size_t n = 0; n < parts.size(); ++n) {
        if (n != 0) out += n + 1 == parts.size() ? " and " : ", ";
        out += parts[n];
    }
    return out;
}

// An end of a link, with its effective values.
struct End {
    const FleetDevice& device;
    const std::string& name;
    const PortConfig& port;
    const EffectivePort& effective;
};

class LinkComparison {
  public:
    LinkComparison(Fleet& fleet, const FleetLink& link)
        : fleet_(fleet), link_(link), a_(end(link.a)), b_(end(link.b)) {}

    void compare() {
        pfc();
        speed();
        mtu();
        classes_of_packets();
    }

  private:
    End end(const FleetEnd& at) const {
        const FleetDevice& device = fleet_.devices[at.device];
        const auto port = device.config().ports.find(at.port);
        return {device, port->first, port->second, device.qos.ports.at(at.port)};
    }

    void add(Aspect aspect, std::string consequence, bool is_turned = false) {
        const FleetEnd& one = is_turned ? link_.b : link_.a;
        const FleetEnd& other = is_turned ? link_.a : link_.b;
        fleet_.findings.push_back(
            {true, aspect, one, other, fleet_.devices[one.device].place_of(one.port, aspect),
             fleet_.devices[other.device].place_of(other.port, aspect), std::move(consequence)});
    }

    void pfc() {
        for (const bool is_turned : {false, true}) {
            const End& from = is_turned ? b_ : a_;
            const End& to = is_turned ? a_ : b_;
            for_each_class(from.effective.lossless & ~to.effective.lossless, [&](ClassId n) {
                add(Aspect::pfc,
                    fmt::format("{} sends class {} as lossless to a port that drops it ({} of {})",
                                from.device.name, n, to.name, to.device.name),
                    is_turned);
            });
        }
    }

    void speed() {
        if (a_.port.speed == b_.port.speed) return;
        if (!a_.device.says(a_.name, Aspect::speed) || !b_.device.says(b_.name, Aspect::speed)) return;
        add(Aspect::speed, fmt::format("the link stays down: {} is at {} and {} at {}", a_.device.name,
                                       print_rate(a_.port.speed), b_.device.name, print_rate(b_.port.speed)));
    }

    void mtu() {
        if (a_.port.mtu == b_.port.mtu) return;
        if (!a_.device.says(a_.name, Aspect::mtu) || !b_.device.says(b_.name, Aspect::mtu)) return;
        const bool is_turned = a_.port.mtu < b_.port.mtu;
        const End& large = is_turned ? b_ : a_;
        const End& small = is_turned ? a_ : b_;
        add(Aspect::mtu,
            fmt::format("{} sends packets of up to {} bytes, and {} drops those above {}", large.device.name,
                        large.port.mtu, small.device.name, small.port.mtu),
            is_turned);
    }

    // The lossless class of a DSCP or PCP where it comes in; nothing: it is lossy.
    template <std::size_t size>
    static std::optional<ClassId> lossless_class(const End& end, const std::array<ClassId, size>& map,
                                                 unsigned n) {
        const ClassId group = end.effective.map.tc_to_priority_group[map[n]];
        if ((end.effective.lossless >> group & 1U) == 0) return std::nullopt;
        return group;
    }

    template <std::size_t size>
    void compare_map(const char* what, const std::array<ClassId, size>& one,
                     const std::array<ClassId, size>& other) {
        // By the classes at both ends, so that alike numbers are one line.
        std::map<std::pair<int, int>, std::uint64_t> differing;
        for (unsigned n = 0; n < size; ++n) {
            const auto at_a = lossless_class(a_, one, n), at_b = lossless_class(b_, other, n);
            if (at_a == at_b) continue;
            differing[{at_a ? *at_a : -1, at_b ? *at_b : -1}] |= std::uint64_t{1} << n;
        }
        for (const auto& [both, numbers] : differing) {
            const auto text = [](int group) {
                return group < 0 ? std::string("lossy") : fmt::format("in lossless class {}", group);
            };
            add(Aspect::map,
                fmt::format("{} {} is {} on {} and {} on {}: its packets are {}", what, ranges_text(numbers),
                            text(both.first), a_.device.name, text(both.second), b_.device.name,
                            both.first < 0 || both.second < 0 ? "dropped where they are lossy"
                                                              : "paused by the pauses of another class"));
        }
    }

    void classes_of_packets() {
        if ((a_.effective.lossless | b_.effective.lossless) == 0) return;
        if (a_.port.trust != b_.port.trust) {
            const auto text = [](Trust trust) {
                return trust == Trust::dscp ? "DSCP" : trust == Trust::pcp ? "PCP" : "port";
            };
            return add(Aspect::map,
                       fmt::format("{} tells lossless packets by {}, and {} by {}", a_.device.name,
                                   text(a_.port.trust), b_.device.name, text(b_.port.trust)));
        }
        if (a_.port.trust == Trust::dscp)
            compare_map("DSCP", a_.effective.map.dscp_to_tc, b_.effective.map.dscp_to_tc);
        if (a_.port.trust == Trust::pcp)
            compare_map("PCP", a_.effective.map.pcp_to_tc, b_.effective.map.pcp_to_tc);
    }

    Fleet& fleet_;
    const FleetLink link_;
    const End a_, b_;
};

// Where the headroom is the platform's own, the file says nothing of it.
bool knows_headroom(const FleetDevice& device, const std::string& port, ClassId group) {
    if (device.qos.ports.at(port).headroom_is_given[group]) return true;
    return device.imported.source == Source::sonic;  // by its cable length, as its buffer manager does
}

bool says_cable(const FleetDevice& device, const std::string& port) {
    const auto notes = device.imported.notes.find(port);
    return device.imported.wishes.cable_m ||
           (notes != device.imported.notes.end() && notes->second.says_cable);
}

// Headrooms against the longest cable that either end, or the list, states.
void compare_headrooms(Fleet& fleet) {
    std::vector<Config> longer;
    longer.reserve(fleet.devices.size());
    for (const FleetDevice& device : fleet.devices) longer.push_back(as_hardware(device.config()));
    std::vector<std::optional<std::uint32_t>> cables;
    for (const FleetLink& link : fleet.links) {
        std::optional<std::uint32_t> cable = link.cable_m;
        for (const FleetEnd& end : {link.a, link.b})
            if (says_cable(fleet.devices[end.device], end.port))
                cable = std::max(cable.value_or(0),
                                 fleet.devices[end.device].config().ports.at(end.port).cable_m);
        cables.push_back(cable);
        for (const FleetEnd& end : {link.a, link.b}) {
            PortConfig& port = longer[end.device].ports.at(end.port);
            if (cable) port.cable_m = *cable;
        }
    }
    std::vector<EffectiveQos> needed;
    needed.reserve(longer.size());
    for (const Config& config : longer) needed.push_back(effective_qos(config));
    for (std::size_t n = 0; n < fleet.links.size(); ++n) {
        const FleetLink& link = fleet.links[n];
        if (!cables[n]) continue;
        for (const auto& [end, other] : {std::pair{link.a, link.b}, std::pair{link.b, link.a}}) {
            const FleetDevice& device = fleet.devices[end.device];
            const EffectivePort& port = device.qos.ports.at(end.port);
            const std::uint64_t cell = device.config().cell_bytes;
            const std::uint64_t wanted = needed[end.device].ports.at(end.port).headroom.xoff_cells * cell;
            for_each_class(port.lossless, [&](ClassId group) {
                const std::uint64_t given = port.group[group].headroom_cells * cell;
                if (given >= wanted || !knows_headroom(device, end.port, group)) return;
                fleet.findings.push_back(
                    {true, Aspect::headroom, end, other, device.place_of(end.port, Aspect::headroom),
                     fleet.devices[other.device].place_of(other.port, Aspect::headroom),
                     fmt::format(
                         "{} loses packets of class {} over {} of cable: its headroom is {} bytes, and "
                         "{} can still arrive",
                         device.name, group, print_length(*cables[n]), given, wanted)});
            });
        }
    }
}

// DEVICE_METADATA's type, or the name without its digits.
std::string role_of(const FleetDevice& device) {
    if (!device.imported.role.empty()) return device.imported.role;
    std::string role;
    for (const char c : device.name)
        if (!is_digit(c)) role += c;
    return role;
}

std::string watchdog_text(const FleetDevice& device, const PortConfig& port) {
    const WatchdogConfig own = watchdog_of(device.config().watchdog, port);
    if (own.action == WatchdogAction::off) return "no watchdog";
    const char* action = own.action == WatchdogAction::drop      ? "drop"
                         : own.action == WatchdogAction::forward ? "forward"
                                                                 : "alert";
    return fmt::format("{} after {}, back after {}", action, print_time(own.detection),
                       print_time(own.restoration.value_or(own.detection * 2)));
}

std::string marking_text(const FleetDevice& device, const std::string& name, const PortConfig& port) {
    const EffectivePort& effective = device.qos.ports.at(name);
    std::string out;
    for_each_class(effective.lossless, [&](ClassId n) {
        const ClassId queue = effective.map.tc_to_queue[n];
        const auto curve = marking_curve(device.config(), effective.wred[queue], port.speed, port.mtu);
        append_item(out, ", ",
                    curve ? fmt::format("class {} from {} to {} at {}", n, print_size(curve->min_bytes),
                                        print_size(curve->max_bytes), print_chance(curve->probability))
                          : fmt::format("class {} not marked", n));
    });
    return out;
}

std::string scheduler_text(const PortConfig& port) {
    std::string out;
    for (const QueueConfig& queue : port.queue)
        append_item(out, " ",
                    queue.scheduler == QueueScheduler::strict ? std::string("strict")
                                                              : std::to_string(queue.weight.value_or(1)));
    return "weights " + out;
}

struct AlikePort {
    FleetEnd end;
    std::string value;
};

// The ports whose value is not that of most: a line for each device and value.
void warn(Fleet& fleet, Aspect aspect, const std::string& role, Rate speed,
          const std::vector<AlikePort>& ports) {
    std::map<std::string, std::size_t> counts;
    for (const AlikePort& port : ports) ++counts[port.value];
    if (counts.size() < 2) return;
    const auto most = std::ranges::max_element(counts, {}, [](const auto& each) { return each.second; });
    const auto example =
        std::ranges::find(ports, most->first, [](const AlikePort& port) { return port.value; });
    std::map<std::pair<std::size_t, std::string>, std::pair<FleetEnd, std::size_t>> odd;
    for (const AlikePort& port : ports) {
        if (port.value == most->first) continue;
        auto& known = odd.try_emplace({port.end.device, port.value}, port.end, 0).first->second;
        ++known.second;
    }
    for (const auto& [key, found] : odd) {
        const auto& [end, count] = found;
        fleet.findings.push_back(
            {false, aspect, end, example->end, fleet.devices[end.device].place_of(end.port, aspect),
             fleet.devices[example->end.device].place_of(example->end.port, aspect),
             fmt::format("{} of {} {} {}; {} of role {} at {} {} {}", print_count(count, "port"),
                         fleet.devices[end.device].name, count == 1 ? "has" : "have", key.second,
                         most->second, in_quotes(role), print_rate(speed), most->second == 1 ? "has" : "have",
                         most->first)});
    }
}

}  // namespace

void compare_links(Fleet& fleet) {
    for (std::size_t n = 0; n < fleet.links.size(); ++n) {
        const FleetLink link = fleet.links[n];
        LinkComparison(fleet, link).compare();
    }
    compare_headrooms(fleet);
}

void compare_alike(Fleet& fleet) {
    std::map<std::pair<std::string, Rate>, std::vector<FleetEnd>> alike;
    for (std::size_t n = 0; n < fleet.devices.size(); ++n)
        for (const auto& [name, port] : fleet.devices[n].config().ports)
            if (fleet.devices[n].qos.ports.at(name).lossless != 0)
                alike[{role_of(fleet.devices[n]), port.speed}].push_back({n, name});
    for (const auto& [key, ends] : alike)
        for (const Aspect aspect : {Aspect::watchdog, Aspect::marking, Aspect::scheduler}) {
            std::vector<AlikePort> ports;
            for (const FleetEnd& end : ends) {
                const FleetDevice& device = fleet.devices[end.device];
                const PortConfig& port = device.config().ports.at(end.port);
                ports.push_back({end, aspect == Aspect::watchdog  ? watchdog_text(device, port)
                                      : aspect == Aspect::marking ? marking_text(device, end.port, port)
                                                                  : scheduler_text(port)});
            }
            warn(fleet, aspect, key.first, key.second, ports);
        }
}

}  // namespace sluice::import

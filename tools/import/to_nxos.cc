// A configuration as statements of Cisco NX-OS.
//
// A queue is a qos-group: policies of type qos put packets into it, network-qos makes it lossless, queuing
// has its scheduler and marking, and where its group pauses. Each port refers to its policies itself.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "control/config/schema/values.hh"
#include "lib/values/class_mask.hh"
#include "tools/import/cli.hh"
#include "tools/import/to_nxos.hh"

namespace sluice::import {
namespace {

class NxosWriter {
  public:
    // `known`: class-maps that are there already.
    NxosWriter(Exporting& out, SharedBodies known) : out_(out), config_(out.config) {
        made_.class_maps = std::move(known);
    }

    NxosText write() {
        made_.names = interface_names(out_, "Ethernet1_", [](std::string_view name) {
            return is_interface_name(name) && name.find('_') != name.npos;
        });
        tell_memory(out_);
        network();
        watchdog();
        for (const auto& [name, port] : config_.ports) write_port(name, port, out_.qos.ports.at(name));
        add_routes(out_, made_.top);
        tell_trimming(out_);
        tell_own_keys(out_);
        return std::move(made_);
    }

  private:
    void network();
    void watchdog();
    void write_port(const std::string& name, const PortConfig& port, const EffectivePort& effective);
    void classify(const std::string& name, const PortConfig& port, const EffectivePort& effective);
    void link(const std::string& name, const PortConfig& port, const EffectivePort& effective);
    void queue(const std::string& name, unsigned n, const PortConfig& port, const EffectivePort& effective,
               const std::array<bool, classes>& used);
    void limit(const std::string& path, const QueueConfig& queue,
               const std::function<void(const char*, const char*, std::string)>& add);
    std::string marking(unsigned n, const EffectivePort& effective);
    void group(const std::string& name, ClassId n, const PortConfig& port, const EffectivePort& effective);
    std::string kbps(const std::string& path, Rate rate) { return kbps_text(out_, path, rate, "NX-OS"); }
    std::uint64_t kilobytes(const std::string& path, std::uint64_t bytes);

    Exporting& out_;
    const Config& config_;
    NxosText made_;
    std::array<std::optional<ClassId>, classes> priority_;  // of PFC, by lossless queue
    Duration interval_{};
    std::int64_t shutdown_ = 0, restore_ = 0;
    bool watches_ = false;
};

// The lossless queues of all ports: a switch has one policy of this type.
void NxosWriter::network() {
    for (const auto& [name, port] : out_.qos.ports)
        for (unsigned tc = 0; tc < classes; ++tc) {
            const ClassId priority = port.map.tc_to_priority_group[tc];
            if ((port.lossless >> priority & 1U) == 0) continue;
            auto& known = priority_[port.map.tc_to_queue[tc]];
            if (known && *known != priority)
                out_.unsaid(key_of_port(name, "pfc"),
                            fmt::format("qos-group {} has the one priority {}: {} is lossy",
                                        port.map.tc_to_queue[tc], *known, priority));
            else
                known = priority;
        }
    std::uint32_t mtu = 0;
    for (const auto& [name, port] : config_.ports) mtu = std::max(mtu, port.mtu);
    const std::string mtu_text = fmt::format("mtu {}", mtu);
    for (unsigned n = 0; n < classes; ++n) {
        if (!priority_[n]) continue;
        const std::string section = fmt::format("class type network-qos c-8q-nq{}", n);
        made_.network.push_back({section, "pause", fmt::format("pause pfc-cos {}", *priority_[n])});
        made_.network.push_back({section, "mtu", mtu_text});
    }
    if (!made_.network.empty())
        made_.network.push_back({"class type network-qos c-8q-nq-default", "mtu", mtu_text});
}

void NxosWriter::watchdog() {
    constexpr std::int64_t ps_of_ms = 1'000'000'000, usual = 100;
    const auto up = [](std::int64_t value, std::int64_t unit) { return (value + unit - 1) / unit; };
    Duration detection, restoration;
    for (const auto& [name, port] : config_.ports) {
        const WatchdogConfig own = watchdog_of(config_.watchdog, port);
        if (own.action == WatchdogAction::off || out_.qos.ports.at(name).lossless == 0) continue;
        watches_ = true;
        detection = std::max(detection, own.detection);
        restoration = std::max(restoration, restoration_of(own));
    }
    if (!watches_) return;
    const std::int64_t ms = up(detection.ps, ps_of_ms);
    interval_ = milliseconds(ms % usual == 0 ? usual : ms);
    shutdown_ = detection.ps == 0 ? 1 : up(detection.ps, interval_.ps);
    restore_ = up(restoration.ps, interval_.ps);
    const auto add = [&](const char* key, const std::string& arguments) {
        made_.top.push_back({"", key, fmt::format("{} {}", key, arguments)});
        out_.said("watchdog", made_.top.back().text);
    };
    add("priority-flow-control watch-dog-interval", "on");
    add("priority-flow-control watch-dog",
        fmt::format("interval {} shutdown-multiplier {}", interval_.ps / ps_of_ms, shutdown_));
    add("priority-flow-control auto-restore multiplier", std::to_string(restore_));
    if (config_.watchdog.poll)
        out_.unsaid("watchdog.poll", "interval times shutdown-multiplier is the detection");
}

std::uint64_t NxosWriter::kilobytes(const std::string& path, std::uint64_t bytes) {
    constexpr std::uint64_t kilo = 1000;
    out_.rounded(path, bytes, bytes / kilo * kilo, Unit::bytes, "it marks earlier");
    return bytes / kilo;
}

void NxosWriter::classify(const std::string& name, const PortConfig& port, const EffectivePort& effective) {
    const MapConfig& map = effective.map;
    CliBody& policy = made_.qos[name];
    tell_classes(out_, name, port, effective);
    for (unsigned tc = 0; tc < classes; ++tc)
        if (map.pfc_priority_to_queue[tc] != map.tc_to_queue[tc] && (effective.lossless >> tc & 1U) != 0)
            out_.unsaid(fmt::format("map.{}.pfc_priority_to_queue", port.map),
                        "a pause of a priority stops the qos-group of its class");
    if (port.default_tc != 0)
        out_.unsaid(key_of_port(name, "default_tc"), "packets without DSCP and PCP are of qos-group 0");
    if (port.trust == Trust::port) return out_.said(key_of_port(name, "trust"), "no policy of type qos");
    const auto of_queue = [&](std::span<const ClassId> numbers, unsigned queue) {
        std::vector<unsigned> found;
        for (unsigned n = 0; n < numbers.size(); ++n)
            if (map.tc_to_queue[numbers[n]] == queue) found.push_back(n);
        return found;
    };
    for (unsigned queue = 1; queue < classes; ++queue) {
        std::vector<CliMatch> matches;
        if (port.trust == Trust::dscp) matches.push_back({"dscp", of_queue(map.dscp_to_tc, queue)});
        matches.push_back({"cos", of_queue(map.pcp_to_tc, queue)});
        add_class(made_.class_maps, policy, queue, "qos-group", matches);
    }
    out_.said(key_of_port(name, "map"), "class-maps of type qos, a policy of type qos");
}

void NxosWriter::link(const std::string& name, const PortConfig& port, const EffectivePort& effective) {
    CliBody& link = made_.links[name];
    constexpr std::uint64_t mega = 1'000'000;
    link.push_back({"", "speed", fmt::format("speed {}", port.speed.bits_per_second / mega)});
    out_.said(key_of_port(name, "speed"), link.back().text);
    add_link(out_, name, port, link);
    const bool on = effective.mode != PfcMode::off && effective.lossless != 0;
    link.push_back({"", "priority-flow-control mode",
                    on ? "priority-flow-control mode on" : "priority-flow-control mode off"});
    out_.said(key_of_port(name, "pfc"), link.back().text);
    if (on && effective.mode != PfcMode::symmetric)
        out_.unsaid(key_of_port(name, "pfc_mode"), "PFC goes both ways, for the lossless classes alone");
    if (!on) return;
    for (unsigned n = 0; n < classes; ++n)
        if (priority_[n] && (effective.lossless >> *priority_[n] & 1U) == 0)
            out_.unsaid(key_of_port(name, "pfc"),
                        fmt::format("all ports with PFC have the same lossless classes: {} is one here, too",
                                    *priority_[n]));
    const WatchdogConfig own = watchdog_of(config_.watchdog, port);
    const std::string path = key_of_port(name, "watchdog");
    constexpr const char* interval = "priority-flow-control watch-dog-interval";
    link.push_back(
        {"", interval, fmt::format("{} {}", interval, own.action == WatchdogAction::off ? "off" : "on")});
    out_.said(path, link.back().text);
    if (own.action == WatchdogAction::off) return;
    const auto round = [&](const char* key, Duration time, std::int64_t times) {
        out_.rounded(path + key, static_cast<std::uint64_t>(time.ps),
                     static_cast<std::uint64_t>((interval_ * times).ps), Unit::picoseconds,
                     "one interval for all ports, and whole multiples of it");
    };
    round(".detection", own.detection, shutdown_);
    round(".restoration", restoration_of(own), restore_);
    if (own.action != WatchdogAction::drop) out_.unsaid(path + ".action", "NX-OS drops what a storm holds");
}

std::string NxosWriter::marking(unsigned n, const EffectivePort& effective) {
    const WredProfile& profile = *effective.wred_profile[n];
    const std::string& wred = effective.wred[n];
    const bool by_ect = profile.ecn && profile.has_ect;
    const WredCurve& curve = by_ect ? profile.ect : profile.color[0];
    const std::string start = fmt::format("wred.{}.{}", wred, by_ect ? "ect_" : "green_");
    tell_marking(out_, wred, profile, true);
    if (by_ect)
        out_.unsaid(fmt::format("wred.{}.green_min", wred), "packets without ECN go by the curve of ECT");
    if (profile.ecn && profile.drop_non_ect == false)
        out_.unsaid(fmt::format("wred.{}.drop_non_ect", wred),
                    "packets without ECN are dropped by the curve");
    const std::uint64_t min = kilobytes(start + "min", curve.min()),
                        max = kilobytes(start + "max", curve.max());
    return fmt::format(
        "random-detect minimum-threshold {} kbytes maximum-threshold {} kbytes drop-probability {} weight "
        "{}{}",
        min, max, percent_of_curve(out_, wred, by_ect ? "ect_probability" : "green_probability", curve),
        profile.weight, profile.ecn ? " ecn" : "");
}

void NxosWriter::limit(const std::string& path, const QueueConfig& queue,
                       const std::function<void(const char*, const char*, std::string)>& add) {
    constexpr int of_one = 7, most = 10;  // 7 is alpha 1; 0 is 1/128, 10 is 8
    if (queue.static_bytes && *queue.static_bytes != 0)
        add("static_th", "queue-limit", fmt::format("queue-limit {} bytes", *queue.static_bytes));
    else if (queue.dynamic_th && *queue.dynamic_th >= -of_one && *queue.dynamic_th <= most - of_one)
        add("dynamic_th", "queue-limit", fmt::format("queue-limit dynamic {}", *queue.dynamic_th + of_one));
    else
        tell_limit(out_, path, queue, "the platform's own limit");
    if (queue.size_bytes) out_.unsaid(path + ".size", "the platform's own reserve");
}

void NxosWriter::queue(const std::string& name, unsigned n, const PortConfig& port,
                       const EffectivePort& effective, const std::array<bool, classes>& used) {
    const QueueSchedule& schedule = effective.schedule.queue[n];
    const std::string path = key_of_port(name, fmt::format("queue.{}", n));
    const std::string section = std::string(queuing_class_head) + output_class(n);
    const auto add = [&](const char* key, const char* words, std::string text) {
        out_.said(fmt::format("{}.{}", path, key), fmt::format("{} {}", section, text));
        made_.output[name].push_back({section, words, std::move(text)});
    };
    if (used[n] && schedule.strict) {
        unsigned level = 1;
        for (unsigned above = n + 1; above < classes; ++above)
            if (used[above] && effective.schedule.queue[above].strict) ++level;
        add("scheduler", "priority", fmt::format("priority level {}", level));
    }
    if (schedule.min_rate != Rate{} || schedule.max_rate != Rate{})
        add("max_rate", "shape",
            fmt::format(
                "shape min {} max {}", kbps(path + ".min_rate", schedule.min_rate),
                kbps(path + ".max_rate", schedule.max_rate == Rate{} ? port.speed : schedule.max_rate)));
    limit(path, port.queue[n], add);
    if (!effective.wred_profile[n]) return;
    if (effective.wred_profile[n]->ecn || effective.wred_profile[n]->drop_non_ect != false)
        add("wred", "random-detect", marking(n, effective));
}

// Where the group of a lossless queue pauses: NX-OS has fixed thresholds alone.
void NxosWriter::group(const std::string& name, ClassId n, const PortConfig& port,
                       const EffectivePort& effective) {
    const PriorityGroupConfig& said = port.priority_group[n];
    const GroupLimits& limits = effective.group[n];
    const std::string path = key_of_port(name, fmt::format("priority_group.{}", n));
    const auto queue = std::ranges::find(priority_, std::optional<ClassId>{n}) - priority_.begin();
    if (std::cmp_equal(queue, priority_.size())) return out_.unsaid(path, "no class comes to it");
    const std::string section = std::string(queuing_class_head) + input_class(static_cast<unsigned>(queue));
    const std::uint64_t headroom = out_.bytes(said.xoff_bytes, limits.headroom_cells);
    if (!said.static_bytes || *said.static_bytes == 0 || said.dynamic_th) {
        made_.links[name].push_back({"", fmt::format("headroom {}", n),
                                     fmt::format("! headroom of qos-group {}: {} bytes", queue, headroom)});
        out_.unsaid(
            path + ".xoff",
            fmt::format("{}: the threshold moves with the free memory, and NX-OS has fixed ones; see that "
                        "buffer-size is as much above pause-threshold",
                        print_count(headroom, "byte")));
        tell_limit(out_, path, said, "a fixed pause-threshold, the platform's own");
        return;
    }
    const std::uint64_t reserved = out_.bytes(said.size_bytes, limits.reserved_cells);
    const std::uint64_t offset = out_.bytes(said.xon_offset_bytes, limits.xon_offset_cells);
    const std::uint64_t pause = reserved + *said.static_bytes;
    const std::uint64_t xon = std::max(out_.bytes(said.xon_bytes, limits.xon_cells),
                                       *said.static_bytes - std::min(*said.static_bytes, offset));
    made_.input[name].push_back({section, "pause",
                                 fmt::format("pause buffer-size {} pause-threshold {} resume-threshold {}",
                                             pause + headroom, pause, std::min(pause, reserved + xon))});
    out_.said(path, made_.input[name].back().text);
    if (reserved != 0) out_.unsaid(path + ".size", "a part of pause-threshold");
}

void NxosWriter::write_port(const std::string& name, const PortConfig& port, const EffectivePort& effective) {
    classify(name, port, effective);
    link(name, port, effective);
    const auto used = used_queues(effective.map);
    const auto shares = shares_of_queues(out_, name, effective);
    CliBody& output = made_.output[name];
    for (unsigned n = 0; n < classes; ++n) {
        const std::string section = std::string(queuing_class_head) + output_class(n);
        if (shares[n] == 100) output.push_back({section, "bandwidth", ""});
        if (!used[n]) output.push_back({section, "", ""});
        if (shares[n] != 0 && shares[n] != 100) {
            output.push_back(
                {section, "bandwidth", fmt::format("bandwidth remaining percent {}", shares[n])});
            out_.said(key_of_port(name, fmt::format("queue.{}.weight", n)), output.back().text);
        }
        queue(name, n, port, effective, used);
    }
    if (port.shaper != Rate{}) out_.unsaid(key_of_port(name, "shaper"), "the port sends at its speed");
    tell_bursts(out_, name, port);
    made_.input[name];
    for_each_class(effective.lossless, [&](ClassId n) { group(name, n, port, effective); });
}

}  // namespace

std::string output_class(unsigned queue) {
    return queue == 0 ? "c-out-8q-q-default" : fmt::format("c-out-8q-q{}", queue);
}
std::string input_class(unsigned queue) {
    return queue == 0 ? "c-in-q-default" : fmt::format("c-in-q{}", queue);
}

NxosText nxos_text(Exporting& out, SharedBodies known) { return NxosWriter(out, std::move(known)).write(); }

}  // namespace sluice::import

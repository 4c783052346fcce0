// A configuration as statements of Arista EOS.
//
// A traffic class is a class, a transmit queue is a queue, and the priority of PFC is the class. What ports
// share is a `qos profile`; `qos map` holds for all of them, and a port with another map has a policy.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "control/config/schema/values.hh"
#include "lib/values/class_mask.hh"
#include "tools/import/cli.hh"
#include "tools/import/cli_text.hh"

namespace sluice::import {
namespace {

constexpr std::string_view eos_indent = "   ";
constexpr const char* profile_word = "service-profile";
constexpr const char* watchdog_word = "priority-flow-control pause watchdog";
constexpr std::string_view policy_map_head = "policy-map type quality-of-service ";
constexpr std::int64_t ps_of_10_ms = 10'000'000'000;

// The whole: statements of no section, links and profiles of ports, and policies of maps of their own.
struct EosText {
    CliBody top;
    CliBodies links, profiles;
    SharedBodies sections;  // class-map, policy-map
    PortNames names;
};

std::string numbers_text(const std::vector<unsigned>& numbers) {
    std::string text;
    for (const unsigned n : numbers) append_item(text, " ", std::to_string(n));
    return text;
}

// Numbers that a map gives the class.
std::vector<unsigned> numbers_of(std::span<const ClassId> map, unsigned tc) {
    std::vector<unsigned> numbers;
    for (unsigned n = 0; n < map.size(); ++n)
        if (map[n] == tc) numbers.push_back(n);
    return numbers;
}

// Rounded up, of a second.
std::int64_t hundredths_of(Duration time) { return (time.ps + ps_of_10_ms - 1) / ps_of_10_ms; }
std::string seconds_text(Duration time) {
    constexpr double per_second = 100;
    return fmt::format("{:g}", static_cast<double>(hundredths_of(time)) / per_second);
}

const char* action_word(WatchdogAction action) {
    return action == WatchdogAction::forward ? "no-drop"
           : action == WatchdogAction::alert ? "notify-only"
                                             : "drop";
}

class EosWriter {
  public:
    // `known`: sections that are there already.
    EosWriter(Exporting& out, std::string_view queue_word, SharedBodies known)
        : out_(out), config_(out.config), queue_word_(queue_word) {
        made_.sections = std::move(known);
    }

    EosText write() {
        made_.names = interface_names(out_, "Ethernet", is_interface_name);
        tell_memory(out_);
        maps();
        non_ect();
        watchdog();
        for (const auto& [name, port] : config_.ports) write_port(name, port, out_.qos.ports.at(name));
        if (has_pfc_) made_.top.push_back({"", "all off", "no priority-flow-control all off", true});
        add_routes(out_, made_.top);
        tell_trimming(out_);
        tell_own_keys(out_);
        return std::move(made_);
    }

  private:
    void maps();
    void non_ect();
    void watchdog();
    void write_port(const std::string& name, const PortConfig& port, const EffectivePort& effective);
    void trust(const std::string& name, const PortConfig& port, const EffectivePort& effective,
               CliBody& body);
    void policy(const std::string& name, const MapConfig& map, CliBody& body);
    void pfc(const std::string& name, const PortConfig& port, const EffectivePort& effective, CliBody& body);
    void port_watchdog(const std::string& name, const PortConfig& port, CliBody& body);
    void queues(const std::string& name, const PortConfig& port, const EffectivePort& effective,
                CliBody& body);
    void marking(const std::string& name, unsigned n, const EffectivePort& effective, CliBody& body);
    std::string curve(const std::string& wred, std::string_view key, const WredCurve& of,
                      std::string_view chance, const WredProfile& profile);
    std::string kbps(const std::string& path, Rate rate) { return kbps_text(out_, path, rate, "EOS"); }
    void top(std::string key, std::string text) {
        made_.top.push_back({"", std::move(key), std::move(text)});
    }

    Exporting& out_;
    const Config& config_;
    std::string_view queue_word_;
    EosText made_;
    MapConfig map_;  // of the whole switch
    WatchdogConfig watchdog_;
    bool watches_ = false, has_pfc_ = false;
};

// qos map: what most ports have.
void EosWriter::maps() {
    std::size_t most = 0;
    for (const auto& [name, port] : out_.qos.ports) {
        const auto alike = std::ranges::count_if(
            out_.qos.ports, [&](const auto& other) { return other.second.map == port.map; });
        if (std::cmp_greater(alike, most)) map_ = port.map;
        most = std::max(most, static_cast<std::size_t>(alike));
    }
    const auto add = [&](const char* from, const auto& map, const char* to) {
        for (unsigned tc = 0; tc < classes; ++tc) {
            const std::vector<unsigned> numbers = numbers_of(map, tc);
            if (!numbers.empty())
                made_.top.push_back(
                    {"", fmt::format("qos map {} to {} {}", from, to, tc),
                     fmt::format("qos map {} {} to {} {}", from, numbers_text(numbers), to, tc), true});
        }
    };
    add("dscp", map_.dscp_to_tc, "traffic-class");
    add("cos", map_.pcp_to_tc, "traffic-class");
    add("traffic-class", map_.tc_to_queue, std::string(queue_word_).c_str());
    out_.said("map", "qos map dscp, cos and traffic-class");
}

// Packets without ECN in marking queues: a switch passes all of them, or drops all by the curve. Where a
// lossless queue marks, it passes them.
void EosWriter::non_ect() {
    bool has_lossless = false;
    std::set<std::string> passing, dropping;
    for (const auto& [name, port] : out_.qos.ports)
        for (unsigned n = 0; n < classes; ++n) {
            const auto& profile = port.wred_profile[n];
            if (!profile || !profile->ecn || (profile->has_ect && profile->drop_non_ect != false)) continue;
            if (profile->drop_non_ect.value_or(!port.queue[n].lossless)) {
                dropping.insert(port.wred[n]);
            } else {
                has_lossless = has_lossless || port.queue[n].lossless;
                passing.insert(port.wred[n]);
            }
        }
    const bool passes = has_lossless || (!passing.empty() && dropping.empty());
    if (passes) top("allow non-ect", "qos random-detect ecn allow non-ect");
    for (const std::string& wred : passes ? dropping : passing)
        out_.unsaid(fmt::format("wred.{}.drop_non_ect", wred),
                    passes ? "packets without ECN pass in all queues: lossless ones must not drop them"
                           : "all queues pass packets without ECN, or none: the curve drops them");
}

void EosWriter::watchdog() {
    watchdog_ = config_.watchdog;
    for (const auto& [name, port] : config_.ports) {
        const WatchdogConfig own = watchdog_of(config_.watchdog, port);
        if (own.action == WatchdogAction::off || out_.qos.ports.at(name).lossless == 0) continue;
        if (!watches_ && watchdog_.action == WatchdogAction::off) watchdog_.action = own.action;
        watches_ = true;
    }
    if (!watches_) return;
    const auto add = [&](const char* key, const char* which, Duration time) {
        const std::string text = seconds_text(time);
        top(fmt::format("{} default {}", watchdog_word, which),
            fmt::format("{} default {} {}", watchdog_word, which, text));
        out_.said(key, made_.top.back().text);
        out_.rounded(key, static_cast<std::uint64_t>(time.ps),
                     static_cast<std::uint64_t>(hundredths_of(time) * ps_of_10_ms), Unit::picoseconds,
                     "EOS has hundredths of a second");
    };
    add("watchdog.detection", "timeout", watchdog_.detection);
    add("watchdog.restoration", "recovery-time", restoration_of(watchdog_));
    if (watchdog_.poll) add("watchdog.poll", "polling-interval", *watchdog_.poll);
    top(fmt::format("{} action", watchdog_word),
        fmt::format("{} action {}", watchdog_word, action_word(watchdog_.action)));
    out_.said("watchdog.action", made_.top.back().text);
}

void EosWriter::policy(const std::string& name, const MapConfig& map, CliBody& body) {
    CliBody classes_of;
    for (unsigned tc = 0; tc < classes; ++tc)
        add_class(made_.sections, classes_of, tc, "traffic-class",
                  {{"dscp", numbers_of(map.dscp_to_tc, tc)}, {"cos", numbers_of(map.pcp_to_tc, tc)}});
    const std::string made = share_body(made_.sections, fmt::format("{}sluice", policy_map_head), classes_of)
                                 .substr(policy_map_head.size());
    body.push_back({"", "service-policy type qos input", "service-policy type qos input " + made});
    out_.said(key_of_port(name, "map"), body.back().text);
}

void EosWriter::trust(const std::string& name, const PortConfig& port, const EffectivePort& effective,
                      CliBody& body) {
    const MapConfig& map = effective.map;
    body.push_back({"", "qos trust",
                    port.trust == Trust::dscp  ? "qos trust dscp"
                    : port.trust == Trust::pcp ? "qos trust cos"
                                               : "no qos trust"});
    out_.said(key_of_port(name, "trust"), body.back().text);
    if (port.default_tc != 0 || port.trust == Trust::port) {
        const auto pcp = std::ranges::find(map_.pcp_to_tc, port.default_tc);
        if (pcp == map_.pcp_to_tc.end())
            out_.unsaid(key_of_port(name, "default_tc"),
                        "no PCP has this class: such packets have that of PCP 0");
        else
            body.push_back({"", "qos cos", fmt::format("qos cos {}", pcp - map_.pcp_to_tc.begin())});
    }
    if (map.dscp_to_tc != map_.dscp_to_tc || map.pcp_to_tc != map_.pcp_to_tc) policy(name, map, body);
    if (map.tc_to_queue != map_.tc_to_queue)
        out_.unsaid(fmt::format("map.{}.tc_to_queue", port.map), "all ports have one: that of most of them");
    tell_priorities(out_, port, effective);
    tell_classes(out_, name, port, effective);
}

void EosWriter::pfc(const std::string& name, const PortConfig& port, const EffectivePort& effective,
                    CliBody& body) {
    if (effective.mode == PfcMode::off || (effective.lossless == 0 && (!port.pfc || port.pfc->empty())))
        return;
    has_pfc_ = true;
    body.push_back({"", "priority-flow-control", "priority-flow-control on"});
    out_.said(key_of_port(name, "pfc"), body.back().text);
    if (effective.mode != PfcMode::symmetric)
        out_.unsaid(key_of_port(name, "pfc_mode"), "PFC goes both ways, for the lossless classes alone");
    for_each_class(effective.lossless, [&](ClassId n) {
        const std::string key = fmt::format("priority-flow-control priority {}", n);
        body.push_back({"", key, key + " no-drop"});
        const std::uint64_t headroom =
            out_.bytes(port.priority_group[n].xoff_bytes, effective.group[n].headroom_cells);
        body.push_back({"", "headroom " + std::to_string(n),
                        fmt::format("! headroom of priority {}: {} bytes", n, headroom)});
        const std::string path = key_of_port(name, fmt::format("priority_group.{}", n));
        out_.unsaid(path + ".xoff", fmt::format("{}: the platform has its own; see that it has as much",
                                                print_count(headroom, "byte")));
        if (port.priority_group[n].size_bytes) out_.unsaid(path + ".size", "the platform's own reserve");
        if (port.priority_group[n].xon_bytes || port.priority_group[n].xon_offset_bytes)
            out_.unsaid(path + ".xon", "the platform sends XON where it does");
        tell_limit(out_, path, port.priority_group[n], "the platform's own threshold of XOFF");
    });
}

void EosWriter::port_watchdog(const std::string& name, const PortConfig& port, CliBody& body) {
    const WatchdogConfig own = watchdog_of(config_.watchdog, port);
    if (!watches_ || out_.qos.ports.at(name).lossless == 0) return;
    const auto add = [&](const std::string& words, const std::string& arguments) {
        const std::string key = fmt::format("{} {}", watchdog_word, words);
        body.push_back({"", key, arguments.empty() ? key : key + " " + arguments});
        out_.said(key_of_port(name, "watchdog"), body.back().text);
    };
    if (own.action == WatchdogAction::off) return add("disable", "");
    add("port timer", fmt::format("timeout {} polling-interval auto recovery-time {}",
                                  seconds_text(own.detection), seconds_text(restoration_of(own))));
    add("port action", action_word(own.action));
}

std::string EosWriter::curve(const std::string& wred, std::string_view key, const WredCurve& of,
                             std::string_view chance, const WredProfile& profile) {
    std::string text = fmt::format("minimum-threshold {} bytes maximum-threshold {} bytes {} {}", of.min(),
                                   of.max(), chance, percent_of_curve(out_, wred, key, of));
    if (profile.weight != 0) text += fmt::format(" weight {}", profile.weight);
    return text;
}

void EosWriter::marking(const std::string& name, unsigned n, const EffectivePort& effective, CliBody& body) {
    if (!effective.wred_profile[n]) return;
    const WredProfile& profile = *effective.wred_profile[n];
    const std::string& wred = effective.wred[n];
    const std::string section = fmt::format("{} {}", queue_word_, n);
    const bool drops = profile.drop_non_ect != false && (profile.has_ect || !profile.ecn);
    if (profile.ecn)
        body.push_back(
            {section, "random-detect ecn minimum-threshold",
             "random-detect ecn " + curve(wred, profile.has_ect ? "ect_probability" : "green_probability",
                                          profile.has_ect ? profile.ect : profile.color[0],
                                          "max-mark-probability", profile)});
    if (drops)
        body.push_back({section, "random-detect drop",
                        "random-detect drop " +
                            curve(wred, "green_probability", profile.color[0], "drop-probability", profile)});
    if (profile.ecn || drops)
        out_.said(key_of_port(name, fmt::format("queue.{}.wred", n)), section + " " + body.back().text);
    tell_marking(out_, wred, profile, true);
}

void EosWriter::queues(const std::string& name, const PortConfig& port, const EffectivePort& effective,
                       CliBody& body) {
    const auto used = used_queues(effective.map);
    const auto shares = shares_of_queues(out_, name, effective);
    unsigned sharing = 0;  // those below this one share
    for (unsigned n = 0; n < classes; ++n)
        if (used[n] && !effective.schedule.queue[n].strict) sharing = n;
    if (port.shaper != Rate{}) {
        body.push_back({"", "shape rate", "shape rate " + kbps(key_of_port(name, "shaper"), port.shaper)});
        out_.said(key_of_port(name, "shaper"), body.back().text);
    }
    for (unsigned n = 0; n < classes; ++n) {
        const QueueSchedule& queue = effective.schedule.queue[n];
        const std::string section = fmt::format("{} {}", queue_word_, n);
        const std::string path = key_of_port(name, fmt::format("queue.{}", n));
        const auto add = [&](const char* key, const char* words, const std::string& text) {
            body.push_back({section, words, text, words == std::string_view("priority")});
            out_.said(fmt::format("{}.{}", path, key), fmt::format("{} {}", section, text));
        };
        tell_queue_limit(out_, name, n, port.queue[n], "the platform's own threshold",
                         "the platform's own reserve");
        if (used[n] && queue.strict && n < sharing)
            out_.unsaid(
                path + ".scheduler",
                fmt::format("queues below queue {}, which shares, share, too: the queue is not strict",
                            sharing));
        if (used[n])
            add("scheduler", "priority", queue.strict && n >= sharing ? "priority strict" : "no priority");
        if (shares[n] == 100) body.push_back({section, "bandwidth percent", ""});
        if (!used[n]) body.push_back({section, "", ""});
        if (used[n] && !queue.strict && shares[n] != 100)
            add("weight", "bandwidth percent", fmt::format("bandwidth percent {}", shares[n]));
        if (queue.min_rate != Rate{})
            add("min_rate", "bandwidth guaranteed",
                "bandwidth guaranteed " + kbps(path + ".min_rate", queue.min_rate));
        if (queue.max_rate != Rate{})
            add("max_rate", "shape rate", "shape rate " + kbps(path + ".max_rate", queue.max_rate));
        marking(name, n, effective, body);
    }
    tell_bursts(out_, name, port);
}

void EosWriter::write_port(const std::string& name, const PortConfig& port, const EffectivePort& effective) {
    CliBody& link = made_.links[name];
    constexpr std::uint64_t giga = 1'000'000'000;
    link.push_back({"", "speed", fmt::format("speed {}g", port.speed.bits_per_second / giga)});
    out_.said(key_of_port(name, "speed"), link.back().text);
    add_link(out_, name, port, link);
    CliBody& body = made_.profiles[name];
    trust(name, port, effective, body);
    pfc(name, port, effective, body);
    port_watchdog(name, port, body);
    queues(name, port, effective, body);
}

// Profiles by name, and what ports go by.
SharedBodies share_profiles(const EosText& text, std::map<std::string, std::string>& names) {
    SharedBodies shared;
    for (const auto& [port, body] : text.profiles) names[port] = share_body(shared, "sluice", body);
    return shared;
}

// Lines of today that come to what is wanted, and in the file may stand in other words: rates and thresholds
// of another speed, queues that share because one above them does.
void forget_other_words(EosText& today, const EosText& wanted) {
    for (auto& [port, body] : today.profiles) {
        if (differs(today.links.at(port), wanted.links.at(port), "speed"))
            forget_lines(body, {"shape rate", "bandwidth guaranteed", "random-detect"});
        if (differs(body, wanted.profiles.at(port), "priority")) forget_lines(body, {"priority"});
    }
}

Exported eos_patch(const ExportTask& task, Exporting& out, const std::string& queue_word) {
    Exporting before(task.today);
    SharedBodies known = names_taken(task.names, class_map_head);
    known.merge(names_taken(task.names, policy_map_head));
    EosText today = EosWriter(before, queue_word, std::move(known)).write();
    const EosText wanted = EosWriter(out, queue_word, today.sections).write();
    std::map<std::string, std::string> names;
    share_profiles(today, names);
    if (task.names != nullptr) names = task.names->of(profile_word);
    forget_other_words(today, wanted);
    Exported made;
    made.account = new_limits(std::move(out.account), before.account);
    CliBodies links = changed_links(made.account, today.links, wanted.links, wanted.names);
    static const std::map<std::string, std::set<std::string>> nothing;
    for (const SharedChange& each : shared_changes(today.profiles, wanted.profiles, names,
                                                   task.names == nullptr ? nothing : task.names->own_keys)) {
        const std::string& port = each.ports.front();
        std::string where = "interface " + wanted.names.at(port);
        if (each.name.empty())
            links[port].insert(links[port].end(), each.changes.begin(), each.changes.end());
        else
            made.text += section_text(where = "qos profile " + each.name, each.changes, eos_indent);
        tell_changes(made.account, where, today.profiles.at(port), each.changes);
    }
    made.text +=
        interfaces_text(links, wanted.names, eos_indent) + changed_top(made.account, today.top, wanted.top);
    made.text = shared_text("", referred_in(made.text, wanted.sections),
                            task.names == nullptr ? today.sections : SharedBodies{}, eos_indent) +
                made.text;
    made.changes = !made.text.empty();
    if (made.changes && task.document == nullptr) tell_base(made.account, "eos");
    return made;
}

}  // namespace

Exported export_eos(const ExportTask& task) {
    const std::string queue_word = task.names == nullptr ? "tx-queue" : task.names->queue_word;
    Exporting out(task.wanted);
    if (task.patch) return eos_patch(task, out, queue_word);
    EosText text = EosWriter(out, queue_word, {}).write();
    Exported made;
    std::map<std::string, std::string> names;
    const SharedBodies profiles = share_profiles(text, names);
    made.text = shared_text("", text.sections, {}, eos_indent) +
                shared_text("qos profile ", profiles, {}, eos_indent);
    for (auto& [port, link] : text.links)
        link.push_back({"", profile_word, fmt::format("{} {}", profile_word, names.at(port))});
    made.text += interfaces_text(text.links, text.names, eos_indent) + section_text({}, text.top, {});
    if (!text.names.empty())
        out.account.tell(Fate::assumed, "queues",
                         fmt::format("{}: some chips have tx-queue, others uc-tx-queue", queue_word));
    made.account = std::move(out.account);
    return made;
}

}  // namespace sluice::import

// qos: mapping, pfc, egress-queue-mapping, egress-scheduler, congestion-control, pfc-watchdog, each with
// profiles that interfaces name; "default-global" serves those that name none.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "control/config/schema/values.hh"
#include "tools/import/cumulus.hh"

namespace sluice::import {
namespace {

constexpr std::string_view global = "default-global";

class Profiles {
  public:
    explicit Profiles(Cumulus& in) : in_(in) {}

    void take() {
        maps();
        each("pfc", &Profiles::pfc);
        each("egress-scheduler", &Profiles::scheduler);
        each("congestion-control", &Profiles::marking);
        watchdog();
    }

  private:
    const Item* profile_of(const char* kind, const std::string& port);
    void each(const char* kind, void (Profiles::*read)(const Item& profile, PortConfig& port)) {
        for (auto& [name, port] : in_.config().ports)
            if (const Item* profile = profile_of(kind, name); profile != nullptr && profile->is_map())
                (this->*read)(*profile, port);
    }
    void maps();
    void read_map(const Item* mapping, const Item* queues, MapConfig& map, PortConfig& port);
    void pfc(const Item& profile, PortConfig& port);
    void scheduler(const Item& profile, PortConfig& port);
    void marking(const Item& profile, PortConfig& port);
    void watchdog();
    std::optional<std::uint64_t> number(const Item* node, std::uint64_t high, const std::string& what);
    void taken(const Item* node, std::string what) {
        if (node != nullptr) in_.account().taken(*node, std::move(what));
    }

    Cumulus& in_;
    std::map<std::pair<std::string, std::string>, const Item*> named_;  // by kind and port
    std::set<std::string> kinds_;
};

// The profile that an interface names, in whatever entry its name stands; or the global one.
const Item* Profiles::profile_of(const char* kind, const std::string& port) {
    if (kinds_.insert(kind).second) {
        if (const Item* interfaces = Cumulus::at(in_.set, {"interface"}))
            for (const auto& entry : interfaces->members)
                if (const Item* name = Cumulus::at(entry.get(), {"qos", kind, "profile"})) {
                    const std::string_view word = Cumulus::value(name);
                    const Item* profile = Cumulus::at(in_.set, {"qos", kind, word});
                    if (profile == nullptr) {
                        in_.account().left_out(
                            *name, fmt::format("there is no profile {} in qos {}", in_quotes(word), kind),
                            "add it, or leave the reference out");
                        continue;
                    }
                    in_.account().taken(*name, fmt::format("{} of the port", kind));
                    for (const std::string& of : front_ports(entry->name)) named_[{kind, of}] = profile;
                }
    }
    const auto found = named_.find({kind, port});
    return found != named_.end() ? found->second : Cumulus::at(in_.set, {"qos", kind, global});
}

std::optional<std::uint64_t> Profiles::number(const Item* node, std::uint64_t high, const std::string& what) {
    if (node == nullptr) return std::nullopt;
    const auto value = parse_size(Cumulus::value(node));
    if (value && *value <= high) {
        taken(node, what);
        return *value;
    }
    in_.account().wrong(
        *node, fmt::format("{} is not a number from 0 to {}", in_quotes(Cumulus::value(node)), high));
    return std::nullopt;
}

void Profiles::read_map(const Item* mapping, const Item* queues, MapConfig& map, PortConfig& port) {
    const auto fill = [&](const Item* list, const char* field, ClassId* out, std::uint64_t size,
                          const char* key) {
        if (list == nullptr) return;
        for (const Item* entry : list->entries()) {
            const auto index = parse_integer(entry->name);
            const auto value = parse_integer(Cumulus::value(entry->find(field)));
            if (!index || *index >= size || !value || *value >= classes) {
                in_.account().wrong(
                    *entry, fmt::format("is not a number below {} with a {} from 0 to 7", size, field));
                continue;
            }
            out[*index] = static_cast<ClassId>(*value);
            taken(entry, fmt::format("{} of the port's map", key));
        }
    };
    fill(Cumulus::at(mapping, {"dscp"}), "switch-priority", map.dscp_to_tc.data(), 64, "dscp_to_tc");
    fill(Cumulus::at(mapping, {"pcp"}), "switch-priority", map.pcp_to_tc.data(), 8, "pcp_to_tc");
    fill(Cumulus::at(queues, {"switch-priority"}), "traffic-class", map.tc_to_queue.data(), 8, "tc_to_queue");
    for (unsigned n = 0; n < classes; ++n) map.pfc_priority_to_queue[n] = map.tc_to_queue[n];
    if (const Item* trust = Cumulus::at(mapping, {"trust"})) {
        const std::string_view word = Cumulus::value(trust);
        if (word == "l3" || word == "both") port.trust = Trust::dscp;
        if (word == "l2") port.trust = Trust::pcp;
        if (word == "port") port.trust = Trust::port;
        if (word == "l2" || word == "l3" || word == "both" || word == "port")
            taken(trust, word == "both" ? "trust = \"dscp\"" : fmt::format("trust of {}", word));
        else
            in_.account().wrong(*trust, in_quotes(word) + " is none of l2, l3, both, port");
    }
    if (const auto tc = number(Cumulus::at(mapping, {"port-default-sp"}), 7, "default_tc"))
        port.default_tc = static_cast<ClassId>(*tc);
}

void Profiles::maps() {
    std::map<std::pair<const Item*, const Item*>, std::string> names;
    const MapConfig base = in_.config().maps.at(std::string(global));
    for (auto& [name, port] : in_.config().ports) {
        const Item* mapping = profile_of("mapping", name);
        const Item* queues = profile_of("egress-queue-mapping", name);
        MapConfig map = base;
        read_map(mapping, queues, map, port);
        const auto [known, is_new] = names.try_emplace({mapping, queues});
        if (is_new) {
            std::string made(mapping == nullptr ? std::string(global) : mapping->name.substr(0, 28));
            if (!in_.out.check_name(mapping == nullptr ? *in_.set : *mapping, made)) made = "map";
            for (unsigned n = 2; made != global && in_.config().maps.contains(made); ++n)
                made = fmt::format("{}-{}", made.substr(0, 28), n);
            if (known != names.begin() && made == global) made = fmt::format("{}-{}", global, names.size());
            known->second = made;
            in_.config().maps[made] = map;
        }
        port.map = known->second;
    }
}

// port-buffer is what the classes reserve, xoff-threshold the part of it before XOFF: the rest is headroom.
void Profiles::pfc(const Item& profile, PortConfig& port) {
    const Item* list = profile.find("switch-priority");
    std::set<ClassId> lossless;
    const auto add = [&](const Item& item, std::string_view word, std::string what) {
        for (const ClassId n : in_.out.classes_of(item, word)) lossless.insert(n);
        taken(&item, std::move(what));
    };
    if (list != nullptr && list->is_word()) add(*list, list->word, "pfc = [...]");
    if (list != nullptr)
        for (const auto& entry : list->members) {
            const std::string_view word =
                list->kind == Item::Kind::list ? Cumulus::value(entry.get()) : entry->name;
            add(*entry, word, fmt::format("pfc has {}", word));
        }
    const bool sends = profile.find("tx") == nullptr || Cumulus::is_on(profile.find("tx"));
    const bool obeys = profile.find("rx") == nullptr || Cumulus::is_on(profile.find("rx"));
    taken(profile.find("tx"), "pfc_mode");
    taken(profile.find("rx"), "pfc_mode");
    if (!sends) port.pfc_mode = obeys ? PfcMode::semi_lossless : PfcMode::off;
    if (sends && !obeys)
        in_.account().assumed(
            profile.path(),
            "pfc_mode = \"symmetric\": Sluice has no mode that sends PFC and does not obey it");
    port.pfc.emplace(lossless.begin(), lossless.end());
    if (const auto meters = number(profile.find("cable-length"), 100'000, "cable"))
        port.cable_m = static_cast<std::uint32_t>(*meters);
    constexpr std::uint64_t most = 1ULL << 40;
    const auto buffer = number(profile.find("port-buffer"), most, "xoff, less xoff-threshold");
    const auto before = number(profile.find("xoff-threshold"), most, "size: reserved, before XOFF");
    const auto delta = number(profile.find("xon-threshold"), most, "xon_offset");
    auto& map = in_.config().maps.at(port.map);
    for (const ClassId n : lossless) {
        map.tc_to_priority_group[n] = n;
        PriorityGroupConfig& group = port.priority_group[n];
        if (before) group.size_bytes = *before;
        if (buffer && before && *buffer > *before) group.xoff_bytes = *buffer - *before;
        if (delta) group.xon_offset_bytes = *delta;
    }
}

void Profiles::scheduler(const Item& profile, PortConfig& port) {
    const Item* list = profile.find("traffic-class");
    if (list == nullptr) return;
    for (const Item* entry : list->entries()) {
        const auto numbers = in_.out.classes_of(*entry, entry->name);
        const std::string_view mode = Cumulus::value(entry->find("mode"));
        if (!mode.empty() && mode != "strict" && mode != "dwrr") {
            in_.account().wrong(*entry->find("mode"), in_quotes(mode) + " is neither dwrr nor strict");
            continue;
        }
        taken(entry->find("mode"), "scheduler of the queue");
        const auto weight = number(entry->find("bw-percent"), 100, "weight of the queue");
        for (const ClassId n : numbers) {
            port.queue[n].scheduler = mode == "strict" ? QueueScheduler::strict : QueueScheduler::dwrr;
            if (weight && *weight != 0) port.queue[n].weight = static_cast<std::uint8_t>(*weight);
        }
    }
}

void Profiles::marking(const Item& profile, PortConfig& port) {
    const Item* list = profile.find("traffic-class");
    if (list == nullptr) return;
    for (const Item* entry : list->entries()) {
        const auto numbers = in_.out.classes_of(*entry, entry->name);
        constexpr std::uint64_t most = 1ULL << 40;
        WredConfig made;
        const auto either = [&](const char* one, const char* other) {
            const Item* node = entry->find(one);
            return node != nullptr ? node : entry->find(other);
        };
        constexpr std::uint64_t usual_min = 150'000, usual_max = 1'500'000;  // NVUE's defaults
        made.green.min_bytes =
            number(either("min-threshold", "min-threshold-bytes"), most, "green_min of the queue's profile")
                .value_or(usual_min);
        made.green.max_bytes =
            number(either("max-threshold", "max-threshold-bytes"), most, "green_max of the queue's profile")
                .value_or(usual_max);
        if (const auto chance = number(entry->find("probability"), 100, "green_probability"))
            made.green.probability = Chance::percent(static_cast<std::uint32_t>(*chance));
        made.ecn = entry->find("ecn") == nullptr || Cumulus::is_on(entry->find("ecn"));
        taken(entry->find("ecn"), "ecn of the queue's profile");
        const Item* red = entry->find("red");
        const bool drops = Cumulus::is_on(red);
        if (!drops) made.drop_non_ect = false;
        if (drops)
            in_.account().assumed(
                *red, "packets that are not ECN-capable are dropped by the curve in a lossy queue only");
        taken(red, "the queue's profile drops");
        if (red == nullptr && !entry->accounted)
            in_.account().assumed(entry->path() + ".red",
                                  "disable, NVUE's default: ECN marks, nothing drops");
        const std::string name = fmt::format("{}.{}", profile.name.substr(0, 28), entry->name.substr(0, 3));
        if (!in_.out.check_name(*entry, name)) continue;
        in_.config().wred[name] = made;
        for (const ClassId n : numbers) port.queue[n].wred = name;
        if (entry->members.empty()) taken(entry, "wred of the queue");
    }
}

void Profiles::watchdog() {
    const Item* all = Cumulus::at(in_.set, {"qos", "pfc-watchdog"});
    const auto poll = number(Cumulus::at(all, {"polling-interval"}), 5000, "detection, times robustness");
    const auto times = number(Cumulus::at(all, {"robustness"}), 1000, "detection, times polling-interval");
    const std::uint64_t detection =
        std::clamp<std::uint64_t>(poll.value_or(100) * times.value_or(3), 100, 5000);
    std::set<std::string> watched;
    if (const Item* interfaces = Cumulus::at(in_.set, {"interface"}))
        for (const auto& entry : interfaces->members)
            if (const Item* state = Cumulus::at(entry.get(), {"qos", "pfc-watchdog", "state"})) {
                taken(state, "watchdog.action");
                if (Cumulus::is_on(state))
                    for (const std::string& name : front_ports(entry->name)) watched.insert(name);
            }
    for (auto& [name, port] : in_.config().ports)
        port.watchdog.action = watched.contains(name) ? WatchdogAction::drop : WatchdogAction::off;
    in_.config().watchdog.detection = milliseconds(static_cast<std::int64_t>(detection));
    in_.account().assumed(
        "set.qos.pfc-watchdog",
        watched.empty() ? std::string("off: no interface switches it on")
                        : fmt::format("detection = \"{}ms\", polling-interval times robustness", detection));
}

}  // namespace

void take_cumulus_profiles(Cumulus& in) { Profiles(in).take(); }

}  // namespace sluice::import

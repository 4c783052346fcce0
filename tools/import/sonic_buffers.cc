// BUFFER_POOL, BUFFER_PROFILE, BUFFER_PG, BUFFER_QUEUE.
//
// A pool's `size` is its shared part; `xoff` of a pool is a headroom that its groups share. A profile's
// `size` is reserved, and where it is above `xoff` it has the headroom in it, as on chips without a shared
// one.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "control/config/schema/values.hh"
#include "tools/import/sonic.hh"

namespace sluice::import {
namespace {

constexpr std::uint64_t unknown_pool_bytes = 16'000'000;
constexpr const char* no_cable = "SONiC makes no lossless profile for a cable of 0m";

struct Profile {
    const Item* said_pool = nullptr;
    std::optional<std::uint64_t> reserved, xoff, xon, xon_offset;
    ThresholdConfig threshold;
    std::string pool;
    const Item* trims = nullptr;  // packet_discard_action = trim
};

class Buffers {
  public:
    explicit Buffers(Sonic& in) : in_(in), says_pfc_(in.table("PORT_QOS_MAP") != nullptr) {}

    void take() {
        take_pools();
        in_.each_class("BUFFER_PG", std::bind_front(&Buffers::group, this));
        tell_lossy();
        in_.each_class("BUFFER_QUEUE", std::bind_front(&Buffers::queue, this));
        computed_groups();
        in_.tell_unused("BUFFER_PROFILE", "no group or queue goes by it");
    }

  private:
    void take_pools();
    void take_pool(const Item& pool);
    void add_pool(const std::string& name, PoolDirection direction, std::uint64_t size,
                  std::uint64_t headroom);
    const Profile* profile_of(const Item& reference);
    Profile read(const Item& node);
    void group(const Item& entry, PortConfig& port, unsigned n);
    void queue(const Item& entry, PortConfig& port, unsigned n);
    // Makes the lossless groups without an entry, as SONiC's buffer manager does, with the headroom that it
    // looks up.
    void computed_groups();
    std::optional<std::string> pool_in(const Profile& profile, PoolDirection direction);
    // A group that has a headroom in the file, and is lossy: an entry may have others that are not.
    void make_lossy(const Item& reference, PortConfig& port, unsigned n, const char* why);
    void tell_lossy();
    bool refers_to_computed(const Item& reference) const;

    static void make_lossless(PortConfig& port, unsigned n) {
        std::vector<ClassId>& pfc = port.pfc ? *port.pfc : port.pfc.emplace();
        if (std::find(pfc.begin(), pfc.end(), n) == pfc.end()) pfc.push_back(static_cast<ClassId>(n));
        std::sort(pfc.begin(), pfc.end());
    }

    Sonic& in_;
    bool says_pfc_;  // else a group is lossless that has a headroom
    std::map<std::string, std::map<PoolDirection, std::string>, std::less<>> pools_;
    std::map<std::string, Profile> profiles_;
    std::set<std::pair<const PortConfig*, unsigned>> groups_;
    std::map<std::pair<const Item*, const char*>, std::set<unsigned>> lossy_;
};

void Buffers::add_pool(const std::string& name, PoolDirection direction, std::uint64_t size,
                       std::uint64_t headroom) {
    std::string unique = name;
    if (in_.config().pools.contains(unique)) unique = name.substr(0, 25) + ".egress";
    in_.config().pools[unique] = {direction, size, headroom};
    in_.out.shared_only.insert(unique);
    pools_[name][direction] = unique;
}

void Buffers::take_pool(const Item& pool) {
    if (!in_.is_object(pool)) return;
    if (!in_.out.check_name(pool, pool.name)) return;
    constexpr std::size_t max_pools = 8;
    if (pools_.size() >= max_pools)
        return in_.account().wrong(pool, fmt::format("more than {} pools", max_pools));
    std::uint64_t size = in_.out.wishes.buffer_bytes.value_or(unknown_pool_bytes);
    if (const Item* node = pool.find("size")) {
        const std::string what = fmt::format("pool.{}.size, with reserves and headrooms on top", pool.name);
        size = in_.out.take_number(node, 0, max_bytes, what).value_or(size);
    } else {
        in_.account().assumed(
            "BUFFER_POOL." + pool.name + ".size",
            fmt::format("{}: SONiC computes it from the chip's memory; --buffer says another",
                        print_size(size)));
    }
    std::uint64_t headroom = 0;
    if (const Item* node = pool.find("xoff"))
        if (const auto bytes = in_.out.number(*node, 0, max_bytes)) {
            headroom = *bytes;
            in_.account().taken(*node, fmt::format("pool.{}.shared_headroom = {}", pool.name, headroom));
        }
    const Item* type = pool.find("type");
    const std::string word = type == nullptr ? "" : type->word;
    if (word == "ingress" || word == "both") add_pool(pool.name, PoolDirection::ingress, size, headroom);
    if (word == "egress" || word == "both") add_pool(pool.name, PoolDirection::egress, size, 0);
    if (word != "ingress" && word != "egress" && word != "both")
        return in_.account().wrong(type == nullptr ? pool : *type, "type must be ingress, egress or both");
    in_.account().taken(*type, fmt::format("pool.{}.direction", pool.name));
    if (const Item* mode = pool.find("mode"))
        in_.account().taken(*mode, "each profile says whether its threshold is dynamic or static");
}

void Buffers::take_pools() {
    const Item* table = in_.table("BUFFER_POOL");
    if (table == nullptr)
        return in_.account().assumed("BUFFER_POOL",
                                     "the file has no pools: Sluice's own, three quarters of the "
                                     "buffer lossless");
    for (const Item* pool : table->entries()) take_pool(*pool);
}

Profile Buffers::read(const Item& node) {
    Profile profile;
    const auto size = [&](const char* field) {
        return in_.out.take_number(node.find(field), 0, max_bytes,
                                   fmt::format("{} of the groups that go by it", field));
    };
    profile.xoff = size("xoff");
    profile.xon = size("xon");
    profile.xon_offset = size("xon_offset");
    const Item* reserved = node.find("size");
    if (reserved != nullptr) profile.reserved = in_.out.number(*reserved, 0, max_bytes);
    if (profile.reserved && profile.xoff && *profile.xoff != 0 && *profile.reserved > *profile.xoff) {
        *profile.reserved -= *profile.xoff;
        in_.account().assumed(*reserved, fmt::format("size = {}: it has the {} of xoff in it",
                                                     *profile.reserved, *profile.xoff));
    } else if (profile.reserved) {
        in_.account().taken(*reserved, "size of the groups or queues that go by it");
    }
    if (const Item* dynamic = node.find("dynamic_th")) {
        const auto power = read_number(in_.account(), *dynamic, -1'000'000, 1'000'000);
        if (power && (*power < -8 || *power > 7)) {
            in_.account().left_out(
                *dynamic,
                fmt::format("{} is not a power of two from -8 to 7: the threshold is 0, the "
                            "whole of what is free",
                            *power),
                "write the threshold of the chip's table");
            profile.threshold.dynamic_th = 0;
        } else if (power) {
            profile.threshold.dynamic_th = static_cast<int>(*power);
            in_.account().taken(*dynamic, "dynamic_th, the same power of two");
        }
    } else if (const Item* fixed = node.find("static_th")) {
        profile.threshold.static_bytes = in_.out.number(*fixed, 0, max_bytes);
        if (profile.threshold.static_bytes == 0U) {
            profile.threshold.static_bytes = 1;
            in_.account().assumed(*fixed, "static_th = 1, which admits nothing: 0 means no limit to Sluice");
        } else if (profile.threshold.static_bytes) {
            in_.account().taken(*fixed, "static_th");
        }
    }
    if (const Item* pool = node.find("pool")) {
        profile.pool = Sonic::referred_name(*pool, "BUFFER_POOL");
        profile.said_pool = pool;
        if (pools_.contains(profile.pool))
            in_.account().taken(*pool, "pool of the groups or queues that go by it");
        else if (pools_.empty())
            in_.account().assumed(*pool, "a pool of Sluice's own: the file has none");
        else
            in_.account().left_out(
                *pool,
                fmt::format("there is no pool {}: groups and queues that go by the profile are "
                            "in the first pool of their direction",
                            in_quotes(profile.pool)),
                "add it to BUFFER_POOL");
    }
    if (const Item* action = node.find("packet_discard_action")) {
        if (action->word == "trim")
            profile.trims = action;
        else if (action->word == "drop")
            in_.account().taken(*action, "packets beyond the limit of a queue are dropped");
        else
            in_.account().wrong(*action, in_quotes(action->word) + " is neither drop nor trim");
    }
    if (const Item* type = node.find("headroom_type"))
        in_.account().taken(*type, "a headroom that is not given is computed");
    return profile;
}

bool Buffers::refers_to_computed(const Item& reference) const {
    const std::string name = Sonic::referred_name(reference, "BUFFER_PROFILE");
    return name == "NULL" || name.starts_with("pg_lossless_");
}

// Null: there is none, and it is told.
const Profile* Buffers::profile_of(const Item& reference) {
    const Item* node = in_.entry_of(reference, "BUFFER_PROFILE");
    if (node == nullptr) return nullptr;
    const auto [known, is_new] = profiles_.try_emplace(node->name);
    if (is_new) known->second = read(*node);
    return &known->second;
}

std::optional<std::string> Buffers::pool_in(const Profile& profile, PoolDirection direction) {
    if (profile.pool.empty()) return std::nullopt;
    const auto pool = pools_.find(profile.pool);
    if (pool == pools_.end()) return std::nullopt;
    const auto found = pool->second.find(direction);
    if (found != pool->second.end()) return found->second;
    const bool ingress = direction == PoolDirection::ingress;
    const char* wanted = ingress ? "ingress" : "egress";
    in_.account().left_out(
        *profile.said_pool,
        fmt::format("pool {} is {}, and {} goes by this profile: {} in the first {} pool instead",
                    in_quotes(profile.pool), ingress ? "egress" : "ingress",
                    ingress ? "BUFFER_PG" : "BUFFER_QUEUE", ingress ? "its groups are" : "its queues are",
                    wanted),
        fmt::format("name an {} pool there, or write type \"both\" at the pool", wanted));
    return std::nullopt;
}

void Buffers::make_lossy(const Item& reference, PortConfig& port, unsigned n, const char* why) {
    if (port.pfc && std::find(port.pfc->begin(), port.pfc->end(), n) != port.pfc->end())
        port.priority_group[n].lossless = false;
    lossy_[{&reference, why}].insert(n);
}

void Buffers::tell_lossy() {
    for (const auto& [at, numbers] : lossy_) {
        std::string list;
        for (const unsigned n : numbers) append_item(list, ", ", std::to_string(n));
        in_.account().assumed(
            *at.first,
            fmt::format("{} {}: lossy, {}", numbers.size() == 1 ? "group" : "groups", list, at.second));
    }
}

void Buffers::group(const Item& entry, PortConfig& port, unsigned n) {
    const Item* reference = entry.find("profile");
    if (reference == nullptr) return in_.account().wrong(entry, "names no profile");
    const bool made = refers_to_computed(*reference);
    if (made && port.cable_m == 0 && !in_.out.wishes.cable_m) {
        groups_.emplace(&port, n);
        return make_lossy(*reference, port, n, no_cable);
    }
    if (made && !says_pfc_) make_lossless(port, n);
    if (made && in_.referred(*reference, "BUFFER_PROFILE") == nullptr)
        return in_.account().assumed(*reference, "SONiC makes this profile: Sluice computes the headroom");
    const Profile* profile = profile_of(*reference);
    if (profile == nullptr) return;
    groups_.emplace(&port, n);
    if (!says_pfc_ && profile->xoff.value_or(0) != 0) make_lossless(port, n);
    const bool lossless = port.pfc && std::find(port.pfc->begin(), port.pfc->end(), n) != port.pfc->end();
    if (lossless) in_.out.note(port, Aspect::headroom, *reference);
    PriorityGroupConfig& group = port.priority_group[n];
    static_cast<ThresholdConfig&>(group) = profile->threshold;
    group.pool = pool_in(*profile, PoolDirection::ingress);
    group.size_bytes = profile->reserved.value_or(0);
    if (lossless && profile->xoff.value_or(0) != 0) group.xoff_bytes = profile->xoff;
    group.xon_bytes = profile->xon;
    group.xon_offset_bytes = profile->xon_offset;
    if (!lossless && profile->xoff.value_or(0) != 0)
        make_lossy(*reference, port, n, "pfc_enable of the port does not name the class");
    else
        in_.account().taken(*reference, fmt::format("priority_group.{}", n));
}

void Buffers::queue(const Item& entry, PortConfig& port, unsigned n) {
    const Item* reference = entry.find("profile");
    if (reference == nullptr) return in_.account().wrong(entry, "names no profile");
    const Profile* profile = profile_of(*reference);
    if (profile == nullptr) return;
    QueueConfig& queue = port.queue[n];
    static_cast<ThresholdConfig&>(queue) = profile->threshold;
    queue.pool = pool_in(*profile, PoolDirection::egress);
    queue.size_bytes = profile->reserved.value_or(0);
    if (profile->trims != nullptr)
        in_.trimming[{&port, n}] = profile->trims;
    else
        in_.trimming.erase({&port, n});  // the last entry counts
    in_.account().taken(*reference, fmt::format("queue.{}", n));
}

void Buffers::computed_groups() {
    const Item* all = in_.table("BUFFER_PROFILE");
    const Item* base = all == nullptr ? nullptr : all->find("ingress_lossless_profile");
    Profile profile;
    if (base != nullptr && base->is_map()) profile = read(*base);
    unsigned computed = 0;
    unsigned without_cable = 0;
    for (auto& [name, port] : in_.config().ports)
        for (const ClassId n : port.pfc.value_or(std::vector<ClassId>{})) {
            if (groups_.contains({&port, n})) continue;
            PriorityGroupConfig& group = port.priority_group[n];
            if (port.cable_m == 0 && !in_.out.wishes.cable_m) {
                group.lossless = false;
                ++without_cable;
                continue;
            }
            static_cast<ThresholdConfig&>(group) = profile.threshold;
            if (base != nullptr) group.pool = pool_in(profile, PoolDirection::ingress);
            ++computed;
        }
    if (without_cable != 0)
        in_.account().assumed("BUFFER_PG",
                              fmt::format("{}: lossy, {}", print_count(without_cable, "group"), no_cable));
    if (computed != 0)
        in_.account().assumed("BUFFER_PG",
                              fmt::format("{} without a headroom in the file: Sluice computes it, as SONiC's "
                                          "buffer manager does",
                                          print_count(computed, "lossless group")));
}

}  // namespace

void take_sonic_buffers(Sonic& in) { Buffers(in).take(); }

}  // namespace sluice::import

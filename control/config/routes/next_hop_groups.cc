#include "control/config/routes/next_hop_groups.hh"

#include <algorithm>
#include <bit>
#include <ranges>
#include <utility>

#include "control/config/schema/values.hh"
#include "lib/route/ecmp.hh"

namespace sluice {
namespace {

constexpr unsigned default_buckets = 256;

unsigned log2_buckets(std::size_t members) {
    if (members < 2) return 0;
    return std::bit_width(std::max<std::size_t>(default_buckets, std::bit_ceil(members * 8))) - 1;
}

unsigned log2_members(std::size_t members) {
    return std::bit_width(std::bit_ceil(std::max<std::size_t>(members, 1))) - 1;
}

bool is_balanced(const GroupKey& key) {
    return key.load_balance.value_or(LoadBalance::hash) != LoadBalance::hash;
}

// The next hops of the buckets with their shares, in order.
std::vector<BalanceMember> members_of(const std::vector<std::uint32_t>& buckets) {
    std::map<std::uint32_t, BalanceMember> by_hop;
    for (std::size_t bucket = 0; bucket < buckets.size(); ++bucket) {
        const auto [at, is_new] = by_hop.try_emplace(buckets[bucket], BalanceMember{buckets[bucket], 0, 0});
        ++at->second.share;
        if (is_new) at->second.bucket = static_cast<std::uint16_t>(bucket);
    }
    std::vector<BalanceMember> members;
    for (const auto& [hop, member] : by_hop) members.push_back(member);
    return members;
}

}  // namespace

std::uint32_t NumberRanges::take(unsigned log2_count) {
    if (log2_count < free_.size() && !free_[log2_count].empty()) {
        const std::uint32_t first = free_[log2_count].back();
        free_[log2_count].pop_back();
        return first;
    }
    return std::exchange(end_, end_ + (1U << log2_count));
}

void NumberRanges::give_back(std::uint32_t first, unsigned log2_count) {
    if (free_.size() <= log2_count) free_.resize(log2_count + 1);
    free_[log2_count].push_back(first);
}

NextHopGroups::NextHopGroups() {
    constexpr std::array reasons{DropReason::no_route, DropReason::local_address, DropReason::blackhole,
                                 DropReason::unresolved_next_hop, DropReason::no_route};
    static_assert(group_no_route == 0 && group_local == 1 && group_blackhole == 2 && group_unresolved == 3 &&
                  group_elsewhere == 4 && reasons.size() == first_next_hop_group);
    for (const DropReason reason : reasons) {
        changed_.insert(group_numbers_.take(0));
        entries_.push_back(std::make_unique<Entry>());
        entries_.back()->group.drop = reason;
    }
}

// When numbers run out, takes that of a place without a neighbor.
std::optional<std::uint32_t> NextHopGroups::number_of(const Place& place) {
    if (const auto known = hop_numbers_.find(place); known != hop_numbers_.end()) return known->second;
    auto number = static_cast<std::uint32_t>(next_hops_.size());
    if (number == max_next_hops) {
        const auto idle = std::find_if(hop_numbers_.begin(), hop_numbers_.end(), [&](const auto& known) {
            return !changed_hops_.contains(known.second) && !neighbors_.contains(known.first);
        });
        if (idle == hop_numbers_.end()) return std::nullopt;
        number = idle->second;
        undo_.emplace_back([this, old = *idle] { hop_numbers_.insert(old); });
        hop_numbers_.erase(idle);
    } else {
        next_hops_.emplace_back();
        undo_.emplace_back([this] { next_hops_.pop_back(); });
    }
    hop_numbers_.emplace(place, number);
    undo_.emplace_back([this, place] { hop_numbers_.erase(place); });
    return number;
}

bool NextHopGroups::Entry::is_used() const {
    return name() != nullptr || is_neighbors_own != std::array<bool, route_origins>{};
}

const IpPrefix* NextHopGroups::Entry::name() const {
    const IpPrefix* found = nullptr;
    for (const auto& those : routes)
        if (!those.empty() && (found == nullptr || *those.begin() < *found)) found = &*those.begin();
    return found;
}

const NextHop* NextHopGroups::first(const Known& known) {
    for (const Told& told : known)
        if (told.hop) return &*told.hop;
    return nullptr;
}

bool NextHopGroups::set_neighbor(const Place& place, RouteOrigin origin, const std::optional<NextHop>& now,
                                 bool is_host) {
    const auto there = known_.find(place);
    const Known before = there != known_.end() ? there->second : Known{};
    Known after = before;
    Told& told = after[static_cast<unsigned>(origin)];
    const bool comes_or_goes = told.hop.has_value() != now.has_value();
    told = {now, is_host && now};
    const NextHop* const counts = first(after);
    const auto number = counts != nullptr ? number_of(place) : std::optional<std::uint32_t>(0);
    if (!number) return false;
    undo_.emplace_back([this, place, before] {
        known_.erase(place);
        if (first(before) != nullptr) known_.emplace(place, before);
    });
    if (counts != nullptr)
        known_[place] = after;
    else
        known_.erase(place);
    count_neighbor(place, counts, *number);
    if (comes_or_goes) fill_by({place.first, any_port});
    return true;
}

void NextHopGroups::count_neighbor(const Place& place, const NextHop* now, std::uint32_t number) {
    const auto there = neighbors_.find(place);
    const auto before = there != neighbors_.end() ? std::optional(there->second) : std::nullopt;
    if (now != nullptr) {
        undo_.emplace_back([this, number, old = next_hops_[number]] { next_hops_[number] = old; });
        next_hops_[number] = *now;
        changed_hops_.insert(number);
        neighbors_[place] = number;
    } else if (before) {
        neighbors_.erase(there);
        changed_hops_.insert(*before);  // its number is not to be had before the commit
    }
    if ((now != nullptr) == before.has_value()) return;
    undo_.emplace_back([this, place, before] {
        neighbors_.erase(place);
        if (before) neighbors_.emplace(place, *before);
    });
    fill_by(place);
}

void NextHopGroups::fill_by(const Place& place) {
    for (auto at = by_place_.lower_bound({place, 0}); at != by_place_.end() && at->first == place; ++at)
        fill(entry(at->second), entry(at->second).buckets);
}

std::vector<GroupHop> NextHopGroups::hosts(const IpAddress& address, RouteOrigin origin) const {
    std::vector<GroupHop> hosts;
    for (auto at = known_.lower_bound({address, 0}); at != known_.end() && at->first.first == address; ++at)
        if (at->second[static_cast<unsigned>(origin)].is_host) hosts.push_back({address, at->first.second});
    // Shares the group of the routes by this neighbor alone.
    if (origin == RouteOrigin::configuration && !hosts.empty()) return {{address}};
    return hosts;
}

std::vector<NextHopGroups::Place> NextHopGroups::places_of(const GroupHop& hop) const {
    if (hop.port != any_port)
        return neighbors_.contains({hop.address, hop.port}) ? std::vector{Place{hop.address, hop.port}}
                                                            : std::vector<Place>{};
    for (std::size_t origin = 0; origin < route_origins; ++origin) {
        std::vector<Place> places;
        for (auto at = known_.lower_bound({hop.address, 0});
             at != known_.end() && at->first.first == hop.address; ++at)
            if (at->second[origin].hop) places.push_back(at->first);
        if (!places.empty()) return places;
    }
    return {};
}

void NextHopGroups::fill(Entry& entry, const std::vector<std::uint32_t>& before) {
    const auto number = by_key_.at(entry.key);
    const bool had_buckets = !entry.buckets.empty();
    undo_.emplace_back([&entry, group = entry.group, buckets = entry.buckets, members = entry.members,
                        balance_members = entry.balance_members] {
        entry.group = group;
        entry.buckets = buckets;
        entry.members = members;
        entry.balance_members = balance_members;
    });
    changed_.insert(number);
    std::vector<WeightedMember> members;
    entry.members.clear();
    for (const GroupHop& hop : entry.key.via)
        for (const Place& place : places_of(hop)) {
            const std::uint32_t next_hop = neighbors_.at(place);
            members.push_back({next_hop, hop.weight});
            entry.members.push_back({print_address(hop.address), place.second, hop.weight, next_hop});
        }
    const NextHopGroup old = entry.group;
    entry.group.drop = members.empty() ? DropReason::unresolved_next_hop : DropReason::none;
    entry.group.counted = members.size() > 1;
    entry.group.log2_buckets = static_cast<std::uint8_t>(log2_buckets(members.size()));
    std::vector<std::uint32_t> buckets(1, 0);
    if (members.size() == 1) buckets[0] = members[0].member;
    if (members.size() > 1) buckets = assign_buckets(members, 1U << entry.group.log2_buckets, before);
    entry.buckets = std::move(buckets);
    entry.balance_members = members.size() > 1 ? members_of(entry.buckets) : std::vector<BalanceMember>{};
    entry.group.members = static_cast<std::uint16_t>(entry.balance_members.size());
    if (entry.key.load_balance) entry.group.balance = static_cast<std::uint8_t>(*entry.key.load_balance);
    renew(bucket_numbers_, had_buckets ? std::optional(old.log2_buckets) : std::nullopt,
          entry.group.log2_buckets, entry.group.first_bucket);
    renew(member_numbers_, had_buckets ? std::optional(log2_members(old.members)) : std::nullopt,
          log2_members(entry.group.members), entry.group.first_member);
}

// Replaces a run by one of another length; the commit frees the old one.
void NextHopGroups::renew(NumberRanges& numbers, std::optional<unsigned> log2_before, unsigned log2_count,
                          std::uint32_t& first) {
    if (log2_before == log2_count) return;
    if (log2_before)
        at_commit_.emplace_back(
            [&numbers, old = first, log2 = *log2_before] { numbers.give_back(old, log2); });
    first = numbers.take(log2_count);
    undo_.emplace_back([&numbers, taken = first, log2_count] { numbers.give_back(taken, log2_count); });
}

std::size_t NextHopGroups::buckets() const {
    std::size_t count = 0;
    for (const auto& [key, number] : by_key_) count += entries_[number]->buckets.size();
    return count;
}

std::optional<std::uint32_t> NextHopGroups::next_hop_group_of(const GroupKey& key, std::uint32_t before) {
    if (const auto known = by_key_.find(key); known != by_key_.end()) return known->second;
    if (by_key_.size() == max_next_hop_groups) return std::nullopt;
    const std::uint32_t number = group_numbers_.take(0);
    if (entries_.size() <= number) entries_.resize(number + 1);
    entries_[number] = std::make_unique<Entry>();
    entries_[number]->key = key;
    by_key_.emplace(key, number);
    if (is_balanced(key)) ++balanced_;
    for (const GroupHop& hop : key.via) by_place_.emplace(Place{hop.address, hop.port}, number);
    perhaps_unused_.insert(number);
    fill(entry(number), entry(before).buckets);
    return number;
}

void NextHopGroups::set_use(std::uint32_t group, const IpPrefix& prefix, RouteOrigin origin, bool is_route,
                            bool is_used) {
    if (group < first_next_hop_group) return;
    auto& routes = entry(group).routes[static_cast<unsigned>(origin)];
    if (!is_route)
        entry(group).is_neighbors_own[static_cast<unsigned>(origin)] = is_used;
    else if (is_used)
        routes.insert(prefix);
    else
        routes.erase(prefix);
    if (!is_used) perhaps_unused_.insert(group);
}

void NextHopGroups::write(GroupTables& tables) const {
    tables.next_hop_groups.resize(group_numbers_.end());
    tables.buckets.resize(bucket_numbers_.end());
    tables.members.resize(member_numbers_.end());
    tables.next_hops.resize(next_hops_.size());
    for (const std::uint32_t number : changed_) {
        if (number >= entries_.size() || !entries_[number]) continue;
        const Entry& entry = *entries_[number];
        tables.next_hop_groups[number] = entry.group;
        std::copy(entry.buckets.begin(), entry.buckets.end(),
                  tables.buckets.begin() + entry.group.first_bucket);
        std::copy(entry.balance_members.begin(), entry.balance_members.end(),
                  tables.members.begin() + entry.group.first_member);
    }
    for (const std::uint32_t number : changed_hops_)
        if (number < next_hops_.size()) tables.next_hops[number] = next_hops_[number];
}

void NextHopGroups::release_unused() {
    for (const std::uint32_t number : perhaps_unused_) {
        const Entry& unused = entry(number);
        if (unused.is_used()) continue;
        for (const GroupHop& hop : unused.key.via) by_place_.erase({{hop.address, hop.port}, number});
        if (!unused.buckets.empty()) {  // else it was made by a change that is taken back
            bucket_numbers_.give_back(unused.group.first_bucket, unused.group.log2_buckets);
            member_numbers_.give_back(unused.group.first_member, log2_members(unused.group.members));
        }
        group_numbers_.give_back(number, 0);
        by_key_.erase(unused.key);
        if (is_balanced(unused.key)) --balanced_;
        entries_[number].reset();
    }
    perhaps_unused_.clear();
}

void NextHopGroups::commit() {
    for (const auto& step : at_commit_) step();
    release_unused();
    undo_.clear();
    at_commit_.clear();
    changed_.clear();
    changed_hops_.clear();
}

void NextHopGroups::roll_back(GroupTables& tables) {
    for (const auto& step : std::views::reverse(undo_)) step();
    at_commit_.clear();
    write(tables);
    commit();
}

std::optional<IpPrefix> NextHopGroups::route_by(const Place& place) const {
    for (auto at = by_place_.lower_bound({place, 0}); at != by_place_.end() && at->first == place; ++at)
        if (const auto& routes = entries_[at->second]->routes[0]; !routes.empty()) return *routes.begin();
    return std::nullopt;
}

std::vector<EcmpGroup> NextHopGroups::ecmp() const {
    std::map<IpPrefix, const Entry*> by_name;
    for (const auto& entry : entries_)
        if (entry && entry->group.counted && entry->name() != nullptr)
            by_name.emplace(*entry->name(), entry.get());
    std::vector<EcmpGroup> groups;
    for (const auto& [prefix, entry] : by_name)
        groups.push_back(
            {print_prefix(prefix), by_key_.at(entry->key), entry->key.load_balance, entry->members});
    return groups;
}

}  // namespace sluice

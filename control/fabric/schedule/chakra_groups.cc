#include "control/fabric/schedule/chakra_groups.hh"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "control/fabric/schedule/chakra_json_events.hh"

namespace sluice::fabric::chakra {
namespace {

using roce::CollectiveKind;

std::optional<std::uint32_t> rank_of(const Value& value) {
    const auto rank = whole_of(value);
    if (!rank || *rank >= max_schedule_ranks) return {};
    return static_cast<std::uint32_t>(*rank);
}

// An object of lists of ranks.
class GroupFile final : public JsonEvents {
  public:
    GroupFile(GroupMap& groups, ScheduleErrors& errors) : groups_(groups), errors_(errors) {}

    bool begin_object(SourcePlace place) override { return depth_++ == 0 || refuse(place); }
    bool begin_array(SourcePlace place) override { return depth_++ == 1 || refuse(place); }
    bool end_object() override {
        --depth_;
        return true;
    }
    bool end_array() override {
        --depth_;
        return true;
    }
    bool key(std::string_view text) override {
        const auto [group, is_new] = groups_.try_emplace(std::string(text));
        ranks_ = &group->second;
        if (is_new) return true;
        errors_.refuse({}, fmt::format("group {} is there twice", in_quotes(text, 32)), "leave one out");
        return false;
    }
    bool value(const Value& value, SourcePlace place) override {
        const auto rank = rank_of(value);
        if (depth_ != 2 || !rank) return refuse(place);
        ranks_->push_back(*rank);
        return true;
    }

  private:
    bool refuse(SourcePlace place) {
        errors_.refuse(place, "this is not a list of ranks by the name of their group",
                       R"(write {"1": [0, 1], "2": [2, 3]})");
        return false;
    }

    GroupMap& groups_;
    ScheduleErrors& errors_;
    std::vector<std::uint32_t>* ranks_ = nullptr;  // of the last key
    unsigned depth_ = 0;
};

// PyTorch's list of process groups. Other members do not count.
class ProcessGroups final : public JsonEvents {
  public:
    explicit ProcessGroups(GroupMap& groups) : groups_(groups) {}

    bool begin_object(SourcePlace) override {
        if (++depth_ == object) {
            name_.clear();
            ranks_.clear();
        }
        return depth_ != 1;
    }
    bool begin_array(SourcePlace) override { return ++depth_, true; }
    bool end_object() override {
        if (depth_-- == object && !name_.empty()) groups_.insert_or_assign(name_, std::move(ranks_));
        return true;
    }
    bool end_array() override { return --depth_, true; }
    bool key(std::string_view text) override {
        if (depth_ == object) key_ = PlainKey(text);
        return true;
    }
    bool value(const Value& value, SourcePlace) override {
        const auto number = whole_of(value);
        if (depth_ == object && key_ == "pgname") {
            if (number) name_ = fmt::to_string(*number);
            if (!number && value.kind == Value::Kind::text) name_ = value.text;
        } else if (depth_ == object + 1 && key_ == "ranks") {
            const auto rank = rank_of(value);
            if (!rank) return false;
            ranks_.push_back(*rank);
        }
        return true;
    }

  private:
    static constexpr std::size_t object = 2;  // the depth of a group's members
    GroupMap& groups_;
    std::size_t depth_ = 0;
    PlainKey key_{""};
    std::string name_;
    std::vector<std::uint32_t> ranks_;
};

// In the order in which data goes from rank to rank: from the root on, or to it.
std::vector<std::uint32_t> in_order(std::vector<std::uint32_t> ranks, CollectiveType type,
                                    std::uint32_t root) {
    if (kind_of(type) != CollectiveKind::pipeline) return ranks;
    std::ranges::rotate(ranks, std::ranges::find(ranks, root));
    if (type == CollectiveType::reduce) std::ranges::reverse(ranks);
    return ranks;
}

}  // namespace

std::string Group::words() const {
    if (name.empty()) return "all ranks";
    const bool is_number = std::ranges::all_of(name, is_digit) && name.size() <= 20;
    return "group " + (is_number ? name : in_quotes(name, 32));
}

void read_groups(ByteStream& stream, GroupMap& groups, ScheduleErrors& errors) {
    GroupFile file(groups, errors);
    read_json_values(stream, file, errors);
}

bool read_process_groups(std::string_view text, GroupMap& groups) {
    ByteStream stream(TextLines::source_of(text), std::min(text.size(), ByteStream::most_ahead));
    ProcessGroups events(groups);
    ScheduleErrors errors("");
    return read_json_values(stream, events, errors);
}

std::optional<CollectiveKind> kind_of(CollectiveType type) {
    switch (type) {
        case CollectiveType::all_reduce:
        case CollectiveType::barrier:
            return CollectiveKind::ring_allreduce;
        case CollectiveType::reduce:
        case CollectiveType::broadcast:
            return CollectiveKind::pipeline;
        case CollectiveType::all_gather:
            return CollectiveKind::all_gather;
        case CollectiveType::all_to_all:
            return CollectiveKind::all_to_all;
        case CollectiveType::reduce_scatter:
        case CollectiveType::reduce_scatter_block:
            return CollectiveKind::reduce_scatter;
        case CollectiveType::gather:
        case CollectiveType::scatter:
            break;
    }
    return {};
}

Communications::Communications(std::uint32_t ranks) : ranks_(ranks) {
    std::vector<std::uint32_t> all(ranks);
    std::iota(all.begin(), all.end(), 0);
    groups_.push_back({"", all, all});
}

tl::expected<std::uint32_t, ValueError> Communications::group(const std::string& name, const GroupMap& own) {
    if (const auto known = known_.find(name); known != known_.end()) return known->second;
    if (const auto by_file = by_file_.find(name); by_file != by_file_.end()) {
        const auto number = intern(name, by_file->second);
        if (number) known_.emplace(name, *number);
        return number;
    }
    const auto defined = own.find(name);
    if (defined != own.end() && !(name == "0" && defined->second.empty()))
        return intern(name, defined->second);
    if (name.empty() || name == "0") return 0;
    return bad_value(fmt::format("names group {}, and nothing says which ranks it has", in_quotes(name, 32)),
                     "name a file of groups that has it");
}

tl::expected<std::uint32_t, ValueError> Communications::intern(const std::string& name,
                                                               const std::vector<std::uint32_t>& ranks) {
    const auto [known, is_new] =
        interned_.try_emplace({name, ranks}, static_cast<std::uint32_t>(groups_.size()));
    if (!is_new) return known->second;
    Group group{name, ranks.empty() ? groups_.front().ranks : ranks, {}};
    group.sorted = group.ranks;
    std::ranges::sort(group.sorted);
    std::string wrong;
    if (group.sorted.back() >= ranks_)
        wrong = fmt::format("takes part in {}, which has rank {}, and there are {}", group.words(),
                            group.sorted.back(), ranks_);
    else if (const auto twice = std::ranges::adjacent_find(group.sorted); twice != group.sorted.end())
        wrong = fmt::format("takes part in {}, which has rank {} twice", group.words(), *twice);
    if (!wrong.empty()) {
        interned_.erase(known);
        return bad_value(wrong, "correct the ranks of the group");
    }
    groups_.push_back(std::move(group));
    return known->second;
}

tl::expected<std::uint32_t, ValueError> Communications::communication(std::uint32_t group,
                                                                      CollectiveType type,
                                                                      std::optional<std::uint64_t> root) {
    const Group& of = groups_[group];
    if (kind_of(type) != CollectiveKind::pipeline) root.reset();
    const auto known = numbers_.find({group, type, root.value_or(of.ranks.front())});
    if (known != numbers_.end()) return known->second;
    if (root && (*root >= ranks_ || !of.has(static_cast<std::uint32_t>(*root))))
        return bad_value(fmt::format("has root {}, which is not in {}", *root, of.words()),
                         "write a rank of the group");
    const auto first = static_cast<std::uint32_t>(root.value_or(of.ranks.front()));
    const auto fits = [&](const Family& family) {
        return family.type == type &&
               std::ranges::none_of(of.ranks, [&](std::uint32_t rank) { return family.has[rank]; });
    };
    auto family = std::ranges::find_if(families_, fits);
    if (family == families_.end()) {
        if (families_.size() == most)
            return bad_value(fmt::format("needs one more than {} groups with common ranks or roots", most),
                             "leave some of the collectives out");
        families_.push_back({type, std::vector<bool>(ranks_), {*kind_of(type), {}, {}}});
        family = families_.end() - 1;
        family->communication.name =
            fmt::format("{} of {}", collective_words[static_cast<std::size_t>(type)], of.words());
        if (root) family->communication.name += fmt::format(" with root {}", first);
    }
    for (const std::uint32_t rank : of.ranks) family->has[rank] = true;
    family->communication.groups.push_back(in_order(of.ranks, type, first));
    const auto number = static_cast<std::uint32_t>(family - families_.begin());
    numbers_.emplace(std::tuple{group, type, std::uint64_t{first}}, number);
    return number;
}

std::vector<Communication> Communications::take() {
    std::vector<Communication> all;
    all.reserve(families_.size());
    for (Family& family : families_) {
        if (const std::size_t others = family.communication.groups.size() - 1; others != 0)
            family.communication.name += fmt::format(" and {}", print_count(others, "other"));
        all.push_back(std::move(family.communication));
    }
    return all;
}

}  // namespace sluice::fabric::chakra

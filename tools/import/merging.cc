#include "tools/import/merging.hh"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace sluice::import {
namespace {

const Tables& member_of(const Tables& of, std::string_view name) {
    static const Tables none;
    const auto found = of.is_object() ? of.find(name) : of.end();
    return found == of.end() ? none : *found;
}

std::string word_in(const Tables& value) {
    return value.is_string() ? value.get<std::string>() : std::string();
}

// The names of members of both, those of `one` first.
std::vector<std::string> names_of(const Tables& one, const Tables& other) {
    std::vector<std::string> names;
    for (const Tables* each : {&one, &other})
        if (each->is_object())
            for (const auto& [name, value] : each->items())
                if (each == &one || !one.contains(name)) names.push_back(name);
    return names;
}

class Merger {
  public:
    Merger(const Tables& file, const Tables& today, const Tables& wanted, const TableShape& shape)
        : file_(file), today_(today), wanted_(wanted), shape_(shape) {}

    Tables merge() {
        for (const std::string& table : names_of(today_, wanted_))
            if (!is_target(table)) change_fields(table);
        for (const Reference& each : shape_.references) find_uses(each);
        for (const Reference& each : shape_.references) find_outsiders(each);
        for (auto& [target, uses] : uses_) change_target(target.first, target.second, uses);
        for (const Reference& each : shape_.references) {
            const auto found = rebound_.find(&each);
            if (found != rebound_.end())
                set_field(std::string(each.table), std::string(each.field), found->second);
        }
        return std::move(file_);
    }

  private:
    // Something that goes by a shared entry of the file: a site of ours, or (without a reference) one that
    // is not ours and stays as it is.
    struct Use {
        const Reference* reference = nullptr;
        std::string site;
        const Tables* today = nullptr;
        const Tables* wanted = nullptr;
        std::string wanted_name;
        std::string like;  // the reference today
    };
    // The entry that some uses want.
    struct Alike {
        Tables entry;
        std::vector<const Use*> uses;
    };
    using Values = std::map<std::string, Tables>;  // by site; null: the field goes
    using Target = std::pair<std::string, std::string>;

    bool is_target(std::string_view table) const {
        return std::ranges::any_of(shape_.references,
                                   [&](const Reference& each) { return each.target == table; });
    }
    const Reference* reference_of(std::string_view table, std::string_view field) const {
        const auto found = std::ranges::find_if(shape_.references, [&](const Reference& each) {
            return each.table == table && each.field == field;
        });
        return found == shape_.references.end() ? nullptr : &*found;
    }
    // The key of the file's entry for each site; the last one that has the field holds.
    std::map<std::string, std::string> owners_of(std::string_view table, std::string_view field) const;
    void set_field(const std::string& table, const std::string& field, const Values& values);
    void set_in(Tables& entry, const std::string& field, const Tables& value) const {
        if (value.is_null())
            entry.erase(field);
        else
            entry[field] = value;
    }
    // An entry that has lost its last field goes.
    static void put(Tables& entries, const std::string& key, Tables entry) {
        if (entry.empty())
            entries.erase(key);
        else
            entries[key] = std::move(entry);
    }
    void change_fields(const std::string& table);
    void find_uses(const Reference& reference);
    void find_outsiders(const Reference& reference);
    void change_target(const std::string& table, const std::string& name, const std::vector<Use>& uses);
    void rebind(const Use& use, const std::string& name) {
        rebound_[use.reference][use.site] = shape_.reference_to(use.reference->target, name, use.like);
    }

    Tables file_;
    const Tables& today_;
    const Tables& wanted_;
    const TableShape& shape_;
    std::map<Target, std::vector<Use>> uses_;
    std::map<const Reference*, Values> rebound_;
};

std::map<std::string, std::string> Merger::owners_of(std::string_view table, std::string_view field) const {
    std::map<std::string, std::string> owners, without;
    const Tables& entries = member_of(file_, table);
    if (!entries.is_object()) return owners;
    for (const auto& [key, entry] : entries.items())
        for (const Site& site : shape_.sites(file_, table, key)) {
            without.insert_or_assign(site.name, key);
            if (entry.is_object() && entry.contains(field)) owners.insert_or_assign(site.name, key);
        }
    owners.merge(without);
    return owners;
}

void Merger::set_field(const std::string& table, const std::string& field, const Values& values) {
    const auto owners = owners_of(table, field);
    std::map<std::string, Values> by_key;
    for (const auto& [site, value] : values) {
        const auto owner = owners.find(site);
        by_key[owner == owners.end() ? std::string() : owner->second][site] = value;
    }
    for (const auto& [key, own] : by_key) {
        Tables& entries = file_[table];
        if (key.empty()) {
            const std::string common = shape_.common(table);
            for (const auto& [site, value] : own) {
                Tables entry = common.empty() ? Tables() : member_of(entries, common);
                if (entry.is_null()) entry = Tables::object();
                set_in(entry, field, value);
                put(entries, site, std::move(entry));
            }
            continue;
        }
        const auto sites = shape_.sites(file_, table, key);
        const Tables& first = own.begin()->second;
        const bool alike = own.size() == sites.size() &&
                           std::ranges::all_of(own, [&](const auto& each) { return each.second == first; });
        Tables entry = entries[key];
        if (alike) {
            set_in(entry, field, first);
            put(entries, key, std::move(entry));
            continue;
        }
        entries.erase(key);
        for (const Site& site : sites) {
            const auto value = own.find(site.name);
            if (value == own.end() && entries.contains(site.key)) continue;  // which holds
            Tables alone = entry;
            if (value != own.end()) set_in(alone, field, value->second);
            put(entries, site.key, std::move(alone));
        }
    }
}

void Merger::change_fields(const std::string& table) {
    std::map<std::string, Values> changes;  // by field
    const Tables &before = member_of(today_, table), &after = member_of(wanted_, table);
    for (const std::string& key : names_of(before, after))
        for (const std::string& field : names_of(member_of(before, key), member_of(after, key))) {
            if (reference_of(table, field) != nullptr) continue;
            const Tables &from = member_of(member_of(before, key), field),
                         &to = member_of(member_of(after, key), field);
            if (from != to) changes[field][key] = to;
        }
    for (const auto& [field, values] : changes) set_field(table, field, values);
}

void Merger::find_uses(const Reference& reference) {
    const Tables &before = member_of(today_, reference.table), &after = member_of(wanted_, reference.table);
    const auto owners = owners_of(reference.table, reference.field);
    const std::string common = shape_.common(reference.table);
    for (const std::string& site : names_of(before, after)) {
        const std::string from = word_in(member_of(member_of(before, site), reference.field)),
                          to = word_in(member_of(member_of(after, site), reference.field));
        if (from.empty() && to.empty()) continue;
        if (to.empty()) {
            rebound_[&reference][site] = Tables();
            continue;
        }
        const bool computed = !shape_.computed.empty() && to == shape_.computed;
        if (computed && from != to) {
            rebound_[&reference][site] = to;
            continue;
        }
        const auto entry_of = [&](const Tables& tables, const std::string& name) -> const Tables* {
            const bool made_there = !name.empty() && name == shape_.computed;
            return &member_of(member_of(tables, reference.target), made_there ? shape_.computed_from : name);
        };
        Use use{&reference, site, entry_of(today_, from), entry_of(wanted_, to), to, {}};
        std::string name;
        if (computed) {
            use.wanted_name = name = shape_.computed_from;
        } else if (from != shape_.computed || shape_.computed.empty()) {
            const auto owner = owners.find(site);
            const std::string key = owner == owners.end() ? common : owner->second;
            use.like = word_in(member_of(member_of(member_of(file_, reference.table), key), reference.field));
            name = shape_.name_of(reference.target, use.like);
        }
        uses_[{std::string(reference.target), name}].push_back(std::move(use));
    }
}

void Merger::find_outsiders(const Reference& reference) {
    const Tables& entries = member_of(file_, reference.table);
    if (!entries.is_object()) return;
    const Tables &before = member_of(today_, reference.table), &after = member_of(wanted_, reference.table);
    for (const auto& [key, entry] : entries.items()) {
        if (key == shape_.common(reference.table)) continue;
        const std::string said = word_in(member_of(entry, reference.field));
        if (said.empty()) continue;
        const auto uses = uses_.find({std::string(reference.target), shape_.name_of(reference.target, said)});
        if (uses == uses_.end()) continue;
        const auto sites = shape_.sites(file_, reference.table, key);
        const bool ours = std::ranges::all_of(
            sites, [&](const Site& site) { return before.contains(site.name) || after.contains(site.name); });
        if (!ours || sites.empty()) uses->second.push_back({});
    }
}

void Merger::change_target(const std::string& table, const std::string& name, const std::vector<Use>& uses) {
    const bool is_there = !name.empty() && member_of(member_of(file_, table), name).is_object();
    const Tables entry = is_there ? file_[table][name] : Tables();
    // The entry that each use wants, and those alike together; `stays`: some want it as it is.
    std::vector<Alike> groups;
    bool stays = false;
    for (const Use& use : uses) {
        if (use.reference == nullptr || *use.today == *use.wanted) {
            stays = true;
            continue;
        }
        Tables result = is_there ? shape_.changed(entry, *use.today, *use.wanted) : *use.wanted;
        if (is_there && result == entry) {
            stays = true;
            continue;
        }
        auto group = std::ranges::find_if(groups, [&](const Alike& each) { return each.entry == result; });
        if (group == groups.end()) group = groups.insert(groups.end(), Alike{std::move(result), {}});
        group->uses.push_back(&use);
    }
    if (groups.empty()) return;
    if (is_there && !stays) {
        const auto most =
            std::ranges::max_element(groups, {}, [](const Alike& each) { return each.uses.size(); });
        file_[table][name] = most->entry;
        groups.erase(most);
    }
    for (const Alike& each : groups) {
        const std::string made =
            own_name(file_[table], is_there ? name : each.uses.front()->wanted_name, each.entry);
        for (const Use* use : each.uses)
            if (made != name && use->wanted_name != shape_.computed_from) rebind(*use, made);
    }
}

}  // namespace

std::string own_name(Tables& table, const std::string& name, const Tables& wanted) {
    std::string unique = name;
    for (unsigned n = 2; table.contains(unique) && table[unique] != wanted; ++n)
        unique = fmt::format("{}_{}", name, n);
    table[unique] = wanted;
    return unique;
}

Tables merged(const Tables& file, const Tables& today, const Tables& wanted, const TableShape& shape) {
    return Merger(file, today, wanted, shape).merge();
}

std::vector<TableChange> table_changes(const Tables& from, const Tables& to) {
    std::vector<TableChange> changes;
    for (const std::string& table : names_of(from, to)) {
        const Tables &before = member_of(from, table), &after = member_of(to, table);
        for (const std::string& key : names_of(before, after)) {
            const Tables &old_entry = member_of(before, key), &new_entry = member_of(after, key);
            if (old_entry == new_entry) continue;
            if (!old_entry.is_object() || !new_entry.is_object()) {
                changes.push_back({table, key, {}, old_entry, new_entry});
                continue;
            }
            for (const std::string& field : names_of(old_entry, new_entry))
                if (member_of(old_entry, field) != member_of(new_entry, field))
                    changes.push_back(
                        {table, key, field, member_of(old_entry, field), member_of(new_entry, field)});
        }
    }
    return changes;
}

}  // namespace sluice::import

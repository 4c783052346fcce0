// NVUE's tables as lines, and the lines that change; a file that was read as tables.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "control/config/schema/values.hh"
#include "tools/import/cumulus.hh"
#include "tools/import/to_nvue.hh"

namespace sluice::import {
namespace {

constexpr std::string_view global_profile = "default-global";

constexpr std::array<Reference, 5> profiles{{
    {"interface", "qos mapping profile", "qos mapping"},
    {"interface", "qos egress-queue-mapping profile", "qos egress-queue-mapping"},
    {"interface", "qos pfc profile", "qos pfc"},
    {"interface", "qos egress-scheduler profile", "qos egress-scheduler"},
    {"interface", "qos congestion-control profile", "qos congestion-control"},
}};

// A key of an older release stays as it is: min-threshold-bytes.
Tables changed_profile(const Tables& entry, const Tables& today, const Tables& wanted) {
    Tables made = entry;
    for (const Tables* each : {&today, &wanted})
        for (const auto& [field, value] : each->items()) {
            const std::string own = made.contains(field + "-bytes") ? field + "-bytes" : field;
            const auto to = wanted.find(field);
            const auto from = today.find(field);
            if (to == wanted.end())
                made.erase(own);
            else if (from == today.end() || *from != *to)
                made[own] = *to;
        }
    return made;
}

constexpr TableShape nvue_shape{
    profiles,
    [](const Tables&, std::string_view, const std::string& key) {
        return std::vector<Site>{{key, key}};
    },
    [](std::string_view) { return std::string(); },
    [](std::string_view, const std::string& reference) {
        return reference.empty() ? std::string(global_profile) : reference;
    },
    [](std::string_view, const std::string& name, const std::string&) { return name; },
    changed_profile,
    {},
    {},
};

// Fields below a node: words and keys on the way to a value, as a command has them.
void add_fields(const Item& node, const std::string& path, Tables& fields) {
    if (node.is_word()) {
        fields[path] = node.word;
        return;
    }
    const bool is_list = path.ends_with("switch-priority") || path.ends_with("address");
    const std::string_view value = Cumulus::value(&node);
    if (!value.empty() && !path.empty() && !is_list) {
        fields[path] = std::string(value);
        return;
    }
    for (const Item* member : node.entries()) {
        const std::string own = path.empty() ? member->name : fmt::format("{} {}", path, member->name);
        if (member->members.empty() && !member->is_word())
            fields[own] = "";
        else
            add_fields(*member, own, fields);
    }
}

void add_entries(const Item* table, Tables& made) {
    if (table == nullptr) return;
    for (const Item* entry : table->entries())
        if (Tables fields = Tables::object(); entry->is_map()) {
            add_fields(*entry, {}, fields);
            made[entry->name].update(fields);
        }
}

std::string line_of(std::string_view verb, std::string_view table, std::string_view key,
                    std::string_view field, std::string_view value) {
    std::string line = fmt::format("nv {} {} {}", verb, table, key);
    for (const std::string_view word : {field, value})
        if (!word.empty()) line += fmt::format(" {}", word);
    return line + "\n";
}

// Lines of interfaces, those alike as one line for a range of them.
class InterfaceLines {
  public:
    void add(std::string_view verb, const std::string& field, const std::string& value,
             const std::string& name) {
        const std::string key = line_of(verb, "interface", "", field, value);
        const auto known = std::ranges::find(lines_, key, &Line::key);
        if (known != lines_.end())
            known->names.push_back(name);
        else
            lines_.push_back({key, std::string(verb), field, value, {name}});
    }
    std::string text() const {
        std::string text;
        for (const Line& each : lines_)
            text +=
                line_of(each.verb, "interface", fmt::format("{}", fmt::join(name_ranges(each.names), ",")),
                        each.field, each.value);
        return text;
    }

  private:
    struct Line {
        std::string key, verb, field, value;
        std::vector<std::string> names;
    };
    std::vector<Line> lines_;
};

std::string value_of(const Tables& value) {
    return value.is_string() ? value.get<std::string>() : std::string();
}

bool is_default(const std::string& field, const Tables& value) {
    return field.ends_with(" profile") && value == std::string(global_profile);
}

}  // namespace

Tables nvue_file(const Item& document) {
    Tables made = Tables::object();
    const Item* set = document.find("set");
    if (set == nullptr) set = &document;
    if (const Item* interfaces = set->find("interface"))
        for (const Item* entry : interfaces->entries()) {
            Tables fields = Tables::object();
            if (entry->is_map()) add_fields(*entry, {}, fields);
            for (const std::string& name : front_ports(entry->name)) {
                if (made["interface"][name].is_null()) made["interface"][name] = Tables::object();
                made["interface"][name].update(fields);
            }
        }
    for (const Reference& each : profiles)
        add_entries(Cumulus::at(set, {"qos", each.target.substr(sizeof "qos")}),
                    made[std::string(each.target)]);
    if (const Item* qos = set->find("qos")) {
        for (const char* name : {"roce", "pfc-watchdog"})
            if (const Item* node = qos->find(name))
                add_fields(*node, {}, made["qos"][name] = Tables::object());
        if (const Item* pools = qos->find("traffic-pool"); pools != nullptr && pools->is_map())
            for (const Item* pool : pools->entries())
                add_fields(*pool, {}, made["qos"]["traffic-pool " + pool->name] = Tables::object());
    }
    add_entries(Cumulus::at(set, {"vrf", "default", "router", "static"}), made["vrf default router static"]);
    for (auto entry = made.begin(); entry != made.end();)
        entry = entry.value().empty() ? made.erase(entry) : std::next(entry);
    return made;
}

std::string nvue_lines(const Tables& tables) {
    std::string text;
    for (const auto& [table, entries] : tables.items()) {
        InterfaceLines interfaces;
        for (const auto& [key, entry] : entries.items())
            for (const auto& [field, value] : entry.items()) {
                if (is_default(field, value)) continue;
                if (table == "interface")
                    interfaces.add("set", field, value_of(value), key);
                else
                    text += line_of("set", table, key, field, value_of(value));
            }
        text += interfaces.text();
    }
    return text;
}

namespace {

std::string changed_lines(const std::vector<TableChange>& changes, Account& account) {
    std::string text;
    InterfaceLines interfaces;
    for (const TableChange& each : changes) {
        const auto add = [&](const std::string& field, const Tables& from, const Tables& to) {
            const bool goes = to.is_null();
            if (!goes && from.is_null() && is_default(field, to)) return;
            const std::string_view verb = goes ? "unset" : "set";
            if (each.table == "interface")
                interfaces.add(verb, field, value_of(to), each.key);
            else
                text += line_of(verb, each.table, each.key, field, value_of(to));
            account.tell(Fate::said, fmt::format("{} {} {}", each.table, each.key, field),
                         goes ? "none any more"
                              : fmt::format("{}{}", from.is_null() ? std::string() : value_of(from) + " -> ",
                                            value_of(to).empty() ? "there" : value_of(to)));
        };
        if (!each.field.empty()) {
            add(each.field, each.from, each.to);
        } else if (each.to.is_object()) {
            for (const auto& [field, value] : each.to.items()) add(field, Tables(), value);
        } else {
            text += line_of("unset", each.table, each.key, {}, {});
            account.tell(Fate::said, fmt::format("{} {}", each.table, each.key), "none any more");
        }
    }
    return text + interfaces.text();
}

}  // namespace

Exported export_nvue(const ExportTask& task) {
    Exporting out(task.wanted);
    const Tables wanted = nvue_tables(out);
    Exported made;
    if (!task.patch) {
        made.text = nvue_lines(wanted);
        made.account = std::move(out.account);
        return made;
    }
    Exporting before(task.today);
    const Tables today = nvue_tables(before);
    Account account = new_limits(std::move(out.account), before.account);
    const Tables file = task.document == nullptr ? today : nvue_file(*task.document);
    const auto changes =
        table_changes(file, task.document == nullptr ? wanted : merged(file, today, wanted, nvue_shape));
    made.text = changed_lines(changes, account);
    made.changes = !changes.empty();
    if (made.changes && task.document == nullptr) tell_base(account, "nvue");
    made.account = std::move(account);
    return made;
}

}  // namespace sluice::import

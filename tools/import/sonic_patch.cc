// What changes of SONiC's tables, as operations of RFC 6902 for `config apply-patch`.
//
// SONiC refuses a patch as a whole when one of its operations changes a field that a list of its own guards
// (sonic-utilities, generic_config_updater: gcu_field_operation_validators.conf.json and
// field_operation_validators.py, by chip and release). Such changes are written as whole tables for
// `config load`. The rules are those of the releases 202205 to 202511; DSCP and class maps, and new
// schedulers, its sorter of patches refuses (pull request 4219).
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "tools/import/sonic.hh"
#include "tools/import/to_sonic.hh"

namespace sluice::import {
namespace {

constexpr unsigned wred_by_field = 202505;  // of any profile; before, of AZURE_LOSSLESS
constexpr unsigned pools_guarded = 202511;  // wholly; profiles of WRED and of buffers are free

constexpr std::array<Reference, 11> references{{
    {"BUFFER_PG", "profile", "BUFFER_PROFILE"},
    {"BUFFER_QUEUE", "profile", "BUFFER_PROFILE"},
    {"QUEUE", "scheduler", "SCHEDULER"},
    {"QUEUE", "wred_profile", "WRED_PROFILE"},
    {"PORT_QOS_MAP", "scheduler", "SCHEDULER"},
    {"PORT_QOS_MAP", "dscp_to_tc_map", "DSCP_TO_TC_MAP"},
    {"PORT_QOS_MAP", "dot1p_to_tc_map", "DOT1P_TO_TC_MAP"},
    {"PORT_QOS_MAP", "tc_to_queue_map", "TC_TO_QUEUE_MAP"},
    {"PORT_QOS_MAP", "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"},
    {"PORT_QOS_MAP", "pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE"},
    {"PORT_QOS_MAP", "tc_to_dscp_map", "TC_TO_DSCP_MAP"},
}};

// Keys "Ethernet0,Ethernet4|3-4"; on a chassis "host|asic|Ethernet0|3".
std::vector<Site> sites_of(const Tables& file, std::string_view table, const std::string& key) {
    if (table == "CABLE_LENGTH") return {{"AZURE", key}};
    const bool by_class = table == "BUFFER_PG" || table == "BUFFER_QUEUE" || table == "QUEUE";
    const bool by_port = table == "PORT" || table == "PORT_QOS_MAP" || table == "PFC_WD";
    if (table == "PORT_QOS_MAP" && key == "global") return {};
    if (!by_class && !by_port) return {{key, key}};
    const auto [front, numbers] =
        by_class ? split_last(key, '|') : std::pair(std::string_view(key), std::string_view());
    const std::size_t bar = front.rfind('|');
    std::string_view prefix = bar == front.npos ? std::string_view() : front.substr(0, bar + 1);
    const std::string_view ports = front.substr(prefix.size());
    const auto host = file.find("DEVICE_METADATA");
    if (!prefix.empty() && host != file.end() && host->is_object() && host->contains("localhost")) {
        const Tables& local = host->at("localhost");
        const bool ours = local.is_object() && local.contains("hostname") && local["hostname"].is_string() &&
                          prefix.starts_with(local["hostname"].get<std::string>() + "|");
        if (!ours) return {{key, key}};
    }
    std::vector<Site> sites;
    for (const std::string_view port : split(ports, ',')) {
        if (!by_class) {
            sites.push_back({std::string(port), fmt::format("{}{}", prefix, port)});
            continue;
        }
        for (const std::string_view part : split(numbers, ',')) {
            const std::size_t dash = part.find('-');
            const auto first = parse_integer(part.substr(0, dash));
            const auto last = dash == part.npos ? first : parse_integer(part.substr(dash + 1));
            constexpr std::uint64_t max_queue = 63;
            if (!first || !last) continue;
            for (std::uint64_t n = *first; n <= std::min(*last, max_queue); ++n)
                sites.push_back({fmt::format("{}|{}", port, n), fmt::format("{}{}|{}", prefix, port, n)});
        }
    }
    return sites;
}

std::string referred_entry(std::string_view target, const std::string& reference) {
    return Sonic::referred_name(std::string_view(reference), target);
}

std::string reference_to(std::string_view target, const std::string& name, const std::string& like) {
    return like.starts_with('[') ? fmt::format("[{}|{}]", target, name) : name;
}

std::optional<std::uint64_t> bytes_in(const Tables& entry, const char* field) {
    const auto found = entry.find(field);
    if (found == entry.end() || !found->is_string()) return std::nullopt;
    const auto value = parse_integer(found->get<std::string>());
    return value ? std::optional(*value) : std::nullopt;
}

// A profile whose `size` has the headroom in it keeps it so. Colors that ours leave out stay: packets are
// green where there is no meter.
Tables changed_entry(const Tables& entry, const Tables& today, const Tables& wanted) {
    Tables made = entry;
    for (const Tables* each : {&today, &wanted})
        for (const auto& [field, value] : each->items()) {
            const auto to = wanted.find(field);
            const auto from = today.find(field);
            if (to == wanted.end() && (field.starts_with("yellow_") || field.starts_with("red_"))) continue;
            if (to == wanted.end())
                made.erase(field);
            else if (from == today.end() || *from != *to)
                made[field] = *to;
        }
    const auto size = bytes_in(entry, "size"), xoff = bytes_in(entry, "xoff");
    const auto ours = bytes_in(wanted, "size"), headroom = bytes_in(wanted, "xoff");
    if (size && xoff && ours && headroom && *xoff != 0 && *size > *xoff) {
        const std::uint64_t reserved = *ours > *headroom ? *ours - *headroom : *ours;
        made["size"] = std::to_string(reserved + *headroom);
    }
    return made;
}

constexpr TableShape sonic_shape{
    references,
    sites_of,
    [](std::string_view table) { return std::string(table == "PORT_QOS_MAP" ? "global" : ""); },
    referred_entry,
    reference_to,
    changed_entry,
    computed_profile,
    "ingress_lossless_profile",
};

Tables tables_of(const Item& node) {
    if (node.is_word()) return node.word;
    if (node.kind == Item::Kind::null) return nullptr;
    Tables made = node.is_map() ? Tables::object() : Tables::array();
    for (const Item* member : node.entries()) {
        if (node.is_map())
            made[member->name] = tables_of(*member);
        else
            made.push_back(tables_of(*member));
    }
    return made;
}

// 202405 of VERSIONS.DATABASE.VERSION = "version_202405_01"; 0: the file does not say it.
unsigned release_of(const Tables& file) {
    const Tables::json_pointer path("/VERSIONS/DATABASE/VERSION");
    if (!file.contains(path) || !file.at(path).is_string()) return 0;
    const std::string text = file.at(path).get<std::string>();
    constexpr std::string_view start = "version_";
    constexpr std::size_t release_digits = 6;
    if (!text.starts_with(start)) return 0;
    const auto number = parse_integer(std::string_view(text).substr(start.size(), release_digits));
    return number && *number >= 201'800 ? static_cast<unsigned>(*number) : 0;
}

bool one_of(std::string_view word, std::initializer_list<std::string_view> words) {
    return std::ranges::find(words, word) != words.end();
}

// Why `config apply-patch` refuses the change; empty: it takes it.
std::string refusal(const TableChange& change, unsigned release) {
    const bool replaces = !change.field.empty() && !change.from.is_null() && !change.to.is_null();
    const std::string_view table = change.table;
    if (table == "BUFFER_PROFILE") {
        if (change.field.empty() && release >= pools_guarded) return {};
        return replaces && one_of(change.field, {"dynamic_th", "xoff"})
                   ? ""
                   : "of a profile that is there it takes dynamic_th and xoff";
    }
    if (table == "BUFFER_POOL") {
        if (release >= pools_guarded) return "since 202511 it takes no change of a pool";
        const bool known =
            (change.key == "ingress_lossless_pool" && one_of(change.field, {"size", "xoff"})) ||
            (change.key == "egress_lossy_pool" && change.field == "size");
        return known && replaces
                   ? ""
                   : "of pools it takes size and xoff of ingress_lossless_pool and size of egress_lossy_pool";
    }
    if (table == "WRED_PROFILE") {
        if (release >= pools_guarded) return {};
        const bool green = replaces && one_of(change.field, {"green_min_threshold", "green_max_threshold",
                                                             "green_drop_probability"});
        if (green && (change.key == "AZURE_LOSSLESS" || release >= wred_by_field)) return {};
        return "of WRED profiles it takes the green thresholds and probability of AZURE_LOSSLESS, since "
               "202505 "
               "of any, and since 202511 all";
    }
    if (table == "PFC_WD") {
        if (change.key == "GLOBAL" && change.field.empty())
            return "it takes POLL_INTERVAL where GLOBAL is there";
        return {};
    }
    if (table == "SWITCH_TRIMMING" && change.to.is_null())
        return "SONiC takes nothing of it away while it runs";
    if (table == "SCHEDULER" && !(replaces && one_of(change.field, {"weight", "cir", "pir", "cbs", "pbs"})))
        return "of a scheduler that is there it takes weight and rates";
    if (table.ends_with("_MAP") && table != "PORT_QOS_MAP") return "its sorter of patches refuses maps";
    if (table == "MAP_PFC_PRIORITY_TO_QUEUE") return "its sorter of patches refuses maps";
    return {};
}

std::string pointer_word(std::string_view word) {
    std::string out;
    for (const char c : word) {
        if (c == '~')
            out += "~0";
        else if (c == '/')
            out += "~1";
        else
            out += c;
    }
    return out;
}

std::string pointer_to(const TableChange& change) {
    std::string path = "/" + pointer_word(change.table);
    for (const std::string* part : {&change.key, &change.field})
        if (!part->empty()) path += "/" + pointer_word(*part);
    return path;
}

class Patch {
  public:
    Patch(const Tables& file, const Tables& wanted, Account& account)
        : file_(file), wanted_(wanted), account_(account), release_(release_of(file)) {}

    Exported write() {
        auto changes = table_changes(file_, wanted_);
        std::vector<std::string> why;
        for (const TableChange& each : changes) why.push_back(refusal_of(each));
        follow(changes, why);
        Exported made;
        made.changes = !changes.empty();
        for (std::size_t n = 0; n < changes.size(); ++n) {
            const TableChange& change = changes[n];
            const bool patched = why[n].empty();
            if (patched) add_operation(change);
            if (!patched)
                beside_[change.table] =
                    wanted_.contains(change.table) ? wanted_[change.table] : Tables::object();
            account_.tell(Fate::said, path_of(change), words_of(change, why[n]));
        }
        made.text = json_text(operations_, 2) + "\n";
        if (!beside_.empty()) made.beside = json_text(beside_, 4) + "\n";
        tell_limits(changes, why);
        return made;
    }

  private:
    std::string refusal_of(const TableChange& change) const {
        std::string why = refusal(change, release_);
        // An operation adds a table as a whole, and the list has no words for that.
        if (why.empty() && !file_.contains(change.table) &&
            one_of(change.table, {"PFC_WD", "BUFFER_PROFILE"}))
            why = fmt::format("it takes no new table {}", change.table);
        return why;
    }

    // A reference goes the way of the new entry that it names.
    static void follow(const std::vector<TableChange>& changes, std::vector<std::string>& why) {
        std::set<std::pair<std::string, std::string>> beside;
        for (std::size_t n = 0; n < changes.size(); ++n)
            if (!why[n].empty() && changes[n].field.empty() && !changes[n].to.is_null())
                beside.emplace(changes[n].table, changes[n].key);
        // Entries of a table come and go together.
        std::set<std::string> whole;
        for (std::size_t n = 0; n < changes.size(); ++n) {
            const TableChange& change = changes[n];
            for (const Reference& each : references) {
                if (each.table != change.table || !why[n].empty()) continue;
                if (!change.field.empty() && change.field != each.field) continue;
                const Tables& value =
                    change.field.empty() && change.to.is_object() && change.to.contains(each.field)
                        ? change.to[each.field]
                        : change.to;
                if (!value.is_string()) continue;
                const std::string name = referred_entry(each.target, value.get<std::string>());
                if (!beside.contains({std::string(each.target), name})) continue;
                why[n] = fmt::format("{} {} is new there", each.target, name);
                whole.insert(change.table);
            }
        }
        for (std::size_t n = 0; n < changes.size(); ++n)
            if (why[n].empty() && whole.contains(changes[n].table)) why[n] = "with the rest of its table";
    }

    void add_operation(const TableChange& change) {
        if (!file_.contains(change.table)) {
            const std::string path = "/" + pointer_word(change.table);
            auto known = std::ranges::find_if(operations_,
                                              [&](const Tables& each) { return each.at("path") == path; });
            if (known == operations_.end()) {
                operations_.push_back({{"op", "add"}, {"path", path}, {"value", Tables::object()}});
                known = std::prev(operations_.end());
            }
            (*known)["value"][change.key] = change.to;
            return;
        }
        Tables operation = {{"op", change.from.is_null() ? "add"
                                   : change.to.is_null() ? "remove"
                                                         : "replace"},
                            {"path", pointer_to(change)}};
        if (!change.to.is_null()) operation["value"] = change.to;
        operations_.push_back(std::move(operation));
    }

    static std::string path_of(const TableChange& change) {
        return change.field.empty() ? fmt::format("{}.{}", change.table, change.key)
                                    : fmt::format("{}.{}.{}", change.table, change.key, change.field);
    }

    static std::string value_text(const Tables& value) {
        if (value.is_null()) return "none";
        return value.is_string() ? value.get<std::string>() : json_text(value);
    }

    static std::string words_of(const TableChange& change, const std::string& why) {
        std::string text = change.field.empty() && change.from.is_null()
                               ? value_text(change.to)
                               : fmt::format("{} -> {}", value_text(change.from), value_text(change.to));
        return text + (why.empty() ? "; by the patch" : fmt::format("; by the tables: {}", why));
    }

    void tell_limits(const std::vector<TableChange>& changes, const std::vector<std::string>& why) {
        bool guarded = false, pools = false;
        for (std::size_t n = 0; n < changes.size(); ++n) {
            if (!why[n].empty()) continue;
            guarded = guarded || one_of(changes[n].table, {"BUFFER_PROFILE", "BUFFER_POOL", "PFC_WD"}) ||
                      (changes[n].table == "WRED_PROFILE" && release_ < pools_guarded);
            pools = pools || changes[n].table == "BUFFER_POOL";
        }
        if (pools && release_ == 0)
            account_.tell(
                Fate::assumed, "VERSIONS.DATABASE",
                "the file does not say its release: before 202511, which takes no change of a pool");
        if (guarded)
            account_.tell(Fate::assumed, "DEVICE_METADATA.localhost.hwsku",
                          "a chip and release of SONiC's list: Spectrum, Tomahawk, Trident, Jericho 2c+ and "
                          "Cisco 8000, each since a release of its own; on another one apply-patch refuses");
    }

    const Tables& file_;
    const Tables& wanted_;
    Account& account_;
    unsigned release_;
    Tables operations_ = Tables::array();
    Tables beside_ = Tables::object();
};

// The class by which the file gives trimmed packets the DSCP of each port.
std::optional<ClassId> trim_class_of(const Item& file) {
    const Item* table = file.find("SWITCH_TRIMMING");
    const Item* entry = table == nullptr ? nullptr : table->find("GLOBAL");
    if (entry == nullptr) return std::nullopt;
    const Item* dscp = entry->find("dscp_value");
    const Item* tc = entry->find("tc_value");
    if (dscp == nullptr || tc == nullptr || lower(dscp->word) != "from-tc") return std::nullopt;
    const auto number = parse_integer(tc->word);
    return number && *number < classes ? std::optional(static_cast<ClassId>(*number)) : std::nullopt;
}

// Pools of the presets stand for those that SONiC makes itself: the file has none of them.
void leave_pools(const Tables& file, Tables& ours) {
    const auto pools = ours.find("BUFFER_POOL");
    if (pools == ours.end()) return;
    const auto own = file.find("BUFFER_POOL");
    for (auto entry = pools->begin(); entry != pools->end();)
        entry = own != file.end() && own->is_object() && own->contains(entry.key()) ? std::next(entry)
                                                                                    : pools->erase(entry);
}

}  // namespace

Exported export_sonic(const ExportTask& task) {
    Exporting out(task.wanted);
    const auto trim_class = task.document == nullptr ? std::nullopt : trim_class_of(*task.document);
    Tables wanted = sonic_tables(out, task.patch ? trim_class : std::nullopt);
    Exported made;
    if (!task.patch) {
        made.text = json_text(wanted, 4) + "\n";
        made.account = std::move(out.account);
        return made;
    }
    Exporting before(task.today);
    Tables today = sonic_tables(before, trim_class);
    Account account = new_limits(std::move(out.account), before.account);
    if (task.document == nullptr) {
        made = Patch(today, wanted, account).write();
        if (made.changes) tell_base(account, "sonic");
    } else {
        const Tables file = tables_of(*task.document);
        leave_pools(file, today);
        leave_pools(file, wanted);
        made = Patch(file, merged(file, today, wanted, sonic_shape), account).write();
    }
    made.account = std::move(account);
    return made;
}

}  // namespace sluice::import

// Changes of a configuration, put into the tables that another switch has today.
//
// Tables are JSON objects: table, entry, field, text. Our writers give an entry to each port and class, and
// name shared entries as they like; a switch's own file has entries for several ports at once ("Ethernet0,
// Ethernet4|3-4") and names of its own. So what a writer makes of today's configuration is compared with what
// it makes of the wanted one, and only what differs is changed in the switch's file: in the shared entry
// where all that go by it change alike, else in a new entry beside it.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::import {

using Tables = nlohmann::ordered_json;

// `field` of an entry of `table` names an entry of `target`.
struct Reference {
    std::string_view table, field, target;
};

// An entry for one port, or one class of it, and the key that it has when it stands alone.
struct Site {
    std::string name, key;
};

struct TableShape {
    std::span<const Reference> references;
    // The ports, or classes of ports, for which an entry of the switch's file is.
    std::vector<Site> (*sites)(const Tables& file, std::string_view table, const std::string& key);
    // The entry of those that have none of their own; empty: there is no such.
    std::string (*common)(std::string_view table);
    // The name in a reference, and a reference to a name written as `like` is.
    std::string (*name_of)(std::string_view target, const std::string& reference);
    std::string (*reference_to)(std::string_view target, const std::string& name, const std::string& like);
    // A shared entry of the file with what differs between two of ours.
    Tables (*changed)(const Tables& entry, const Tables& today, const Tables& wanted);
    // A reference that stands for an entry which the switch makes itself, and the entry that it makes it of.
    std::string_view computed, computed_from;
};

// `file` with what differs between `today` and `wanted`.
Tables merged(const Tables& file, const Tables& today, const Tables& wanted, const TableShape& shape);

// The entry `wanted` under a name of its own in the table: that of an equal entry, or `name`, or `name`_2 ...
std::string own_name(Tables& table, const std::string& name, const Tables& wanted);

// A difference of two files: an entry, or a field of one that both have. A null value: it is not there.
struct TableChange {
    std::string table, key, field;  // field empty: the whole entry
    Tables from, to;
};
std::vector<TableChange> table_changes(const Tables& from, const Tables& to);

}  // namespace sluice::import

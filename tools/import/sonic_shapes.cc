#include "tools/import/sonic_shapes.hh"

#include <algorithm>
#include <utility>

namespace sluice::import {
namespace {

constexpr std::string_view table_end = "_TABLE";

// {"type": "hash", "ttl": ..., "value": {...}}, as sonic-db-dump writes an entry: its value alone.
void unwrap(Item& entry) {
    const Item* type = entry.find("type");
    const auto value = entry.index.find("value");
    if (type == nullptr || type->word != "hash" || value == entry.index.end() || !value->second->is_map())
        return;
    Item* inner = value->second;
    auto members = std::move(inner->members);
    entry.index.clear();
    entry.members.clear();
    for (auto& member : members) adopt(entry, std::move(member));
}

// A member of the root: a table, or one entry of it by a key "TABLE|KEY" or "TABLE_TABLE:KEY".
void add_table(Item& root, std::unique_ptr<Item> member) {
    std::string& name = member->name;
    std::size_t at = name.find_first_of("|:");
    std::string table = name.substr(0, at);
    const bool of_database = at != std::string::npos && name[at] == ':' && table.ends_with(table_end);
    if (at == std::string::npos || (name[at] == ':' && !of_database)) {
        adopt(root, std::move(member));
        return;
    }
    name.erase(0, at + 1);
    if (of_database) {
        table.resize(table.size() - table_end.size());
        // The database has ':' where a configuration has '|', and addresses have ':', too.
        const bool has_address =
            table == "INTF" || table == "INTERFACE" || table == "ROUTE" || table == "STATIC_ROUTE";
        if (table == "INTF") table = "INTERFACE";
        if (name.find('|') == std::string::npos) {
            const auto first = std::find(name.begin(), name.end(), ':');
            std::replace(name.begin(), has_address && first != name.end() ? first + 1 : name.end(), ':', '|');
        }
    }
    auto made = std::make_unique<Item>();
    made->kind = Item::Kind::map;
    made->name = table;
    made->place = member->place;
    unwrap(*member);
    adopt(*made, std::move(member));
    adopt(root, std::move(made));
}

void add_tables(Item& root, std::vector<std::unique_ptr<Item>> members) {
    for (auto& member : members) {
        member->parent = &root;
        if (member->repeated.line != 0)
            root.members.push_back(std::move(member));  // its key comes again
        else
            add_table(root, std::move(member));
    }
}

}  // namespace

std::optional<ReadError> shape_sonic(Item& root) {
    auto members = std::exchange(root.members, {});
    root.index.clear();
    if (root.is_map()) {
        add_tables(root, std::move(members));
        return std::nullopt;
    }
    if (root.kind != Item::Kind::list)
        return ReadError{root.place, {}, "a config_db.json is an object of tables", {}};
    root.kind = Item::Kind::map;
    for (auto& member : members) {
        if (!member->is_map()) return ReadError{member->place, {}, "must be an object of tables", {}};
        const Item* operation = member->find("op");
        if (operation != nullptr && member->find("path") != nullptr)
            return ReadError{member->place,
                             {},
                             "is a JSON patch",
                             "apply it (config apply-patch), and give the configuration that it makes"};
        operation = member->find("OP");
        const bool deletes = operation != nullptr && operation->word == "DEL";
        auto tables = std::exchange(member->members, {});
        if (operation != nullptr) std::erase_if(tables, [](const auto& each) { return each->name == "OP"; });
        if (deletes) continue;
        add_tables(root, std::move(tables));
    }
    return std::nullopt;
}

}  // namespace sluice::import

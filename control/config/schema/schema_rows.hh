// The rows of the schema: a `Row` knows one key or section of a struct and everything that is done with it.
//
// A row works on an object by its address and reaches a member by its offset, so that all keys, and all
// sections of a kind, share their code. `Rows<Struct>` has those of one struct, knows the types, and makes
// rows: `key` (a member and its type), `required` (a key that must be given), `group` (a section whose keys
// lie in the same struct), `nested` (a section that is a struct), `indexed` ([queue.N]: an array of structs),
// `named` ([port.NAME]: a map of structs, each started from a base), `list` ([[route]]: a vector of structs).
// Sections nest freely. Private to the schema.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/schema/schema.hh"
#include "control/config/schema/schema_types.hh"

namespace sluice::schema {

// A type-erased value type: it gets its values by their address.
struct AnyType {
    std::string name;
    std::string allowed;
    std::string example;
    std::function<bool(const toml::node&, Context&, void* value)> read;
    std::function<std::string(const void* value, const void* base)> print;
    bool (*same)(const void*, const void*) = nullptr;
};

template <class T>
AnyType any_type(const Type<T>& type) {
    return {
        type.name,
        type.allowed,
        type.example,
        [read = type.read](const toml::node& node, Context& context, void* value) {
            return read(node, context, *static_cast<T*>(value));
        },
        [print = type.print](const void* value, const void* base) {
            return print(*static_cast<const T*>(value), static_cast<const T*>(base));
        },
        [](const void* a, const void* b) { return *static_cast<const T*>(a) == *static_cast<const T*>(b); }};
}

// Keys and their values, being collected.
struct Listing {
    struct Place {
        std::string section;  // as TOML has it in a header
        std::string path;     // as commands have it
        Place below(std::string_view name) const {
            const std::string dot = path.empty() ? "" : ".";
            return {section + dot + toml_key(name), path + dot + std::string(name)};
        }
    };
    std::string_view wanted;  // empty: all
    std::vector<ConfigValue> values;

    // True if the value at `path` is wanted, contains a wanted one or is part of it.
    bool wants(std::string_view path) const;
};

struct Row {
    KeyInfo info;  // section left empty
    bool required = false;
    bool section = false;
    std::function<bool(const toml::node&, Context&, void* object)> read;
    // Of a plain key.
    std::function<std::string(const void* object, const void* base)> print;
    std::function<bool(const void*, const void*)> same;
    // Of a section: appends the difference to `base` under `header`; describes its keys.
    std::function<void(const void* object, const void* base, const std::string& header, std::string& out)>
        save;
    std::function<void(const std::string& header, std::vector<KeyInfo>&)> describe;
    // Of a section, but for lists: its keys, or with a base those that differ from it.
    std::function<void(const void* object, const void* base, const Listing::Place& place, Listing& out)> list;

    // A key that takes effect only when sluiced starts.
    void at_start() { info.restart = true; }
};

// The rows of one struct, whose objects are known by their address.
class AnyRows {
  public:
    auto begin() const { return rows_.begin(); }
    auto end() const { return rows_.end(); }

    // Reads `table` into `object`; keys named in `elsewhere` are another reader's.
    bool read(const toml::table& table, Context& context, void* object,
              std::span<const std::string_view> elsewhere = {}) const;
    // Appends the keys of `object` that differ from `base`, under `[header]`, then its sections. With
    // `always` the header is there even if nothing differs; brackets are "[" "]" or "[[" "]]".
    void save(const void* object, const void* base, const std::string& header, std::string& out,
              bool always = false, std::string_view open = "[", std::string_view close = "]") const;
    void describe(const std::string& header, std::vector<KeyInfo>& out) const;
    // The keys of `object` and its sections; with a base, those that differ from it.
    void list_values(const void* object, const void* base, const Listing::Place& place, Listing& out) const;

  protected:
    // `member` of `object`, which nothing was read into, gives the place of the member and its default.
    Row& add_key(std::string_view name, const void* object, const void* member, const AnyType& type,
                 std::string_view sentence, std::string fallback);
    Row& add_section(std::string_view name, std::string_view sentence);
    void add_nested(std::string_view name, const void* object, const void* member, AnyRows rows,
                    std::string_view sentence);
    // `count` members, one every `stride` bytes.
    void add_indexed(std::string_view name, const void* object, const void* member, std::size_t stride,
                     std::size_t count, AnyRows rows, std::string_view sentence);

  private:
    std::vector<Row> rows_;
};

const toml::table* want_table(const toml::node& node, Context& context, std::string_view example);

// Every child of the section, "default" before the others, which may be based on it: `read_child` gets its
// name.
bool read_named(
    const toml::node& node, Context& context, std::size_t limit,
    const std::function<bool(const std::string& name, const toml::node&, const toml::table&)>& read_child);
// Every table of the list.
bool read_list(const toml::node& node, Context& context, std::size_t limit,
               const std::function<bool(const toml::node&, const toml::table&)>& read_child);

// An object that nothing was read into.
template <class Struct>
const Struct& fresh() {
    static const Struct object{};
    return object;
}

template <class Child>
void append(std::vector<Child>& list, Child child) {
    list.push_back(std::move(child));
}
template <class Set>
void append(CopyOnWrite<Set>& set, typename Set::value_type child) {
    Set& into = set.change();
    into.insert(into.end(), std::move(child));
}
template <class Child>
const std::vector<Child>& children(const std::vector<Child>& list) {
    return list;
}
template <class Set>
const Set& children(const CopyOnWrite<Set>& set) {
    return *set;
}

template <class Struct>
class Rows : public AnyRows {
  public:
    bool read(const toml::table& table, Context& context, Struct& object,
              std::span<const std::string_view> elsewhere = {}) const {
        return AnyRows::read(table, context, &object, elsewhere);
    }
    void save(const Struct& object, const Struct& base, const std::string& header, std::string& out,
              bool always = false, std::string_view open = "[", std::string_view close = "]") const {
        AnyRows::save(&object, &base, header, out, always, open, close);
    }

    // A key: `member` read and printed as `type`. `fallback` is for defaults that are not a constant; the
    // rest is printed from a default-constructed struct.
    template <class Base, class T>
    Row& key(std::string_view name, T Base::*member, const Type<T>& type, std::string_view sentence,
             std::string fallback = {}) {
        const Struct& object = fresh<Struct>();
        return add_key(name, &object, &(object.*member), any_type(type), sentence, std::move(fallback));
    }
    // A key of a member that is a struct.
    template <class Child, class T>
    Row& key(std::string_view name, Child Struct::*outer, T Child::*member, const Type<T>& type,
             std::string_view sentence) {
        const Struct& object = fresh<Struct>();
        return add_key(name, &object, &(object.*outer.*member), any_type(type), sentence, {});
    }
    template <class Base, class T>
    Row& required(std::string_view name, T Base::*member, const Type<T>& type, std::string_view sentence) {
        Row& row = key(name, member, type, sentence, type.example);
        row.required = true;
        return row;
    }

    void group(std::string_view name, Rows rows, std::string_view sentence) {
        add_nested(name, &fresh<Struct>(), &fresh<Struct>(), std::move(rows), sentence);
    }
    template <class Child>
    void nested(std::string_view name, Child Struct::*member, Rows<Child> rows, std::string_view sentence) {
        const Struct& object = fresh<Struct>();
        add_nested(name, &object, &(object.*member), std::move(rows), sentence);
    }
    template <class Child, std::size_t count>
    void indexed(std::string_view name, std::array<Child, count> Struct::*member, Rows<Child> rows,
                 std::string_view sentence) {
        const Struct& object = fresh<Struct>();
        add_indexed(name, &object, (object.*member).data(), sizeof(Child), count, std::move(rows), sentence);
    }

    // The base of a named struct: reading starts from it, and saving writes the difference to it.
    template <class Child>
    using BaseOf = Child (*)(const Struct&, const std::string& name, bool saving);

    template <class Map>
    void named(std::string_view name, Map Struct::*member, const Rows<typename Map::mapped_type>& rows,
               BaseOf<typename Map::mapped_type> base_of, std::size_t limit, std::string_view sentence) {
        Row& row = add_section(name, sentence);
        row.read = [member, rows, base_of, limit](const toml::node& node, Context& context, void* object) {
            Struct& out = *static_cast<Struct*>(object);
            return read_named(
                node, context, limit,
                [&](const std::string& child_name, const toml::node& at, const toml::table& table) {
                    auto child = base_of(out, child_name, false);
                    if constexpr (requires { child.place; }) child.place = place_of(at.source());
                    if (!rows.read(table, context, child)) return false;
                    (out.*member)[child_name] = std::move(child);
                    return true;
                });
        };
        row.save = [member, rows, base_of](const void* object, const void*, const std::string& header,
                                           std::string& out) {
            const Struct& value = *static_cast<const Struct*>(object);
            for (const bool first : {true, false})
                for (const auto& [child_name, child] : value.*member)
                    if ((child_name == "default") == first)  // an existing section needs no heading
                        rows.save(child, base_of(value, child_name, true),
                                  header + "." + toml_key(child_name), out,
                                  !(fresh<Struct>().*member).contains(child_name));
        };
        row.list = [member, rows, base_of](const void* object, const void* base, const Listing::Place& place,
                                           Listing& out) {
            const Struct& value = *static_cast<const Struct*>(object);
            for (const auto& [child_name, child] : value.*member) {
                const Listing::Place below = place.below(child_name);
                if (!out.wants(below.path)) continue;
                const auto child_base = base_of(value, child_name, true);
                rows.list_values(&child, base == nullptr ? nullptr : &child_base, below, out);
            }
        };
        row.describe = [rows](const std::string& header, std::vector<KeyInfo>& out) {
            rows.describe(header + ".NAME", out);
        };
    }

    // A vector of structs, or a shared set of them.
    template <class Children, class Child>
    void list(std::string_view name, Children Struct::*member, const Rows<Child>& rows, std::size_t limit,
              std::string_view sentence) {
        Row& row = add_section(name, sentence);
        row.read = [member, rows, limit](const toml::node& node, Context& context, void* object) {
            Children& into = static_cast<Struct*>(object)->*member;
            return read_list(node, context, limit, [&](const toml::node& at, const toml::table& table) {
                Child child;
                child.place = place_of(at.source());
                if (!rows.read(table, context, child)) return false;
                append(into, std::move(child));
                return true;
            });
        };
        row.save = [member, rows](const void* object, const void*, const std::string& header,
                                  std::string& out) {
            for (const Child& child : children(static_cast<const Struct*>(object)->*member))
                rows.save(child, fresh<Child>(), header, out, true, "[[", "]]");
        };
        row.describe = [rows](const std::string& header, std::vector<KeyInfo>& out) {
            rows.describe(header + "[]", out);
        };
    }

    // A section with a reader of its own.
    Row& section(std::string_view name, std::string_view sentence) { return add_section(name, sentence); }
};

// The whole file.
const Rows<Config>& config_rows();

}  // namespace sluice::schema

// The rows of the schema: a `Row` knows one key or section of a struct and everything that is done with it.
//
// A row reaches a member by the object's address and an offset, so that all keys of a type, and all sections
// of a kind, share their code. `Rows<Struct>` makes the rows of a struct: `key` (a member and its type),
// `start_key` (fixed while the switch runs), `required`, `group` (a section whose keys are in the same
// struct), `nested` (a section that is a struct), `indexed` ([queue.N]: an array of structs), `named`
// ([port.NAME]: a map of structs, each started from a base), `list` ([[route]]: a vector of structs).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/config/schema/schema.hh"
#include "control/config/schema/schema_types.hh"

namespace sluice::schema {

// Where a key or section stands.
struct Place {
    std::string section;  // as TOML has it in a header
    std::string path;     // as commands have it
    std::string path_of(std::string_view name) const;
    Place below(std::string_view name) const;
};

// Collects keys and their values: those at a path, or with `toml` the text of a whole file.
struct Listing {
    std::string_view wanted;  // empty: all
    std::vector<ConfigValue> values;
    std::string* toml = nullptr;
    std::string open{};  // the last header in the text

    // True when the value at `path` is wanted, contains a wanted one or is part of it.
    bool wants(std::string_view path) const;
    void add(const Place& section, const std::string& name, std::string value);
    void add_header(const std::string& section, std::string_view begin = "[", std::string_view end = "]");
};

struct Row {
    KeyInfo info;  // section left empty
    bool required = false;
    std::function<bool(const toml::node&, Context&, void* object)> read;
    // A key that is not a section has:
    std::function<std::string(const void* object, const void* base)> print;
    std::function<bool(const void*, const void*)> same;
    // A section lists its keys, or with a base those that differ from it, and describes them.
    std::function<void(const void* object, const void* base, const Place& place, Listing& out)> list;
    std::function<void(const std::string& header, std::vector<KeyInfo>&)> describe;

    bool is_section() const { return describe != nullptr; }
};

// The member of type T at its offset in an object; null for no object.
template <class T>
T* member_at(void* object, std::size_t offset) {
    return reinterpret_cast<T*>(static_cast<std::byte*>(object) + offset);
}
template <class T>
const T* member_at(const void* object, std::size_t offset) {
    return object == nullptr ? nullptr
                             : reinterpret_cast<const T*>(static_cast<const std::byte*>(object) + offset);
}

// Fills in the functions of a key of this type, which all structs share.
template <class T>
void erase(Row& row, const Type<T>& type, std::size_t offset) {
    row.read = [offset, read = type.read](const toml::node& node, Context& context, void* object) {
        return read(node, context, *member_at<T>(object, offset));
    };
    row.print = [offset, print = type.print](const void* object, const void* base) {
        return print(*member_at<T>(object, offset), member_at<T>(base, offset));
    };
    row.same = [offset](const void* a, const void* b) {
        return *member_at<T>(a, offset) == *member_at<T>(b, offset);
    };
}

// The rows of one struct, whose objects are known by their address.
class AnyRows {
  public:
    auto begin() const { return rows_.begin(); }
    auto end() const { return rows_.end(); }

    // Reads `table` into `object`, without the keys in `elsewhere`.
    bool read(const toml::table& table, Context& context, void* object,
              std::span<const std::string_view> elsewhere = {}) const;
    // The keys of `object` and its sections; with a base, those that differ from it.
    void list_values(const void* object, const void* base, const Place& place, Listing& out) const;
    void describe(const std::string& header, std::vector<KeyInfo>& out) const;

  protected:
    // All keys come before the first section, as TOML requires.
    Row& add(std::string_view name, std::string_view sentence);
    // Sections of structs at an offset: one, and `count` of them, one every `stride` bytes.
    Row& add_nested(std::string_view name, std::size_t offset, AnyRows rows, std::string_view sentence);
    void add_indexed(std::string_view name, std::size_t offset, std::size_t stride, std::size_t count,
                     AnyRows rows, std::string_view sentence);

  private:
    std::vector<Row> rows_;
};

const toml::table* want_table(const toml::node& node, Context& context, std::string_view example);

// Reads every child of the section, "default" before the others, which may be based on it.
bool read_named(
    const toml::node& node, Context& context, std::size_t limit,
    const std::function<bool(const std::string& name, const toml::node&, const toml::table&)>& read_child);
bool read_list(const toml::node& node, Context& context, std::size_t limit,
               const std::function<bool(const toml::node&, const toml::table&)>& read_child);

// A default-constructed object.
template <class Struct>
const Struct& fresh() {
    static const Struct object{};
    return object;
}

// The entries of a list, or of a shared set of them.
template <class List>
auto& entries(List& list) {
    if constexpr (requires { list.change(); })
        return list.change();
    else
        return list;
}
template <class List>
const auto& entries(const List& list) {
    if constexpr (requires { *list; })
        return *list;
    else
        return list;
}

template <class Struct>
class Rows : public AnyRows {
  public:
    bool read(const toml::table& table, Context& context, Struct& object,
              std::span<const std::string_view> elsewhere = {}) const {
        return AnyRows::read(table, context, &object, elsewhere);
    }

    // A key: `member` read and printed as `type`. `fallback`: the default, where it is not that of fresh().
    template <class Base, class T>
    Row& key(std::string_view name, T Base::*member, const Type<T>& type, std::string_view sentence,
             std::string fallback = {}) {
        return add_key(name, fresh<Struct>().*member, type, sentence, std::move(fallback));
    }
    template <class Child, class T>
    Row& key(std::string_view name, Child Struct::*outer, T Child::*member, const Type<T>& type,
             std::string_view sentence) {
        return add_key(name, fresh<Struct>().*outer.*member, type, sentence, {});
    }
    template <class... What>
    Row& start_key(std::string_view name, const What&... what) {
        Row& row = key(name, what...);
        row.info.restart = true;
        return row;
    }
    template <class Base, class T>
    Row& required(std::string_view name, T Base::*member, const Type<T>& type, std::string_view sentence) {
        Row& row = key(name, member, type, sentence, type.example);
        row.required = true;
        return row;
    }

    void group(std::string_view name, Rows rows, std::string_view sentence) {
        add_nested(name, 0, std::move(rows), sentence);
    }
    template <class Child>
    Row& nested(std::string_view name, Child Struct::*member, Rows<Child> rows, std::string_view sentence) {
        return add_nested(name, offset_of(fresh<Struct>().*member), std::move(rows), sentence);
    }
    template <class Child, std::size_t count>
    void indexed(std::string_view name, std::array<Child, count> Struct::*member, Rows<Child> rows,
                 std::string_view sentence) {
        add_indexed(name, offset_of(fresh<Struct>().*member), sizeof(Child), count, std::move(rows),
                    sentence);
    }

    // The base of a named struct: reading starts from it, and saving writes the difference to it.
    template <class Child>
    using BaseOf = Child (*)(const Struct&, const std::string& name, bool saving);

    template <class Map>
    Row& named(std::string_view name, Map Struct::*member, Rows<typename Map::mapped_type> rows,
               BaseOf<typename Map::mapped_type> base_of, std::size_t limit, std::string_view sentence) {
        Row& row = add(name, sentence);
        const auto shared = share(std::move(rows));
        row.read = [member, shared, base_of, limit](const toml::node& node, Context& context, void* object) {
            Struct& out = *static_cast<Struct*>(object);
            return read_named(
                node, context, limit,
                [&](const std::string& child_name, const toml::node& at, const toml::table& table) {
                    auto child = base_of(out, child_name, false);
                    if constexpr (requires { child.place; }) child.place = place_of(at.source());
                    if (!shared->read(table, context, child)) return false;
                    (out.*member)[child_name] = std::move(child);
                    return true;
                });
        };
        row.list = [member, shared, base_of](const void* object, const void* base, const Place& place,
                                             Listing& out) {
            const Struct& value = *static_cast<const Struct*>(object);
            // A file has what others start from before them.
            for (const bool first : {true, false})
                for (const auto& [child_name, child] : value.*member) {
                    if ((out.toml != nullptr && child_name == "default") != first) continue;
                    const Place below = place.below(child_name);
                    if (!out.wants(below.path)) continue;
                    if (!(fresh<Struct>().*member).contains(child_name)) out.add_header(below.section);
                    const auto child_base = base_of(value, child_name, true);
                    shared->list_values(&child, base == nullptr ? nullptr : &child_base, below, out);
                }
        };
        row.describe = [shared](const std::string& header, std::vector<KeyInfo>& out) {
            shared->describe(header + ".NAME", out);
        };
        return row;
    }

    // A vector of structs, or a shared set of them.
    template <class Children, class Child>
    void list(std::string_view name, Children Struct::*member, Rows<Child> rows, std::size_t limit,
              std::string_view sentence) {
        Row& row = add(name, sentence);
        const auto shared = share(std::move(rows));
        row.read = [member, shared, limit](const toml::node& node, Context& context, void* object) {
            auto& into = entries(static_cast<Struct*>(object)->*member);
            return read_list(node, context, limit, [&](const toml::node& at, const toml::table& table) {
                Child child;
                child.place = place_of(at.source());
                if (!shared->read(table, context, child)) return false;
                into.insert(into.end(), std::move(child));
                return true;
            });
        };
        row.list = [member, shared](const void* object, const void*, const Place& place, Listing& out) {
            if (out.toml == nullptr) return;
            for (const Child& child : entries(static_cast<const Struct*>(object)->*member)) {
                out.add_header(place.section, "[[", "]]");
                shared->list_values(&child, &fresh<Child>(), place, out);
            }
        };
        row.describe = [shared](const std::string& header, std::vector<KeyInfo>& out) {
            shared->describe(header + "[]", out);
        };
    }

  private:
    template <class Child>
    static auto share(Rows<Child> rows) {
        return std::make_shared<const Rows<Child>>(std::move(rows));
    }
    // `member` of the fresh object.
    static std::size_t offset_of(const auto& member) {
        return static_cast<std::size_t>(reinterpret_cast<const std::byte*>(&member) -
                                        reinterpret_cast<const std::byte*>(&fresh<Struct>()));
    }
    template <class T>
    Row& add_key(std::string_view name, const T& member, const Type<T>& type, std::string_view sentence,
                 std::string fallback) {
        Row& row = add(name, sentence);
        row.info.type = type.name;
        row.info.allowed = type.allowed;
        row.info.fallback = fallback.empty() ? type.print(member, nullptr) : std::move(fallback);
        erase(row, type, offset_of(member));
        return row;
    }
};

// The whole file.
const Rows<Config>& config_rows();

}  // namespace sluice::schema

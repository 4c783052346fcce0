// The types of configuration keys: how a TOML node becomes a member and how the member is written back.
//
// A `Type<T>` is a value made by one of the functions below and used in a row of schema_*.cc. `read` takes
// any node and never throws; `print` gives the TOML text of a value, which `read` takes back.
#pragma once

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/config/schema/values.hh"

namespace sluice::schema {

// The key being read, and the errors so far. Segments view names that outlive the reading.
class Context {
  public:
    explicit Context(std::string_view file) : file_(file) {}

    struct Segment {
        std::string_view name;  // no data: an index
        std::size_t index = 0;
    };
    // Enters a key for the life of the object.
    class Inside {
      public:
        Inside(Context& context, std::string_view name) : Inside(context, Segment{name}) {}
        Inside(Context& context, std::size_t index) : Inside(context, Segment{{}, index}) {}
        Inside(const Inside&) = delete;
        Inside& operator=(const Inside&) = delete;
        ~Inside() { context_.path_.pop_back(); }

      private:
        Inside(Context& context, Segment segment) : context_(context) { context.path_.push_back(segment); }
        Context& context_;
    };

    // Adds an error; returns false, for the reader to return.
    bool refuse(const toml::source_region& at, std::string wrong, std::string allowed, std::string remedy);
    // A word that errors name as allowed, too.
    void set_alternative(std::string_view word) { alternative_ = word; }
    // Records the place of the current key's value, outside of lists.
    void note_place(const toml::node& node);
    std::string path() const;
    bool full() const { return errors_.size() >= max_config_errors; }
    std::vector<ConfigError> take_errors();
    SourceMap take_source() { return std::move(source_); }

  private:
    std::string file_;
    std::vector<Segment> path_;
    std::string_view alternative_;
    std::vector<ConfigError> errors_;
    bool left_out_ = false;
    SourceMap source_;
};

// The value for a message: `"100X"`, `5`, `the table`.
std::string show(const toml::node& node);
// The value of an integer or a fraction; nothing: the node is neither.
std::optional<double> number_in(const toml::node& node);
std::string toml_key(std::string_view text);
SourcePlace place_of(const toml::source_region& region);

template <class T>
struct Type {
    std::string name;     // "rate": its name in the reference
    std::string allowed;  // allowed values, for messages and the reference
    std::string example;  // as it stands in a file
    // False: the context has the error, and `value` is undefined. Fields that the node does not set stay.
    std::function<bool(const toml::node&, Context&, T& value)> read;
    // With a `base` only the difference from it is needed.
    std::function<std::string(const T& value, const T* base)> print;

    // Reports the error in the node's value and returns false.
    bool refuse(const toml::node& node, Context& context, std::string_view wrong,
                std::string remedy = {}) const {
        return context.refuse(node.source(), fmt::format("{} {}", show(node), wrong), allowed,
                              remedy.empty() ? "write for example " + example : std::move(remedy));
    }
};

Type<bool> boolean();
Type<std::uint64_t> integer_64(std::uint64_t low, std::uint64_t high);
Type<std::uint64_t> size(std::uint64_t low, std::uint64_t high, std::string example);
Type<Rate> port_speed();
Type<Rate> rate(std::uint64_t low_bits, std::uint64_t high_bits);
Type<int> signed_integer(int low, int high);
Type<Duration> time(Duration low, Duration high, std::string example);
Type<std::uint32_t> length(std::uint32_t low_m, std::uint32_t high_m);
Type<Chance> odds();
Type<Chance> per_cent();
Type<double> bit_error_rate(double most);
Type<std::uint8_t> class_mask();
Type<MacAddress> mac();
Type<IpAddress> address();
Type<IpPrefix> interface_address();
Type<IpPrefix> network();
Type<std::string> text(std::string what, std::size_t low, std::size_t high, std::string example);
Type<std::string> name(std::string what);
Type<std::string> choice(std::vector<std::string> words);

// Names of ports, maps and other named things of the file.
bool valid_name(std::string_view name);
constexpr std::string_view name_rule = "1 to 32 letters, digits, '_', '.' and '-'";

// A type whose values are judged as a whole: `parse` takes a node, `print` gives the TOML text.
template <class T>
Type<T> whole(std::string name, std::string allowed, std::string example,
              std::function<ParsedValue<T>(const toml::node&)> parse,
              std::function<std::string(const T&)> print) {
    Type<T> type{std::move(name), std::move(allowed), std::move(example), {}, {}};
    type.read = [self = type, parse = std::move(parse)](const toml::node& node, Context& context, T& out) {
        ParsedValue<T> value = parse(node);
        if (!value) return self.refuse(node, context, value.error().wrong, std::move(value.error().remedy));
        out = std::move(*value);
        return true;
    };
    type.print = [print = std::move(print)](const T& value, const T*) { return print(value); };
    return type;
}

// The same text for a value of another type.
template <class U, class T>
Type<U> converted(Type<T> type, std::function<U(const T&)> to, std::function<T(const U&)> from) {
    return {type.name, type.allowed, type.example,
            [read = type.read, to = std::move(to)](const toml::node& node, Context& context, U& out) {
                T value{};
                if (!read(node, context, value)) return false;
                out = to(value);
                return true;
            },
            [print = type.print, from = std::move(from)](const U& value, const U*) {
                return print(from(value), nullptr);
            }};
}

// The same text, stored as a U.
template <class U, class T>
Type<U> stored_as(Type<T> type) {
    return converted<U, T>(
        std::move(type), [](const T& value) { return static_cast<U>(value); },
        [](const U& value) { return static_cast<T>(value); });
}

template <class T>
Type<T> checked(const Type<T>& type, std::string allowed, std::string example, bool (*is_good)(const T&),
                std::string wrong) {
    Type<T> all{type.name, std::move(allowed), std::move(example), {}, type.print};
    all.read = [self = all, read = type.read, is_good, wrong](const toml::node& node, Context& context,
                                                              T& out) {
        return read(node, context, out) && (is_good(out) || self.refuse(node, context, wrong));
    };
    return all;
}

template <class T>
Type<T> integer(T low, T high) {
    return stored_as<T>(integer_64(low, high));
}

inline Type<ClassId> class_id() { return integer<ClassId>(0, classes - 1); }
inline Type<std::uint8_t> dscp() { return integer<std::uint8_t>(0, 63); }

// An enumeration by its words.
template <class T>
Type<T> word(std::vector<std::pair<std::string, T>> words) {
    std::vector<std::string> names;
    for (const auto& pair : words) names.push_back(pair.first);
    const auto spelling = [words](const T& value) {
        const auto is_it = [&](const auto& pair) { return pair.second == value; };
        const auto found = std::find_if(words.begin(), words.end(), is_it);
        return found == words.end() ? words.front().first : found->first;
    };
    const auto meaning = [words](const std::string& said) {
        return std::find_if(words.begin(), words.end(), [&](const auto& pair) { return pair.first == said; })
            ->second;
    };
    return converted<T, std::string>(choice(std::move(names)), meaning, spelling);
}

// These values of an enumeration, by the words of to_string.
template <class T>
Type<T> word_of(const std::vector<T>& values) {
    std::vector<std::pair<std::string, T>> words;
    for (const T value : values) words.emplace_back(to_string(value), value);
    return word(std::move(words));
}

// `type`, or the word `absent` for no value, which overrides a default that has one.
template <class T>
Type<std::optional<T>> optional_or(Type<T> type, std::string absent) {
    const std::string allowed = fmt::format("{}, or \"{}\"", type.allowed, absent);
    return {type.name, allowed, type.example,
            [read = type.read, absent](const toml::node& node, Context& context, std::optional<T>& out) {
                out.reset();
                if (const auto* said = node.as_string(); said != nullptr && said->get() == absent)
                    return true;
                context.set_alternative(absent);
                const bool good = read(node, context, out.emplace());
                context.set_alternative({});
                return good;
            },
            [print = type.print, absent](const std::optional<T>& value, const std::optional<T>*) {
                return value ? print(*value, nullptr) : toml_string(absent);
            }};
}

// A list of at most `limit` different values.
template <class T>
Type<std::vector<T>> list_of(Type<T> type, std::size_t limit) {
    Type<std::vector<T>> list;
    list.name = fmt::format("list ({})", type.name);
    list.allowed = fmt::format("a list of at most {}, each {}", limit, type.allowed);
    list.example = fmt::format("[{}]", type.example);
    list.read = [type, limit, self = list](const toml::node& node, Context& context, std::vector<T>& out) {
        const toml::array* array = node.as_array();
        if (array == nullptr) return self.refuse(node, context, "is not a list");
        if (array->size() > limit)
            return self.refuse(node, context, fmt::format("has {} values", array->size()),
                               fmt::format("leave {} out", array->size() - limit));
        bool good = true;
        out.clear();
        for (std::size_t i = 0; i < array->size(); ++i) {
            const Context::Inside inside(context, i);
            T value{};
            if (!type.read((*array)[i], context, value))
                good = false;
            else if (std::find(out.begin(), out.end(), value) != out.end())
                good = type.refuse((*array)[i], context, "is in the list twice", "leave one of them out");
            else
                out.push_back(std::move(value));
        }
        return good;
    };
    list.print = [print = type.print](const std::vector<T>& values, const std::vector<T>*) {
        std::string out;
        for (const T& value : values) append_item(out, ", ", print(value, nullptr));
        return fmt::format("[{}]", out);
    };
    return list;
}

// {"26" = 3, ...}: the entries of the table are changed, the rest kept.
bool read_class_map(const toml::node& node, Context& context, ClassId* values, std::size_t size);
std::string print_class_map(const ClassId* values, const ClassId* base, std::size_t size);

template <std::size_t size>
Type<std::array<ClassId, size>> class_map() {
    return {"table (number = class)", fmt::format("a table from 0..{} to 0..{}", size - 1, classes - 1),
            R"({"3" = 3})",
            [](const toml::node& node, Context& context, std::array<ClassId, size>& values) {
                return read_class_map(node, context, values.data(), size);
            },
            [](const std::array<ClassId, size>& values, const std::array<ClassId, size>* base) {
                return print_class_map(values.data(), base != nullptr ? base->data() : nullptr, size);
            }};
}

}  // namespace sluice::schema

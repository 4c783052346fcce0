#include "control/config/schema/schema_types.hh"

#include <limits>

#include <cmath>

#include "control/config/schema/schema.hh"
#include "control/config/text/controls.hh"
#include "lib/values/class_mask.hh"

namespace sluice::schema {
namespace {

// A type whose values stand in the file as strings.
template <class T>
Type<T> from_string(std::string name, std::string allowed, std::string example,
                    ParsedValue<T> (*parse)(std::string_view), std::string (*print)(const T&)) {
    Type<T> type{std::move(name), std::move(allowed), toml_string(example), {}, {}};
    type.read = [self = type, parse](const toml::node& node, Context& context, T& out) {
        const auto* string = node.as_string();
        if (string == nullptr)
            return self.refuse(node, context, fmt::format("is not a string: the key wants {}", self.name));
        auto value = parse(string->get());
        if (!value) return self.refuse(node, context, value.error().wrong, value.error().remedy);
        out = std::move(*value);
        return true;
    };
    type.print = [print](const T& value, const T*) { return toml_string(print(value)); };
    return type;
}

// Strings, and integers of the smallest unit.
ParsedValue<std::uint64_t> quantity(const toml::node& node,
                                    ParsedValue<std::uint64_t> (*parse)(std::string_view)) {
    if (const auto* string = node.as_string()) return parse(string->get());
    const auto* integer = node.as_integer();
    if (integer == nullptr) return tl::unexpected<ValueError>({"has the wrong type", {}});
    if (integer->get() < 0) return tl::unexpected<ValueError>({"is negative", {}});
    return static_cast<std::uint64_t>(integer->get());
}

ParsedValue<std::uint64_t> rate_bits(std::string_view text) {
    return parse_rate(text).map([](Rate rate) { return rate.bits_per_second; });
}

ParsedValue<std::uint64_t> length_m(std::string_view text) {
    return parse_length(text).map([](std::uint32_t meters) { return std::uint64_t{meters}; });
}

// A number with a unit, within a range; `print` gives the string.
Type<std::uint64_t> ranged(std::string name, std::string allowed, std::string example, std::uint64_t low,
                           std::uint64_t high, ParsedValue<std::uint64_t> (*parse)(std::string_view),
                           std::function<std::string(std::uint64_t)> print) {
    Type<std::uint64_t> type{std::move(name), std::move(allowed), std::move(example), {}, {}};
    type.read = [self = type, parse, low, high](const toml::node& node, Context& context,
                                                std::uint64_t& out) {
        const auto value = quantity(node, parse);
        if (!value) return self.refuse(node, context, value.error().wrong, value.error().remedy);
        if (*value < low) return self.refuse(node, context, "is too small");
        if (*value > high) return self.refuse(node, context, "is too large");
        out = *value;
        return true;
    };
    type.print = [print = std::move(print)](const std::uint64_t& value, const std::uint64_t*) {
        return toml_string(print(value));
    };
    return type;
}

ParsedValue<MacAddress> station_mac(std::string_view text) {
    auto mac = parse_mac(text);
    if (!mac) return mac;
    if (mac->is_group())
        return tl::unexpected<ValueError>({"is a group address", "clear the lowest bit of the first byte"});
    if (*mac == MacAddress{}) return tl::unexpected<ValueError>({"is no station's address", {}});
    return mac;
}

std::string same_text(const std::string& text) { return text; }

ParsedValue<std::string> named(std::string_view text) {
    if (!valid_name(text)) return tl::unexpected<ValueError>({"is not a name", {}});
    return std::string(text);
}

}  // namespace

bool valid_name(std::string_view name) {
    return !name.empty() && name.size() <= 32 &&
           name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") ==
               name.npos;
}

Type<bool> boolean() {
    Type<bool> type{"boolean", "true or false", "true", {}, {}};
    type.read = [self = type](const toml::node& node, Context& context, bool& out) {
        const auto* flag = node.as_boolean();
        if (flag == nullptr) return self.refuse(node, context, "is not a boolean");
        out = flag->get();
        return true;
    };
    type.print = [](const bool& value, const bool*) { return std::string(value ? "true" : "false"); };
    return type;
}

// TOML integers are signed: a larger number is written as a string of digits.
Type<std::uint64_t> integer_64(std::uint64_t low, std::uint64_t high) {
    constexpr std::uint64_t toml_high = std::numeric_limits<std::int64_t>::max();
    Type<std::uint64_t> type{"integer",
                             fmt::format("an integer from {} to {}", low, high),
                             fmt::format("{}", low ? low : 1),
                             {},
                             {}};
    type.read = [self = type, low, high](const toml::node& node, Context& context, std::uint64_t& out) {
        std::uint64_t value = 0;
        if (const auto* integer = node.as_integer()) {
            if (integer->get() < 0) return self.refuse(node, context, "is negative");
            value = static_cast<std::uint64_t>(integer->get());
        } else if (const auto* string = node.as_string(); string != nullptr && high > toml_high) {
            const auto parsed = parse_integer(string->get());
            if (!parsed) return self.refuse(node, context, parsed.error().wrong);
            value = *parsed;
        } else {
            return self.refuse(node, context, "is not an integer");
        }
        if (value < low) return self.refuse(node, context, "is too small");
        if (value > high) return self.refuse(node, context, "is too large");
        out = value;
        return true;
    };
    type.print = [](const std::uint64_t& value, const std::uint64_t*) {
        return value > toml_high ? fmt::format("\"{}\"", value) : fmt::format("{}", value);
    };
    return type;
}

Type<std::uint64_t> size(std::uint64_t low, std::uint64_t high, std::string example) {
    return ranged("size",
                  fmt::format("{} to {}, as bytes or with KB, MB, GB, TB, KiB, MiB, GiB, TiB",
                              print_size(low), print_size(high)),
                  toml_string(example), low, high, parse_size, print_size);
}

Type<Rate> port_speed() {
    const auto bits =
        ranged("rate",
               "1G to 800G, a speed with a whole number of picoseconds a byte (1G, 2.5G, 5G, 10G, 25G, "
               "40G, 50G, 100G, 200G, 400G, 800G)",
               R"("100G")", 0, std::numeric_limits<std::uint64_t>::max(), rate_bits,
               [](std::uint64_t n) { return print_rate({n}); });
    Type<Rate> type{bits.name, bits.allowed, bits.example, {}, {}};
    type.read = [self = type, read = bits.read](const toml::node& node, Context& context, Rate& out) {
        if (!read(node, context, out.bits_per_second)) return false;
        return out.valid_port_speed() || self.refuse(node, context, "is not a port speed");
    };
    type.print = [](const Rate& rate, const Rate*) { return toml_string(print_rate(rate)); };
    return type;
}

Type<Rate> rate(std::uint64_t low_bits, std::uint64_t high_bits) {
    const auto bits =
        ranged("rate", fmt::format("{} to {}", print_rate({low_bits}), print_rate({high_bits})), R"("10G")",
               low_bits, high_bits, rate_bits, [](std::uint64_t n) { return print_rate({n}); });
    return {bits.name, bits.allowed, bits.example,
            [read = bits.read](const toml::node& node, Context& context, Rate& out) {
                return read(node, context, out.bits_per_second);
            },
            [](const Rate& value, const Rate*) {
                return value.bits_per_second == 0 ? "0" : toml_string(print_rate(value));
            }};
}

Type<int> signed_integer(int low, int high) {
    Type<int> type{
        "integer", fmt::format("an integer from {} to {}", low, high), fmt::format("{}", high), {}, {}};
    type.read = [self = type, low, high](const toml::node& node, Context& context, int& out) {
        const auto* integer = node.as_integer();
        if (integer == nullptr) return self.refuse(node, context, "is not an integer");
        if (integer->get() < low) return self.refuse(node, context, "is too small");
        if (integer->get() > high) return self.refuse(node, context, "is too large");
        out = static_cast<int>(integer->get());
        return true;
    };
    type.print = [](const int& value, const int*) { return fmt::format("{}", value); };
    return type;
}

Type<Duration> time(Duration low, Duration high, std::string example) {
    Type<Duration> type{"time",
                        fmt::format("{} to {}, with s, ms, us, ns or ps", print_time(low), print_time(high)),
                        toml_string(example),
                        {},
                        {}};
    type.read = [self = type, low, high](const toml::node& node, Context& context, Duration& out) {
        const auto* string = node.as_string();
        const auto* integer = node.as_integer();
        if (integer != nullptr && integer->get() != 0) return self.refuse(node, context, "has no unit");
        if (string == nullptr && integer == nullptr) return self.refuse(node, context, "is not a time");
        const auto value = string != nullptr ? parse_time(string->get()) : Duration{};
        if (!value) return self.refuse(node, context, value.error().wrong, value.error().remedy);
        if (*value < low) return self.refuse(node, context, "is too short");
        if (*value > high) return self.refuse(node, context, "is too long");
        out = *value;
        return true;
    };
    type.print = [](const Duration& value, const Duration*) { return toml_string(print_time(value)); };
    return type;
}

Type<std::uint32_t> length(std::uint32_t low_m, std::uint32_t high_m) {
    return stored_as<std::uint32_t>(
        ranged("length", fmt::format("{} to {}, in whole m or km", print_length(low_m), print_length(high_m)),
               R"("5m")", low_m, high_m, length_m,
               [](std::uint64_t n) { return print_length(static_cast<std::uint32_t>(n)); }));
}

Type<Chance> odds() {
    return from_string<Chance>("chance", "\"0%\" to \"100%\", with %, ppm or ppb", "0.1%", parse_chance,
                               [](const Chance& chance) { return print_chance(chance); });
}

// A number of per cent, or a value of `odds`.
Type<Chance> per_cent() {
    Type<Chance> type = odds();
    type.name = "per cent";
    type.allowed = "a number from 0 to 100, or " + type.allowed;
    type.example = "20";
    type.read = [self = type](const toml::node& node, Context& context, Chance& out) {
        const std::optional<double> number = node.is_number() ? node.value<double>() : std::nullopt;
        if (!number) return self.read(node, context, out);
        constexpr double most = 100;
        if (!(*number >= 0 && *number <= most))  // a NaN is neither
            return self.refuse(node, context, "is not from 0 to 100");
        out.parts_per_billion = static_cast<std::uint32_t>(std::llround(*number / most * Chance::always));
        return true;
    };
    return type;
}

Type<double> bit_error_rate(double most) {
    Type<double> type{"rate", fmt::format("a number from 0 to {}", most), "1e-9", {}, {}};
    type.read = [self = type, most](const toml::node& node, Context& context, double& out) {
        const std::optional<double> number = node.is_number() ? node.value<double>() : std::nullopt;
        if (!number) return self.refuse(node, context, "is not a number");
        if (!(*number >= 0 && *number <= most))  // a NaN is neither
            return self.refuse(node, context, fmt::format("is not from 0 to {}", most));
        out = *number;
        return true;
    };
    type.print = [](const double& value, const double*) { return fmt::format("{}", value); };
    return type;
}

// A list of classes, kept as a mask.
Type<std::uint8_t> class_mask() {
    const Type<std::vector<ClassId>> list = list_of(class_id(), classes);
    return {list.name, list.allowed, "[3]",
            [read = list.read](const toml::node& node, Context& context, std::uint8_t& out) {
                std::vector<ClassId> members;
                if (!read(node, context, members)) return false;
                out = 0;
                for (const ClassId n : members) out = static_cast<std::uint8_t>(out | 1U << n);
                return true;
            },
            [print = list.print](const std::uint8_t& mask, const std::uint8_t*) {
                std::vector<ClassId> members;
                for_each_class(mask, [&](ClassId n) { members.push_back(n); });
                return print(members, nullptr);
            }};
}

Type<MacAddress> mac() {
    return from_string<MacAddress>("a MAC address", "the MAC address of one station", "02:00:00:00:00:01",
                                   station_mac, print_mac);
}

Type<IpAddress> address() {
    return from_string<IpAddress>("an IP address", "an IPv4 or IPv6 address", "10.0.1.2", parse_address,
                                  print_address);
}

Type<IpPrefix> interface_address() {
    return from_string<IpPrefix>("an address and its prefix length",
                                 "an IPv4 or IPv6 address with the length of its subnet", "10.0.0.1/24",
                                 parse_prefix, print_prefix);
}

Type<IpPrefix> network() {
    return from_string<IpPrefix>("a prefix", "an IPv4 or IPv6 prefix without host bits", "10.1.0.0/16",
                                 parse_network, print_prefix);
}

Type<std::string> text(std::string what, std::size_t low, std::size_t high, std::string example) {
    Type<std::string> type{what,
                           fmt::format("{} to {} bytes of text without control characters", low, high),
                           toml_string(example),
                           {},
                           {}};
    type.read = [self = type, low, high](const toml::node& node, Context& context, std::string& out) {
        const auto* string = node.as_string();
        if (string == nullptr) return self.refuse(node, context, "is not a string");
        if (string->get().size() < low)
            return self.refuse(node, context, low == 1 ? "is empty" : "is too short");
        if (string->get().size() > high) return self.refuse(node, context, "is too long");
        if (has_controls(string->get())) return self.refuse(node, context, "has a control character in it");
        out = string->get();
        return true;
    };
    type.print = [](const std::string& value, const std::string*) { return toml_string(value); };
    return type;
}

Type<std::string> name(std::string what) {
    return from_string<std::string>(what, std::string(name_rule), "p1", named, same_text);
}

namespace {

std::string near_word(std::string_view said, const std::vector<std::string>& words) {
    const std::string near = nearest_name(said, words);
    return near.empty() ? near : "write " + toml_string(near);
}

}  // namespace

Type<std::string> choice(std::vector<std::string> words) {
    std::string allowed;
    for (const std::string& word : words) append_item(allowed, ", ", toml_string(word));
    Type<std::string> type{"word", allowed, toml_string(words.front()), {}, {}};
    type.read = [self = type, words](const toml::node& node, Context& context, std::string& out) {
        const auto* string = node.as_string();
        if (string == nullptr) return self.refuse(node, context, "is not a string");
        if (std::find(words.begin(), words.end(), string->get()) == words.end())
            return self.refuse(node, context, "is not a known word", near_word(string->get(), words));
        out = string->get();
        return true;
    };
    type.print = [](const std::string& value, const std::string*) { return toml_string(value); };
    return type;
}

bool read_class_map(const toml::node& node, Context& context, ClassId* values, std::size_t size) {
    static const Type<ClassId> value_type = class_id();
    const toml::table* table = node.as_table();
    const std::string allowed = fmt::format("keys from 0 to {}, values from 0 to {}", size - 1, classes - 1);
    if (table == nullptr) {
        context.refuse(node.source(), show(node) + " is not a table", allowed,
                       R"(write for example {"3" = 3})");
        return false;
    }
    bool good = true;
    for (const auto& [key, value] : *table) {
        const Context::Inside inside(context, key.str());
        const auto index = parse_integer(key.str());
        // Two spellings of one number would make the last one win: only the shortest is a key.
        if (!index || *index >= size || fmt::format("{}", *index) != key.str()) {
            context.refuse(
                key.source(),
                fmt::format("the key {} is not a number from 0 to {}", in_quotes(key.str()), size - 1),
                allowed, "correct the key");
            good = false;
            continue;
        }
        good &= value_type.read(value, context, values[*index]);
    }
    return good;
}

std::string print_class_map(const ClassId* values, const ClassId* base, std::size_t size) {
    std::string out;
    for (std::size_t i = 0; i < size; ++i) {
        if (base != nullptr && base[i] == values[i]) continue;
        append_item(out, ", ", fmt::format("\"{}\" = {}", i, values[i]));
    }
    return fmt::format("{{{}}}", out);
}

}  // namespace sluice::schema

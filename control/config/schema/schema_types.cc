#include "control/config/schema/schema_types.hh"

#include <limits>

#include <cmath>

#include "control/config/schema/schema.hh"
#include "control/config/text/controls.hh"
#include "lib/values/class_mask.hh"

namespace sluice::schema {
namespace {

constexpr std::size_t max_text_shown = 60;
constexpr const char* name_characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";

}  // namespace

bool Context::refuse(const toml::source_region& at, std::string wrong, std::string allowed,
                     std::string remedy) {
    if (full()) {
        left_out_ = true;
        return false;
    }
    if (!alternative_.empty()) allowed += fmt::format(", or {}", toml_string(alternative_));
    errors_.push_back({file_, place_of(at), path(), std::move(wrong), std::move(allowed), std::move(remedy)});
    return false;
}

void Context::note_place(const toml::node& node) {
    for (const Segment& segment : path_)
        if (segment.name.data() == nullptr) return;
    source_.places.emplace(path(), place_of(node.source()));
}

std::string Context::path() const {
    std::string out;
    for (const auto& [name, index] : path_) {
        if (name.data() == nullptr)
            out += fmt::format("[{}]", index);
        else
            append_item(out, ".",
                        name.size() > max_text_shown ? in_quotes(name, max_text_shown) : toml_key(name));
    }
    return out;
}

std::vector<ConfigError> Context::take_errors() {
    std::stable_sort(errors_.begin(), errors_.end(), [](const ConfigError& a, const ConfigError& b) {
        return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
    });
    if (left_out_)
        errors_.push_back(
            {file_, {}, {}, "more is wrong than is shown here", {}, "correct the above and try again"});
    return std::move(errors_);
}

std::optional<double> number_in(const toml::node& node) {
    return node.is_number() ? node.value<double>() : std::nullopt;
}

std::string show(const toml::node& node) {
    if (const auto* string = node.as_string()) return in_quotes(string->get(), max_text_shown);
    if (const auto* integer = node.as_integer()) return fmt::format("{}", integer->get());
    if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
    if (const auto* flag = node.as_boolean()) return flag->get() ? "true" : "false";
    if (node.is_array()) return "the list";
    if (node.is_table()) return "the table";
    return "the date or time";
}

bool valid_name(std::string_view name) {
    return !name.empty() && name.size() <= 32 && name.find_first_not_of(name_characters) == name.npos;
}

std::string toml_key(std::string_view text) {
    const bool bare =
        !text.empty() && text.find('.') == text.npos && text.find_first_not_of(name_characters) == text.npos;
    return bare ? std::string(text) : toml_string(text);
}

SourcePlace place_of(const toml::source_region& region) { return {region.begin.line, region.begin.column}; }

namespace {

template <class T>
ParsedValue<T> in_range(const T& value, const T& low, const T& high, const char* below = "is too small",
                        const char* above = "is too large") {
    if (value < low) return bad_value(below);
    if (value > high) return bad_value(above);
    return value;
}

// A type whose values stand in the file as strings.
template <class T>
Type<T> from_string(const std::string& name, std::string allowed, const std::string& example,
                    ParsedValue<T> (*parse)(std::string_view), std::string (*print)(const T&)) {
    return whole<T>(
        name, std::move(allowed), toml_string(example),
        [name, parse](const toml::node& node) -> ParsedValue<T> {
            if (const auto* string = node.as_string()) return parse(string->get());
            return bad_value(fmt::format("is not a string: the key wants {}", name));
        },
        [print](const T& value) { return toml_string(print(value)); });
}

// A number with a unit: a string, or an integer of the smallest unit. `print` gives the string.
Type<std::uint64_t> ranged(std::string name, std::string allowed, std::string example, std::uint64_t low,
                           std::uint64_t high, ParsedValue<std::uint64_t> (*parse)(std::string_view),
                           std::string (*print)(std::uint64_t)) {
    return whole<std::uint64_t>(
        std::move(name), std::move(allowed), std::move(example),
        [=](const toml::node& node) -> ParsedValue<std::uint64_t> {
            const auto within = [=](std::uint64_t value) { return in_range(value, low, high); };
            if (const auto* string = node.as_string()) return parse(string->get()).and_then(within);
            const auto* integer = node.as_integer();
            if (integer == nullptr) return bad_value("has the wrong type");
            if (integer->get() < 0) return bad_value("is negative");
            return within(static_cast<std::uint64_t>(integer->get()));
        },
        [print](std::uint64_t value) { return toml_string(print(value)); });
}

Type<Rate> ranged_rate(std::string allowed, std::string example, std::uint64_t low, std::uint64_t high) {
    return converted<Rate, std::uint64_t>(
        ranged(
            "rate", std::move(allowed), std::move(example), low, high,
            [](std::string_view text) {
                return parse_rate(text).map([](Rate rate) { return rate.bits_per_second; });
            },
            [](std::uint64_t bits) { return print_rate({bits}); }),
        [](std::uint64_t bits) { return Rate{bits}; }, [](Rate rate) { return rate.bits_per_second; });
}

// From 0 to `most`: a NaN is neither.
ParsedValue<double> number_to(std::optional<double> number, double most) {
    if (!number) return bad_value("is not a number");
    if (!(*number >= 0 && *number <= most)) return bad_value(fmt::format("is not from 0 to {}", most));
    return *number;
}

ParsedValue<MacAddress> station_mac(std::string_view text) {
    auto mac = parse_mac(text);
    if (!mac) return mac;
    if (mac->is_group()) return bad_value("is a group address", "clear the lowest bit of the first byte");
    if (*mac == MacAddress{}) return bad_value("is not a station's address");
    return mac;
}

std::string same_text(const std::string& text) { return text; }

ParsedValue<std::string> named(std::string_view text) {
    if (!valid_name(text)) return bad_value("is not a name");
    return std::string(text);
}

}  // namespace

Type<bool> boolean() {
    return whole<bool>(
        "boolean", "true or false", "true",
        [](const toml::node& node) -> ParsedValue<bool> {
            if (const auto* flag = node.as_boolean()) return flag->get();
            return bad_value("is not a boolean");
        },
        [](bool value) { return value ? "true" : "false"; });
}

// TOML integers are signed: a larger number is written as a string of digits.
Type<std::uint64_t> integer_64(std::uint64_t low, std::uint64_t high) {
    constexpr std::uint64_t toml_high = std::numeric_limits<std::int64_t>::max();
    return whole<std::uint64_t>(
        "integer", fmt::format("an integer from {} to {}", low, high), fmt::format("{}", low ? low : 1),
        [=](const toml::node& node) -> ParsedValue<std::uint64_t> {
            if (const auto* string = node.as_string(); string != nullptr && high > toml_high) {
                const auto parsed = parse_integer(string->get());
                return parsed ? in_range(*parsed, low, high) : bad_value(parsed.error().wrong);
            }
            const auto* integer = node.as_integer();
            if (integer == nullptr) return bad_value("is not an integer");
            if (integer->get() < 0) return bad_value("is negative");
            return in_range(static_cast<std::uint64_t>(integer->get()), low, high);
        },
        [](std::uint64_t value) {
            return value > toml_high ? fmt::format("\"{}\"", value) : fmt::format("{}", value);
        });
}

Type<int> signed_integer(int low, int high) {
    return whole<int>(
        "integer", fmt::format("an integer from {} to {}", low, high), fmt::format("{}", high),
        [=](const toml::node& node) -> ParsedValue<int> {
            const auto* integer = node.as_integer();
            if (integer == nullptr) return bad_value("is not an integer");
            return in_range<std::int64_t>(integer->get(), low, high).map([](std::int64_t value) {
                return static_cast<int>(value);
            });
        },
        [](int value) { return fmt::format("{}", value); });
}

Type<std::uint64_t> size(std::uint64_t low, std::uint64_t high, std::string example) {
    return ranged("size",
                  fmt::format("{} to {}, as bytes or with KB, MB, GB, TB, KiB, MiB, GiB, TiB",
                              print_size(low), print_size(high)),
                  toml_string(example), low, high, parse_size, print_size);
}

Type<Rate> port_speed() {
    const std::string allowed =
        "1G to 800G, a speed with a whole number of picoseconds a byte (1G, 2.5G, 5G, 10G, 25G, 40G, 50G, "
        "100G, 200G, 400G, 800G)";
    return checked<Rate>(
        ranged_rate(allowed, R"("100G")", 0, std::numeric_limits<std::uint64_t>::max()), allowed, R"("100G")",
        [](const Rate& rate) { return rate.valid_port_speed(); }, "is not a port speed");
}

Type<Rate> rate(std::uint64_t low_bits, std::uint64_t high_bits) {
    Type<Rate> type = ranged_rate(fmt::format("{} to {}", print_rate({low_bits}), print_rate({high_bits})),
                                  R"("10G")", low_bits, high_bits);
    type.print = [print = type.print](const Rate& value, const Rate*) {
        return value == Rate{} ? "0" : print(value, nullptr);
    };
    return type;
}

Type<Duration> time(Duration low, Duration high, std::string example) {
    return whole<Duration>(
        "time", fmt::format("{} to {}, with s, ms, us, ns or ps", print_time(low), print_time(high)),
        toml_string(example),
        [=](const toml::node& node) -> ParsedValue<Duration> {
            const auto* string = node.as_string();
            const auto* integer = node.as_integer();
            if (integer != nullptr && integer->get() != 0) return bad_value("has no unit");
            if (string == nullptr && integer == nullptr) return bad_value("is not a time");
            const auto value = string != nullptr ? parse_time(string->get()) : Duration{};
            return value ? in_range(*value, low, high, "is too short", "is too long") : value;
        },
        [](const Duration& value) { return toml_string(print_time(value)); });
}

Type<std::uint32_t> length(std::uint32_t low_m, std::uint32_t high_m) {
    return stored_as<std::uint32_t>(ranged(
        "length", fmt::format("{} to {}, in whole m or km", print_length(low_m), print_length(high_m)),
        R"("5m")", low_m, high_m,
        [](std::string_view text) {
            return parse_length(text).map([](std::uint32_t meters) { return std::uint64_t{meters}; });
        },
        [](std::uint64_t meters) { return print_length(static_cast<std::uint32_t>(meters)); }));
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
        constexpr double most = 100;
        if (!number_in(node)) return self.read(node, context, out);
        const auto number = number_to(number_in(node), most);
        if (!number) return self.refuse(node, context, number.error().wrong);
        out.parts_per_billion = static_cast<std::uint32_t>(std::llround(*number / most * Chance::always));
        return true;
    };
    return type;
}

Type<double> bit_error_rate(double most) {
    return whole<double>(
        "rate", fmt::format("a number from 0 to {}", most), "1e-9",
        [most](const toml::node& node) { return number_to(number_in(node), most); },
        [](double value) { return fmt::format("{}", value); });
}

// A list of classes, kept as a mask.
Type<std::uint8_t> class_mask() {
    auto type = converted<std::uint8_t, std::vector<ClassId>>(
        list_of(class_id(), classes), [](const std::vector<ClassId>& members) { return mask_of(members); },
        [](std::uint8_t mask) {
            std::vector<ClassId> members;
            for_each_class(mask, [&](ClassId n) { members.push_back(n); });
            return members;
        });
    type.example = "[3]";
    return type;
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
    return whole<std::string>(
        std::move(what), fmt::format("{} to {} bytes of text without control characters", low, high),
        toml_string(example),
        [=](const toml::node& node) -> ParsedValue<std::string> {
            const auto* string = node.as_string();
            if (string == nullptr) return bad_value("is not a string");
            const std::string& said = string->get();
            if (said.size() < low) return bad_value(low == 1 ? "is empty" : "is too short");
            if (said.size() > high) return bad_value("is too long");
            if (has_controls(said)) return bad_value("has a control character in it");
            return said;
        },
        [](const std::string& value) { return toml_string(value); });
}

Type<std::string> name(std::string what) {
    return from_string<std::string>(what, std::string(name_rule), "p1", named, same_text);
}

Type<std::string> choice(std::vector<std::string> words) {
    std::string allowed;
    for (const std::string& word : words) append_item(allowed, ", ", toml_string(word));
    return whole<std::string>(
        "word", allowed, toml_string(words.front()),
        [words](const toml::node& node) -> ParsedValue<std::string> {
            const auto* string = node.as_string();
            if (string == nullptr) return bad_value("is not a string");
            if (std::find(words.begin(), words.end(), string->get()) != words.end()) return string->get();
            const std::string near = nearest_name(string->get(), words);
            return bad_value("is not a known word", near.empty() ? near : "write " + toml_string(near));
        },
        [](const std::string& value) { return toml_string(value); });
}

bool read_class_map(const toml::node& node, Context& context, ClassId* values, std::size_t size) {
    static const Type<ClassId> value_type = class_id();
    const toml::table* table = node.as_table();
    const std::string allowed = fmt::format("keys from 0 to {}, values from 0 to {}", size - 1, classes - 1);
    if (table == nullptr)
        return context.refuse(node.source(), show(node) + " is not a table", allowed,
                              R"(write for example {"3" = 3})");
    bool good = true;
    for (const auto& [key, value] : *table) {
        const Context::Inside inside(context, key.str());
        const auto index = parse_integer(key.str());
        // Two spellings of one number would make the last one win: only the shortest is a key.
        if (index && *index < size && fmt::format("{}", *index) == key.str())
            good &= value_type.read(value, context, values[*index]);
        else
            good = context.refuse(
                key.source(),
                fmt::format("the key {} is not a number from 0 to {}", in_quotes(key.str()), size - 1),
                allowed, "correct the key");
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

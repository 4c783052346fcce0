#include "control/fabric/advise/range_keys.hh"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <optional>

#include "control/config/compile/qos.hh"
#include "control/config/schema/config_paths.hh"
#include "control/config/schema/schema_sections.hh"
#include "control/config/schema/toml_text.hh"
#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/fabric/advise/grids.hh"
#include "control/fabric/advise/group_keys.hh"
#include "control/fabric/plan/set_paths.hh"
#include "control/fabric/scenario/points.hh"

namespace sluice::fabric {
namespace {

using NoToday = tl::unexpected<std::string>;

constexpr std::string_view switch_paths = "switch.", host_paths = "host.", default_name = "default";

// TOML's text of a value without its quotes and escapes.
std::string unquoted(const std::string& toml) {
    const auto parsed = parse_toml_value(toml);
    const auto text = parsed ? parsed->get("value")->value<std::string>() : std::nullopt;
    return text && toml.starts_with('"') ? *text : toml;
}

class TodayFinder {
  public:
    TodayFinder(const FileToday& today, const AdviseConfig::Range& range,
                const std::vector<std::string>& grid)
        : today_(today), path_(range.path), grid_(grid) {
        wants_number_ =
            std::ranges::all_of(grid, [](const auto& each) { return Quantity::read(each).has_value(); });
    }

    tl::expected<std::string, std::string> find() {
        if (path_.starts_with(switch_paths)) return of_switch();
        if (const auto said = in_document(path_)) return *said;
        if (path_.starts_with(host_paths))
            if (const auto value = of_host()) return *value;
        if (const auto value = that_changes_nothing()) return *value;
        return NoToday("the file does not say its value of today; do: write it there, as it is now");
    }

  private:
    bool is_good(const std::string& value) const {
        return !wants_number_ || Quantity::read(value).has_value();
    }

    std::optional<std::string> in_document(const std::string& path) const {
        const auto document = document_with_sets(today_.text, today_.file, today_.sets);
        const toml::node* node = document ? node_at(*document, path) : nullptr;
        if (node == nullptr || node->is_table() || node->is_array()) return std::nullopt;
        const auto text = node->value<std::string>();
        std::string said = text ? *text : words_of(*node);
        return is_good(said) ? std::optional(std::move(said)) : std::nullopt;
    }
    static std::string words_of(const toml::node& node) {
        if (const auto* number = node.as_integer()) return std::to_string(number->get());
        if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
        const auto* truth = node.as_boolean();
        return truth != nullptr && truth->get() ? "true" : "false";
    }

    tl::expected<std::string, std::string> of_switch() {
        const std::string rest = path_.substr(switch_paths.size()), key = rest.substr(rest.find('.') + 1);
        const std::string name = rest.substr(0, rest.find('.')), pattern = pattern_of(path_);
        std::optional<std::string> value;
        std::string first;
        if (name == default_name)
            if (const auto said = value_at(today_.plan.file.switch_default, key))
                if (std::string own = unquoted(*said); is_good(own)) return own;
        for (const SwitchPlan& each : today_.plan.switches) {
            const bool matches = name == default_name ? true
                                 : pattern.empty()    ? each.name == name
                                                      : fnmatch(pattern.c_str(), each.name.c_str(), 0) == 0;
            if (!matches) continue;
            const auto own = in_force(each.config, key);
            if (!own) return own;
            if (value && *value != *own)
                return NoToday(
                    fmt::format("it has different values today, {} at {} and {} at {}; do: write a "
                                "range for each",
                                *value, first, *own, each.name));
            if (!value) first = each.name;
            value = *own;
        }
        if (value) return *value;
        return NoToday(
            fmt::format("no switch matches {}; do: name one, as check lists them", in_quotes(name)));
    }

    // The value at a switch, and what it amounts to where the file leaves it to a preset.
    tl::expected<std::string, std::string> in_force(const Config& config, const std::string& key) const {
        const auto said = value_at(config, key);
        if (!said)
            return NoToday(
                fmt::format("{}; do: {}", said.error().wrong,
                            said.error().remedy.empty() ? "write another path" : said.error().remedy));
        std::string value = unquoted(*said);
        if (is_good(value)) return value;
        if (const auto n = threshold_at(config, key)) return std::to_string(*n);
        // A percentage may be written without its sign, too.
        if (value.ends_with('%'))
            if (value.pop_back(); is_good(value) && changes_nothing(value)) return value;
        return NoToday(
            fmt::format("the file does not say its value of today, which is {}; do: write it there", *said));
    }

    // dynamic_th of "default.priority_group.N.dynamic_th" or "port.NAME.priority_group.N.dynamic_th", where
    // all those ports have the same.
    static std::optional<int> threshold_at(const Config& config, const std::string& key) {
        const std::size_t group = key.rfind(".priority_group.");
        if (group == key.npos || !key.ends_with(".dynamic_th")) return std::nullopt;
        const Words parts = split(key.substr(group + 1), '.');
        const auto number = parts.size() == 3 ? parse_integer(parts[1]) : parse_integer("");
        if (!number || *number >= classes) return std::nullopt;
        constexpr std::string_view port = "port.";
        const std::string owner = key.substr(0, group);
        std::optional<int> found;
        for (const auto& [name, each] : effective_qos(config).ports) {
            if (owner != default_name && owner != std::string(port) + name) continue;
            const Threshold& threshold = each.group[*number].threshold;
            if (!threshold.is_dynamic() || (found && *found != threshold.n())) return std::nullopt;
            found = threshold.n();
        }
        return found;
    }

    std::optional<std::string> of_host() const {
        const std::string rest = path_.substr(host_paths.size());
        const std::size_t dot = rest.rfind('.');
        if (dot == rest.npos) return std::nullopt;
        const std::string name = rest.substr(0, dot), key = rest.substr(dot + 1);
        const auto said = today_.plan.file.hosts.find(name);
        const HostConfig& host =
            said == today_.plan.file.hosts.end() ? today_.plan.file.host_default : said->second;
        schema::Listing listing{{}, {}};
        schema::common_host_rows().list_values(&host, nullptr, {{}, {}}, listing);
        for (const ConfigValue& each : listing.values)
            if (std::string value = unquoted(each.value); each.key() == key && is_good(value)) return value;
        for (const NodeId node : today_.plan.hosts) {
            if (name != default_name && today_.plan.topology.nodes[node].name != name) continue;
            for (const HostConstant& each : constants_of(today_.plan, node))
                if (key == each.key) return each.text;
            break;
        }
        return std::nullopt;
    }

    // The keys of the file with these arguments of --set as well.
    std::vector<std::pair<std::string, std::string>> keys_with(std::vector<std::string> sets) const {
        sets.insert(sets.begin(), today_.sets.begin(), today_.sets.end());
        std::vector<std::pair<std::string, std::string>> keys;
        if (const auto parsed = parse_fabric(today_.text, today_.file, sets))
            for (ConfigChange& each : keys_asked(*parsed))
                keys.emplace_back(std::move(each.path), std::move(each.to));
        return keys;
    }
    // With this value all keys of the file are as they are.
    bool changes_nothing(const std::string& value) const {
        return keys_with({fmt::format("{}={}", path_, value)}) == keys_with({});
    }
    std::optional<std::string> that_changes_nothing() const {
        const auto found =
            std::ranges::find_if(grid_, [&](const auto& each) { return changes_nothing(each); });
        return found == grid_.end() ? std::nullopt : std::optional(*found);
    }

    const FileToday& today_;
    const std::string& path_;
    const std::vector<std::string>& grid_;
    bool wants_number_ = false;
};

}  // namespace

tl::expected<RangeKey, std::string> range_key(const AdviseConfig::Range& range, const FileToday& today) {
    const auto refused = [&](const std::string& wrong) {
        return NoToday(
            ConfigError{today.file, range.place, "advise.range", in_quotes(range.path) + ": " + wrong, {}, {}}
                .text());
    };
    RangeKey made;
    AdviseSpace::Axis& axis = made.axis;
    if (range.range.empty()) {
        for (const std::string& value : range.values) axis.grid.push_back(unquoted(value));
        made.is_text = range.values.front().starts_with('"');
        const auto number = [](const std::string& value) { return Quantity::read(value); };
        if (std::ranges::all_of(axis.grid, [&](const auto& value) { return number(value).has_value(); }))
            std::ranges::stable_sort(axis.grid, {}, [&](const auto& value) { return number(value)->number; });
    } else {
        const auto parsed = ValueRange::parse(range.range);
        if (!parsed) return refused(parsed.error());
        const bool cells =
            range.path.starts_with(switch_paths) && parsed->is_size() && !today.plan.switches.empty();
        auto grid = grid_of(*parsed, cells ? today.plan.switches.front().config.cell_bytes : 0);
        if (!grid) return refused(grid.error());
        axis.grid = std::move(*grid);
    }
    // A path that the file does not know has no value of today either.
    std::vector<std::string> sets = today.sets;
    const std::string& first = axis.grid.front();
    sets.push_back(fmt::format("{}={}", range.path, made.is_text ? toml_string(first) : first));
    if (const auto parsed = parse_fabric(today.text, today.file, sets); !parsed)
        return NoToday(ConfigError{
            today.file,
            range.place,
            "advise.range",
            fmt::format("{} = {} is refused: {}", in_quotes(range.path), first,
                        parsed.error().front().text()),
            {},
            {}}.text());
    const auto value = TodayFinder(today, range, axis.grid).find();
    if (!value) return refused(value.error());
    const bool exported = range.path.starts_with(switch_paths);
    axis.key = {range.path, "range", *value, {}, {}, exported};
    return made;
}

}  // namespace sluice::fabric

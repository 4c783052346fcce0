#include "control/fabric/plan/variants.hh"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "control/config/schema/toml_text.hh"
#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/fabric/plan/fabric_rows.hh"

namespace sluice::fabric {
namespace {

using schema::Context;

std::string_view last_key(std::string_view path) { return path.substr(path.rfind('.') + 1); }

// Empty: it may be a path of a variant; or the reason why not, and what to do.
std::pair<std::string, std::string> wrong_with_set(std::string_view path,
                                                   const std::vector<VariantConfig::Set>& before) {
    if (is_about_the_sweep(path)) return {"says nothing of a run", "name another path"};
    if (path == "seed")
        return {"is the same for all variants, which are compared", "leave it out; or use --seed, or seeds"};
    if (path.empty() || path.find('=') != path.npos)
        return {"is not a path", "write it as --set has it before the ="};
    if (std::ranges::find(before, path, &VariantConfig::Set::path) != before.end())
        return {"is there twice", "leave one of them out"};
    return {};
}

schema::Type<std::vector<VariantConfig::Set>> variant_sets() {
    schema::Type<std::vector<VariantConfig::Set>> type{
        "values",
        fmt::format("{{\"PATH\" = VALUE, ...}}, {} at most", VariantConfig::max_sets),
        "{\"host.default.cc\" = \"none\"}",
        {},
        {}};
    type.read = [self = type](const toml::node& node, Context& context,
                              std::vector<VariantConfig::Set>& sets) {
        const toml::table* table = node.as_table();
        if (table == nullptr) return self.refuse(node, context, "is not a table of paths");
        bool good = true;
        for_each_path(*table, context, [&](const std::string& path, const toml::node& value) {
            auto [wrong, remedy] = wrong_with_set(path, sets);
            if (wrong.empty() && sets.size() == VariantConfig::max_sets)
                wrong = "is one path too many", remedy = "write fewer";
            if (wrong.empty())
                sets.push_back({path, set_text(value), schema::place_of(value.source())});
            else
                good = context.refuse(value.source(), fmt::format("{} {}", in_quotes(path), wrong), {},
                                      std::move(remedy));
        });
        return good;
    };
    type.print = [](const std::vector<VariantConfig::Set>& sets, const std::vector<VariantConfig::Set>*) {
        std::string text;
        for (const VariantConfig::Set& each : sets)
            append_item(text, ", ", fmt::format("{} = {}", toml_string(each.path), each.value));
        return "{" + text + "}";
    };
    return type;
}

// The name in "variant=NAME"; nothing: it is another set.
std::optional<std::string> name_in(std::string_view set) {
    if (!set.starts_with(variant_path) || set.substr(variant_path.size(), 1) != "=") return std::nullopt;
    const auto value = parse_toml_value(set.substr(variant_path.size() + 1));
    const auto name = value ? value->get("value")->value<std::string>() : std::nullopt;
    return name ? *name : std::string(set.substr(variant_path.size() + 1));
}

tl::expected<std::vector<VariantConfig>, ConfigError> variants_of(const toml::table& document,
                                                                  const std::string& file) {
    std::vector<VariantConfig> variants;
    const toml::node* node = document.get(variant_path);
    if (node == nullptr) return variants;
    Context context(file);
    {
        const Context::Inside inside(context, variant_path);
        const auto rows = variant_rows();
        schema::read_list(*node, context, VariantConfig::max_variants,
                          [&](const toml::node& at, const toml::table& table) {
                              VariantConfig variant;
                              variant.place = schema::place_of(at.source());
                              const bool good = rows.read(table, context, variant);
                              if (good) variants.push_back(std::move(variant));
                              return good;
                          });
    }
    if (auto errors = context.take_errors(); !errors.empty())
        return tl::unexpected(std::move(errors.front()));
    return variants;
}

}  // namespace

schema::Rows<VariantConfig> variant_rows() {
    using V = VariantConfig;
    schema::Rows<V> rows;
    rows.required("name", &V::name, schema::name("a variant's name"), "Its name.");
    rows.key(
        "set", &V::sets, variant_sets(),
        "Values that it puts over the file, by paths as --set has them; --set and [vary] go over these.");
    return rows;
}

std::vector<std::string> variant_names(const std::vector<VariantConfig>& variants) {
    std::vector<std::string> names;
    for (const VariantConfig& each : variants) names.push_back(each.name);
    return names;
}

bool varies_variants(const VaryConfig& vary) {
    return std::ranges::find(vary.axes, variant_path, &VaryConfig::Axis::path) != vary.axes.end();
}

tl::expected<ChosenSets, ConfigError> ChosenSets::of(const toml::table& document, const std::string& file,
                                                     const std::vector<std::string>& sets) {
    ChosenSets chosen;
    chosen.file_ = file;
    std::vector<std::string> names;
    for (const std::string& set : sets)
        if (auto name = name_in(set))
            names.push_back(std::move(*name));
        else
            chosen.others_.push_back(set);
    if (names.empty()) return chosen;
    const auto refuse = [&](std::string wrong, std::string remedy) {
        return tl::unexpected(ConfigError{file, {}, "variant", std::move(wrong), {}, std::move(remedy)});
    };
    if (names.size() > 1)
        return refuse(fmt::format("a run has one variant, and these are chosen: {}", joined(names, ", ")),
                      "choose one; a sweep that varies them takes no --variant");
    auto variants = variants_of(document, file);
    if (!variants) return tl::unexpected(std::move(variants.error()));
    const auto found = std::ranges::find(*variants, names[0], &VariantConfig::name);
    if (found == variants->end())
        return refuse(fmt::format("there is no variant {}", in_quotes(names[0])),
                      variants->empty() ? "write a [[variant]] of that name"
                                        : "choose one of: " + joined(variant_names(*variants), ", "));
    chosen.variant_ = std::move(*found);
    return chosen;
}

std::vector<std::string> ChosenSets::all() const {
    std::vector<std::string> all;
    for (const VariantConfig::Set& each : variant_.sets) all.push_back(each.text());
    all.insert(all.end(), others_.begin(), others_.end());
    return all;
}

ConfigError ChosenSets::error_of_set(ConfigError error) const {
    const auto own = std::ranges::find(variant_.sets, error.path, &VariantConfig::Set::text);
    if (own == variant_.sets.end()) return error;
    return {file_,
            own->place,
            fmt::format("variant.{}.set", variant_.name),
            fmt::format("{}: {}", own->text(), error.wrong),
            {},
            {}};
}

void ChosenSets::give_place(ConfigError& error) const {
    if (error.place.line != 0) return;
    const auto is_of = [&](std::string_view path) { return last_key(path) == last_key(error.path); };
    for (const std::string& set : others_)
        if (is_of(std::string_view(set).substr(0, set.find('=')))) return;
    const auto own = std::ranges::find_if(variant_.sets, is_of, &VariantConfig::Set::path);
    if (own == variant_.sets.end()) return;
    error.place = own->place;
    error.wrong = fmt::format("{} (set by variant {})", error.wrong, variant_.name);
}

}  // namespace sluice::fabric

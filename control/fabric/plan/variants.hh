// [[variant]]: a named list of values that go over a fabric's file as those of --set do.
//
// "variant=NAME" among sets chooses one. Its values go before all other sets, wherever it stands among them,
// so that the command line and the axes of a sweep go over a variant. One run has one variant.
#pragma once

#include <toml++/toml.h>

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/fabric/plan/fabric_config.hh"

namespace sluice::fabric {

inline constexpr std::string_view variant_path = "variant";  // of the set, and of the axis of a sweep

// The sets of a run, the chosen variant's first.
class ChosenSets {
  public:
    // An error: a variant that the document does not have, two of them, or a [[variant]] that is wrong.
    static tl::expected<ChosenSets, ConfigError> of(const toml::table& document, const std::string& file,
                                                    const std::vector<std::string>& sets);
    const std::string& name() const { return variant_.name; }  // empty: none
    std::vector<std::string> all() const;
    // An error of put_sets, with its place in the file where the set is the variant's.
    ConfigError error_of_set(ConfigError error) const;
    // Gives an error that has no place, for sets have none, that of the variant's set for its key.
    void give_place(ConfigError& error) const;

  private:
    std::string file_;
    VariantConfig variant_;
    std::vector<std::string> others_;
};

std::vector<std::string> variant_names(const std::vector<VariantConfig>& variants);
// A sweep runs variants.
bool varies_variants(const VaryConfig& vary);

}  // namespace sluice::fabric

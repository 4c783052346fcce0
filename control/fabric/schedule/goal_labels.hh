// The names of a rank's operations in a text of GOAL, and which of them wait for which. Private to its
// reader.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "control/config/schema/source_place.hh"
#include "control/fabric/schedule/goal_tokens.hh"
#include "control/fabric/schedule/schedule.hh"

namespace sluice::fabric::goal {

struct Label {
    std::string_view name;
    std::optional<std::uint32_t> operation;  // nothing: it has been used only
    SourcePlace place;                       // of the operation, or of the first use
};

class Labels {
  public:
    Labels();
    // Made for a word that is new; valid until clear().
    Label& of(const Token& word);
    // To finish() when one of the two has no operation yet, else to the maker at once.
    void wait(ProgramMaker& maker, const Label& operation, const Label& before, bool until_begun);
    // What waited for its labels goes to the maker; labels without an operation come back, in their order.
    std::vector<const Label*> finish(ProgramMaker& maker) const;
    void clear();

  private:
    // The author of a file cannot make labels collide, because each reader draws its own seed.
    struct Hash {
        using is_transparent = void;
        std::uint64_t seed;
        std::size_t operator()(std::string_view label) const;
    };
    struct Wait {
        const Label *operation, *before;
        bool until_begun;
    };

    std::unordered_map<std::string, Label, Hash, std::equal_to<>> labels_;
    std::vector<Wait> later_;
};

}  // namespace sluice::fabric::goal

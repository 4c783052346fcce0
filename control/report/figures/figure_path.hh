// Figures of a report by their path: "ports.p0.pfc", "flows.*.throughput_bps", "flows.'in cast'.messages".
//
// Parts are joined by dots; * and ? stand for any characters of a part; a part with dots or blanks may stand
// in 'quotes', and a name with dots is found without them, too, the longest one first. An entry of a list
// goes by its name, or by its index. A drop reason that the report leaves out is found, and is 0.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/schema/words.hh"

namespace sluice {

struct FoundFigure {
    std::string path;
    const nlohmann::ordered_json* value;
};

// The place where a search ended.
struct MissingPart {
    Words within_names;       // of the innermost part that is there
    std::string name;         // that it lacks; a pattern: none of its names is like it
    bool is_field = false;    // it may be the beginning of a name
    Words known{};            // names that the part has; of the first that is missing
    std::size_t unnamed = 0;  // or entries without a name

    // "there is no part of ports \"h9\", perhaps h1; known: h0, h1"
    std::string error() const;
    // True when the run may add it.
    bool comes_with_run() const;
};

struct FigureNode;

// Names that stand for a label of the catalogue, such as {port}.
struct LabelNames {
    Words names;
    bool is_list = false;  // an index names one, too
};
// `within`: names before it. Nothing: any name may.
using NamesOf =
    std::function<std::optional<LabelNames>(std::span<const std::string> within, std::string_view label)>;

class FigurePath {
  public:
    enum class Match : std::uint8_t { name, pattern, beginning };
    struct Part {
        std::string text;
        Match match = Match::name;
    };

    FigurePath() = default;
    explicit FigurePath(std::vector<Part> parts);
    static tl::expected<FigurePath, std::string> parse(std::string_view text);

    struct Search {
        std::vector<FoundFigure> found;  // in the report's order
        std::vector<MissingPart> missing;

        // Why nothing is found; empty: no name is missing.
        std::string error() const;
    };
    Search find(const nlohmann::ordered_json& report) const;
    // Without a report, by a catalogue. A figure that is found has a value of its row's kind.
    Search find(const FigureNode& catalogue, const NamesOf& names) const;

    const std::string& text() const { return text_; }
    bool names_one() const;
    bool has_whole_names() const;
    // The parts before the first that is not a whole name.
    Words literal_parts() const;

  private:
    std::string text_;
    std::vector<Part> parts_;
};

// The parts of a path that has neither quotes nor patterns.
std::vector<FigurePath::Part> parts_at_dots(std::string_view path, FigurePath::Match match);

// A part by its names alone, joined by dots; the whole report: by none.
struct ReportPart {
    const nlohmann::ordered_json* value = nullptr;  // null: the report has no such part
    MissingPart missing;

    std::string error() const { return value != nullptr ? std::string() : missing.error(); }
};
ReportPart find_part(const nlohmann::ordered_json& report, std::string_view path);

}  // namespace sluice

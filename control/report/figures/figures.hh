// The catalogue of figures (figures.def): every leaf of a report, with its kind, unit and a sentence.
//
// A path in the catalogue names members with dots. {port} stands for any key or index, which becomes the
// label `port`; {port,queue} for any entry of a list that tells them itself; [] for any entry of a list that
// grows: its figures are of one moment or one thing, so they are not metrics.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

// counter: only grows; flag: true or false; number: names a thing, or is of an entry of a list that grows.
enum class FigureKind : std::uint8_t { counter, gauge, flag, text, number };
// mc: thousandths of a degree Celsius; ppm and permille: of one. Packets are frames, too.
enum class FigureUnit : std::uint8_t {
    none,
    packets,
    bytes,
    ns,
    cells,
    cycles,
    per_s,
    bps,
    mc,
    ppm,
    permille
};

// sometimes: as the configuration and the devices are; later: it may come with the run, where it is not
// there before. Of a path with labels: what the label stands for being there.
enum class FigureKnown : std::uint8_t { always, sometimes, later };

struct Figure {
    std::string_view path;
    FigureKind kind;
    FigureUnit unit;
    FigureKnown known;
    std::string_view sentence;
};

std::span<const Figure> figures();
// The catalogue of a fabric's report (fabric_figures.def), without its switches.
std::span<const Figure> fabric_figures();
// The row of a leaf by its path, in which {port} and the like may stand for themselves; nullptr: no row.
const Figure* find_figure(std::string_view path);

struct FigureLabel {
    std::string_view name;
    std::string value;
};

struct FigureLeaf {
    const Figure* figure;  // nullptr: the catalogue has no row for it
    const std::vector<FigureLabel>& labels;
    const nlohmann::ordered_json& value;  // null where the report says that there is none
};

// In the report's order. Empty lists and objects have no leaf.
void for_each_leaf(const nlohmann::ordered_json& report, const std::function<void(const FigureLeaf&)>& each);

// Catalogues as trees, a segment of a path each.
struct FigureNode {
    std::string_view segment;  // a name, or {label} or [] for any
    const Figure* figure = nullptr;
    bool comes_with_run = false;  // a report may lack it until something has happened
    std::vector<FigureNode> children{};

    bool is_label() const { return segment.front() == '{' || segment.front() == '['; }
    FigureNode& child(std::string_view name);
    // A member by its name, or the segment that stands for any.
    const FigureNode* find(std::string_view key) const;
};

const FigureNode& switch_figures_tree();
const FigureNode& fabric_figures_tree();
// The figures of a phase of a fabric's run; its report is made by this.
const FigureNode& phase_figures_tree();

// By a path below `root`, in which {port} and the like may stand for themselves; nullptr: none.
const FigureNode* find_node(const FigureNode& root, std::string_view path);
// The row of a path by a fabric's catalogue alone.
const Figure* row_of_fabric(std::string_view path);

// Takes the first part off `path`, up to `separator`.
std::string_view take_first(std::string_view& path, char separator);

// The row for a figure of a switch or of a fabric; nullptr: none. A part of the path may be a pattern.
const Figure* row_of(std::string_view path);

// True when the run may add this part to a report that lacks it. A name may be a pattern.
bool comes_with_run(std::span<const std::string> names);

// A figure of a difference from its value now and before (null: it was not there). Discarded: left out.
using LeafDifference = std::function<nlohmann::ordered_json(
    const Figure& figure, const nlohmann::ordered_json& after, const nlohmann::ordered_json* before)>;

// `after` with `leaf` of each figure, and without what the catalogue does not know. `node`: of both in a
// catalogue; nullptr: there is none. Entries of a list are matched by place, or by their labels.
nlohmann::ordered_json difference(const nlohmann::ordered_json* before, const nlohmann::ordered_json& after,
                                  const FigureNode* node, const LeafDifference& leaf);

// The name for Prometheus: `sluice_`, path without labels, base unit, `_total` for a counter. Empty: none.
std::string metric_name(const Figure& figure);
// All figures, as Markdown.
std::string figures_reference();
// The figures of a fabric's report, without those of its switches.
std::string fabric_figures_reference();

}  // namespace sluice

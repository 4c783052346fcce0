// Catalogues of figures as trees, a segment of a path each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "control/report/figures/figures.hh"

namespace sluice {

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
// What the report of a phase of a fabric's run has, and no more: it is made by this.
const FigureNode& phase_figures_tree();

// By a path below `root`, in which {port} and the like may stand for themselves; nullptr: none.
const FigureNode* find_node(const FigureNode& root, std::string_view path);
const Figure* row_in(const FigureNode& root, std::string_view path);
// The row of a path by a fabric's catalogue alone.
const Figure* row_of_fabric(std::string_view path);

// Takes the first part off `path`, up to `separator`.
std::string_view take_first(std::string_view& path, char separator);

// The row for a figure of a switch or of a fabric; nullptr: none. A part of the path may be a pattern.
const Figure* row_of(std::string_view path);

// Whether a part of a report that is not there may come with the run. A name may be a pattern.
bool comes_with_run(std::span<const std::string> names);

}  // namespace sluice

#include "control/report/figures/figure_tree.hh"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice {
namespace {

constexpr std::array shared_parts{
#define FIGURE(...)
#define PART(...)
#define SWITCH_FIGURES(part) std::string_view(part),
#include "control/report/figures/fabric_figures.def"
#undef FIGURE
#undef PART
};

constexpr std::array parts_of_phase{"ledger", "hosts", "flows", "collectives", "links"};
constexpr std::array parts_of_phase_of_switch{"ledger", "ports"};

FigureNode& node_at(FigureNode& root, std::string_view path) {
    FigureNode* node = &root;
    while (!path.empty()) node = &node->child(take_first(path, '.'));
    return *node;
}

// What a report may lack at first, with all that is below it: no row there is of a figure that is known
// before.
void mark(FigureNode& node) {
    for (FigureNode& child : node.children) mark(child);
    const bool is_later = node.figure == nullptr || node.figure->known == FigureKnown::later;
    node.comes_with_run =
        is_later && std::all_of(node.children.begin(), node.children.end(),
                                [](const FigureNode& child) { return child.comes_with_run; });
}

FigureNode tree_of(std::span<const Figure> rows) {
    FigureNode root;
    for (const Figure& figure : rows) node_at(root, figure.path).figure = &figure;
    return root;
}

void graft(FigureNode& onto, const FigureNode& from) {
    if (from.figure != nullptr) onto.figure = from.figure;
    for (const FigureNode& child : from.children) graft(onto.child(child.segment), child);
}

// Without the figures that `has` refuses.
void keep_only(FigureNode& node, bool (*has)(const Figure&)) {
    if (node.figure != nullptr && !has(*node.figure)) node.figure = nullptr;
    for (FigureNode& child : node.children) keep_only(child, has);
    std::erase_if(node.children,
                  [](const FigureNode& child) { return child.figure == nullptr && child.children.empty(); });
}

// Watermarks since the start and averages over the run say nothing of a phase.
bool is_of_phase(const Figure& figure) {
    const std::string_view name = figure.path.substr(figure.path.rfind('.') + 1);
    return name != "deepest_bytes" && (!name.ends_with("watermark_bytes") || name.starts_with("user_")) &&
           figure.unit != FigureUnit::per_s;
}

// What a fabric's ledger of a phase has: the frames of the phase, without those that are somewhere at its
// end.
bool is_of_phase_ledger(const Figure& figure) {
    return figure.kind == FigureKind::counter && figure.known == FigureKnown::always;
}

// With the figures of switches and phases in their places.
FigureNode make_fabric_tree() {
    const FigureNode& of_switch = switch_figures_tree();
    FigureNode root = tree_of(fabric_figures());
    for (const std::string_view part : shared_parts) graft(root.child(part), *of_switch.find(part));
    FigureNode phase = node_at(root, "phases.{phase}");
    for (const std::string_view part : parts_of_phase)
        phase.children.push_back(*(part == "hosts" ? of_switch : root).find(part));
    keep_only(phase.child("ledger"), is_of_phase_ledger);
    FigureNode& switch_of_phase = node_at(phase, "switches.{switch}");
    for (const char* part : parts_of_phase_of_switch)
        switch_of_phase.children.push_back(*of_switch.find(part));
    keep_only(phase, is_of_phase);
    node_at(root, "phases.{phase}") = std::move(phase);
    graft(node_at(root, "switches.{switch}"), of_switch);
    mark(root);
    return root;
}

bool comes_with_run(const FigureNode& root, std::span<const std::string> names) {
    const FigureNode* node = &root;
    for (const std::string& name : names) {
        if (node->comes_with_run) return true;
        node = node->find(name);
        if (node == nullptr) return false;
    }
    return node->comes_with_run;
}

}  // namespace

std::string_view take_first(std::string_view& path, char separator) {
    const std::size_t end = std::min(path.find(separator), path.size());
    const std::string_view first = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    return first;
}

FigureNode& FigureNode::child(std::string_view name) {
    for (FigureNode& known : children)
        if (known.segment == name) return known;
    return children.emplace_back(FigureNode{name});
}

const FigureNode* FigureNode::find(std::string_view key) const {
    const FigureNode* any = nullptr;
    for (const FigureNode& known : children) {
        if (known.segment == key) return &known;
        if (known.is_label()) any = &known;
    }
    return any;
}

const FigureNode& switch_figures_tree() {
    static const FigureNode root = [] {
        FigureNode made = tree_of(figures());
        mark(made);
        return made;
    }();
    return root;
}

const FigureNode& fabric_figures_tree() {
    static const FigureNode root = make_fabric_tree();
    return root;
}

const FigureNode& phase_figures_tree() { return *fabric_figures_tree().find("phases")->find("any"); }

const FigureNode* find_node(const FigureNode& root, std::string_view path) {
    const FigureNode* node = &root;
    while (node != nullptr && !path.empty()) node = node->find(take_first(path, '.'));
    return node;
}

const Figure* row_in(const FigureNode& root, std::string_view path) {
    const FigureNode* node = find_node(root, path);
    return node == nullptr ? nullptr : node->figure;
}

const Figure* row_of_fabric(std::string_view path) { return row_in(fabric_figures_tree(), path); }

const Figure* row_of(std::string_view path) {
    const Figure* of_switch = row_in(switch_figures_tree(), path);
    return of_switch != nullptr ? of_switch : row_of_fabric(path);
}

bool comes_with_run(std::span<const std::string> names) {
    return comes_with_run(switch_figures_tree(), names) || comes_with_run(fabric_figures_tree(), names);
}

}  // namespace sluice

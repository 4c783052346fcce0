#include "control/report/figures/figures.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "control/config/text/json_text.hh"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

// No std::array: clang 16 deduces none of more than 256.
// NOLINTNEXTLINE(modernize-avoid-c-arrays)
constexpr Figure catalogue[] = {
#define FIGURE(path, kind, unit, when, sentence, ...) \
    {path, FigureKind::kind, FigureUnit::unit, FigureKnown::when, sentence},
#define PART(path, ...)
#include "control/report/figures/figures.def"
};
// NOLINTNEXTLINE(modernize-avoid-c-arrays)
constexpr Figure catalogue_of_fabrics[] = {
#include "control/report/figures/fabric_figures.def"
#undef FIGURE
#undef PART
};

constexpr std::array<std::string_view, 5> kind_texts{"counter", "gauge", "flag", "text", "number"};
constexpr std::array<std::string_view, 11> unit_texts{
    "", "packets", "bytes", "ns", "cells", "cycles", "1/s", "bit/s", "1/1000 Celsius", "1/1000000", "1/1000"};

class Walk {
  public:
    explicit Walk(const std::function<void(const FigureLeaf&)>& each) : each_(each) {}

    // `node`: nullptr where the catalogue does not go.
    void visit(const FigureNode* node, const Json& value) {
        if (value.is_object())
            for (const auto& [key, child] : value.items()) enter(node, key, child);
        else if (value.is_array())
            for (std::size_t i = 0; i < value.size(); ++i) enter(node, std::to_string(i), value[i]);
        else
            each_({node == nullptr ? nullptr : node->figure, labels_, value});
    }

  private:
    void enter(const FigureNode* within, const std::string& key, const Json& value) {
        const FigureNode* node = within == nullptr ? nullptr : within->find(key);
        const std::size_t before = labels_.size();
        if (node != nullptr && node->segment.front() == '{') label(node->segment, key, value);
        visit(node, value);
        labels_.erase(labels_.begin() + static_cast<std::ptrdiff_t>(before), labels_.end());
    }

    void label(std::string_view segment, const std::string& key, const Json& value) {
        std::string_view names = segment.substr(1, segment.size() - 2);
        if (names.find(',') == std::string_view::npos) {
            labels_.push_back({names, key});
            return;
        }
        while (!names.empty()) {
            const std::string_view name = take_first(names, ',');
            const auto own = value.is_object() ? value.find(std::string(name)) : value.end();
            if (own != value.end())
                labels_.push_back({name, own->is_string() ? own->get<std::string>() : own->dump()});
        }
    }

    const std::function<void(const FigureLeaf&)>& each_;
    std::vector<FigureLabel> labels_;
};

class Difference {
  public:
    explicit Difference(const LeafDifference& leaf) : leaf_(leaf) {}

    Json of(const FigureNode* node, const Json* before, const Json& after) const {
        if (node == nullptr) return Json(Json::value_t::discarded);
        if (after.is_object()) return of_object(*node, before, after);
        if (after.is_array()) return of_list(*node, before, after);
        return node->figure == nullptr ? Json(Json::value_t::discarded) : leaf_(*node->figure, after, before);
    }

  private:
    Json of_object(const FigureNode& node, const Json* before, const Json& after) const {
        Json made;
        make_room(made, after.size());
        for (const auto& [key, value] : after.items()) {
            const bool known = before != nullptr && before->is_object() && before->contains(key);
            Json member = of(node.find(key), known ? &(*before)[key] : nullptr, value);
            if (!member.is_discarded()) made[key] = std::move(member);
        }
        return made;
    }
    Json of_list(const FigureNode& node, const Json* before, const Json& after) const {
        Json made = Json::array();
        for (std::size_t n = 0; n < after.size(); ++n) {
            const FigureNode* child = node.find(std::to_string(n));
            Json member =
                of(child, child == nullptr ? nullptr : same_entry(*child, before, after[n], n), after[n]);
            if (!member.is_discarded()) made.push_back(std::move(member));
        }
        return made;
    }
    // {port,queue}: the one of that port and queue.
    static const Json* same_entry(const FigureNode& node, const Json* list, const Json& entry,
                                  std::size_t n) {
        if (list == nullptr || !list->is_array()) return nullptr;
        if (node.segment.find(',') == std::string_view::npos) return n < list->size() ? &(*list)[n] : nullptr;
        for (const Json& other : *list) {
            bool same = true;
            std::string_view names = node.segment.substr(1, node.segment.size() - 2);
            while (same && !names.empty()) {
                const std::string name(take_first(names, ','));
                same = other.contains(name) && entry.contains(name) && other[name] == entry[name];
            }
            if (same) return &other;
        }
        return nullptr;
    }

    const LeafDifference& leaf_;
};

// `name` with the base unit in place of the report's.
void to_base_unit(std::string& name, std::string_view unit, std::string_view base) {
    name.replace(name.rfind(unit), unit.size(), base);
}

constexpr std::array shared_parts{
#define FIGURE(...)
#define PART(...)
#define SWITCH_FIGURES(part) std::string_view(part),
#include "control/report/figures/fabric_figures.def"
#undef FIGURE
#undef PART
};

constexpr std::array parts_of_phase{"ledger", "hosts", "flows", "collectives", "links", "depth_bytes"};
constexpr std::array parts_of_phase_of_switch{"ledger", "ports"};

FigureNode& node_at(FigureNode& root, std::string_view path) {
    FigureNode* node = &root;
    while (!path.empty()) node = &node->child(take_first(path, '.'));
    return *node;
}

// Marks nodes that a report may lack at first: none of their figures is known before the run.
void mark(FigureNode& node) {
    for (FigureNode& child : node.children) mark(child);
    const bool is_later = node.figure == nullptr || node.figure->known == FigureKnown::later;
    node.comes_with_run = is_later && std::ranges::all_of(node.children, [](const FigureNode& child) {
                              return child.comes_with_run;
                          });
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

// True for the counters of the frames of a phase, without those that are under way at its end.
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

// `more`: cells before the sentence.
std::string row_text(const Figure& figure, const std::string& more) {
    return fmt::format("| `{}` | {} | {} | {}{} |\n", figure.path,
                       kind_texts.at(static_cast<std::size_t>(figure.kind)),
                       unit_texts.at(static_cast<std::size_t>(figure.unit)), more, figure.sentence);
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

const Figure* row_in(const FigureNode& root, std::string_view path) {
    const FigureNode* node = find_node(root, path);
    return node == nullptr ? nullptr : node->figure;
}

}  // namespace

std::span<const Figure> figures() { return catalogue; }
std::span<const Figure> fabric_figures() { return catalogue_of_fabrics; }

const Figure* find_figure(std::string_view path) { return row_in(switch_figures_tree(), path); }

Json difference(const Json* before, const Json& after, const FigureNode* node, const LeafDifference& leaf) {
    return Difference(leaf).of(node, before, after);
}

void for_each_leaf(const Json& report, const std::function<void(const FigureLeaf&)>& each) {
    Walk(each).visit(&switch_figures_tree(), report);
}

std::string metric_name(const Figure& figure) {
    if (figure.kind == FigureKind::text || figure.kind == FigureKind::number ||
        figure.path.find('[') != std::string_view::npos)
        return {};
    std::string name = "sluice";
    for (std::string_view path = figure.path; !path.empty();)
        if (const std::string_view segment = take_first(path, '.'); segment.front() != '{')
            name.append("_").append(segment);
    if (figure.unit == FigureUnit::ns) to_base_unit(name, "_ns", "_seconds");
    if (figure.unit == FigureUnit::mc) to_base_unit(name, "_mc", "_celsius");
    if (figure.kind == FigureKind::counter) name += "_total";
    return name;
}

std::string figures_reference() {
    std::string out =
        "# Figures of the report\n\n| path | kind | unit | metric | meaning |\n|---|---|---|---|---|\n";
    for (const Figure& figure : catalogue) {
        const std::string metric = metric_name(figure);
        out += row_text(figure, metric.empty() ? " | " : "`" + metric + "` | ");
    }
    return out;
}

std::string fabric_figures_reference() {
    std::string out =
        "# Figures of a fabric's report\n\nEach `switches.{switch}` has those of `sluiced --figures`, too, "
        "and each `phases.{phase}` the ledger, hosts, flows, collectives, links, depths and, of its "
        "switches, "
        "ledger and ports.\n\n"
        "| path | kind | unit | meaning |\n|---|---|---|---|\n";
    for (const std::span<const Figure> rows : {figures(), fabric_figures()})
        for (const Figure& figure : rows)
            if (row_of_fabric(figure.path) == &figure) out += row_text(figure, {});
    return out;
}

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

const Figure* row_of_fabric(std::string_view path) { return row_in(fabric_figures_tree(), path); }

const Figure* row_of(std::string_view path) {
    const Figure* of_switch = row_in(switch_figures_tree(), path);
    return of_switch != nullptr ? of_switch : row_of_fabric(path);
}

bool comes_with_run(std::span<const std::string> names) {
    return comes_with_run(switch_figures_tree(), names) || comes_with_run(fabric_figures_tree(), names);
}

}  // namespace sluice

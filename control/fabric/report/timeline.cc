#include "control/fabric/report/timeline.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "control/fabric/report/drawing.hh"
#include "control/fabric/report/pause_roots.hh"
#include "control/fabric/run/fabric.hh"
#include "control/fabric/run/pause_words.hh"

#include "control/config/text/xml_text.hh"

namespace sluice::fabric {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t bins = 240;
constexpr std::size_t max_rows = 40;
constexpr std::size_t max_roots = 7;  // the others share a color
constexpr std::array<const char*, max_roots + 1> colors{"#c1443c", "#3b6ea8", "#d9a441", "#4f8a5b",
                                                        "#8a5ba8", "#5aa7a7", "#a8705b", "#9a9a9a"};
constexpr double plot_left = 230, width = 960, row_height = 20, top = 46;

struct Row {
    std::int64_t ps = 0;
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> parts;  // by bin and root
};
using Key = std::tuple<std::uint32_t, PortId, ClassId>;

// Each root gets its place by the time that is due to it.
std::map<PauseRoot, std::size_t> places_of(const std::map<PauseRoot, std::int64_t>& roots) {
    std::vector<std::pair<std::int64_t, const PauseRoot*>> sorted;
    for (const auto& [root, ps] : roots) sorted.emplace_back(ps, &root);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::map<PauseRoot, std::size_t> places;
    for (std::size_t n = 0; n < sorted.size(); ++n) places[*sorted[n].second] = std::min(n, max_roots);
    return places;
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
    return fmt::format(
        "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" fill=\"#333\" text-anchor=\"{}\">{}</text>\n", x, y,
        anchor, xml_text(text));
}

std::string bar(double x, double y, double wide, double high, std::size_t root) {
    return fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\"/>\n",
                       x, y, wide, high, colors[root]);
}

}  // namespace

Json timeline_json(const Fabric& fabric) {
    const PauseWatch& watch = fabric.pauses();
    const FabricPlan& plan = fabric.plan();
    std::map<PauseRoot, std::int64_t> roots;
    const auto visit_all = [&](const std::function<void(std::uint32_t, const PauseChain&)>& visit) {
        for (std::uint32_t id = 0; id < watch.pauses().size(); ++id)
            for_each_chain(watch, id, fabric.now(), [&](const PauseChain& chain) { visit(id, chain); });
    };
    visit_all([&](std::uint32_t, const PauseChain& chain) {
        roots[root_of(watch, chain)] += (chain.until - chain.from).ps;
    });
    const auto places = places_of(roots);
    // Whole bins, of which the last one may reach beyond the end.
    const std::int64_t bin = std::max<std::int64_t>((fabric.now() - Time{}).ps / bins + 1, 1);
    std::map<Key, Row> rows;
    visit_all([&](std::uint32_t id, const PauseChain& chain) {
        const PauseRecord& pause = watch.pauses()[id];
        Row& row = rows[{pause.device, pause.port, pause.priority}];
        const std::size_t root = places.at(root_of(watch, chain));
        const std::int64_t until = (chain.until - Time{}).ps;
        for (std::int64_t from = (chain.from - Time{}).ps; from < until;) {
            const std::int64_t end = std::min(until, (from / bin + 1) * bin);
            row.parts[{static_cast<std::size_t>(from / bin), root}] += end - from;
            row.ps += end - from;
            from = end;
        }
    });
    std::vector<std::pair<std::int64_t, Key>> longest;
    for (const auto& [key, row] : rows) longest.emplace_back(-row.ps, key);
    std::sort(longest.begin(), longest.end());
    const std::size_t shown = std::min(longest.size(), max_rows);
    std::sort(longest.begin(), longest.begin() + static_cast<std::ptrdiff_t>(shown),
              [](const auto& a, const auto& b) { return a.second < b.second; });
    Json json = {{"bin_ns", static_cast<double>(bin) / 1000},
                 {"bins", bins},
                 {"roots", Json::array()},
                 {"rows", Json::array()},
                 {"rows_left_out", longest.size() - shown}};
    std::vector<std::string> names(std::min(roots.size(), max_roots));
    for (const auto& [root, place] : places)
        if (place < max_roots) names[place] = root_text(plan, watch, root);
    if (roots.size() > max_roots) names.push_back(fmt::format("{} others", roots.size() - max_roots));
    json["roots"] = names;
    for (std::size_t n = 0; n < shown; ++n) {
        const auto& [device, port, priority] = longest[n].second;
        Json parts = Json::array();
        for (const auto& [at, ps] : rows.at(longest[n].second).parts)
            parts.push_back({at.first, at.second, ps * 1000 / bin});
        json["rows"].push_back({{"paused", peer_name(plan, watch, device, port)},
                                {"by", plan.switches[device].name},
                                {"class", priority},
                                {"paused_ns", -longest[n].first / 1000},
                                {"parts", std::move(parts)}});
    }
    return json;
}

std::string draw_timeline(const Json& timeline, const std::string& title) {
    const Json& rows = timeline["rows"];
    const Json& roots = timeline["roots"];
    const double bottom = top + static_cast<double>(rows.size()) * row_height;
    const double height = bottom + 64 + static_cast<double>(roots.size()) * 18;
    std::string out = svg_head(plot_left + width + 40, height);
    out += fmt::format(
        "<text x=\"20\" y=\"24\" font-size=\"15\" fill=\"#333\">{}: who was paused by whom; height: part of "
        "the "
        "time; color: where it began</text>\n",
        xml_text(title));
    const double wide = width / bins;
    for (std::size_t n = 0; n < rows.size(); ++n) {
        const Json& row = rows[n];
        const double floor = top + static_cast<double>(n + 1) * row_height - 2;
        std::string label =
            fmt::format("{} by {}", row["paused"].get<std::string>(), row["by"].get<std::string>());
        if (row["class"].get<unsigned>() != 3)
            label += fmt::format(", class {}", row["class"].get<unsigned>());
        out += text_at(plot_left - 8, floor - 4, "end", label);
        out += fmt::format(
            "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{2:.1f}\" y2=\"{1:.1f}\" "
            "stroke=\"#ddd\"/>\n",
            plot_left, floor, plot_left + width);
        std::size_t at = bins;
        double y = floor;
        for (const Json& part : row["parts"]) {
            const auto bin = part[0].get<std::size_t>();
            if (bin != at) y = floor;
            at = bin;
            const double high = (row_height - 4) * part[2].get<double>() / 1000;
            y -= high;
            out +=
                bar(plot_left + static_cast<double>(bin) * wide, y, wide, high, part[1].get<std::size_t>());
        }
    }
    for (unsigned n = 0; n <= 4; ++n) {
        const double x = plot_left + width * n / 4;
        out += fmt::format(
            "<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" "
            "stroke=\"#ddd\"/>\n",
            x, top, bottom + 4);
        const double ns = timeline["bin_ns"].get<double>() * bins * n / 4;
        out += text_at(x, bottom + 18, "middle", text_of_time(static_cast<std::int64_t>(ns)));
    }
    double y = bottom + 44;
    if (rows.empty()) out += text_at(20, y, "start", "nobody was paused");
    if (const auto more = timeline["rows_left_out"].get<std::size_t>(); more != 0)
        out += text_at(20, bottom + 18, "start", fmt::format("and {} more rows", more));
    for (std::size_t n = 0; n < roots.size(); ++n, y += 18)
        out += bar(20, y - 9, 14, 10, n) + text_at(42, y, "start", roots[n].get<std::string>());
    return out + "</svg>\n";
}

}  // namespace sluice::fabric

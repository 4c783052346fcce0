#include "control/fabric/report/drawing.hh"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "control/config/schema/values.hh"

#include "control/config/text/xml_text.hh"

namespace sluice::fabric {
namespace {

struct Point {
    double x = 0, y = 0;
};

constexpr double tier_height = 130;
constexpr double margin = 40;
constexpr double legend_height = 56;

// As wide as there is room, and dark where the reader wants it.
std::string svg_head(double width, double height) {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" "
        "height=\"{1:.0f}\" style=\"max-width:100%;height:auto\" font-family=\"sans-serif\">\n"
        "<style>@media (prefers-color-scheme: dark) {{ .paper {{ fill: #14181e; }} "
        "text[fill=\"#333\"] {{ fill: #e6eaf0; }} line[stroke=\"#ddd\"] {{ stroke: #38414d; }} }}</style>\n"
        "<rect class=\"paper\" width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        width, height);
}

class Drawing {
  public:
    Drawing(const Topology& topology, const Shades& shades) : topology_(topology), shades_(shades) {
        place();
    }

    std::string text() {
        std::string out = svg_head(width_, height_);
        if (!shades_.title.empty())
            out += fmt::format("<text x=\"{:.0f}\" y=\"24\" font-size=\"15\" fill=\"#333\">{}</text>\n",
                               margin, xml_text(shades_.title));
        for (LinkId id = 0; id < topology_.links.size(); ++id) out += link(id);
        for (NodeId node = 0; node < topology_.nodes.size(); ++node) out += this->node(node);
        if (!shades_.links.empty()) out += legend();
        return out + "</svg>\n";
    }

  private:
    void place() {
        places_.resize(topology_.nodes.size());
        std::map<unsigned, std::vector<NodeId>> tiers;
        bool circle = false;
        for (NodeId node = 0; node < topology_.nodes.size(); ++node)
            tiers[topology_.nodes[node].tier].push_back(node);
        for (const Link& link : topology_.links)
            circle |= topology_.nodes[link.ends[0].node].tier == topology_.nodes[link.ends[1].node].tier;
        if (circle && tiers.size() <= 2 && tiers[1].size() > 2) return place_circle(tiers[1]);
        std::size_t most = 1;
        for (const auto& [tier, nodes] : tiers) most = std::max(most, nodes.size());
        width_ = 2 * margin + std::max(620.0, static_cast<double>(most) * (most > 64   ? 15.0
                                                                           : most > 24 ? 26.0
                                                                                       : 62.0));
        const unsigned top = tiers.rbegin()->first;
        height_ = 2 * margin + top * tier_height + 30 + legend_height;
        for (const auto& [tier, nodes] : tiers)
            for (std::size_t n = 0; n < nodes.size(); ++n)
                places_[nodes[n]] = {margin + (width_ - 2 * margin) * (static_cast<double>(n) + 0.5) /
                                                  static_cast<double>(nodes.size()),
                                     margin + 20 + (top - tier) * tier_height};
    }

    // Hosts outside their switch.
    void place_circle(const std::vector<NodeId>& switches) {
        const double radius = std::max(130.0, static_cast<double>(switches.size()) * 32);
        width_ = std::max(700.0, 2 * (radius + 120) + 2 * margin);
        height_ = 2 * (radius + 120) + 2 * margin + legend_height;
        const Point center{width_ / 2, radius + 120 + margin};
        for (std::size_t n = 0; n < switches.size(); ++n) {
            const double angle =
                2 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(switches.size()) -
                std::numbers::pi / 2;
            places_[switches[n]] = {center.x + radius * std::cos(angle), center.y + radius * std::sin(angle)};
            std::vector<NodeId> hosts;
            for (const LinkId id : topology_.nodes[switches[n]].links)
                for (const LinkEnd& end : topology_.links[id].ends)
                    if (topology_.nodes[end.node].is_host) hosts.push_back(end.node);
            for (std::size_t h = 0; h < hosts.size(); ++h) {
                const double spread =
                    (static_cast<double>(h) - static_cast<double>(hosts.size() - 1) / 2) * 0.28;
                places_[hosts[h]] = {center.x + (radius + 90) * std::cos(angle + spread),
                                     center.y + (radius + 90) * std::sin(angle + spread)};
            }
        }
    }

    // From blue to red.
    static std::string color(double paused) {
        const double part = std::clamp(paused, 0.0, 1.0);
        const auto mix = [&](double from, double to) {
            return static_cast<int>(std::lround(from + (to - from) * std::sqrt(part)));
        };
        return fmt::format("#{:02x}{:02x}{:02x}", mix(0x6b, 0xd6), mix(0x8f, 0x27), mix(0xb8, 0x28));
    }

    std::string link(LinkId id) const {
        const Link& link = topology_.links[id];
        const Point a = places_[link.ends[0].node], b = places_[link.ends[1].node];
        const Point middle{(a.x + b.x) / 2, (a.y + b.y) / 2};
        const std::string tip =
            fmt::format("{}, {}, {}", link.name, print_rate(link.speed), print_length(link.cable_m));
        const auto half = [&](Point from, const DirectionShade& shade, const std::string& more) {
            return fmt::format(
                "<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" stroke=\"{}\" "
                "stroke-width=\"{:.1f}\">"
                "<title>{}{}</title></line>\n",
                from.x, from.y, middle.x, middle.y, shades_.links.empty() ? "#8a99ab" : color(shade.paused),
                shades_.links.empty() ? 1.2 : 1.6 + 5 * std::min(shade.load, 1.0), xml_text(tip), more);
        };
        std::string out;
        for (unsigned from = 0; from < 2; ++from) {
            const DirectionShade shade = shades_.links.empty() ? DirectionShade{} : shades_.links[id][from];
            const std::string more =
                shades_.links.empty()
                    ? std::string()
                    : fmt::format(": {} sends {:.1f} % of the speed, paused {:.1f} % of the time",
                                  xml_text(topology_.nodes[link.ends[from].node].name), shade.load * 100,
                                  shade.paused * 100);
            out += half(from == 0 ? a : b, shade, more);
        }
        return out;
    }

    // Around a node that reaches so far to each side.
    std::string culprit_mark(NodeId id, double across, double down) const {
        if (shades_.culprit.empty() || topology_.nodes[id].name != shades_.culprit) return {};
        const auto [x, y] = places_[id];
        return fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" rx=\"6\" fill=\"none\" "
            "stroke=\"{}\" stroke-width=\"3\"><title>{}</title></rect>\n",
            x - across - 5, y - down - 5, 2 * across + 10, 2 * down + 10, color(1),
            xml_text(shades_.culprit_text));
    }

    std::string node(NodeId id) const {
        const Node& node = topology_.nodes[id];
        const Point at = places_[id];
        if (node.is_host) {
            const bool many = topology_.nodes.size() > 80;
            std::string out = culprit_mark(id, many ? 5 : 9, many ? 5 : 9) +
                              fmt::format(
                                  "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{}\" fill=\"#f4f1e8\" "
                                  "stroke=\"#555\"><title>{}</title></circle>\n",
                                  at.x, at.y, many ? 5 : 9, xml_text(node.name));
            if (many)
                return out + fmt::format(
                                 "<text transform=\"translate({:.1f} {:.1f}) rotate(-90)\" font-size=\"9\" "
                                 "fill=\"#333\" "
                                 "text-anchor=\"end\">{}</text>\n",
                                 at.x + 3, at.y + 9, xml_text(node.name));
            return out + fmt::format(
                             "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"11\" fill=\"#333\" "
                             "text-anchor=\"middle\">{}</text>\n",
                             at.x, at.y + 24, xml_text(node.name));
        }
        const double half = std::max(24.0, static_cast<double>(node.name.size()) * 4.0 + 4);
        return culprit_mark(id, half, 12) +
               fmt::format(
                   "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"24\" rx=\"4\" "
                   "fill=\"#2f4b6e\"><title>{}</title></rect>\n"
                   "<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"12\" fill=\"#fff\" "
                   "text-anchor=\"middle\">{}</text>\n",
                   at.x - half, at.y - 12, 2 * half, xml_text(node.name), at.x, at.y + 4,
                   xml_text(node.name));
    }

    std::string legend() const {
        const double y = height_ - 26;
        std::string out = fmt::format(
            "<text x=\"{:.0f}\" y=\"{:.1f}\" font-size=\"12\" fill=\"#333\">time paused, of the half next to "
            "who sends:</text>\n",
            margin, y);
        double x = margin + 300;
        for (const double paused : {0.0, 0.05, 0.25, 0.5, 1.0}) {
            out += fmt::format(
                "<rect x=\"{:.0f}\" y=\"{:.1f}\" width=\"26\" height=\"8\" fill=\"{}\"/><text x=\"{:.0f}\" "
                "y=\"{:.1f}\" "
                "font-size=\"11\" fill=\"#333\" text-anchor=\"middle\">{:.0f} %</text>\n",
                x, y - 8, color(paused), x + 13, y + 13, paused * 100);
            x += 40;
        }
        const auto line = [](double at_x, double at_y, const std::string& text) {
            return fmt::format("<text x=\"{:.0f}\" y=\"{:.1f}\" font-size=\"12\" fill=\"#333\">{}</text>\n",
                               at_x, at_y, xml_text(text));
        };
        out += line(x + 8, y, "width: load");
        if (!shades_.culprit.empty())
            out += line(margin, y - 24, "red frame, pauses began here: " + shades_.culprit_text);
        return out;
    }

    const Topology& topology_;
    const Shades& shades_;
    std::vector<Point> places_;
    double width_ = 0, height_ = 0;
};

}  // namespace

std::string svg_of(const Topology& topology, const Shades& shades) {
    return Drawing(topology, shades).text();
}

}  // namespace sluice::fabric

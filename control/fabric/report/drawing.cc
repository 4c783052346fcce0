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
constexpr const char* svg_head =
    R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0:.0f} {1:.0f}" width="{0:.0f}" height="{1:.0f}" )"
    R"(style="max-width:100%;height:auto" font-family="sans-serif"><style>@media (prefers-color-scheme: dark) )"
    R"({{ .paper {{ fill: #14181e; }} text[fill="#333"] {{ fill: #e6eaf0; }} }}</style>)"
    R"(<rect class="paper" width="100%" height="100%" fill="#ffffff"/>)"
    "\n";

// `more`: attributes.
std::string text_at(Point at, unsigned size, std::string_view text, std::string_view more = {}) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"{}\" {}>{}</text>\n", at.x, at.y, size,
                       more.empty() ? "fill=\"#333\"" : more, xml_text(text));
}

class Drawing {
  public:
    Drawing(const Topology& topology, const Shades& shades) : topology_(topology), shades_(shades) {
        place();
    }

    std::string text() {
        std::string out = fmt::format(fmt::runtime(svg_head), width_, height_);
        if (!shades_.title.empty()) out += text_at({margin, 24}, 15, shades_.title);
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
        const std::array ends{places_[link.ends[0].node], places_[link.ends[1].node]};
        std::string out;
        for (unsigned from = 0; from < 2; ++from) {
            std::string tip =
                fmt::format("{}, {}, {}", link.name, print_rate(link.speed), print_length(link.cable_m));
            std::string stroke = "#8a99ab";
            double width = 1.2;
            if (!shades_.links.empty()) {
                const DirectionShade& shade = shades_.links[id][from];
                stroke = color(shade.paused);
                width = 1.6 + 5 * std::min(shade.load, 1.0);
                tip += fmt::format(": {} sends {:.1f} % of the speed, paused {:.1f} % of the time",
                                   topology_.nodes[link.ends[from].node].name, shade.load * 100,
                                   shade.paused * 100);
            }
            out += fmt::format(
                R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="{:.1f}">)"
                "<title>{}</title></line>\n",
                ends.at(from).x, ends.at(from).y, (ends[0].x + ends[1].x) / 2, (ends[0].y + ends[1].y) / 2,
                stroke, width, xml_text(tip));
        }
        return out;
    }

    static std::string box(Point at, double across, double down, std::string_view look,
                           std::string_view tip) {
        return fmt::format(
            R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" {}><title>{}</title></rect>)"
            "\n",
            at.x - across, at.y - down, 2 * across, 2 * down, look, xml_text(tip));
    }

    std::string node(NodeId id) const {
        const Node& node = topology_.nodes[id];
        const Point at = places_[id];
        const bool many = topology_.nodes.size() > 80;
        const double radius = many ? 5 : 9;
        const double half = std::max(24.0, static_cast<double>(node.name.size()) * 4.0 + 4);
        std::string out;
        if (!shades_.culprit.empty() && node.name == shades_.culprit)
            out = box(at, (node.is_host ? radius : half) + 5, (node.is_host ? radius : 12) + 5,
                      fmt::format(R"(rx="6" fill="none" stroke="{}" stroke-width="3")", color(1)),
                      shades_.culprit_text);
        if (!node.is_host)
            return out + box(at, half, 12, R"(rx="4" fill="#2f4b6e")", node.name) +
                   text_at({at.x, at.y + 4}, 12, node.name, R"(fill="#fff" text-anchor="middle")");
        out += fmt::format(
            R"(<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="#f4f1e8" stroke="#555"><title>{}</title></circle>)"
            "\n",
            at.x, at.y, radius, xml_text(node.name));
        if (!many)
            return out + text_at({at.x, at.y + 24}, 11, node.name, R"(fill="#333" text-anchor="middle")");
        const Point below{at.x + 3, at.y + 9};
        return out + text_at(below, 9, node.name,
                             fmt::format(
                                 "fill=\"#333\" text-anchor=\"end\" transform=\"rotate(-90 {:.1f} {:.1f})\"",
                                 below.x, below.y));
    }

    std::string legend() const {
        const double y = height_ - 26;
        std::string out =
            text_at({margin, y}, 12, "color of a half link: share of time its sender was paused");
        double x = margin + 340;
        for (const double paused : {0.0, 0.05, 0.25, 0.5, 1.0}) {
            out += box({x + 13, y - 4}, 13, 4, fmt::format(R"(fill="{}")", color(paused)), {}) +
                   text_at({x + 13, y + 13}, 11, fmt::format("{:.0f} %", paused * 100),
                           R"(fill="#333" text-anchor="middle")");
            x += 40;
        }
        out += text_at({x + 8, y}, 12, "width: load");
        if (!shades_.culprit.empty())
            out += text_at({margin, y - 24}, 12, "red frame: pauses began here: " + shades_.culprit_text);
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

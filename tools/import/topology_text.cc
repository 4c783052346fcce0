#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/replace.hpp>
#include <filesystem>

#include "control/config/text/controls.hh"
#include "tools/import/topology.hh"

namespace sluice::import {
namespace {

// The two kinds that a file can come to.
std::string_view kind_name(fabric::TopologyKind kind) {
    return kind == fabric::TopologyKind::leaf_spine ? "leaf-spine" : "three-tier";
}

std::string shape_text(const fabric::TopologySettings& shape) {
    std::string out = fmt::format("[topology]\nkind = \"{}\"\n", kind_name(shape.kind));
    const auto add = [&](std::string_view key, const std::optional<unsigned>& count) {
        if (count) out += fmt::format("{} = {}\n", key, *count);
    };
    add("pods", shape.pods);
    add("racks", shape.racks);
    add("aggs", shape.aggs);
    add("cores", shape.cores);
    add("leaves", shape.leaves);
    add("spines", shape.spines);
    add("hosts", shape.hosts);
    if (shape.links != 1) add("links", shape.links);
    out += fmt::format("host_speed = \"{}\"\nspeed = \"{}\"\nhost_cable = \"{}\"\ncable = \"{}\"\n",
                       print_rate(shape.host_speed), print_rate(*shape.speed),
                       print_length(shape.host_cable_m), print_length(shape.cable_m));
    if (shape.kind == fabric::TopologyKind::three_tier)
        out += fmt::format("spine_cable = \"{}\"\n", print_length(shape.spine_cable_m));
    return out;
}

std::size_t hosts_of(const Drawing& drawing) {
    return static_cast<std::size_t>(std::ranges::count_if(drawing.nodes, &DrawnNode::is_host));
}

// A list of inline tables, which is shorter than a section for each and as easy to edit.
std::string nodes_and_links(const Drawing& drawing) {
    std::string out = "node = [\n";
    for (const DrawnNode& node : drawing.nodes)
        out += fmt::format("    {{name = {}{}}},\n", toml_string(node.name),
                           node.is_host ? R"(, kind = "host")" : "");
    out += "]\nlink = [\n";
    std::string events;
    std::map<std::pair<std::size_t, std::size_t>, unsigned> parallel;
    for (const DrawnLink& link : drawing.links) {
        const std::string &a = drawing.nodes[link.a].name, &b = drawing.nodes[link.b].name;
        out += fmt::format("    {{ends = [{}, {}], speed = \"{}\", cable = \"{}\"}},\n", toml_string(a),
                           toml_string(b), print_rate(link.speed), print_length(link.cable_m));
        const unsigned number = ++parallel[std::minmax(link.a, link.b)];
        if (link.lost == Chance{}) continue;
        const std::string suffix = number == 1 ? "" : fmt::format("-{}", number);
        const std::string name = fmt::format("{}-{}{}", a, b, suffix);  // as the fabric names it
        events +=
            fmt::format("    {{at = \"0s\", do = {}}},\n",
                        toml_string(fmt::format("link {} drop_chance {}", name, print_chance(link.lost))));
    }
    out += "]\n";
    if (!events.empty()) out += "event = [\n" + events + "]\n";
    return out;
}

std::string buffer_text(const Drawing& drawing) {
    if (drawing.buffer_bytes == 0) return {};
    return fmt::format("\n[switch.default]\nbuffer.size = \"{}\"\n", print_size(drawing.buffer_bytes));
}

std::string commented(std::string text) {
    while (text.ends_with('\n')) text.pop_back();
    boost::replace_all(text, "\n", "\n# ");
    return "# " + text + "\n";
}

}  // namespace

std::string size_of(const Drawing& drawing) {
    std::size_t hosts = hosts_of(drawing), nodes = drawing.nodes.size(), links = drawing.links.size();
    std::string kind;
    if (drawing.kind) {
        kind = fmt::format("{}: ", kind_name(drawing.kind->kind));
        const auto made = fabric::make_topology(*drawing.kind);
        if (!made) return kind + "too large";
        hosts = made->names(true).size();
        nodes = made->nodes.size();
        links = made->links.size();
    }
    const std::size_t switches = nodes - hosts;
    return fmt::format("{}{}, {} {}, {}", kind, print_count(hosts, "host"), switches,
                       switches == 1 ? "switch" : "switches", print_count(links, "link"));
}

std::string to_fabric_file(const Drawing& drawing, const std::string& from, const std::string& name) {
    const TopologyFormatHelp& format = known_topologies.at(static_cast<std::size_t>(drawing.format));
    std::string head = fmt::format("Made by sluice-import topology from {} ({}): {}.\n",
                                   without_controls(from), format.name, size_of(drawing));
    if (!drawing.numbering.empty()) head += fmt::format("Flow lists: {}.\n", drawing.numbering);
    head += drawing.account.summary(without_controls(from),
                                    {Fate::wrong, Fate::left_out, Fate::assumed, Fate::nothing});
    const std::string folder = std::filesystem::path(name).stem().string();
    head += fmt::format(
        "\nNext:\n"
        "    sluice-fabric check {0}\n"
        "    sluice-fabric run {0} --out out/{1}      # after a [[flow]], as below\n"
        "\n"
        "Buffers, cells, PFC and ECN are Sluice's defaults; to change them in all switches:\n"
        "    [switch.default]\n"
        "    buffer.size = \"32MB\"\n",
        without_controls(name), without_controls(folder));
    const bool is_drawn = !drawing.kind && hosts_of(drawing) > 1;
    head += fmt::format(
        "A flow:\n"
        "    [[flow]]\n"
        "    from = [\"{}\"]\n"
        "    to = \"{}\"\n"
        "    stop = \"1ms\"\n",
        is_drawn ? drawing.nodes[0].name : "h1", is_drawn ? drawing.nodes[1].name : "h2");
    return commented(std::move(head)) + "\n" +
           (drawing.kind ? shape_text(*drawing.kind) : nodes_and_links(drawing)) + buffer_text(drawing);
}

}  // namespace sluice::import

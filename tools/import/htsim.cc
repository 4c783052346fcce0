// htsim's .topo: a fat tree of two or three tiers, by the links of its switches. Hosts are wired in their
// order to the switches of tier 0; those of a pod to all of its tier 1; switch c of tier 2 to switch c mod n
// of the n of tier 1 in every pod: as sluice-fabric's leaf-spine and three-tier have it.
#include <fmt/format.h>

#include <boost/algorithm/string/case_conv.hpp>
#include <set>

#include "control/fabric/plan/fabric_config.hh"
#include "tools/import/topology.hh"

namespace sluice::import {
namespace {

constexpr unsigned max_tiers = 3;

// The document: counts; "tier", with a map by the number of each.
std::unique_ptr<Item> htsim_document(const std::string& text) {
    WordLines lines(text);
    Builder built;
    const auto open = [&](std::string name, SourcePlace place) {
        built.key(std::move(name), place);
        built.open(Item::Kind::map, place);
    };
    built.open(Item::Kind::map, {1, 1});
    bool in_tier = false;
    std::set<std::string> keys, tiers;
    while (lines.next()) {
        const WordLines::Word& first = lines.line.front();
        const std::string key = boost::to_lower_copy(std::string(first.text));
        if (lines.line.size() < 2)
            throw ReadError{first.place, key, "has no value", "write a number behind it"};
        const WordLines::Word& second = lines.line[1];
        if (lines.line.size() > 2 && !lines.line[2].text.starts_with('#'))
            throw ReadError{lines.line[2].place, key, "a second value", "write one key and its value a line"};
        if (key == "tier") {
            if (in_tier) built.close();
            if (tiers.empty()) open("tier", first.place);
            in_tier = true;
            keys.clear();
            if (!tiers.emplace(second.text).second)
                throw ReadError{second.place, "tier", fmt::format("tier {} comes a second time", second.text),
                                "put its keys together"};
            open(std::string(second.text), second.place);
            continue;
        }
        if (!keys.insert(key).second)
            throw ReadError{first.place, key, "comes a second time", "leave one of them out"};
        built.key(key, first.place);
        built.word(std::string(second.text), second.place);
    }
    if (in_tier) {
        built.close();
        built.close();
    }
    built.close();
    return built.take();
}

struct HtsimTier {
    const Item* item = nullptr;
    std::uint64_t down = 0, up = 0;    // links of a switch
    std::uint64_t bundle = 1;          // parallel links to a switch below
    std::uint64_t oversubscribed = 0;  // 0: not said
    Rate speed{};                      // of links down
    std::uint32_t cable_m = 0;
};

class HtsimReader {
  public:
    explicit HtsimReader(Drawing& out) : out_(out), root_(*out.source) {}

    void read() {
        const std::uint64_t hosts = count(root_, "nodes", 1, fabric::max_nodes);
        const std::uint64_t tiers = count(root_, "tiers", 2, max_tiers);
        const std::uint64_t pod = count(root_, "podsize", 1, fabric::max_nodes);
        for (unsigned n = 0; n < tiers; ++n) read_tier(n, n + 1 == tiers);
        if (out_.account.has(Fate::wrong)) return;
        if (!find_sizes(hosts, pod)) return;
        draw();
    }

  private:
    // The number of a key that must be there; 0: it is wrong, and told.
    std::uint64_t count(const Item& map, const char* key, std::uint64_t low, std::uint64_t high) {
        if (const Item* item = map.find(key)) return taken(*item, low, high).value_or(0);
        out_.account.wrong(map, fmt::format("{} is missing", key), fmt::format("write {} and a number", key));
        return 0;
    }
    std::uint64_t count_or(const Item& map, const char* key, std::uint64_t usual) {
        const Item* item = map.find(key);
        return item == nullptr ? usual : taken(*item, 1, fabric::max_nodes).value_or(0);
    }
    std::optional<std::uint64_t> taken(const Item& item, std::uint64_t low, std::uint64_t high) {
        const auto value =
            read_number(out_.account, item, static_cast<std::int64_t>(low), static_cast<std::int64_t>(high));
        if (!value) return std::nullopt;
        out_.account.taken(item, "the shape of the fabric");
        return static_cast<std::uint64_t>(*value);
    }

    void read_tier(unsigned n, bool is_top) {
        HtsimTier tier;
        const Item* all = root_.find("tier");
        tier.item = all == nullptr ? nullptr : all->find(std::to_string(n));
        if (tier.item == nullptr)
            return out_.account.wrong(root_, fmt::format("tier {} is missing", n),
                                      "write Tier and its number, and its keys below");
        const Item& item = *tier.item;
        tier.down = count(item, "radix_down", 1, fabric::max_nodes);
        if (!is_top) tier.up = count(item, "radix_up", 1, fabric::max_nodes);
        tier.bundle = count_or(item, "bundle", 1);
        tier.oversubscribed = count_or(item, "oversubscribed", 0);
        if (const Item* speed = item.find("downlink_speed_gbps")) {
            const auto said = parse_rate(speed->word + "G");
            if (const auto rate = out_.speed(*speed, said)) tier.speed = *rate;
            out_.account.taken(*speed, "speed of the links below");
        } else {
            out_.account.wrong(item, "downlink_speed_gbps is missing", "write it, with a number of Gb/s");
        }
        if (const Item* delay = item.find("downlink_latency_ns"))
            tier.cable_m = out_.cable(*delay, parse_time(delay->word + "ns")).value_or(0);
        else
            out_.account.wrong(item, "downlink_latency_ns is missing", "write it, with a number of ns");
        if (const Item* inside = item.find("switch_latency_ns")) {
            if (inside->word == "0")
                out_.account.taken(*inside, "a switch passes a packet on at once");
            else
                out_.account.nothing(*inside, "a switch of Sluice passes a packet on at once");
        }
        for (const char* key : {"queue_up", "queue_down"})
            if (const Item* queue = item.find(key))
                out_.account.nothing(*queue,
                                     "ports of a switch share its buffer: buffer.size in [switch.default]");
        tiers_.push_back(tier);
    }

    bool refuse(const Item& item, std::string wrong, std::string remedy) {
        out_.account.wrong(item, std::move(wrong), std::move(remedy));
        return false;
    }
    // `key` of a tier follows from the others.
    bool must_be(const HtsimTier& tier, const char* key, std::uint64_t said, std::uint64_t wanted,
                 const char* because) {
        if (said == wanted) return true;
        const Item* item = tier.item->find(key);
        return refuse(item == nullptr ? *tier.item : *item,
                      fmt::format("{} is {}, and {}", key, said, because), fmt::format("write {}", wanted));
    }

    bool find_sizes(std::uint64_t hosts, std::uint64_t pod) {
        const bool three = tiers_.size() == max_tiers;
        const HtsimTier &tor = tiers_[0], &agg = tiers_[1];
        if (hosts % pod != 0 || pod % tor.down != 0 || (!three && pod != hosts))
            return refuse(*root_.find("podsize"),
                          fmt::format("pods of {} hosts, with {} at a switch of tier 0, do not make {} hosts",
                                      pod, tor.down, hosts),
                          three ? "write a divisor of Nodes that Radix_Down of tier 0 divides"
                                : "write Nodes, of which Radix_Down of tier 0 is a divisor");
        if (!must_be(tor, "bundle", tor.bundle, 1, "a host has one link")) return false;
        if (tor.oversubscribed != 0 && !must_be(tor, "oversubscribed", tor.oversubscribed, tor.down / tor.up,
                                                "Radix_Down over Radix_Up is another"))
            return false;
        pods_ = hosts / pod;
        racks_ = pod / tor.down;
        if (tor.up % agg.bundle != 0)
            return refuse(*tor.item, fmt::format("{} links up are not bundles of {}", tor.up, agg.bundle),
                          "correct Radix_Up, or Bundle of tier 1");
        aggs_ = tor.up / agg.bundle;
        if (!must_be(agg, "radix_down", agg.down, racks_ * agg.bundle,
                     "each switch of tier 1 has a bundle to each of tier 0 in its pod"))
            return false;
        if (!three) return true;
        const HtsimTier& core = tiers_[2];
        if (agg.up % core.bundle != 0)
            return refuse(*agg.item, fmt::format("{} links up are not bundles of {}", agg.up, core.bundle),
                          "correct Radix_Up, or Bundle of tier 2");
        cores_ = aggs_ * (agg.up / core.bundle);
        return must_be(core, "radix_down", core.down, pods_ * core.bundle,
                       "each switch of tier 2 has a bundle to a switch of each pod");
    }

    // The shape in our words: a kind of the fabric, or its nodes and links where speeds or bundles differ.
    void draw() {
        const HtsimTier &tor = tiers_[0], &agg = tiers_[1], &top = tiers_.back();
        const auto small = [](std::uint64_t n) { return static_cast<unsigned>(n); };
        fabric::TopologySettings shape;
        shape.hosts = small(tor.down);
        shape.host_speed = tor.speed;
        shape.host_cable_m = tor.cable_m;
        shape.speed = agg.speed;
        shape.cable_m = agg.cable_m;
        shape.kind = fabric::TopologyKind::leaf_spine;
        if (tiers_.size() == max_tiers) {
            shape.kind = fabric::TopologyKind::three_tier;
            shape.pods = small(pods_);
            shape.racks = small(racks_);
            shape.aggs = small(aggs_);
            shape.cores = small(cores_);
            shape.spine_cable_m = top.cable_m;
        } else {
            shape.leaves = small(racks_);
            shape.spines = small(aggs_);
        }
        out_.numbering = "host N of the file is h(N+1), and number N where hosts go by number";
        if (agg.speed == top.speed && agg.bundle == top.bundle) {
            shape.links = small(agg.bundle);
            out_.kind = shape;
            return;
        }
        const auto made = fabric::make_topology(shape);
        if (!made) return out_.account.wrong(root_, made.error());
        for (const fabric::Node& node : made->nodes) out_.nodes.push_back({node.name, node.is_host, &root_});
        for (const fabric::Link& link : made->links) {
            const HtsimTier& tier = tiers_[made->nodes[link.ends[1].node].tier - 1];
            for (std::uint64_t n = 0; n < tier.bundle && out_.links.size() <= fabric::max_links; ++n)
                out_.join({link.ends[0].node, link.ends[1].node, tier.speed, tier.cable_m, {}, tier.item});
        }
    }

    Drawing& out_;
    const Item& root_;
    std::vector<HtsimTier> tiers_;
    std::uint64_t pods_ = 1, racks_ = 0, aggs_ = 0, cores_ = 0;  // racks and aggs of a pod
};

}  // namespace

void read_htsim(const std::string& text, Drawing& out) {
    out.source = htsim_document(text);
    HtsimReader(out).read();
}

}  // namespace sluice::import

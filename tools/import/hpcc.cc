// HPCC's topology, which other projects of ns-3 read, too: a line `nodes switches links`, the switches'
// numbers, and a line `a b rate delay error_rate` for each link. Numbers below `nodes` that are not a
// switch's are hosts. What follows the last link is not read there: people write notes. SimAI's begins with
// `nodes gpus_per_server nvswitches switches links gpu_type`; of its switches the first are NVSwitches, which
// with their links are no part of a network.
#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "control/fabric/plan/fabric_config.hh"
#include "tools/import/topology.hh"

namespace sluice::import {
namespace {

constexpr std::array<const char*, 5> link_columns{"a", "b", "rate", "delay", "error_rate"};

std::uint64_t header_count(const WordLines::Word& word, std::string_view name) {
    const std::uint64_t most = name == "links" ? fabric::max_links : fabric::max_nodes;
    const std::uint64_t least = name == "nvswitches" ? 0 : 1;
    const auto count = parse_integer(word.text);
    if (count && *count >= least && *count <= most) return *count;
    throw ReadError{word.place, std::string(name),
                    fmt::format("{} is not a number from {} to {}", in_quotes(word.text), least, most),
                    "correct the first line, or make the topology smaller"};
}

// PowerTCP's files count their top-of-rack switches, too. SimAI's end with a word.
std::vector<const char*> header_names(const WordLines& lines) {
    if (lines.line.size() == 3) return {"nodes", "switches", "links"};
    if (lines.line.size() == 4) return {"nodes", "switches", "tors", "links"};
    if (lines.line.size() == 6) return {"nodes", "gpus_per_server", "nvswitches", "switches", "links"};
    throw ReadError{
        lines.line.empty() ? SourcePlace{1, 1} : lines.line.front().place,
        {},
        fmt::format("the first line has {}; HPCC's has three: nodes, switches and links",
                    print_count(lines.line.size(), "word")),
        "write these three, or four with a count of top-of-rack switches before the links, or SimAI's six"};
}

void add_word(Builder& built, const char* name, const WordLines::Word& word) {
    built.key(name, word.place);
    built.word(std::string(word.text), word.place);
}

// The document: counts; "switch", a list; "link", a list of maps; "after", the first word behind the links.
std::unique_ptr<Item> hpcc_document(const std::string& text) {
    WordLines lines(text);
    Builder built;
    built.open(Item::Kind::map, {1, 1});
    lines.next();
    std::uint64_t switches = 0, links = 0;
    const auto names = header_names(lines);
    for (std::size_t n = 0; n < names.size(); ++n) {
        const std::string_view name = names[n];
        const std::uint64_t count = header_count(lines.line[n], name);
        if (name == "switches" || name == "nvswitches") switches += count;
        links = count;
        add_word(built, names[n], lines.line[n]);
    }
    if (names.size() != lines.line.size()) add_word(built, "gpu_type", lines.line.back());
    SourcePlace end = lines.line.back().place;
    built.key("switch", end);
    built.open(Item::Kind::list, end);
    for (std::uint64_t count = 0; count < switches; count += lines.line.size()) {
        if (!lines.next())
            throw ReadError{end, "switch",
                            fmt::format("the file ends after {} of {} switches", count, switches),
                            "list them all in the second line"};
        if (lines.line.size() > switches - count)
            throw ReadError{lines.line[switches - count].place, "switch",
                            fmt::format("the first line counts {} of them, here are more", switches),
                            "correct the count or the list"};
        for (const WordLines::Word& word : lines.line) built.word(std::string(word.text), word.place);
        end = lines.line.back().place;
    }
    built.close();
    built.key("link", end);
    built.open(Item::Kind::list, end);
    for (std::uint64_t count = 0; count < links; ++count) {
        if (!lines.next())
            throw ReadError{end, "link", fmt::format("the file ends after {} of {} links", count, links),
                            fmt::format("write {} in the first line, or the links that are missing", count)};
        end = lines.line.front().place;
        if (lines.line.size() != link_columns.size())
            throw ReadError{end, fmt::format("link.{}", count),
                            fmt::format("the line has {}; a link has five: a, b, rate, delay and error rate",
                                        print_count(lines.line.size(), "word")),
                            "write them, or correct the number of links in the first line"};
        built.open(Item::Kind::map, end);
        for (std::size_t n = 0; n < link_columns.size(); ++n) add_word(built, link_columns[n], lines.line[n]);
        built.close();
    }
    built.close();
    if (lines.next()) add_word(built, "after", lines.line.front());
    built.close();
    return built.take();
}

class HpccReader {
  public:
    explicit HpccReader(Drawing& out) : out_(out), root_(*out.source) {}

    void read() {
        read_nodes();
        for (const auto& link : root_.find("link")->members) read_link(*link);
        for (const char* name : {"nodes", "nvswitches", "switches", "links"})
            if (const Item* counted = root_.find(name)) out_.account.taken(*counted, "counted");
        if (const Item* gpus = root_.find("gpus_per_server"))
            out_.account.nothing(*gpus, "each GPU is a host with its own port");
        if (const Item* type = root_.find("gpu_type"))
            out_.account.nothing(*type, "a fabric has no kinds of GPUs");
        if (const Item* tors = root_.find("tors"))
            out_.account.nothing(*tors, "the links say which switches are top of a rack");
        if (const Item* after = root_.find("after"))
            out_.account.nothing(*after, fmt::format("the first line counts {} links, and nothing is read "
                                                     "behind them, as in ns-3",
                                                     root_.find("links")->word));
    }

  private:
    void read_nodes() {
        const Item& counted = *root_.find("nodes");
        const std::uint64_t count = *parse_integer(counted.word);
        node_of_.resize(count);
        inside_.resize(count);
        const Item* counted_inside = root_.find("nvswitches");
        std::uint64_t inside = counted_inside == nullptr ? 0 : *parse_integer(counted_inside->word);
        std::vector<const Item*> switches(node_of_.size());
        for (const auto& each : root_.find("switch")->members) {
            const auto id = read_number(out_.account, *each, 0, static_cast<std::int64_t>(count) - 1);
            if (!id) continue;
            const Item*& known = switches[static_cast<std::size_t>(*id)];
            if (known == nullptr && inside > 0) {
                inside_[static_cast<std::size_t>(*id)] = true;
                --inside;
                out_.account.nothing(*each, nvlink);
            } else if (known == nullptr)
                out_.account.taken(*each, fmt::format("node s{}", *id));
            else
                out_.account.wrong(*each, fmt::format("switch {} comes a second time", *id), "leave it out");
            known = each.get();
        }
        std::optional<std::size_t> moved;
        for (std::size_t id = 0; id < switches.size(); ++id) {
            if (switches[id] != nullptr) continue;
            if (id != out_.nodes.size() && !moved) moved = id;
            add_node(id, {fmt::format("h{}", id), true, &counted});
        }
        for (std::size_t id = 0; id < switches.size(); ++id)
            if (switches[id] != nullptr && !inside_[id])
                add_node(id, {fmt::format("s{}", id), false, switches[id]});
        out_.numbering = "host N of the file is hN, and number N where hosts go by number";
        if (!moved) return;
        out_.numbering = fmt::format("host N of the file is hN; where hosts go by number, h{} is number {}",
                                     *moved, node_of_[*moved]);
        out_.account.assumed("hosts", out_.numbering + ", as hosts are counted from 0 without gaps");
    }
    void add_node(std::size_t id, DrawnNode node) {
        node_of_[id] = out_.nodes.size();
        out_.nodes.push_back(std::move(node));
    }

    std::optional<std::size_t> end(const Item& item) {
        const auto id = read_number(out_.account, item, 0, static_cast<std::int64_t>(node_of_.size()) - 1);
        if (!id) return std::nullopt;
        return node_of_[static_cast<std::size_t>(*id)];
    }
    bool is_inside(const Item& item) const {
        const auto id = parse_integer(item.word);
        return id && *id < inside_.size() && inside_[static_cast<std::size_t>(*id)];
    }

    // ns-3 loses packets with this chance, at both ends.
    std::optional<Chance> lost(const Item& item) {
        double rate = -1;
        const auto [stop, error] =
            std::from_chars(item.word.data(), item.word.data() + item.word.size(), rate);
        if (error != std::errc{} || stop != item.word.data() + item.word.size() ||
            !(rate >= 0 && rate <= 1)) {
            out_.account.wrong(item, in_quotes(item.word) + " is not a rate from 0 to 1", "write 0 or 1e-5");
            return std::nullopt;
        }
        const Chance chance{static_cast<std::uint32_t>(std::lround(rate * Chance::always))};
        if (rate != 0)
            out_.account.assumed(item,
                                 fmt::format("frames are lost with a chance of {}, each way, from the start",
                                             print_chance(chance)));
        return chance;
    }

    void read_link(const Item& item) {
        const auto value = [&](std::size_t n) -> const Item& { return *item.members[n]; };
        if (is_inside(value(0)) || is_inside(value(1))) return out_.account.nothing(item, nvlink);
        const auto a = end(value(0)), b = end(value(1));
        const auto speed = out_.speed(value(2), parse_rate(value(2).word));
        const auto cable = out_.cable(value(3), parse_time(value(3).word));
        const auto chance = lost(value(4));
        if (!a || !b || !speed || !cable || !chance)
            return out_.account.left_out(item, "the link is not there, for what is wrong in its line");
        out_.join({*a, *b, *speed, *cable, *chance, &item});
    }

    Drawing& out_;
    const Item& root_;
    static constexpr const char* nvlink = "NVLink within a server is not in the network";
    std::vector<std::size_t> node_of_;  // by the file's number
    std::vector<bool> inside_;          // likewise: an NVSwitch
};

}  // namespace

void read_hpcc(const std::string& text, Drawing& out) {
    out.source = hpcc_document(text);
    HpccReader(out).read();
}

}  // namespace sluice::import

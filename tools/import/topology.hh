// The topology of another simulator, or a list of links, as a file of sluice-fabric.
//
// A reader (htsim.cc, hpcc.cc, links_csv.cc) takes its format apart into a document (document.hh), says of
// each value what became of it (account.hh), and draws nodes and links, or one of the fabric's own kinds.
// Rules that all formats share are here: a host has one link, and it goes to a switch; a delay is a cable.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/schema/values.hh"
#include "control/fabric/plan/topology.hh"
#include "tools/import/account.hh"

namespace sluice::import {

enum class TopologyFormat : unsigned char { htsim, hpcc, csv };

struct TopologyFormatHelp {
    std::string_view word, name;  // of --format; of a sentence
};
// By TopologyFormat.
inline constexpr std::array known_topologies{
    TopologyFormatHelp{"htsim", "htsim's .topo"},
    TopologyFormatHelp{"hpcc", "HPCC's topology"},
    TopologyFormatHelp{"csv", "a CSV of links with a header"},
};

struct DrawnNode {
    std::string name;
    bool is_host = false;
    const Item* item = nullptr;  // where the file speaks of it
};

struct DrawnLink {
    std::size_t a = 0, b = 0;  // into nodes
    Rate speed;
    std::uint32_t cable_m = 0;
    Chance lost;  // of frames, each way
    const Item* item = nullptr;
};

struct Drawing {
    TopologyFormat format = TopologyFormat::hpcc;
    std::unique_ptr<Item> source;  // the account points into it
    Account account;
    std::optional<fabric::TopologySettings> kind;  // without it: nodes and links
    std::vector<DrawnNode> nodes;                  // a flow list's host N is the N-th host, from 0
    std::vector<DrawnLink> links;
    std::string numbering;           // "host N of the file is hN"
    std::uint64_t buffer_bytes = 0;  // of a switch; 0: Sluice's default

    // Values as a fabric has them. Nothing: wrong, and told.
    std::optional<Rate> speed(const Item& item, const ParsedValue<Rate>& said);
    // The cable in which a signal takes so long, to the nearest meter and at least 1; the first link of each
    // delay has a line.
    std::optional<std::uint32_t> cable(const Item& item, const ParsedValue<Duration>& delay);
    std::optional<std::uint32_t> length(const Item& item, const ParsedValue<std::uint32_t>& said);
    // Draws a link, unless it ends where it begins or joins two hosts.
    void join(const DrawnLink& link);
    // After the last link. A second link of a host is told as wrong, and taken out.
    void check_nodes();

  private:
    std::map<Duration, std::uint32_t> known_delays_;
};

// The lines of a text that have words, cut at blanks; without comments, which begin with #.
class WordLines {
  public:
    struct Word {
        std::string_view text;
        SourcePlace place;
    };
    explicit WordLines(std::string_view text) : rest_(text) {}
    // False at the end. `line` is valid until the next call.
    bool next();
    std::vector<Word> line;
    std::string_view text() const { return text_; }  // of the line

  private:
    std::string_view rest_, text_;
    unsigned number_ = 0;
};

// Readers. They throw ReadError where the format ends to be one.
void read_htsim(const std::string& text, Drawing& out);
void read_hpcc(const std::string& text, Drawing& out);
void read_csv(const std::string& text, Drawing& out);

// The lines of a list of links, for those who know the devices: a CSV as read_csv takes it, in which no
// device is a host or a switch. Throws ReadError.
struct ListedLink {
    std::string device_a, port_a, device_b, port_b;
    std::optional<std::uint32_t> cable_m;
    SourcePlace place;
};
std::vector<ListedLink> read_listed_links(const std::string& text);

// The drawing of `text`, by `said` or by its content.
tl::expected<Drawing, ReadError> import_topology(std::string text, std::optional<TopologyFormat> said);

// The file, with a head that says where it comes from, what was assumed, and what to do next with `name`.
std::string to_fabric_file(const Drawing& drawing, const std::string& from, const std::string& name);
// "256 hosts, 20 switches, 288 links"; "leaf-spine: ...".
std::string size_of(const Drawing& drawing);
// A larger buffer for all switches where the default does not hold the headrooms of their ports.
void fit_buffer(Drawing& drawing);
// The reasons why `sluice-fabric check` refuses the file, a line each, or empty.
std::string fabric_refusal(const std::string& text, const std::string& name);

}  // namespace sluice::import

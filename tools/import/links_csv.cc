// A list of links, one a line, below a header: two devices, and as far as there are columns for them their
// ports, what each is, speed, and length or delay of the cable. Separated by commas, semicolons or tabs,
// with quotes as RFC 4180 has them, but within a line.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "control/config/schema/schema_types.hh"
#include "control/fabric/plan/fabric_config.hh"
#include "control/fabric/workload/csv_record.hh"
#include "control/fabric/workload/flow_values.hh"
#include "control/fabric/workload/text_lines.hh"
#include "tools/import/topology.hh"

namespace sluice::import {
namespace {

enum class LinkColumn : unsigned char {
    device_a,
    device_b,
    port_a,
    port_b,
    role_a,
    role_b,
    speed,
    cable,
    delay
};
constexpr std::size_t link_column_count = 9;

struct LinkColumnHelp {
    std::string_view name;
    std::array<std::string_view, 13> words;  // of headers: their letters and digits, in small letters
};
// By LinkColumn.
constexpr std::array<LinkColumnHelp, link_column_count> link_column_help{{
    {"device_a",
     {"devicea", "adevice", "a", "nodea", "node1", "source", "src", "from", "device1", "localdevice",
      "startdevice", "sourcedevice", "device"}},
    {"device_b",
     {"deviceb", "bdevice", "b", "nodeb", "node2", "destination", "dst", "to", "device2", "remotedevice",
      "enddevice", "destinationdevice", "peer"}},
    {"port_a",
     {"porta", "aport", "interfacea", "sourceport", "srcport", "port1", "localport", "startport",
      "localinterface", "port", "interface"}},
    {"port_b",
     {"portb", "bport", "interfaceb", "destinationport", "dstport", "port2", "remoteport", "endport",
      "remoteinterface", "peerport", "peerinterface"}},
    {"role_a", {"rolea", "arole", "kinda", "typea", "role", "kind", "sourcerole", "srcrole", "localrole"}},
    {"role_b", {"roleb", "brole", "kindb", "typeb", "peerrole", "destinationrole", "dstrole", "remoterole"}},
    {"speed", {"speed", "bandwidth", "rate", "linkspeed", "capacity", "portspeed"}},
    {"cable", {"cable", "length", "cablelength", "distance"}},
    {"delay", {"delay", "latency", "propagationdelay", "linkdelay", "linklatency"}},
}};

constexpr std::string_view name_of(LinkColumn column) {
    return link_column_help.at(static_cast<std::size_t>(column)).name;
}
// Null: the cell is empty, or there is no such column.
const Item* cell_of(const Item& row, LinkColumn column) { return row.find(name_of(column)); }
std::string word_of(const Item& row, LinkColumn column) {
    const Item* cell = cell_of(row, column);
    return cell == nullptr ? std::string() : cell->word;
}

constexpr std::array<std::string_view, 8> host_roles{"host",    "server",   "nic",    "gpu",
                                                     "compute", "endpoint", "client", "storage"};

std::string plain_header(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c >= 'A' && c <= 'Z') out += static_cast<char>(c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || is_digit(c)) out += c;
    }
    return out;
}

struct CsvColumn {
    std::optional<LinkColumn> means;
    std::string unit;  // of its numbers: "ns"; empty: its cells have one
};

CsvColumn meaning_of(std::string_view header) {
    const std::string plain = plain_header(header);
    constexpr std::array<std::pair<std::string_view, std::string_view>, 9> units{{{"", ""},
                                                                                  {"gbps", "G"},
                                                                                  {"mbps", "M"},
                                                                                  {"meters", "m"},
                                                                                  {"m", "m"},
                                                                                  {"ns", "ns"},
                                                                                  {"us", "us"},
                                                                                  {"ms", "ms"},
                                                                                  {"gb", "G"}}};
    for (const auto& [suffix, unit] : units) {
        if (!plain.ends_with(suffix)) continue;
        const std::string_view stem = std::string_view(plain).substr(0, plain.size() - suffix.size());
        for (std::size_t n = 0; n < link_column_count; ++n) {
            const auto means = static_cast<LinkColumn>(n);
            if (!unit.empty() && means < LinkColumn::speed) continue;
            if (!stem.empty() &&
                std::ranges::find(link_column_help[n].words, stem) != link_column_help[n].words.end())
                return {means, std::string(unit)};
        }
    }
    return {};
}

// Speeds of ports in Gb/s are below 1000, in Mb/s from there on: a number without a unit is not ambiguous.
ParsedValue<Rate> rate_without_unit(const std::string& text) {
    constexpr std::uint64_t least_megabits = 1000;
    const auto number = parse_integer(text);
    if (!number) return parse_rate(text);
    return parse_rate(text + (*number < least_megabits ? "G" : "M"));
}

class CsvReader {
  public:
    explicit CsvReader(Drawing& out) : out_(out) {}

    void read(std::string_view text) {
        read_document(text);
        Account& account = out_.account;
        for (const auto& row : out_.source->find("row")->members) read_row(*row);
        find_hosts();
        for (DrawnLink link : links_) {
            link.a = place_of_[link.a];
            link.b = place_of_[link.b];
            out_.join(link);
        }
        if (!has(LinkColumn::speed))
            account.assumed("speed",
                            fmt::format("{} of each link: no column says it", print_rate(usual_.speed)));
        if (!has(LinkColumn::cable) && !has(LinkColumn::delay))
            account.assumed("cable",
                            fmt::format("{} for each link: no column says it", print_length(usual_.cable_m)));
        out_.numbering = "hosts that go by number are counted from 0 in the order of the file";
    }

    std::vector<ListedLink> read_listed(std::string_view text) {
        read_document(text);
        std::vector<ListedLink> listed;
        for (const auto& row : out_.source->find("row")->members) {
            ListedLink link{word_of(*row, LinkColumn::device_a),
                            word_of(*row, LinkColumn::port_a),
                            word_of(*row, LinkColumn::device_b),
                            word_of(*row, LinkColumn::port_b),
                            {},
                            row->place};
            if (has(LinkColumn::cable) || has(LinkColumn::delay)) link.cable_m = cable_of(*row);
            listed.push_back(std::move(link));
        }
        if (out_.account.has(Fate::wrong)) {
            const Line& line = out_.account.lines().front();
            throw ReadError{line.place, line.path, line.what, line.remedy};
        }
        return listed;
    }

  private:
    struct Device {
        std::string name;
        const Item* item;  // where it comes first
        std::optional<bool> said_host{};
        std::size_t links = 0;
    };
    bool has(LinkColumn column) const {
        return std::ranges::any_of(columns_, [&](const CsvColumn& each) { return each.means == column; });
    }
    // Has it, but for the last one.
    bool has_before(LinkColumn column) const {
        return std::any_of(columns_.begin(), std::prev(columns_.end()),
                           [&](const CsvColumn& each) { return each.means == column; });
    }
    std::string unit_of(LinkColumn column) const {
        for (const CsvColumn& each : columns_)
            if (each.means == column) return each.unit;
        return {};
    }

    // The document: "column", a map of headers; "row", a list of maps.
    void read_document(std::string_view text) {
        Builder built;
        built.open(Item::Kind::map, {1, 1});
        fabric::TextLines lines(fabric::TextLines::source_of(text));
        fabric::CsvRecord record;
        bool has_header = false;
        while (lines.next()) {
            const std::string_view line = lines.text();
            if (fabric::is_blank(trimmed(line))) continue;
            if (!has_header) record.set_separator(fabric::csv_separator(line).value_or(','));
            if (!record.split(line, lines.number()))
                throw ReadError{record.last_place(), {}, "a quote has no end in its line", "close it"};
            if (has_header) {
                read_cells(record, built);
                continue;
            }
            has_header = true;
            read_header(record, built);
            built.key("row", {lines.number(), 1});
            built.open(Item::Kind::list, {lines.number(), 1});
        }
        if (!lines.wrong().wrong.empty())
            throw ReadError{{lines.number(), 1}, {}, lines.wrong().wrong, lines.wrong().remedy};
        if (!has_header)
            throw ReadError{{1, 1}, {}, "has no header", "begin it with device_a,device_b,speed"};
        built.close();
        built.close();
        out_.source = built.take();
        for (std::size_t n = 0; n < columns_.size(); ++n)
            tell_column(*out_.source->find("column")->members[n], n);
    }

    void read_header(const fabric::CsvRecord& cells, Builder& built) {
        const SourcePlace first = cells[0].place;
        built.key("column", first);
        built.open(Item::Kind::map, first);
        for (std::size_t n = 0; n < cells.size(); ++n) {
            const auto [text, place] = cells[n];
            columns_.push_back(meaning_of(text));
            // "device,port,device,port": the second one is of the other end.
            for (const auto& [one, other] : {std::pair{LinkColumn::device_a, LinkColumn::device_b},
                                             std::pair{LinkColumn::port_a, LinkColumn::port_b}})
                if (columns_.back().means == one && has_before(one) && !has_before(other))
                    columns_.back().means = other;
            const auto& means = columns_.back().means;
            if (means && std::ranges::count(columns_, means, &CsvColumn::means) > 1)
                throw ReadError{place, fmt::format("column.{}", text),
                                fmt::format("a second column for {}", name_of(*means)), "rename one of them"};
            built.key(std::string(text), place);
            built.word(std::string(text), place);
        }
        built.close();
        for (const LinkColumn needed : {LinkColumn::device_a, LinkColumn::device_b})
            if (!has(needed))
                throw ReadError{first, "column", fmt::format("there is no column for {}", name_of(needed)),
                                "name the two devices of a link device_a and device_b in the header"};
    }

    void read_cells(const fabric::CsvRecord& cells, Builder& built) {
        if (cells.size() > columns_.size())
            throw ReadError{cells[columns_.size()].place,
                            {},
                            fmt::format("the line has {}, and the header {}",
                                        print_count(cells.size(), "cell"), columns_.size()),
                            "quote a cell that has the separator in it"};
        built.open(Item::Kind::map, cells[0].place);
        for (std::size_t n = 0; n < cells.size(); ++n) {
            const auto [text, place] = cells[n];
            if (!columns_[n].means || text.empty()) continue;
            built.key(std::string(name_of(*columns_[n].means)), place);
            built.word(std::string(text), place);
        }
        built.close();
    }

    void tell_column(const Item& item, std::size_t n) {
        if (!columns_[n].means) return out_.account.nothing(item, "a link of Sluice has none of it");
        const LinkColumn means = *columns_[n].means;
        if (means == LinkColumn::port_a || means == LinkColumn::port_b)
            return out_.account.nothing(item, "a port has the name of the node at its other end");
        if (means == LinkColumn::delay && has(LinkColumn::cable))
            return out_.account.nothing(item, "the length of the cable says it");
        out_.account.taken(item, std::string(name_of(means)));
    }

    std::optional<std::size_t> device(const Item& row, LinkColumn column) {
        const Item* named = cell_of(row, column);
        if (named == nullptr) {
            out_.account.wrong(row, fmt::format("{} is missing", name_of(column)),
                               "name both devices of the link");
            return std::nullopt;
        }
        if (!schema::valid_name(named->word)) {
            out_.account.wrong(
                *named, fmt::format("{} cannot be a name: {}", in_quotes(named->word), schema::name_rule),
                "rename it");
            return std::nullopt;
        }
        const auto [known, is_new] = index_.emplace(named->word, devices_.size());
        if (is_new) devices_.push_back({named->word, named});
        return known->second;
    }

    void take_role(std::size_t device, const Item* role) {
        if (role == nullptr) return;
        const bool is_host = std::ranges::find(host_roles, plain_header(role->word)) != host_roles.end();
        auto& said = devices_[device].said_host;
        if (said && *said != is_host)
            return out_.account.wrong(*role, fmt::format("{} is a host and a switch", devices_[device].name),
                                      "say the same of it in each line");
        said = is_host;
    }

    // False: the line is not another link, or cannot be one.
    bool claim_ports(const Item& row, std::size_t a, std::size_t b) {
        using Port = std::pair<std::size_t, std::string>;
        const Port one{a, word_of(row, LinkColumn::port_a)}, other{b, word_of(row, LinkColumn::port_b)};
        const auto known = [&](const Port& port) {
            return port.second.empty() ? ports_.end() : ports_.find(port);
        };
        const auto first = known(one), second = known(other);
        if (first != ports_.end() && second != ports_.end() && first->second == second->second) {
            out_.account.assumed(row,
                                 fmt::format("is the link of line {}, from its other end", first->second));
            return false;
        }
        for (const auto& [port, found] : {std::pair{one, first}, std::pair{other, second}}) {
            if (found == ports_.end()) continue;
            out_.account.wrong(row,
                               fmt::format("port {} of {} is that of the link in line {}",
                                           in_quotes(port.second), devices_[port.first].name, found->second),
                               "correct one of them");
            return false;
        }
        for (const Port& port : {one, other})
            if (!port.second.empty()) ports_.emplace(port, row.place.line);
        return true;
    }

    std::optional<Rate> speed_of(const Item& row) {
        const Item* cell = cell_of(row, LinkColumn::speed);
        if (cell != nullptr) {
            const std::string unit = unit_of(LinkColumn::speed);
            const bool bare = parse_integer(cell->word).has_value();
            return out_.speed(
                *cell, bare && !unit.empty() ? parse_rate(cell->word + unit) : rate_without_unit(cell->word));
        }
        if (has(LinkColumn::speed))
            out_.account.assumed(row, fmt::format("speed = {}: its cell is empty", print_rate(usual_.speed)));
        return usual_.speed;
    }

    std::optional<std::uint32_t> cable_of(const Item& row) {
        const auto with_unit = [&](const Item& cell, LinkColumn column) {
            return cell.word + (is_digit(cell.word.back()) ? unit_of(column) : std::string());
        };
        if (const Item* cell = cell_of(row, LinkColumn::cable))
            return out_.length(*cell, parse_length(with_unit(*cell, LinkColumn::cable)));
        if (const Item* cell = cell_of(row, LinkColumn::delay))
            return out_.cable(*cell, parse_time(with_unit(*cell, LinkColumn::delay)));
        if (has(LinkColumn::cable) || has(LinkColumn::delay))
            out_.account.assumed(row,
                                 fmt::format("cable = {}: its cell is empty", print_length(usual_.cable_m)));
        return usual_.cable_m;
    }

    void read_row(const Item& row) {
        const auto a = device(row, LinkColumn::device_a), b = device(row, LinkColumn::device_b);
        const auto speed = speed_of(row);
        const auto cable = cable_of(row);
        if (!a || !b || !speed || !cable)
            return out_.account.left_out(row, "the link is not there, for what is wrong in its line");
        take_role(*a, cell_of(row, LinkColumn::role_a));
        take_role(*b, cell_of(row, LinkColumn::role_b));
        if (!claim_ports(row, *a, *b)) return;
        ++devices_[*a].links;
        ++devices_[*b].links;
        links_.push_back({*a, *b, *speed, *cable, {}, &row});
    }

    // By its role where a line says it; else a device with one link is a host. Hosts come first.
    void find_hosts() {
        std::size_t said = 0, guessed = 0;
        place_of_.resize(devices_.size());
        for (const bool hosts : {true, false})
            for (std::size_t n = 0; n < devices_.size(); ++n) {
                const Device& each = devices_[n];
                if (each.said_host.value_or(each.links == 1) != hosts) continue;
                if (hosts) ++(each.said_host ? said : guessed);
                place_of_[n] = out_.nodes.size();
                out_.nodes.push_back({each.name, hosts, each.item});
            }
        if (guessed != 0)
            out_.account.assumed("hosts", fmt::format("{} with one link {}: no line says what they are",
                                                      print_count(guessed, "device"),
                                                      guessed == 1 ? "is a host" : "are hosts"));
        if (said + guessed == 0)
            out_.account.wrong(*out_.source->find("column"), "no device is a host: each has several links",
                               "add the columns role_a and role_b, with host or switch");
    }

    Drawing& out_;
    const fabric::LinkConfig usual_{};
    std::vector<CsvColumn> columns_;
    std::vector<Device> devices_;
    std::map<std::string, std::size_t> index_;
    std::map<std::pair<std::size_t, std::string>, unsigned>
        ports_;                          // of devices, with the line of their link
    std::vector<DrawnLink> links_;       // between devices
    std::vector<std::size_t> place_of_;  // of a device, among the nodes
};

}  // namespace

void read_csv(const std::string& text, Drawing& out) { CsvReader(out).read(text); }

std::vector<ListedLink> read_listed_links(const std::string& text) {
    Drawing drawing;
    return CsvReader(drawing).read_listed(text);
}

}  // namespace sluice::import

// The keys of an interface that both makers have, speed, MTU, addresses and shutdown; and static routes.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "control/config/schema/values.hh"
#include "tools/import/cli.hh"

namespace sluice::import {
namespace {

// Mb/s of "100g-4", "forced 25gfull", "10000full", "auto 100gfull", "100000"; nothing: left to the link.
std::optional<std::uint64_t> megabits_in(std::string_view words) {
    constexpr std::uint64_t kilo = 1000;
    std::string_view word;
    for (StatementWords rest(words); !rest.empty();)
        if (rest.peek() != "auto" && rest.peek() != "forced")
            word = rest.next();
        else
            rest.next();
    for (const std::string_view duplex : {"full", "half"})
        if (word.ends_with(duplex)) word.remove_suffix(duplex.size());
    const std::size_t end = std::min(word.find_first_not_of("0123456789"), word.size());
    const auto figure = parse_integer(word.substr(0, end));
    const std::string_view unit = word.substr(end);
    if (!figure || *figure > kilo * kilo) return std::nullopt;
    if (unit.empty()) return *figure;
    if (unit.starts_with('g') || unit.starts_with('G')) return *figure * kilo;
    return std::nullopt;
}

void take_speed(Cli& cli, const Said& said, const std::string& name, PortConfig& port) {
    const bool is_auto = said.negated || said.words == "auto" || said.words.starts_with("auto-");
    if (is_auto)
        return cli.account().assumed(*said.item, key_of_port(name, "speed") +
                                                     fmt::format(" = \"{}\"", print_rate(port.speed)) +
                                                     ": the file leaves it to the link");
    const auto megabits = megabits_in(said.words);
    if (!megabits || *megabits == 0)
        return cli.wrong(said, in_quotes(said.words) + " is not a speed of a port",
                         "write speed 100g, for example");
    cli.out.note(port, Aspect::speed, *said.item);
    cli.out.set_speed(*said.item, port, name, *megabits);
}

void take_mtu(Cli& cli, const Said& said, const std::string& name, PortConfig& port) {
    const auto mtu = cli.number(said, said.arguments().peek(), min_mtu, 65'535);
    if (!mtu) return;
    port.mtu = static_cast<std::uint32_t>(std::min<std::uint64_t>(*mtu, max_mtu));
    cli.out.note(port, Aspect::mtu, *said.item);
    const std::string what = key_of_port(name, "mtu") + fmt::format(" = {}", port.mtu);
    if (*mtu > max_mtu)
        cli.account().assumed(*said.item, what + ": the most that Sluice takes");
    else
        cli.account().taken(*said.item, what);
}

// "10.0.0.1/31", or "10.0.0.1 255.255.255.254".
std::string prefix_text(StatementWords words) {
    const std::string_view address = words.next();
    if (address.find('/') != address.npos) return std::string(address);
    const auto mask = parse_address(words.peek());
    if (!mask || mask->is_v6) return std::string(address);
    unsigned length = 0;
    std::uint32_t bits = 0;
    for (unsigned n = 0; n < 4; ++n) bits = bits << 8U | mask->bytes[n];
    while (length < 32 && (bits & (0x8000'0000U >> length)) != 0) ++length;
    const std::uint32_t wanted = length == 0 ? 0 : 0xFFFF'FFFFU << (32 - length);
    return wanted == bits ? fmt::format("{}/{}", address, length)
                          : fmt::format("{}/{}", address, words.peek());
}

void take_address(Cli& cli, const Said& said, const std::string& name, PortConfig& port,
                  std::string_view vrf) {
    if (said.negated) return cli.account().taken(*said.item, "no address of this kind");
    // The key may have the address in it.
    StatementWords words(said.item->word);
    words.take("ip address") || words.take("ipv6 address");
    if (words.take("virtual"))
        return cli.account().nothing(*said.item, "a virtual address, which several switches share");
    const std::string_view first = words.peek();
    if (first.empty() || first.find_first_of(".:") == first.npos)
        return cli.account().nothing(*said.item, "an address that is not in the file");
    if (!vrf.empty())
        return cli.account().nothing(*said.item,
                                     fmt::format("of VRF {}: Sluice has one table of routes", vrf));
    const auto address = cli.out.interface_address(*said.item, prefix_text(words));
    if (!address) return;
    if (address->address.is_v6 && is_link_local(address->address))
        return cli.account().nothing(*said.item, "Sluice has no link-local addresses");
    for (const auto& [other_name, other] : cli.config().ports)
        for (const IpPrefix& own : other.address)
            if (&other != &port &&
                (contains(network_of(own), address->address) || contains(network_of(*address), own.address)))
                return cli.account().left_out(
                    *said.item,
                    fmt::format("port {} has the subnet of {}", other_name, print_prefix(*address)),
                    "give each port a subnet of its own");
    if (std::ranges::find(port.address, *address) == port.address.end()) port.address.push_back(*address);
    cli.account().taken(*said.item, key_of_port(name, "address") + " has \"" + print_prefix(*address) + "\"");
}

std::string_view vrf_of(const Settings& settings, Account& account) {
    const Said* said = find_said(settings, "vrf");
    if (said == nullptr) return {};
    StatementWords words = said->arguments();
    if (!words.take("member")) words.take("forwarding");
    if (said->negated || words.peek() == "default") {
        account.taken(*said->item, "the one table of routes");
        return {};
    }
    account.nothing(*said->item, "Sluice has one table of routes");
    return words.peek();
}

struct Hop {
    const Item* item;
    IpAddress address;
    std::string port;
    unsigned preference;
};

class Routes {
  public:
    explicit Routes(Cli& cli) : cli_(cli) {}

    void take() {
        for (const auto& statement : cli_.root.members) {
            StatementWords words(statement->word);
            if (words.take("ip route") || words.take("ipv6 route")) read(*statement, words);
        }
        for (auto& [prefix, hops] : hops_) write(prefix, hops);
    }

  private:
    Account& account() { return cli_.account(); }

    void read(const Item& item, StatementWords words) {
        if (words.take("vrf")) {
            if (words.next() != "default")
                return account().nothing_in(item, "ip route vrf", "Sluice has one table of routes");
        }
        if (words.peek() == "static" || words.peek() == "preference")
            return account().nothing(item, "of the protocol, not a route");
        const std::string text = prefix_text(words);
        if (words.next().find('/') == std::string_view::npos) words.next();
        const auto prefix = parse_prefix(text);
        if (!prefix)
            return account().wrong(item, in_quotes(text) + " " + prefix.error().wrong, prefix.error().remedy);
        read_hop(item, network_of(*prefix), words);
    }

    void read_hop(const Item& item, const IpPrefix& prefix, StatementWords words) {
        if (words.empty())
            return account().wrong(item, "has no next hop", "write its address behind the prefix");
        const std::string_view first = words.peek();
        if (first == "null0" || first == "Null0" || first == "null" || first == "Null") {
            words.next();
            dropped_.emplace(prefix, &item);
            hops_[prefix];
            return;
        }
        Hop hop{&item, {}, {}, 1};
        if (words.peek() == "egress-vrf")
            return account().nothing(item, "into another VRF: Sluice has one table of routes");
        if (!parse_address(first)) {
            std::string named(words.next());
            // "Ethernet 1/1", in two words
            if (named.find_first_of("0123456789") == std::string::npos) named += words.next();
            const InterfaceList list = interfaces_in(named);
            if (list.kind != InterfaceList::Kind::port || list.names.size() != 1 ||
                !cli_.config().ports.contains(list.names.front()))
                return account().nothing(
                    item, fmt::format("goes by {}, which is not a port of Sluice's", in_quotes(named)));
            hop.port = list.names.front();
        }
        const auto address = parse_address(words.peek());
        if (!address) return account().nothing(item, "a route by a port alone: Sluice's go by addresses");
        words.next();
        hop.address = *address;
        for (const auto& [name, port] : cli_.config().ports)
            for (const IpPrefix& own : port.address)
                if (own.address == hop.address)
                    return account().left_out(item,
                                              fmt::format("its next hop is the address of port {}", name),
                                              "write the neighbor's address");
        read_rest(item, words, hop);
        hops_[prefix].push_back(hop);
    }

    void read_rest(const Item& item, StatementWords words, Hop& hop) {
        while (!words.empty()) {
            const std::string_view word = words.next();
            if (const auto preference = parse_integer(word); preference && *preference <= 255)
                hop.preference = static_cast<unsigned>(*preference);
            else if (word == "track" || word == "metric")
                account().assumed(item,
                                  fmt::format("without its {}: Sluice's routes are always there", word));
            if (word == "tag" || word == "name" || word == "track" || word == "metric" || word == "vrf")
                words.next();
        }
    }

    void write(const IpPrefix& prefix, std::vector<Hop>& hops) {
        RouteConfig route{prefix, {}, {}};
        const auto dropped = dropped_.find(prefix);
        if (dropped != dropped_.end() && !hops.empty())
            account().nothing(*dropped->second, "other lines have next hops for this prefix");
        unsigned best = 256;
        for (const Hop& hop : hops) best = std::min(best, hop.preference);
        for (const Hop& hop : hops) {
            if (hop.preference != best) {
                account().nothing(*hop.item, "a spare for the route of a smaller preference");
                continue;
            }
            const NextHopConfig next{hop.address, min_hop_weight, hop.port};
            const bool is_known = std::ranges::any_of(
                route.via, [&](const NextHopConfig& known) { return known.address == next.address; });
            if (!is_known && route.via.size() < max_route_hops) {
                cli_.out.next_hops.insert({hop.address, hop.port});
                route.via.push_back(next);
            }
            account().taken(*hop.item, fmt::format("[[route]] prefix = \"{}\"", print_prefix(prefix)));
        }
        if (hops.empty())
            account().taken(*dropped->second, fmt::format("[[route]] prefix = \"{}\" via = \"blackhole\"",
                                                          print_prefix(prefix)));
        std::ranges::sort(route.via);
        add(cli_.config(), std::move(route));
    }

    Cli& cli_;
    std::map<IpPrefix, std::vector<Hop>> hops_;
    std::map<IpPrefix, const Item*> dropped_;
};

}  // namespace

void Cli::take_link(const std::string& name, PortConfig& port, std::uint32_t usual_mtu) {
    const Settings& settings = ports.at(name).settings;
    port.mtu = usual_mtu;
    if (const Said* said = find_said(settings, "speed")) take_speed(*this, *said, name, port);
    if (out.ports_left_out.contains(name)) return;
    if (const Said* said = find_said(settings, "mtu"); said != nullptr && !said->negated)
        take_mtu(*this, *said, name, port);
    const std::string_view vrf = vrf_of(settings, account());
    for (const auto& [key, said] : settings) {
        if (key.starts_with("ip address") || key.starts_with("ipv6 address"))
            take_address(*this, said, name, port, vrf);
        if (key == "description") {
            PortNotes& notes = out.notes[name];
            notes.description = said.words;
            notes.description_place = said.item->place;
            account().nothing_in(*said.item, "interface: description", "a name");
        }
        if (key.starts_with("switchport"))
            account().nothing_in(*said.item, "interface: switchport", "Sluice routes at every port");
    }
    const Said* down = find_said(settings, "shutdown");
    if (down == nullptr) return;
    if (down->negated) return account().taken(*down->item, "up from the start");
    config().events.push_back({Duration{}, fmt::format("port {} down", name), {}});
    account().taken(*down->item, fmt::format("[[event]] at = \"0ns\" do = \"port {} down\"", name));
}

void Cli::take_routes() { Routes(*this).take(); }

}  // namespace sluice::import

// Methods of routes and neighbors: many in one request, whole or not at all; and which way a flow takes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "control/config/schema/values.hh"
#include "control/report/figures/report.hh"
#include "control/serve/server/api.hh"
#include "control/serve/server/methods.hh"
#include "control/switch/running/kernel_control.hh"
#include "control/switch/running/route_lookup.hh"
#include "control/switch/running/surroundings.hh"

namespace sluice {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& message) {
    throw wrong_parameter(path, path + ": " + message);
}

NextHopConfig hop_of(const Json& json, const std::string& path) {
    if (json.is_string()) return {parsed_parameter(json, path, parse_address)};
    RpcParameters members(json, path + ".");
    NextHopConfig hop{members.value("address", parse_address)};
    members.only({"address", "port", "weight"});
    hop.port = members.text_or("port", "");
    hop.weight =
        static_cast<std::uint32_t>(members.integer_or("weight", min_hop_weight, max_hop_weight, hop.weight));
    return hop;
}

RouteConfig route_of(const Json& json, const std::string& path, bool with_via) {
    if (!with_via && json.is_string()) return {parsed_parameter(json, path, parse_network), {}, {}};
    RpcParameters members(json, path + ".");
    RouteConfig route{members.value("prefix", parse_network), {}, {}};
    if (!with_via) return route;
    members.only({"prefix", "via", "load_balance"});
    const Json& via = members.any("via");
    if (members.has("load_balance")) route.load_balance = members.value("load_balance", parse_load_balance);
    if (via == "blackhole") return route;
    if (!via.is_array() || via.empty() || via.size() > max_route_hops)
        refuse(path + ".via",
               fmt::format("must be a list of 1 to {} next hops, or \"blackhole\"", max_route_hops));
    for (std::size_t i = 0; i < via.size(); ++i)
        route.via.push_back(hop_of(via[i], fmt::format("{}.via[{}]", path, i)));
    std::sort(route.via.begin(), route.via.end());
    return route;
}

NeighborConfig neighbor_of(const Json& json, const std::string& path, bool whole) {
    if (!whole && json.is_string()) return {parsed_parameter(json, path, parse_address), {}, {}, {}, {}};
    RpcParameters members(json, path + ".");
    NeighborConfig neighbor;
    neighbor.address = members.value("address", parse_address);
    neighbor.port = whole ? members.text("port") : members.text_or("port", "");
    if (!whole) return neighbor;
    members.only({"address", "port", "mac", "vlan"});
    neighbor.mac = members.value("mac", parse_mac);
    constexpr std::uint64_t max_vlan = 4094;
    if (members.has("vlan")) neighbor.vlan = static_cast<std::uint16_t>(members.integer("vlan", 1, max_vlan));
    return neighbor;
}

enum class Verb : std::uint8_t { add, replace, remove };

// Turns a request into changes of the entries; a key twice in one request is refused.
template <class Change, class Set, class Entry, class KeyOf, class Text>
std::vector<Change> changes_of(const Set& there, std::vector<Entry> asked, Verb verb, KeyOf key, Text text) {
    const auto refuse_change = [&](const Entry& entry, const std::string& why, Json more) {
        more["path"] = text(entry);
        throw RpcError{RpcCode::refused, why, std::move(more)};
    };
    std::vector<Change> changes;
    changes.reserve(asked.size());
    std::set<std::decay_t<decltype(key(asked[0]))>> seen;
    std::size_t fresh = 0;
    for (Entry& entry : asked) {
        const bool found = there.contains(key(entry));
        if (!seen.insert(key(entry)).second) refuse_change(entry, text(entry) + " comes twice", {});
        if (verb == Verb::add && found)
            refuse_change(entry, text(entry) + " is there already", {{"do", "replace it"}});
        if (verb == Verb::remove && !found) refuse_change(entry, "there is no " + text(entry), {});
        if (!found && ++fresh + there.size() > max_routes)
            throw RpcError{RpcCode::too_much,
                           fmt::format("{}: at most {} of its kind", text(entry), max_routes)};
        changes.push_back({key(entry), {}});
        if (verb != Verb::remove) changes.back().now = std::move(entry);
    }
    return changes;
}

template <class Entry, class Read>
std::vector<Entry> entries_of(RpcParameters& parameters, const char* name, Read read) {
    const Json& list = parameters.any(name);
    if (!list.is_array()) refuse(name, "must be a list");
    std::vector<Entry> entries;
    entries.reserve(list.size());
    for (std::size_t i = 0; i < list.size(); ++i)
        entries.push_back(read(list[i], fmt::format("{}[{}]", name, i)));
    return entries;
}

template <Verb verb>
Json routes(Api& api, RpcClient&, RpcParameters& parameters) {
    auto asked =
        entries_of<RouteConfig>(parameters, "routes", [&](const Json& json, const std::string& path) {
            return route_of(json, path, verb != Verb::remove);
        });
    RouteChanges changes;
    changes.routes = changes_of<RouteChanges::Route>(
        *api.running().config().routes, std::move(asked), verb,
        [](const RouteConfig& route) { return route.prefix; },
        [](const RouteConfig& route) { return "route " + print_prefix(route.prefix); });
    done_or_throw(api.changes().change_routes(changes));
    return {{"changed", changes.routes.size()}, {"generation", api.running().generation()}};
}

// Adds the port to an address alone, where exactly one neighbor has it.
void find_port(const NeighborSet& there, NeighborConfig& neighbor) {
    const auto [first, last] = there.equal_range(neighbor.address);
    if (!neighbor.port.empty() || first == last) return;
    if (std::next(first) != last)
        throw RpcError{
            RpcCode::refused,
            fmt::format("neighbor {} is at several ports", print_address(neighbor.address)),
            {{"do", fmt::format("name the port: {}", print_next_hop(first->address, first->port))}}};
    neighbor.port = first->port;
}

// The places that neighbors leave whose address is now at another port. A link-local one, which each port may
// have, stays, and so does an address that several ports have.
std::vector<NeighborKey> moved_by(const NeighborSet& there, const std::vector<NeighborConfig>& asked) {
    std::set<NeighborKey> named, moved;
    for (const NeighborConfig& neighbor : asked) named.insert(neighbor.key());
    for (const NeighborConfig& neighbor : asked) {
        const auto [first, last] = there.equal_range(neighbor.address);
        if (!is_link_local(neighbor.address) && std::distance(first, last) == 1 &&
            !named.contains(first->key()))
            moved.insert(first->key());
    }
    return {moved.begin(), moved.end()};
}

template <Verb verb>
Json neighbors(Api& api, RpcClient&, RpcParameters& parameters) {
    auto asked =
        entries_of<NeighborConfig>(parameters, "neighbors", [&](const Json& json, const std::string& path) {
            return neighbor_of(json, path, verb != Verb::remove);
        });
    const NeighborSet& there = *api.running().config().neighbors;
    if (verb == Verb::remove)
        for (NeighborConfig& neighbor : asked) find_port(there, neighbor);
    std::vector<NeighborKey> moved;
    if (verb == Verb::replace) moved = moved_by(there, asked);
    RouteChanges changes;
    changes.neighbors = changes_of<RouteChanges::Neighbor>(
        there, std::move(asked), verb, [](const NeighborConfig& neighbor) { return neighbor.key(); },
        [](const NeighborConfig& neighbor) {
            return "neighbor " + print_next_hop(neighbor.address, neighbor.port);
        });
    for (NeighborKey& key : moved) changes.neighbors.push_back({std::move(key), {}});
    done_or_throw(api.changes().change_routes(changes));
    return {{"changed", changes.neighbors.size()}, {"generation", api.running().generation()}};
}

std::string_view source_text(const Routes::Source& source) {
    constexpr std::array<std::array<std::string_view, 4>, route_origins> texts{
        {{"address", "neighbor", "static", "subnet"},
         {"kernel address", "kernel neighbor", "kernel", "kernel subnet"}}};
    return texts[static_cast<unsigned>(source.origin)][static_cast<unsigned>(source.kind)];
}

// As iproute2 calls a route of the kernel that drops packets; "elsewhere": it is by none of our ports.
std::string_view word_of_drop(const RunningSwitch& running, const Routes::Listed& route) {
    std::string_view word;
    if (const KernelControl* kernel = running.surroundings().kernel();
        kernel != nullptr && route.origin == RouteOrigin::kernel)
        word = kernel->tables().drop_word(route.prefix);
    if (!word.empty()) return word;
    return route.drop == DropReason::blackhole ? "blackhole" : "elsewhere";
}

Json list_routes(Api& api, RpcClient&, RpcParameters&) {
    Json list = Json::array();
    for (const Routes::Listed& route : api.running().routes().list()) {
        Json via = word_of_drop(api.running(), route);
        if (route.key != nullptr) {
            via = Json::array();
            for (const GroupHop& hop : route.key->via) {
                via.push_back({{"address", print_address(hop.address)}, {"weight", hop.weight}});
                if (hop.port != any_port) via.back()["port"] = api.running().port_names()[hop.port];
            }
        }
        list.push_back({{"prefix", print_prefix(route.prefix)},
                        {"via", std::move(via)},
                        {"source", source_text({route.origin, Routes::Kind::route})},
                        {"used", route.used}});
        if (route.key != nullptr && route.key->load_balance)
            list.back()["load_balance"] = to_string(*route.key->load_balance);
    }
    return list;
}

Json list_neighbors(Api& api, RpcClient&, RpcParameters&) {
    Json list = Json::array();
    for (const NeighborConfig& neighbor : *api.running().config().neighbors) {
        Json entry = {{"address", print_address(neighbor.address)},
                      {"port", neighbor.port},
                      {"mac", print_mac(neighbor.mac)},
                      {"source", "static"},
                      {"used", true}};
        if (neighbor.vlan) entry["vlan"] = *neighbor.vlan;
        list.push_back(std::move(entry));
    }
    api.running().routes().for_each_neighbor(
        RouteOrigin::kernel, [&](const IpAddress& address, const NextHop& hop, bool used) {
            MacAddress mac;
            std::copy_n(hop.header.begin(), mac.bytes.size(), mac.bytes.begin());
            list.push_back({{"address", print_address(address)},
                            {"port", api.running().port_names()[hop.port]},
                            {"mac", print_mac(mac)},
                            {"source", "kernel"},
                            {"used", used}});
        });
    return list;
}

Json list_groups(Api& api, RpcClient&, RpcParameters&) { return groups_json(api.running()); }

Json lookup(Api& api, RpcClient&, RpcParameters& parameters) {
    const FlowQuestion question = flow_question(parameters);
    const FlowAnswer answer = look_up(api.running(), question);
    Json json = {{"prefix", answer.match ? Json(print_prefix(answer.match->prefix)) : Json(nullptr)},
                 {"source", answer.match ? Json(source_text(answer.match->source)) : Json(nullptr)},
                 {"group", answer.next_hop_group},
                 {"hash", answer.hash},
                 {"bucket", answer.bucket},
                 {"buckets", answer.buckets},
                 {"port", answer.taken.empty() ? Json(nullptr) : Json(answer.taken)},
                 {"why", answer.why}};
    if (answer.drop != DropReason::none) json["drop"] = to_string(answer.drop);
    return json;
}

}  // namespace

FlowQuestion flow_question(RpcParameters& parameters) {
    constexpr std::uint64_t max_port = 65'535;
    constexpr std::uint64_t max_qp = (1U << 24) - 1;
    FlowQuestion question;
    question.destination = parameters.value("destination", parse_address);
    question.source = question.destination;  // of the same family
    question.source.bytes.fill(0);
    if (parameters.has("source")) question.source = parameters.value("source", parse_address);
    if (question.source.is_v6 != question.destination.is_v6)
        refuse("source", "is not of the destination's family");
    if (parameters.has("qp"))
        question.queue_pair = static_cast<std::uint32_t>(parameters.integer("qp", 0, max_qp));
    question.protocol =
        static_cast<std::uint8_t>(parameters.integer_or("protocol", 0, 255, ip_protocol::udp));
    question.source_port = static_cast<std::uint16_t>(parameters.integer_or("sport", 0, max_port, 0));
    question.destination_port = static_cast<std::uint16_t>(
        parameters.integer_or("dport", 0, max_port, question.queue_pair ? roce_udp_port : 0));
    return question;
}

std::span<const RpcMethod> route_methods() {
    static const std::vector<RpcMethod> methods{
        {"group.list", reads, list_groups, "",
         "[{group: PREFIX, number: NUMBER, mode: TEXT, flowlets: NUMBER, moves: NUMBER, collisions: "
         "NUMBER, members: [{via: ADDRESS, port: NAME, weight: NUMBER, packets: NUMBER, bytes: NUMBER, "
         "up?: BOOL, load_ppm?: NUMBER, queued_bytes?: NUMBER, bands?: [NUMBER], stopped_queues?: "
         "[NUMBER], told_bands?: [NUMBER]}]}]",
         "Groups of several next hops by their first prefix; with load balancing the members' quality: "
         "bands by queue, 0 idle to 15 stopped. In a fabric with remote_quality also what the neighbor "
         "tells of the way behind it, by traffic class."},
        {"neighbor.add", changes_bulk, neighbors<Verb::add>, "neighbors: [NEIGHBOR]",
         "{changed: NUMBER, generation: NUMBER}", "Adds neighbors, all or none."},
        {"neighbor.delete", changes_bulk, neighbors<Verb::remove>, "neighbors: [ADDRESS]",
         "{changed: NUMBER, generation: NUMBER}",
         "Deletes neighbors, all or none: addresses, or {address, port} where several ports have one."},
        {"neighbor.list", reads, list_neighbors, "",
         "[{address: ADDRESS, port: NAME, mac: MAC, vlan?: NUMBER, source: TEXT, used: BOOL}]",
         "All neighbors."},
        {"neighbor.replace", changes_bulk, neighbors<Verb::replace>, "neighbors: [NEIGHBOR]",
         "{changed: NUMBER, generation: NUMBER}",
         "Adds or replaces neighbors, all or none. One moves here from the one other port that has its "
         "address, unless that is link-local."},
        {"route.add", changes_bulk, routes<Verb::add>, "routes: [ROUTE]",
         "{changed: NUMBER, generation: NUMBER}",
         "Adds routes, all or none; via: addresses or {address, port, weight}, or \"blackhole\"; without "
         "a port it is every neighbor of that address; load_balance?: as [load_balance].mode."},
        {"route.delete", changes_bulk, routes<Verb::remove>, "routes: [PREFIX]",
         "{changed: NUMBER, generation: NUMBER}", "Deletes routes, all or none."},
        {"route.list", reads, list_routes, "",
         "[{prefix: PREFIX, via: TEXT|[{address: ADDRESS, weight: NUMBER, port?: NAME}], source: "
         "TEXT, used: BOOL, load_balance?: TEXT}]",
         "All routes, of the configuration (static) and of the kernel; used: none comes before it."},
        {"route.lookup", reads, lookup,
         "destination: ADDRESS, source?: ADDRESS, protocol?: NUMBER, sport?: NUMBER, dport?: "
         "NUMBER, qp?: NUMBER",
         "{prefix: PREFIX|NULL, source: TEXT|NULL, group: VALUE, hash: NUMBER, bucket: VALUE, "
         "buckets: NUMBER, port: NAME|NULL, why: TEXT, drop?: TEXT}",
         "Which route and of what source, bucket, member and port a packet takes now, and why."},
        {"route.replace", changes_bulk, routes<Verb::replace>, "routes: [ROUTE]",
         "{changed: NUMBER, generation: NUMBER}", "Adds or replaces routes, all or none."},
    };
    return methods;
}

}  // namespace sluice

// Routes and neighbors, in iproute2's words.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "control/config/schema/command_words.hh"
#include "control/config/schema/values.hh"
#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/failure.hh"
#include "tools/sluicectl/grammar.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {

Hops parse_hops(std::span<const std::string> words) {
    static const Words known{"via", "dev", "weight", "nexthop", "blackhole", "balance"};
    Words plain;           // without `nexthop`, each `dev` behind its `via`, no word cut short
    bool has_via = false;  // the hop that is being said
    std::string port;      // a `dev` before its `via`
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto value = [&](std::string_view word) -> const std::string& {
            if (i + 1 == words.size()) throw Failure{exit_usage, std::string(word) + " wants a value"};
            return words[++i];
        };
        const std::string word = resolve_word(words[i], known, "word of a route");
        if (word == "blackhole") {
            plain.push_back(word);
        } else if (word == "nexthop") {
            has_via = false;
        } else if (word == "via") {
            const std::string* address = &value(word);
            if (*address == "inet" || *address == "inet6")
                address = &value(word);  // the address says it as well
            plain.insert(plain.end(), {word, *address});
            has_via = true;
            if (!port.empty()) plain.insert(plain.end(), {"dev", std::exchange(port, {})});
        } else if (word == "balance") {
            plain.insert(plain.end(), {word, value(word)});
        } else if (word == "dev") {
            const std::string& name = value(word);
            if (has_via)
                plain.insert(plain.end(), {word, name});
            else
                port = name;
        } else {
            const std::string& weight = value(word);
            if (!has_via) throw Failure{exit_usage, "weight comes behind its via"};
            plain.insert(plain.end(), {word, weight});
        }
    }
    if (plain.empty() && !port.empty())
        throw Failure{exit_usage, "dev " + port + " alone: a next hop is an address; say: via ADDRESS"};
    RouteConfig route;
    if (const std::string wrong = parse_next_hops(plain, route); !wrong.empty())
        throw Failure{exit_usage, wrong};
    Hops hops;
    hops.via = route.via.empty() ? Json("blackhole") : Json::array();
    for (const NextHopConfig& hop : route.via) {
        hops.via.push_back({{"address", print_address(hop.address)}, {"weight", hop.weight}});
        if (!hop.port.empty()) hops.via.back()["port"] = hop.port;
    }
    if (route.load_balance) hops.load_balance = to_string(*route.load_balance);
    return hops;
}

Json flow_question(const Arguments& arguments) {
    Json question = {{"destination", arguments.value("DESTINATION")}};
    if (arguments.has("from")) question["source"] = arguments.value("from");
    for (const auto& [word, parameter] :
         {std::pair{"sport", "sport"}, {"dport", "dport"}, {"qp", "qp"}, {"proto", "protocol"}})
        if (const auto number = number_said(arguments, word)) question[parameter] = *number;
    return question;
}

namespace {

// iproute2 says "default" of the route to everywhere; of which family, its next hops tell.
std::string prefix_of(const std::string& typed, const Json& via) {
    if (typed == "default" || typed == "any") {
        const bool v6 = via.is_array() && !via.empty() &&
                        via[0]["address"].get_ref<const std::string&>().find(':') != std::string::npos;
        return v6 ? "::/0" : "0.0.0.0/0";
    }
    if (typed.find('/') != std::string::npos) return typed;
    return typed + (typed.find(':') == std::string::npos ? "/32" : "/128");
}

// " via 169.254.0.1 dev p1".
std::string hop_text(const Json& hop) {
    std::string text = " via " + word_text(hop["address"]);
    if (hop.contains("port")) text += " dev " + word_text(hop["port"]);
    return text;
}

// iproute2 says it in front of the prefix.
bool is_type_of_route(std::string_view word) {
    constexpr std::string_view refused[] = {"unreachable", "prohibit",  "throw", "local",
                                            "broadcast",   "multicast", "nat"};
    if (std::find(std::begin(refused), std::end(refused), word) != std::end(refused))
        throw Failure{exit_usage,
                      fmt::format("{} routes are none of a switch's; do: say blackhole, or via", word)};
    return word == "blackhole" || word == "unicast";
}

template <bool replaces>
Answer change_route(Context& context, const Arguments& arguments) {
    std::string prefix = arguments.value("PREFIX");
    Words words = arguments.rest;
    if (is_type_of_route(prefix) && !words.empty()) std::swap(prefix, words.front());
    if (!words.empty() && words.front() == "unicast") words.erase(words.begin());
    const Hops hops = parse_hops(words);
    Json route = {{"prefix", prefix_of(prefix, hops.via)}, {"via", hops.via}};
    if (!hops.load_balance.empty()) route["load_balance"] = hops.load_balance;
    return {context.call(replaces ? "route.replace" : "route.add", {{"routes", Json::array({route})}}), {}};
}

Answer route_delete(Context& context, const Arguments& arguments) {
    return {
        context.call("route.delete", {{"routes", Json::array({prefix_of(arguments.value("PREFIX"), {})})}}),
        {}};
}

Answer route_show(Context& context, const Arguments& arguments) {
    Json json = Json::array();
    std::string text;
    for (Json& route : context.call("route.list")) {
        if (arguments.has("PREFIX") && route["prefix"] != prefix_of(arguments.value("PREFIX"), route["via"]))
            continue;
        text += word_text(route["prefix"]);
        // An entry of the configuration needs no mark.
        const std::string source = route["source"] == "static" ? ""
                                                               : " source " + word_text(route["source"]) +
                                                                     (route["used"] == true ? "" : " unused");
        if (route["via"].is_string())
            text += " " + word_text(route["via"]) + source + "\n";
        else if (route["via"].size() == 1)
            text += hop_text(route["via"][0]) + source + "\n";
        else {
            if (route.contains("load_balance")) text += " balance " + word_text(route["load_balance"]);
            text += source + "\n";
            for (const Json& hop : route["via"])
                text += fmt::format("    nexthop{} weight {}\n", hop_text(hop), json_text(hop["weight"]));
        }
        json.push_back(std::move(route));
    }
    if (arguments.has("PREFIX") && json.empty())
        throw Failure{exit_refused, "there is no route " + arguments.value("PREFIX")};
    return {std::move(json), text.empty() ? "no routes but those of the ports\n" : std::move(text)};
}

Answer route_get(Context& context, const Arguments& arguments) {
    Json json = context.call("route.lookup", flow_question(arguments));
    std::string text = arguments.value("DESTINATION");
    if (json.contains("drop") && json["drop"] == "local_address")  // as iproute2 says it
        text = fmt::format("local {} source {}\n", text, word_text(json["source"]));
    else if (json.contains("drop"))
        text += ": dropped, " + word_text(json["drop"]) + "\n";
    else
        text += fmt::format(" by {} dev {} source {}\n", word_text(json["prefix"]), word_text(json["port"]),
                            word_text(json["source"]));
    if (json["buckets"] != 1)
        text += fmt::format("    group {} hash {} bucket {} of {}\n", json_text(json["group"]),
                            json_text(json["hash"]), json_text(json["bucket"]), json_text(json["buckets"]));
    text += "    " + word_text(json["why"]) + "\n";
    return {std::move(json), std::move(text)};
}

// Bands of the queues or classes in use: those that are not idle, or the first.
std::string bands_text(const Json& bands) {
    std::string text;
    for (std::size_t queue = 0; queue < bands.size(); ++queue)
        if (bands[queue] != bands[0] || queue == 0)
            text += fmt::format("{}{}:{}", text.empty() ? "" : " ", queue, json_text(bands[queue]));
    return text;
}

Answer group_show(Context& context, const Arguments& arguments) {
    Json json = Json::array();
    std::string text;
    for (Json& group : context.call("group.list")) {
        if (arguments.has("PREFIX") && group["group"] != arguments.value("PREFIX")) continue;
        text += fmt::format("{} group {} balance {}", word_text(group["group"]), json_text(group["number"]),
                            word_text(group["mode"]));
        std::uint64_t all = 0;
        for (const Json& member : group["members"]) all += member["bytes"].get<std::uint64_t>();
        const bool known = group["members"].front().contains("bands");
        const bool told = group["members"].front().contains("told_bands");
        if (known)
            text += fmt::format(" flowlets {} moves {} collisions {}", count_text(group["flowlets"]),
                                count_text(group["moves"]), count_text(group["collisions"]));
        text += "\n";
        std::vector<std::string> columns{"<via", "<port", "weight", "packets", "share"};
        if (known) columns.insert(columns.end(), {"<link", "load", "queued", "<bands (queue:band)"});
        if (told) columns.emplace_back("<told (class:band)");
        Table table(columns);
        for (const Json& member : group["members"]) {
            const double share = all == 0 ? 0 : member["bytes"].get<double>() / static_cast<double>(all);
            std::vector<std::string> row{word_text(member["via"]), word_text(member["port"]),
                                         json_text(member["weight"]), count_text(member["packets"]),
                                         share_text(share)};
            if (known)
                row.insert(row.end(), {member["up"] == true ? "up" : "down",
                                       share_text(member["load_ppm"].get<double>() / 1e6),
                                       bytes_text(member["queued_bytes"]), bands_text(member["bands"])});
            if (told) row.push_back(bands_text(member["told_bands"]));
            table.row(std::move(row));
        }
        text += table.text() + "\n";
        json.push_back(std::move(group));
    }
    if (arguments.has("PREFIX") && json.empty())
        throw Failure{exit_refused,
                      "there is no group of several next hops for " + arguments.value("PREFIX")};
    return {std::move(json), text.empty() ? "no group has several next hops\n" : std::move(text)};
}

Answer neigh_show(Context& context, const Arguments&) {
    Json json = context.call("neighbor.list");
    std::string text;
    for (const Json& neighbor : json)
        text += fmt::format("{} dev {} lladdr {}{}{}\n", word_text(neighbor["address"]),
                            word_text(neighbor["port"]), word_text(neighbor["mac"]),
                            neighbor.contains("vlan") ? " vlan " + json_text(neighbor["vlan"]) : "",
                            neighbor["source"] == "static" ? ""
                            : neighbor["used"] == true     ? " source kernel"
                                                           : " source kernel unused");
    return {std::move(json), text.empty() ? "no neighbors\n" : std::move(text)};
}

template <bool replaces>
Answer change_neighbor(Context& context, const Arguments& arguments) {
    Json neighbor = {{"address", arguments.value("ADDRESS")},
                     {"port", arguments.value("dev")},
                     {"mac", arguments.value("lladdr")}};
    if (const auto vlan = number_said(arguments, "vlan")) neighbor["vlan"] = *vlan;
    return {context.call(replaces ? "neighbor.replace" : "neighbor.add",
                         {{"neighbors", Json::array({neighbor})}}),
            {}};
}

Answer neigh_delete(Context& context, const Arguments& arguments) {
    Json neighbor = {{"address", arguments.value("ADDRESS")}};
    if (arguments.has("dev")) neighbor["port"] = arguments.value("dev");
    return {context.call("neighbor.delete", {{"neighbors", Json::array({neighbor})}}), {}};
}

}  // namespace

std::span<const Command> route_commands() {
    static constexpr std::array table{
        Command{"route show [PREFIX]", "all routes, of the configuration and of the kernel, or one",
                route_show},
        Command{"route add PREFIX HOPS...",
                "HOPS: via A [dev P] [weight N] [via ...], nexthop via A dev P weight N ..., balance MODE, "
                "blackhole",
                change_route<false>},
        Command{"route replace PREFIX HOPS...", "adds the route, or gives it other next hops",
                change_route<true>},
        Command{"route delete PREFIX", "deletes a route", route_delete},
        Command{"route get DESTINATION [from ADDRESS] [sport N] [dport N] [qp N] [proto N]",
                "which way such a packet takes now, and why", route_get},
        Command{"group show [PREFIX]",
                "groups of several next hops: what each has taken, how good it is now, flowlets and moves",
                group_show},
        Command{"neigh show", "all neighbors", neigh_show},
        Command{"neigh add ADDRESS lladdr MAC dev PORT [vlan N]", "adds a neighbor", change_neighbor<false>},
        Command{"neigh replace ADDRESS lladdr MAC dev PORT [vlan N]", "adds or moves a neighbor",
                change_neighbor<true>},
        Command{"neigh delete ADDRESS [dev PORT]", "deletes a neighbor", neigh_delete},
    };
    return table;
}

}  // namespace sluice::ctl

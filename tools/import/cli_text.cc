#include "tools/import/cli_text.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "tools/import/cli.hh"

namespace sluice::import {
namespace {

bool is_comment(const CliLine& line) { return line.text.starts_with('!'); }
bool matters(const CliBody& body, const CliLine& like) {
    return std::ranges::none_of(body, [&](const CliLine& line) {
        return line.text.empty() && line.section == like.section &&
               (line.key.empty() || line.key == like.key);
    });
}

const CliLine* find_line(const CliBody& body, const CliLine& like) {
    const auto found = std::ranges::find_if(
        body, [&](const CliLine& line) { return line.section == like.section && line.key == like.key; });
    return found == body.end() ? nullptr : &*found;
}

// "0-2,7"
std::string number_ranges(const std::vector<unsigned>& numbers) {
    std::vector<std::string> names;
    for (const unsigned n : numbers) names.push_back(std::to_string(n));
    std::string text;
    for (const std::string& range : name_ranges(names)) append_item(text, ",", range);
    return text;
}

}  // namespace

bool says_nothing(const CliBody& body) {
    return std::ranges::all_of(body, [](const CliLine& line) { return line.text.empty(); });
}

CliBody changed_lines(const CliBody& today, const CliBody& wanted) {
    CliBody changes;
    for (const CliLine& line : today)
        if (!line.stays && !line.text.empty() && matters(wanted, line) && !is_comment(line) &&
            find_line(wanted, line) == nullptr)
            changes.push_back({line.section, line.key, "no " + line.text});
    for (const CliLine& line : wanted) {
        if (line.text.empty()) continue;
        const CliLine* before = find_line(today, line);
        if (before == nullptr || before->text != line.text) changes.push_back(line);
    }
    return changes;
}

void tell_changes(Account& account, const std::string& where, const CliBody& today, const CliBody& changes) {
    for (const CliLine& line : changes) {
        if (is_comment(line)) continue;
        const CliLine* before = find_line(today, line);
        std::string path = where;
        for (const std::string& part : {line.section, line.key})
            if (!part.empty()) append_item(path, " ", part);
        account.tell(Fate::said, path,
                     before == nullptr ? line.text : fmt::format("{} -> {}", before->text, line.text));
    }
}

PortNames interface_names(Exporting& out, std::string_view stem, bool (*fits)(std::string_view name)) {
    PortNames names = name_ports(out, stem, fits);
    for (auto& [port, name] : names) name = interface_of_port(name);
    return names;
}

void tell_memory(Exporting& out) {
    tell_buffer(out);
    for (const auto& [name, pool] : out.config.pools)
        out.unsaid("pool." + name, "the platform divides its memory as it does");
}

std::string kbps_text(Exporting& out, const std::string& path, Rate rate, std::string_view maker) {
    constexpr std::uint64_t kilo = 1000;
    const std::uint64_t whole = rate == Rate{} ? 0 : std::max<std::uint64_t>(1, rate.bits_per_second / kilo);
    out.rounded(path, rate.bits_per_second, whole * kilo, Unit::bits_a_second,
                fmt::format("{} has kbps", maker));
    return fmt::format("{} kbps", whole);
}

std::string section_text(std::string_view head, const CliBody& body, std::string_view indent) {
    std::string text;
    const std::string_view outer = head.empty() ? std::string_view() : indent;
    if (!head.empty()) text += fmt::format("{}\n", head);
    for (const CliLine& line : body)
        if (line.section.empty() && !line.text.empty()) text += fmt::format("{}{}\n", outer, line.text);
    std::vector<std::string_view> sections;
    for (const CliLine& line : body)
        if (!line.section.empty() && !line.text.empty() &&
            std::ranges::find(sections, line.section) == sections.end())
            sections.push_back(line.section);
    for (const std::string_view section : sections) {
        text += fmt::format("{}{}\n", outer, section);
        for (const CliLine& line : body)
            if (line.section == section && !line.text.empty())
                text += fmt::format("{}{}{}\n", outer, indent, line.text);
    }
    return text;
}

std::string interfaces_text(const CliBodies& bodies, const PortNames& names, std::string_view indent) {
    std::string text;
    for (auto at = bodies.begin(); at != bodies.end();) {
        const CliBody& body = at->second;
        std::vector<std::string> alike;
        for (; at != bodies.end() && at->second == body; ++at) alike.push_back(names.at(at->first));
        if (body.empty()) continue;
        for (const std::string& range : name_ranges(alike))
            text += section_text("interface " + range, body, indent);
    }
    return text;
}

std::string shared_text(std::string_view head, const SharedBodies& shared, const SharedBodies& known,
                        std::string_view indent) {
    std::string text;
    for (const auto& [name, body] : shared)
        if (!known.contains(name) && !body.empty())
            text += section_text(fmt::format("{}{}", head, name), body, indent);
    return text;
}

SharedBodies referred_in(const std::string& text, const SharedBodies& shared) {
    SharedBodies found;
    std::string all = text;
    for (std::size_t before = shared.size() + 1; before != found.size();) {
        before = found.size();
        for (const auto& [head, body] : shared) {
            const std::string end = head.substr(head.rfind(' ')) + "\n";
            if (found.contains(head) || all.find(end) == all.npos) continue;
            found[head] = body;
            all += section_text({}, body, {});
        }
    }
    return found;
}

SharedBodies names_taken(const SharedNames* names, std::string_view head) {
    SharedBodies shared;
    if (names == nullptr) return shared;
    for (const std::string& name : names->taken) shared[fmt::format("{}{}", head, name)];
    return shared;
}

void forget_lines(CliBody& body, std::initializer_list<std::string_view> keys) {
    std::erase_if(body, [&](const CliLine& line) {
        return std::ranges::any_of(keys, [&](std::string_view key) { return line.key.starts_with(key); });
    });
}

bool differs(const CliBody& one, const CliBody& other, std::string_view key) {
    const auto lines = [&](const CliBody& body) {
        CliBody found;
        std::ranges::copy_if(body, std::back_inserter(found),
                             [&](const CliLine& line) { return line.key == key; });
        return found;
    };
    return lines(one) != lines(other);
}

std::string share_body(SharedBodies& shared, const std::string& stem, const CliBody& body) {
    CliBody said = body;
    std::erase_if(said, [](const CliLine& line) { return line.text.empty(); });
    for (const auto& [name, known] : shared)
        if (known == said) return name;
    std::string name = stem;
    for (unsigned n = 2; shared.contains(name); ++n) name = fmt::format("{}_{}", stem, n);
    shared[name] = std::move(said);
    return name;
}

void add_class(SharedBodies& class_maps, CliBody& policy, unsigned number, const char* set,
               const std::vector<CliMatch>& matches) {
    CliBody body;
    for (const CliMatch& each : matches)
        if (!each.values.empty())
            body.push_back(
                {"", each.field, fmt::format("match {} {}", each.field, number_ranges(each.values))});
    if (body.empty()) return;
    const std::string made = share_body(class_maps, fmt::format("{}sluice-{}", class_map_head, number), body);
    policy.push_back(
        {"class " + made.substr(class_map_head.size()), "set", fmt::format("set {} {}", set, number)});
}

CliBodies changed_links(Account& account, const CliBodies& today, const CliBodies& wanted,
                        const PortNames& names) {
    CliBodies links;
    for (const auto& [port, link] : wanted) {
        links[port] = changed_lines(today.at(port), link);
        tell_changes(account, "interface " + names.at(port), today.at(port), links[port]);
    }
    return links;
}

std::string changed_top(Account& account, const CliBody& today, const CliBody& wanted) {
    const CliBody top = changed_lines(today, wanted);
    tell_changes(account, "", today, top);
    return section_text({}, top, {});
}

std::vector<SharedChange> shared_changes(const CliBodies& today, const CliBodies& wanted,
                                         const std::map<std::string, std::string>& names,
                                         const std::map<std::string, std::set<std::string>>& own_keys) {
    std::map<std::string, std::vector<SharedChange>> by_name;
    std::vector<SharedChange> out;
    for (const auto& [port, body] : wanted) {
        const auto named = names.find(port);
        const std::string name = named == names.end() ? std::string() : named->second;
        by_name[name].push_back({name, {port}, changed_lines(today.at(port), body)});
    }
    const auto says_it = [&](const std::string& port, const CliLine& line) {
        const auto own = own_keys.find(port);
        return own != own_keys.end() &&
               own->second.contains(line.section.empty() ? line.key : line.section + " " + line.key);
    };
    for (auto& [name, changes] : by_name) {
        SharedChange shared{name, {}, {}};
        for (const SharedChange& each : changes)
            for (const CliLine& line : each.changes)
                if (find_line(shared.changes, line) == nullptr) shared.changes.push_back(line);
        // What another port changes does not concern one that has no such line.
        const auto fits = [&](const SharedChange& each) {
            return std::ranges::all_of(shared.changes, [&](const CliLine& line) {
                const std::string& port = each.ports.front();
                const CliLine* own = find_line(each.changes, line);
                return own != nullptr ? *own == line
                                      : !matters(today.at(port), line) && !matters(wanted.at(port), line);
            });
        };
        const bool is_shared = !name.empty() && std::ranges::all_of(changes, fits);
        for (SharedChange& each : changes) {
            const std::string& port = each.ports.front();
            if (is_shared) {
                shared.ports.push_back(port);
                std::erase_if(each.changes, [&](const CliLine& line) { return !says_it(port, line); });
            }
            out.push_back({"", each.ports, each.changes});
        }
        if (!shared.ports.empty()) out.push_back(shared);
    }
    std::erase_if(out, [](const SharedChange& each) { return each.changes.empty(); });
    return out;
}

void add_link(Exporting& out, const std::string& name, const PortConfig& port, CliBody& body) {
    body.push_back({"", "mtu", fmt::format("mtu {}", port.mtu)});
    out.said(key_of_port(name, "mtu"), body.back().text);
    body.push_back({"", "switchport", "no switchport"});
    for (const IpPrefix& address : port.address) {
        if (is_made_address(address)) {
            out.unsaid(key_of_port(name, "address"), "made by sluice-import: none is written");
            continue;
        }
        const bool is_first = address.address.is_v6 || std::ranges::none_of(body, [](const CliLine& line) {
                                  return line.text.starts_with("ip address");
                              });
        const std::string text =
            fmt::format("{} address {}", address.address.is_v6 ? "ipv6" : "ip", print_prefix(address));
        body.push_back({"", text, is_first ? text : text + " secondary"});
    }
    body.push_back({"", "shutdown", is_down(out.config, name) ? "shutdown" : "no shutdown"});
    out.unsaid(key_of_port(name, "cable"),
               fmt::format("no switch is told of its cables; import it again with --cable {}",
                           print_length(port.cable_m)));
}

void add_routes(Exporting& out, CliBody& top) {
    for (const RouteConfig& route : *out.config.routes) {
        const std::string prefix = print_prefix(route.prefix);
        const std::string start =
            fmt::format("{} route {} ", route.prefix.address.is_v6 ? "ipv6" : "ip", prefix);
        const auto add = [&](const std::string& hop) { top.push_back({"", start + hop, start + hop}); };
        if (route.via.empty()) add("Null0");
        for (const NextHopConfig& hop : route.via) add(print_address(hop.address));
        tell_route(out, route, start);
    }
}

}  // namespace sluice::import

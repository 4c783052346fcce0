#include "control/config/schema/findings.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "control/config/schema/force.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"

namespace sluice {
namespace lint {
namespace {

// "port.p1.mtu" and "host.h1.mtu" in parts, and the sections whose keys they inherit; a name may be quoted.
struct Inheriting {
    std::string owner;  // "port p1"
    std::string_view key;
    std::span<const std::string_view> sections;
};

std::optional<Inheriting> inheriting(std::string_view path) {
    static constexpr std::array<std::string_view, 2> of_ports{"default.", "default.port."};
    static constexpr std::array<std::string_view, 1> of_hosts{"host.default."};
    const bool is_port = path.starts_with("port.");
    if (!is_port && !path.starts_with("host.")) return std::nullopt;
    path.remove_prefix(5);
    const bool quoted = path.starts_with('"');
    const std::size_t end = path.find(quoted ? "\"." : ".");
    if (end == path.npos) return std::nullopt;
    const std::string_view name = path.substr(quoted ? 1 : 0, end - (quoted ? 1 : 0));
    Inheriting parts{fmt::format("{} {}", is_port ? "port" : "host", name),
                     path.substr(end + (quoted ? 2 : 1)), of_hosts};
    if (is_port) parts.sections = of_ports;
    return parts;
}

}  // namespace

void Findings::add(Severity severity, FindingId id, std::string path, std::string message, std::string fix,
                   SourcePlace fallback, std::size_t others) {
    SourcePlace place = config_.source.find(path);
    std::string owner;
    if (auto parts = inheriting(path); parts && place.line == 0)
        for (const std::string_view section : parts->sections) {
            std::string inherited = std::string(section).append(parts->key);
            const SourcePlace there = config_.source.find(inherited);
            if (there.line == 0) continue;
            place = there;
            owner = std::move(parts->owner);
            path = std::move(inherited);
            break;
        }
    if (!owner.empty())
        for (Entry& entry : entries_)
            if (entry.finding.id == id.name() && entry.finding.path == path &&
                entry.finding.message == message) {
                entry.others += 1 + others;
                return;
            }
    auto count = counts_.find(id.name());
    if (count == counts_.end()) count = counts_.emplace(id.name(), Count{0, severity}).first;
    if (++count->second.found > max_findings_of_a_kind) return;
    entries_.push_back({{severity, std::string(id.name()), std::move(path), std::move(message),
                         std::move(fix), place.line != 0 ? place : fallback},
                        std::move(owner),
                        others});
}

void Findings::error(FindingId id, std::string path, std::string message, std::string fix,
                     SourcePlace fallback) {
    add(Severity::error, id, std::move(path), std::move(message), std::move(fix), fallback);
}

void Findings::warn(FindingId id, std::string path, std::string message, std::string fix,
                    SourcePlace fallback) {
    add(Severity::warning, id, std::move(path), std::move(message), std::move(fix), fallback);
}

void Findings::note(FindingId id, std::string path, std::string message, std::string fix,
                    SourcePlace fallback) {
    add(Severity::note, id, std::move(path), std::move(message), std::move(fix), fallback);
}

std::vector<Finding> Findings::take() {
    std::vector<Finding> findings;
    for (Entry& entry : entries_) {
        if (!entry.owner.empty() && entry.others == 0)
            entry.finding.message += fmt::format(" (of {})", entry.owner);
        else if (!entry.owner.empty())
            entry.finding.message += fmt::format(" (of {} and {} {})", entry.owner, entry.others,
                                                 entry.others == 1 ? "other" : "others");
        else if (entry.others != 0)
            entry.finding.message +=
                fmt::format(" (and so {} other {})", entry.others, entry.others == 1 ? "port" : "ports");
        findings.push_back(std::move(entry.finding));
    }
    for (const auto& [id, count] : counts_)
        if (count.found > max_findings_of_a_kind)
            findings.push_back(
                {count.severity,
                 id,
                 {},
                 fmt::format("{} more of this kind are not shown", count.found - max_findings_of_a_kind),
                 "correct those shown and check again",
                 {~0U, 0}});
    std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
        return std::tuple(a.severity, a.place.line, a.place.column) <
               std::tuple(b.severity, b.place.line, b.place.column);
    });
    for (Finding& finding : findings)
        if (finding.place.line == ~0U) finding.place = {};
    return findings;
}

std::string port_path(std::string_view port, std::string_view key) {
    std::string path = "port." + config_key(port);
    if (!key.empty()) path.append(".").append(key);
    return path;
}

std::string at_line(SourcePlace place) {
    return place.line != 0 ? fmt::format("on line {}", place.line) : "elsewhere";
}

}  // namespace lint

std::string Finding::text(std::string_view file) const {
    constexpr std::string_view words[] = {"error", "warning", "note"};
    std::string out(file);
    if (place.line != 0) out += fmt::format(":{}:{}", place.line, place.column);
    out += fmt::format(": {}: ", words[static_cast<std::size_t>(severity)]);
    if (!path.empty()) out += path + ": ";
    out += fmt::format("{}{} [{}]", message, forced ? ": forced, not lossless" : "", id);
    if (!fix.empty()) out += "; do: " + fix;
    if (severity == Severity::error && may_be_forced(id)) out += "; or run it so, not lossless: --force";
    return out;
}

bool has_error(const std::vector<Finding>& findings) {
    return std::any_of(findings.begin(), findings.end(),
                       [](const Finding& f) { return f.severity == Severity::error; });
}

}  // namespace sluice

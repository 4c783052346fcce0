#include "control/config/schema/findings.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"

namespace sluice {
namespace lint {
namespace {

// "port.p1.mtu" and "host.h1.mtu" in parts; a name may be quoted, and the key be missing.
struct OwnKey {
    bool is_port;
    std::string_view name;
    std::string_view key;
};

std::optional<OwnKey> own_key(std::string_view path) {
    const bool is_port = path.starts_with("port.");
    if (!is_port && !path.starts_with("host.")) return std::nullopt;
    path.remove_prefix(5);
    const bool quoted = path.starts_with('"');
    if (quoted) path.remove_prefix(1);
    const std::size_t end = std::min(path.find(quoted ? '"' : '.'), path.size());
    const std::string_view rest = path.substr(std::min(end + (quoted ? 1 : 0), path.size()));
    return OwnKey{is_port, path.substr(0, end), rest.substr(rest.empty() ? 0 : 1)};
}

template <class Map>
SourcePlace place_in(const Map& owners, std::string_view name) {
    const auto found = owners.find(name);
    return found == owners.end() ? SourcePlace{} : found->second.place;
}

}  // namespace

void Findings::add(Severity severity, FindingId id, std::string path, std::string message, std::string fix,
                   SourcePlace fallback) {
    SourcePlace place = config_.source.find(path);
    bool inherits = false, joins = joins_ports_;
    std::string owner, key = path;
    if (const auto own = own_key(path)) {
        owner = fmt::format("{} {}", own->is_port ? "port" : "host", own->name);
        key = own->key;
        joins &= own->is_port;
        if (place.line == 0 && fallback.line == 0)
            fallback = own->is_port ? place_in(config_.ports, own->name) : place_in(config_.hosts, own->name);
        static constexpr std::array of_ports{"default.", "default.port."}, of_hosts{"host.default.", ""};
        for (const std::string_view section : own->is_port ? of_ports : of_hosts) {
            if (section.empty() || place.line != 0) break;
            std::string inherited = std::string(section) + key;
            place = config_.source.find(inherited);
            inherits = place.line != 0;
            if (inherits) path = std::move(inherited);
        }
    }
    const std::string_view same = inherits ? path : key;
    for (Entry& entry : entries_)
        if ((inherits || joins) && entry.inherits == inherits && entry.finding.severity == severity &&
            entry.finding.id == id.name() && (inherits ? entry.finding.path : entry.key) == same &&
            entry.finding.message == message) {
            if (entry.last != owner) ++entry.others;
            entry.last = owner;
            return;
        }
    Count& count = counts_.try_emplace(std::string(id.name()), Count{0, severity}).first->second;
    if (++count.found > max_findings_of_a_kind) return;
    entries_.push_back({{severity, std::string(id.name()), std::move(path), std::move(message),
                         std::move(fix), place.line != 0 ? place : fallback},
                        inherits,
                        std::move(key),
                        owner,
                        owner});
}

std::vector<Finding> Findings::take() {
    std::vector<Finding> findings;
    for (Entry& entry : entries_) {
        std::string& message = entry.finding.message;
        if (entry.inherits && entry.others == 0)
            message += fmt::format(" (of {})", entry.first);
        else if (entry.inherits)
            message += fmt::format(" (of {} and {})", entry.first, print_count(entry.others, "other"));
        else if (entry.others != 0)
            message += fmt::format(" (and {})", print_count(entry.others, "other port"));
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

namespace {

std::string reason_of(const Finding& finding) {
    return finding.path.empty() ? finding.message : finding.path + ": " + finding.message;
}

template <class Accepts>
void force_if(std::vector<Finding>& findings, Accepts accepts) {
    for (Finding& finding : findings) {
        if (finding.severity != Severity::error || !may_be_forced(finding.id) || !accepts(finding)) continue;
        finding.severity = Severity::warning;
        finding.forced = true;
    }
    std::stable_sort(findings.begin(), findings.end(),
                     [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
}

}  // namespace

bool may_be_forced(std::string_view id) {
    const KnownFinding* known = find_known(id);
    return known != nullptr && known->may_be_forced;
}

bool force_helps(const std::vector<Finding>& findings) {
    return has_error(findings) && std::all_of(findings.begin(), findings.end(), [](const Finding& finding) {
               return finding.severity != Severity::error || may_be_forced(finding.id);
           });
}

void force(std::vector<Finding>& findings) {
    force_if(findings, [](const Finding&) { return true; });
}

void force_again(std::vector<Finding>& findings, const std::vector<std::string>& reasons) {
    force_if(findings, [&](const Finding& finding) {
        return std::find(reasons.begin(), reasons.end(), reason_of(finding)) != reasons.end();
    });
}

std::vector<std::string> forced_reasons(const std::vector<Finding>& findings) {
    std::vector<std::string> reasons;
    for (const Finding& finding : findings)
        if (finding.forced) reasons.push_back(reason_of(finding));
    return reasons;
}

std::string_view findings_introduction() {
    return "What a check finds. An error that says `--force` may be run as a warning: the switch works and "
           "is not\n"
           "lossless. In the sentences: n ports, k lossless classes of a port in a pool, S its shared part.";
}

std::string findings_reference() {
    std::string text = fmt::format("{}\n", findings_introduction());
    for (const KnownFinding& known : known_findings)
        text += fmt::format("\n{}  {}{}\n    {}\n", known.name, known.severity,
                            known.may_be_forced ? ", --force" : "", known.when);
    return text;
}

}  // namespace sluice

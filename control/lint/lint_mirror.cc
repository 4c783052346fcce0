// Finds mirrors that cannot work, or are hardly meant.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "control/config/schema.hh"
#include "control/config/values.hh"
#include "control/lint/lint_parts.hh"

namespace sluice::lint {
namespace {

std::string mirror_path(const std::string& name, std::string_view key) {
    return fmt::format("mirror.{}.{}", config_key(name), key);
}

bool is_on(const MirrorConfig& mirror, MirrorEvent event) {
    return std::find(mirror.on.begin(), mirror.on.end(), event) != mirror.on.end();
}

void check_keys(const std::string& name, const MirrorConfig& mirror, Findings& findings) {
    if (mirror.file.empty() == mirror.fifo.empty())
        findings.error("mirror-output", mirror_path(name, "file"),
                       mirror.file.empty() ? "a mirror needs a file or a FIFO"
                                           : "a mirror has a file or a FIFO, this one has both",
                       mirror.file.empty() ? "write file = \"out/drops.pcapng\"" : "leave one of them out");
    if (mirror.on.empty())
        findings.note("mirror-idle", mirror_path(name, "on"), "the list is empty: nothing is ever mirrored",
                      "write on = [\"drop\"]");
    else if (!mirror.reasons.empty() && !is_on(mirror, MirrorEvent::drop))
        findings.note("mirror-idle", mirror_path(name, "reason"),
                      "reasons are those of drops, which this mirror does not show: no effect",
                      "write on = [\"drop\"], or leave reason out");
}

// As far as the text of a path tells.
std::string plain(const std::string& path) { return std::filesystem::path(path).lexically_normal().string(); }

}  // namespace

void check_mirrors(const Config& config, Findings& findings) {
    std::map<std::string, std::string> written;  // path: its writer
    if (!config.decisions.file.empty()) written.emplace(plain(config.decisions.file), "decisions.file");
    for (const auto& [name, port] : config.ports)
        for (const std::string_view file : captures_of(port.device))
            written.emplace(plain(std::string(file)), port_path(name, "device"));
    for (const auto& [name, mirror] : config.mirrors) {
        check_ports_named(config, mirror.ports, "mirror-port", mirror_path(name, "port"), findings);
        check_keys(name, mirror, findings);
        if (mirror.path().empty()) continue;
        const std::string key = mirror_path(name, mirror.file.empty() ? "fifo" : "file");
        const auto [other, is_new] = written.emplace(plain(mirror.path()), key);
        if (!is_new)
            findings.error("mirror-output", key,
                           fmt::format("{} has {} too", other->second, in_quotes(mirror.path())),
                           "give each mirror a file of its own");
    }
}

}  // namespace sluice::lint

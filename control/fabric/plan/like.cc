#include "control/fabric/plan/like.hh"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>

#include "control/config/schema/schema.hh"
#include "control/config/schema/schema_rows.hh"
#include "control/config/schema/schema_sections.hh"
#include "control/config/schema/toml_text.hh"
#include "lib/values/ids.hh"

namespace sluice::fabric {
namespace {

// HPCC's model for ns-3 (alibaba-edu/High-Precision-Congestion-Control) counts bytes, keeps a queue for each
// queue pair up to the wire, answers each marked packet, and pauses a sender at once.
std::string ns3() {
    std::string text = R"(
[host.default]
cc = "dcqcn-timer"
cnp_interval = "0ns"
ring = 1
[switch.default]
buffer.cell = "64B"
default.reaction = "0ns"
)";
    for (ClassId n = 0; n < classes; ++n)
        for (const char* user : {"priority_group", "queue"})
            text += fmt::format("default.{}.{}.size = \"0B\"\n", user, n);
    return text;
}

template <class Target>
void read(const toml::table& document, std::string_view section, const schema::Rows<Target>& rows,
          Target& target) {
    schema::Context context("like");
    const toml::table* table = document[section]["default"].as_table();
    if (table == nullptr || !rows.read(*table, context, target)) throw std::logic_error("like is wrong");
}

// "a.3.b" as "a.*.b".
std::string any_number(std::string path) {
    for (std::size_t at = path.find('.'); at != path.npos; at = path.find('.', at + 1))
        if (at + 2 < path.size() && path[at + 1] >= '0' && path[at + 1] <= '9' && path[at + 2] == '.')
            path[at + 1] = '*';
    return path;
}

}  // namespace

void begin_like(FabricConfig& fabric) {
    if (fabric.like == Like::none) return;
    const auto document = parse_toml(ns3(), "like");
    if (!document) throw std::logic_error("like is not TOML");
    read(*document, "switch", schema::config_rows(), fabric.switch_default);
    read(*document, "host", schema::common_host_rows(), fabric.host_default);
}

std::string like_text(const FabricConfig& fabric) {
    if (fabric.like == Like::none) return {};
    FabricConfig alone;
    alone.like = fabric.like;
    begin_like(alone);
    const std::vector<ConfigChange> said = keys_asked(fabric);
    std::set<std::string> keys;
    for (const ConfigChange& each : keys_asked(alone)) {
        const auto same = [&](const ConfigChange& other) {
            return other.path == each.path && other.to == each.to;
        };
        if (each.path != "like" && std::ranges::any_of(said, same))
            keys.insert(fmt::format("{} = {}", any_number(each.path), each.to));
    }
    return fmt::format("{}", fmt::join(keys, ", "));
}

}  // namespace sluice::fabric

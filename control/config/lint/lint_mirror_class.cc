// The class in which a mirror's packets leave for its collector.
#include <fmt/format.h>

#include "control/config/compile/compile.hh"
#include "control/config/lint/lint_qos_parts.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "lib/frame/classify.hh"

namespace sluice::lint {
namespace {

// Its packets may leave by any port: the first that would have them in a lossless class.
void check_class(const Config& config, const EffectiveQos& qos, const std::string& name,
                 const MirrorConfig& mirror, Findings& findings) {
    Parsed parsed;
    parsed.tos = static_cast<std::uint8_t>(mirror.dscp << 2);
    for (const auto& [port, effective] : qos.ports) {
        const ClassId tc = traffic_class(parsed, class_map(effective.map, config.ports.at(port)));
        if (!effective.group[effective.map.tc_to_priority_group[tc]].lossless &&
            !effective.queue[effective.map.tc_to_queue[tc]].lossless)
            continue;
        return findings.warn("mirror-class", fmt::format("mirror.{}.dscp", config_key(name)),
                             fmt::format("DSCP {} leads to class {} at port {}, which is lossless there: its "
                                         "packets go in the first lossy class",
                                         mirror.dscp, tc, in_quotes(port)),
                             "write a dscp of a lossy class, like 8");
    }
}

}  // namespace

std::vector<Finding> check_mirror_classes(const Config& config, const EffectiveQos& qos) {
    Findings findings(config);
    for (const auto& [name, mirror] : config.mirrors)
        if (mirror.collector) check_class(config, qos, name, mirror, findings);
    return findings.take();
}

}  // namespace sluice::lint

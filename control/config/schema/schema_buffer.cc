// The shared buffer: pools, WRED profiles, and the watchdog that empties its queues.
#include "control/config/schema/schema_sections.hh"

namespace sluice::schema {
namespace {

void add_curve_rows(Rows<WredConfig>& rows, const std::string& prefix, WredCurveConfig WredConfig::*curve,
                    const std::string& absent, const std::string& which) {
    using C = WredCurveConfig;
    const auto bytes = optional_or(size(0, max_buffer_bytes, "400KB"), absent);
    rows.key(prefix + "min", curve, &C::min_bytes, bytes,
             "Bytes of the queue, in whole cells, below which nothing happens to " + which);
    rows.key(prefix + "max", curve, &C::max_bytes, bytes,
             "Bytes of the queue, in whole cells, from which it happens to all of " + which);
    rows.key(prefix + "probability", curve, &C::probability, optional_or(per_cent(), absent),
             "Per cent to which the chance rises linearly just below max, for " + which);
}

Type<Duration> detection_time() {
    return time(WatchdogConfig::min_detection, WatchdogConfig::max_detection, "200ms");
}
Type<Duration> restoration_time() { return time(milliseconds(100), seconds(60), "400ms"); }
Type<WatchdogAction> watchdog_action() {
    using A = WatchdogAction;
    return word_of<A>({A::drop, A::forward, A::alert, A::off});
}

}  // namespace

Rows<WredConfig> wred_rows() {
    using W = WredConfig;
    Rows<W> rows;
    add_curve_rows(rows, "green_", &W::green, "linear", "green packets: all but AFx2 and AFx3.");
    add_curve_rows(rows, "yellow_", &W::yellow, "green", "yellow packets: AFx2.");
    add_curve_rows(rows, "red_", &W::red, "green", "red packets: AFx3.");
    add_curve_rows(rows, "ect_", &W::ect, "color", "ECT packets of any color.");
    const auto stay = optional_or(time({}, seconds(1), "20us"), "none");
    rows.key("sojourn_min", &W::sojourn_min, stay, "Time in the queue below which nothing is marked.");
    rows.key("sojourn_max", &W::sojourn_max, stay,
             "Time in the queue from which all ECT packets are marked.");
    rows.key("sojourn_probability", &W::sojourn_probability, optional_or(per_cent(), "100"),
             "Per cent to which the chance rises just below sojourn_max.");
    rows.key("mark_at", &W::mark_at,
             word<MarkAt>(
                 {{"dequeue", MarkAt::dequeue}, {"enqueue", MarkAt::enqueue}, {"sojourn", MarkAt::sojourn}}),
             "Measure for marks: the bytes behind a packet, those before it, or its time in the queue.");
    rows.key("weight", &W::weight, integer<std::uint8_t>(0, 15),
             "The length is averaged with 1/2^weight; 0: as it is.");
    rows.key("ecn", &W::ecn, boolean(),
             "Mark ECT packets instead of dropping them. false: plain RED, which drops none of a lossless "
             "queue (SONiC's ecn_none).");
    rows.key("drop_non_ect", &W::drop_non_ect, optional_or(boolean(), "lossy"),
             "Drop the Not-ECT packets that the curve chooses. \"lossy\": of lossy queues; true: of lossless "
             "ones, too, which are then not lossless; false: mark only (SONiC's wred_*_enable false).");
    return rows;
}

Rows<PoolConfig> pool_rows() {
    using P = PoolConfig;
    Rows<PoolConfig> rows;
    rows.key("direction", &P::direction,
             word<PoolDirection>({{"ingress", PoolDirection::ingress}, {"egress", PoolDirection::egress}}),
             "Ingress: shared by priority groups. Egress: by queues.");
    rows.required("size", &P::size_bytes, size(1, max_buffer_bytes, "12MB"),
                  "Memory of the pool, with its reserved parts and headrooms.");
    rows.key("shared_headroom", &P::shared_headroom_bytes, size(0, max_buffer_bytes, "1MB"),
             "Headroom that its groups share; 0: each has its own.");
    return rows;
}

Rows<WatchdogConfig> watchdog_rows() {
    using W = WatchdogConfig;
    Rows<WatchdogConfig> rows;
    rows.key(
        "detection", &W::detection, detection_time(),
        "A lossless queue that a peer keeps paused so long, without a packet sent, is in a pause storm.");
    rows.key("restoration", &W::restoration, optional_or(restoration_time(), "auto"),
             "A storm is over after this long without an XOFF; \"auto\": twice the detection time.");
    rows.key("poll", &W::poll, optional_or(time(milliseconds(1), seconds(5), "50ms"), "auto"),
             "Period of the watchdog under the real clock; \"auto\": a quarter of the detection time.");
    rows.key(
        "action", &W::action, watchdog_action(),
        "In a storm: drop the queue's packets, send them despite the pause, only report, or do not watch.");
    return rows;
}

Rows<TrimmingConfig> trimming_rows() {
    using T = TrimmingConfig;
    Rows<TrimmingConfig> rows;
    rows.key("size", &T::size_bytes, stored_as<std::uint16_t>(size(min_trim_bytes, max_trim_bytes, "128")),
             "Bytes of a trimmed frame, from its Ethernet header on, without FCS. Shorter frames go whole.");
    rows.key("dscp", &T::dscp, optional_or(dscp(), "preset"),
             "DSCP of trimmed packets, which no other packet should have; needed where a queue trims.");
    rows.key("queue", &T::queue, optional_or(class_id(), "dscp"),
             "Queue that takes trimmed packets; \"dscp\": that of their DSCP in the map of the port.");
    rows.key("trimmable_dscp", &T::trimmable_dscp, optional_or(list_of(dscp(), 64), "all"),
             "DSCPs of packets that may be trimmed; never 48 and 56 (network control), and trimmed ones.");
    return rows;
}

Rows<PortWatchdogConfig> port_watchdog_rows() {
    using W = PortWatchdogConfig;
    Rows<PortWatchdogConfig> rows;
    rows.key("detection", &W::detection, optional_or(detection_time(), "switch"),
             "The detection time of this port; \"switch\": that of [watchdog].");
    rows.key("restoration", &W::restoration, optional_or(restoration_time(), "switch"),
             "The restoration time of this port; \"switch\": that of [watchdog].");
    rows.key("action", &W::action, optional_or(watchdog_action(), "switch"),
             "Action in a storm of this port; \"switch\": as [watchdog] says.");
    return rows;
}

}  // namespace sluice::schema

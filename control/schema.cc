// The table itself: one row a key. A new key is a member in config.hh and a row here.
#include "control/schema.hh"

#include "control/schema_rows.hh"
#include "control/toml_text.hh"

namespace sluice {
namespace schema {
namespace {

constexpr std::uint64_t max_buffer_bytes = 1ULL << 40;
constexpr std::uint32_t max_cable_m = 100'000;
constexpr std::uint64_t any_64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t max_rate_bits = 8'000'000'000'000;

// What a preset gives unless the file says otherwise.
template <class T>
Type<std::optional<T>> or_preset(Type<T> type) {
    return optional_or(std::move(type), "preset");
}

Type<std::uint64_t> part_of_buffer(std::string example) {
    return size(0, max_buffer_bytes, std::move(example));
}

template <class Struct>
void add_threshold_rows(Rows<Struct>& rows) {
    rows.push_back(key<Struct>("dynamic_th", &Struct::dynamic_th, or_preset(signed_integer(-8, 7)),
                               "Limit on shared use: 2^dynamic_th times what is free in the pool."));
    rows.push_back(key<Struct>("static_th", &Struct::static_bytes, or_preset(part_of_buffer("100KB")),
                               "Limit on shared use in bytes; 0: none."));
    rows.push_back(
        key<Struct>("pool", &Struct::pool, or_preset(name("a pool's name")), "The [pool.NAME] it shares."));
    rows.push_back(key<Struct>("size", &Struct::size_bytes, or_preset(part_of_buffer("20KB")),
                               "Bytes reserved for it alone."));
}

Rows<PriorityGroupConfig> priority_group_rows() {
    using G = PriorityGroupConfig;
    Rows<G> rows;
    add_threshold_rows(rows);
    rows.push_back(
        key<G>("lossless", &G::lossless, or_preset(boolean()), "Paused by PFC instead of dropped."));
    rows.push_back(key<G>("xoff", &G::xoff_bytes, or_preset(part_of_buffer("100KB")),
                          "Headroom: what may still arrive after XOFF; \"preset\": computed."));
    rows.push_back(key<G>("xon", &G::xon_bytes, or_preset(part_of_buffer("10KB")),
                          "XON when shared use is at most this, or at most the limit less xon_offset."));
    rows.push_back(key<G>("xon_offset", &G::xon_offset_bytes, or_preset(part_of_buffer("18200")),
                          "How far shared use falls below the limit before XON."));
    return rows;
}

Rows<QueueConfig> queue_rows() {
    using Q = QueueConfig;
    Rows<Q> rows;
    add_threshold_rows(rows);
    rows.push_back(key<Q>(
        "scheduler", &Q::scheduler,
        or_preset(word<QueueScheduler>({{"strict", QueueScheduler::strict}, {"dwrr", QueueScheduler::dwrr}})),
        "Strict goes first, the higher index before the lower; the rest share by weight."));
    rows.push_back(key<Q>("weight", &Q::weight, or_preset(integer<std::uint8_t>(1, 255)),
                          "Share among the dwrr queues, in wire bytes."));
    rows.push_back(key<Q>("min_rate", &Q::min_rate, rate(0, max_rate_bits),
                          "Floor under its share, on the wire; 0: none."));
    rows.push_back(
        key<Q>("max_rate", &Q::max_rate, rate(0, max_rate_bits), "Most it gets, on the wire; 0: no limit."));
    rows.push_back(key<Q>("wred", &Q::wred, or_preset(name("a WRED profile's name")),
                          "The [wred.NAME] that marks and drops, or linear, steep, sonic, none."));
    rows.push_back(key<Q>("microburst", &Q::microburst_bytes,
                          optional_or(size(0, max_buffer_bytes, "100KB"), "port"),
                          "Depth in bytes above which the queue bursts; 0: none; \"port\": the port's."));
    return rows;
}

void add_curve_rows(Rows<WredConfig>& rows, const std::string& prefix, WredCurveConfig WredConfig::*curve,
                    const std::string& absent, const std::string& which) {
    using C = WredCurveConfig;
    const auto bytes = optional_or(size(0, max_buffer_bytes, "400KB"), absent);
    rows.push_back(prefixed(
        prefix, curve,
        key<C>("min", &C::min_bytes, bytes, "Bytes of the queue below which nothing happens to " + which)));
    rows.push_back(prefixed(
        prefix, curve,
        key<C>("max", &C::max_bytes, bytes, "Bytes of the queue from which it happens to all of " + which)));
    rows.push_back(
        prefixed(prefix, curve,
                 key<C>("probability", &C::probability, optional_or(per_cent(), absent),
                        "Per cent to which the chance rises linearly just below max, for " + which)));
}

Rows<WredConfig> wred_rows() {
    using W = WredConfig;
    Rows<W> rows;
    add_curve_rows(rows, "green_", &W::green, "linear", "green packets: all but AFx2 and AFx3.");
    add_curve_rows(rows, "yellow_", &W::yellow, "green", "yellow packets: AFx2.");
    add_curve_rows(rows, "red_", &W::red, "green", "red packets: AFx3.");
    add_curve_rows(rows, "ect_", &W::ect, "colour", "ECT packets of any colour.");
    const auto stay = optional_or(time({}, seconds(1), "20us"), "none");
    rows.push_back(
        key<W>("sojourn_min", &W::sojourn_min, stay, "Time in the queue below which nothing is marked."));
    rows.push_back(key<W>("sojourn_max", &W::sojourn_max, stay,
                          "Time in the queue from which all ECT packets are marked."));
    rows.push_back(key<W>("sojourn_probability", &W::sojourn_probability, optional_or(per_cent(), "100"),
                          "Per cent to which the chance rises just below sojourn_max."));
    rows.push_back(key<W>(
        "mark_at", &W::mark_at,
        word<MarkAt>(
            {{"dequeue", MarkAt::dequeue}, {"enqueue", MarkAt::enqueue}, {"sojourn", MarkAt::sojourn}}),
        "What marks: the bytes left behind a packet, those before it, or its time in the queue."));
    rows.push_back(key<W>("weight", &W::weight, integer<std::uint8_t>(0, 15),
                          "The length is averaged with 1/2^weight; 0: as it is."));
    rows.push_back(
        key<W>("drop_non_ect", &W::drop_non_ect, boolean(),
               "Drop Not-ECT packets of a lossless queue by the curve, too: it is not lossless then."));
    return rows;
}

Rows<PoolConfig> pool_rows() {
    using P = PoolConfig;
    return {
        key<P>("direction", &P::direction,
               word<PoolDirection>({{"ingress", PoolDirection::ingress}, {"egress", PoolDirection::egress}}),
               "Ingress: shared by priority groups. Egress: by queues."),
        required_key<P>("size", &P::size_bytes, size(1, max_buffer_bytes, "12MB"),
                        "Memory of the pool, with what is reserved in it and its headrooms."),
        key<P>("shared_headroom", &P::shared_headroom_bytes, size(0, max_buffer_bytes, "1MB"),
               "Headroom that its groups share; 0: each has its own."),
    };
}

Rows<FaultSettings> fault_rows() {
    using F = FaultSettings;
    const auto every = integer_64(0, 1ULL << 40);
    const auto delay = time({}, seconds(1), "5us");
    const auto off_or_16_bits = optional_or(integer<std::uint16_t>(0, 65535), "off");
    return {
        key<F>("drop_every", &F::drop_every, every,
               "Every so many frames of the peer, one is lost on its way; 0: none."),
        key<F>("drop_chance", &F::drop_chance, odds(), "Chance that a frame of the peer is lost on its way."),
        key<F>("corrupt_chance", &F::corrupt_chance, odds(),
               "Chance that a bit behind the Ethernet header of a frame of the peer is inverted."),
        key<F>("duplicate_chance", &F::duplicate_chance, odds(),
               "Chance that a frame of the peer arrives twice."),
        key<F>("delay", &F::delay, delay, "How much later frames of the peer arrive, in order."),
        key<F>("pfc_lose_every", &F::pfc_lose_every, every,
               "Every so many PFC frames that we send, one is lost on its way; 0: none."),
        key<F>("pfc_lose_chance", &F::pfc_lose_chance, odds(),
               "Chance that a PFC frame that we send is lost on its way."),
        key<F>("pfc_duplicate_chance", &F::pfc_duplicate_chance, odds(),
               "Chance that a PFC frame that we send reaches the peer twice."),
        key<F>("pfc_delay", &F::pfc_delay, delay, "How much later our PFC frames reach the peer, in order."),
        key<F>("pfc_class_vector", &F::pfc_class_vector, off_or_16_bits,
               "Class-enable vector of every PFC frame that we send; classes it adds get the frame's pause "
               "time."),
        key<F>("pfc_quanta", &F::pfc_quanta, off_or_16_bits,
               "Pause time of every class in every PFC frame that we send, XON as well."),
        key<F>("storm_classes", &F::storm_classes, class_mask(),
               "Priorities for which the peer sends XOFF in a storm."),
        key<F>("storm_every", &F::storm_every, time(microseconds(1), seconds(1), "10us"),
               "Time between the frames of a storm."),
        key<F>("storm_for", &F::storm_for, time(microseconds(1), seconds(100), "1ms"),
               "How long a storm lasts from when it is set: a run does not end before."),
        key<F>("stuck_xoff", &F::stuck_xoff, class_mask(),
               "Priorities for which the peer sends one XOFF when this is set, and no word after."),
        key<F>("overshoot", &F::overshoot_bytes, size(0, 1ULL << 40, "10KB"),
               "Wire bytes that the peer still sends in a class after it should have stopped."),
        key<F>("slow_receiver", &F::slow_receiver, optional_or(rate(1'000'000, max_rate_bits), "off"),
               "What the peer can take of the lossless classes: it pauses us when its buffer fills."),
        key<F>("slow_buffer", &F::slow_buffer_bytes, size(1, 1ULL << 30, "64KB"),
               "Buffer of a slow receiver: XOFF when it holds more, XON at half."),
    };
}

Rows<PortConfig> port_rows() {
    using P = PortConfig;
    return {
        at_start(key<P>("device", &P::device, text("device", 0, 1024, "net_null0"),
                        "DPDK device string, PCI address, or xdp:INTERFACE; needed under the real clock.")),
        at_start(
            key<P>("speed", &P::speed, port_speed(), "Speed of the link model, and of the pause quanta.")),
        at_start(key<P>("cable", &P::cable_m, length(0, max_cable_m),
                        "Length of the cable, for its propagation and for the headroom.")),
        at_start(key<P>("mtu", &P::mtu, integer<std::uint32_t>(68, 9216),
                        "IP MTU in bytes, without the Ethernet header.")),
        at_start(
            key<P>("mac", &P::mac, optional_or(mac(), "auto"),
                   "The port's own address; \"auto\": the device's, or one made from the port's index.")),
        key<P>("address", &P::address, list_of(interface_address(), 64),
               "The port's own IP addresses, each with the length of its subnet; its TAP has them, too."),
        key<P>("promiscuous", &P::promiscuous, boolean(),
               "Route frames whatever unicast MAC address they are for."),
        key<P>("responder", &P::responder, boolean(),
               "Answer ARP, neighbour solicitations and echo requests for the port's addresses, and send "
               "ICMP errors, where no kernel does."),
        key<P>("proxy_arp", &P::proxy_arp, boolean(),
               "The responder answers ARP and neighbour solicitations for hosts behind other ports, too."),
        at_start(key<P>(
            "peer", &P::peer,
            optional_or(word<PeerKind>({{"obey", PeerKind::obey}, {"ignore", PeerKind::ignore}}), "auto"),
            "Whether the sender behind a capture file obeys our PFC; \"auto\": it does under the virtual "
            "clock. Under the real one it has a single FIFO: all of it stands still while a class is "
            "paused.")),
        key<P>("qos", &P::qos, choice({"lossless", "semi-lossless", "lossy", "sonic-t0"}),
               "Preset of classes, queues and PFC."),
        key<P>("pfc", &P::pfc, or_preset(list_of(class_id(), classes)),
               "Priorities that are lossless by PFC."),
        key<P>("pfc_mode", &P::pfc_mode,
               or_preset(word<PfcMode>({{"symmetric", PfcMode::symmetric},
                                        {"asymmetric", PfcMode::asymmetric},
                                        {"semi-lossless", PfcMode::semi_lossless},
                                        {"off", PfcMode::off}})),
               "Which pauses are sent and obeyed: both for the lossless; obey all eight; never send; none."),
        key<P>("pfc_quanta", &P::pfc_quanta, integer<std::uint16_t>(2, 65535),
               "Pause time of the XOFFs we send, in quanta of 512 bit times; repeated at half of it."),
        key<P>("small_xoff", &P::small_xoff, boolean(),
               "Accept an xoff that is too small to be lossless, for experiments; the report then says so."),
        key<P>("shaper", &P::shaper, rate(0, max_rate_bits),
               "Most the port sends, on the wire; 0: no limit."),
        key<P>("microburst", &P::microburst_bytes, optional_or(size(0, max_buffer_bytes, "100KB"), "auto"),
               "Depth in bytes above which a queue bursts; 0: none; \"auto\": what the port sends in 32 us."),
        key<P>("trust", &P::trust,
               word<Trust>({{"dscp", Trust::dscp}, {"pcp", Trust::pcp}, {"port", Trust::port}}),
               "What gives a packet its traffic class."),
        key<P>("default_tc", &P::default_tc, class_id(),
               "Traffic class with trust = \"port\", and of what carries neither DSCP nor PCP."),
        key<P>("map", &P::map, name("a map's name"), "The [map.NAME] by which the port classifies."),
        at_start(key<P>("worker", &P::worker, optional_or(integer<unsigned>(0, max_workers - 1), "auto"),
                        "Worker that owns the port; \"auto\": ports are dealt round.")),
        at_start(key<P>("rx_queues", &P::rx_queues, integer<std::uint16_t>(1, max_receive_queues),
                        "Receive queues, over which the device spreads flows; the port's worker polls the "
                        "first. Real clock only.")),
        at_start(key<P>("rx_workers", &P::rx_workers,
                        list_of(integer<unsigned>(0, max_workers - 1), max_workers),
                        "Workers that poll the other receive queues, in turn; []: all, from the one after "
                        "the port's own.")),
        indexed<P>("priority_group", &P::priority_group, priority_group_rows(),
                   "A priority group of the port, 0 to 7."),
        indexed<P>("queue", &P::queue, queue_rows(), "A queue of the port, 0 to 7."),
        nested<P>("fault", &P::fault, fault_rows(),
                  "Faults injected on the port's link, under the virtual clock."),
    };
}

Rows<MapConfig> map_rows() {
    using M = MapConfig;
    return {
        key<M>("dscp_to_tc", &M::dscp_to_tc, class_map<64>(), "Traffic class of each DSCP."),
        key<M>("pcp_to_tc", &M::pcp_to_tc, class_map<8>(),
               "Traffic class of each PCP, with trust = \"pcp\"."),
        key<M>("tc_to_queue", &M::tc_to_queue, class_map<8>(), "Egress queue of each traffic class."),
        key<M>("tc_to_priority_group", &M::tc_to_priority_group, class_map<8>(),
               "Ingress priority group of each traffic class."),
        key<M>("pfc_priority_to_queue", &M::pfc_priority_to_queue, class_map<8>(),
               "Queue that a received PFC priority pauses."),
        key<M>("roce_tc", &M::roce_tc, optional_or(class_id(), "dscp"),
               "Traffic class of RoCEv2 data and acknowledgements; \"dscp\": as any other packet."),
        key<M>("cnp_tc", &M::cnp_tc, optional_or(class_id(), "dscp"),
               "Traffic class of congestion notification packets; \"dscp\": as any other packet."),
    };
}

Rows<WatchdogConfig> watchdog_rows() {
    using W = WatchdogConfig;
    return {
        key<W>("detection", &W::detection, time(milliseconds(100), seconds(5), "200ms"),
               "A lossless queue that a peer holds paused this long, sending nothing, is a pause storm."),
        key<W>("restoration", &W::restoration,
               optional_or(time(milliseconds(100), seconds(60), "400ms"), "auto"),
               "A storm is over after this long without an XOFF; \"auto\": twice the detection time."),
        key<W>("poll", &W::poll, optional_or(time(milliseconds(1), seconds(5), "50ms"), "auto"),
               "How often that is judged under the real clock; \"auto\": a quarter of the detection time."),
        key<W>("action", &W::action,
               word<WatchdogAction>({{"drop", WatchdogAction::drop},
                                     {"forward", WatchdogAction::forward},
                                     {"alert", WatchdogAction::alert},
                                     {"off", WatchdogAction::off}}),
               "In a storm: discard the queue's packets; send them whatever the peer says; only say so; or "
               "do not watch."),
    };
}

Rows<FibConfig> fib_rows() {
    using F = FibConfig;
    const auto tables = optional_or(integer<std::uint32_t>(256, 1U << 21), "auto");
    return {
        at_start(key<F>("ipv4_tables", &F::ipv4_tables, tables,
                        "Room for IPv4 prefixes longer than /24: a table for each /24 that has any, 2 KiB "
                        "of memory each; \"auto\": 16384 and twice what the configuration takes.")),
        at_start(key<F>("ipv6_tables", &F::ipv6_tables, tables,
                        "Room for IPv6 prefixes: a table for each /24, /32, /40 ... on the way to longer "
                        "ones; \"auto\": 16384 and twice what the configuration takes.")),
    };
}

Rows<PuntConfig> punt_rows() {
    const auto limits = [](const PuntLimit& fallback) {
        using L = PuntLimit;
        return Rows<L>{
            key<L>("rate", &L::rate, integer<std::uint32_t>(0, 1'000'000),
                   "Packets a second of the class that control gets from a port; 0: none, they are dropped.",
                   std::to_string(fallback.rate)),
            key<L>("burst", &L::burst, integer<std::uint32_t>(1, 4096), "As many of them may come at once.",
                   std::to_string(fallback.burst)),
        };
    };
    const PuntConfig defaults;
    return {
#define PUNT(name, rate, burst, sentence) \
    nested<PuntConfig>(#name, &PuntConfig::name, limits(defaults.name), "Punt class: " sentence "."),
#include "lib/punt_classes.def"
#undef PUNT
    };
}

Rows<KernelConfig> kernel_rows() {
    using K = KernelConfig;
    return {
        at_start(key<K>("routes", &K::routes, boolean(),
                        "Routes, neighbours and addresses that the kernel has at the ports' interfaces are "
                        "the switch's too, behind those of the configuration.")),
        at_start(key<K>("taps", &K::taps, optional_or(boolean(), "auto"),
                        "A TAP, of the port's name, MAC and MTU, for each port that is no interface of the "
                        "kernel: it gets what the port punts; \"auto\": with routes.")),
        at_start(key<K>("receive_buffer", &K::receive_buffer_bytes, size(4096, 1U << 30, "8MB"),
                        "News of the kernel that may wait to be read; beyond it all is asked for anew.")),
    };
}

Rows<NeighborConfig> neighbor_rows() {
    using N = NeighborConfig;
    return {
        required_key<N>("address", &N::address, address(), "The neighbour's IP address."),
        required_key<N>("port", &N::port, name("a port's name"), "The port behind which it is."),
        required_key<N>("mac", &N::mac, mac(), "Its MAC address."),
        key<N>("vlan", &N::vlan, optional_or(integer<std::uint16_t>(1, 4094), "none"),
               "VLAN whose tag its frames get; \"none\": untagged."),
    };
}

Rows<RouteConfig> route_rows() {
    using R = RouteConfig;
    return {
        required_key<R>("prefix", &R::prefix, network(), "Destinations that the route is for."),
        required_key<R>("via", &R::via, next_hops(),
                        "Neighbours that share the traffic, by weight (1 to 256); \"blackhole\" drops it."),
    };
}

template <class T>
Type<std::optional<T>> or_any(Type<T> type) {
    return optional_or(std::move(type), "any");
}

Rows<FlowConfig> flow_rows() {
    using F = FlowConfig;
    const auto port = integer<std::uint16_t>(0, 65535);
    return {
        key<F>("source", &F::source, or_any(network()), "Source addresses."),
        key<F>("destination", &F::destination, or_any(network()), "Destination addresses."),
        key<F>("source_port", &F::source_port, or_any(port), "TCP or UDP source port."),
        key<F>("destination_port", &F::destination_port, or_any(port), "TCP or UDP destination port."),
        key<F>("qp", &F::qp, or_any(integer<std::uint32_t>(0, 0xFF'FFFF)),
               "Destination queue pair of RoCEv2."),
    };
}

Type<Verdict> verdict() {
    return word<Verdict>({{"dropped", Verdict::dropped},
                          {"marked", Verdict::marked},
                          {"paused", Verdict::paused},
                          {"punted", Verdict::punted},
                          {"sent", Verdict::sent},
                          {"unfinished", Verdict::unfinished}});
}

Rows<DecisionsConfig> decision_rows() {
    using D = DecisionsConfig;
    const auto some_ports = list_of(name("a port's name"), max_ports);
    return {
        at_start(key<D>(
            "record", &D::record,
            optional_or(word<RecordMode>(
                            {{"off", RecordMode::off}, {"ready", RecordMode::ready}, {"on", RecordMode::on}}),
                        "auto"),
            "Ready: waits for the command \"decisions on\"; \"auto\": on with a file, ready when an event "
            "may switch it on.")),
        at_start(key<D>("file", &D::file, text("a file", 0, 1024, "out/decisions.jsonl"),
                        "Where records go, one JSON object a line; empty: only the report says why.")),
        at_start(key<D>(
            "ring", &D::ring, optional_or(integer<std::uint32_t>(2, 1U << 24), "auto"),
            "Events of a worker on their way to control; what does not fit is lost and counted; \"auto\": "
            "two for every packet the buffer holds, 65536 at least.")),
        key<D>("port", &D::ports, some_ports, "Record what comes in by these ports; empty: all."),
        key<D>("egress", &D::egress, some_ports, "Record what is routed to these ports; empty: all."),
        key<D>("class", &D::classes, list_of(class_id(), classes), "Traffic classes to record; empty: all."),
        key<D>("verdict", &D::verdicts, list_of(verdict(), verdict_names.size()),
               "Keep records of these outcomes; empty: all."),
        nested<D>("flow", &D::flow, flow_rows(), "Packets to record."),
    };
}

Rows<EventConfig> event_rows() {
    using E = EventConfig;
    return {
        required_key<E>("at", &E::at, time({}, seconds(100LL * 24 * 3600), "5ms"),
                        "Moment of the event, from the run's origin."),
        required_key<E>("do", &E::command, text("a command", 1, 1024, "port p1 down"),
                        "Control command to run."),
    };
}

// [default]: a port's keys (also as [default.port]), and [default.map], which is the map "default". A plain
// string `map` is the port's key.
bool read_default(const toml::node& node, Context& context, Config& config) {
    static const Rows<PortConfig> ports = port_rows();
    static const Rows<MapConfig> maps = map_rows();
    const toml::table* table = want_table(node, context, {});
    if (table == nullptr) return false;
    const toml::node* port = table->get("port");
    const toml::node* map = table->get("map");
    const bool has_map_table = map != nullptr && map->is_table();
    const std::array<std::string_view, 2> elsewhere{"port", has_map_table ? "map" : "port"};
    bool good = read_rows(*table, ports, context, config.port_defaults, elsewhere);
    if (has_map_table) {
        const Context::Inside inside(context, "map");
        good &= read_rows(*map->as_table(), maps, context, config.maps["default"]);
    }
    if (port == nullptr) return good;
    const Context::Inside inside(context, "port");
    const toml::table* port_table = want_table(*port, context, {});
    if (port_table == nullptr) return false;
    for (const auto& [name, value] : *port_table) {
        if (name.str() == "map" ? has_map_table || !map : !table->contains(name.str())) continue;
        const Context::Inside key_inside(context, name.str());
        context.refuse(name.source(), quoted(name.str()) + " is in [default] too", "one of them",
                       "leave one out");
        good = false;
    }
    return read_rows(*port_table, ports, context, config.port_defaults) && good;
}

Row<Config> default_row() {
    Row<Config> row = section<Config>("default", "What every port starts from.");
    row.read = read_default;
    row.save = [rows = port_rows()](const Config& value, const Config& base, const std::string& header,
                                    std::string& out) {
        save_rows(rows, value.port_defaults, base.port_defaults, header, out);
    };
    row.describe = [](const std::string&, std::vector<KeyInfo>&) {};  // the keys are the port's
    return row;
}

MapConfig map_base(const Config& config, const std::string& name, bool saving) {
    const auto found = config.maps.find("default");
    const bool none = found == config.maps.end() || (saving && name == "default");
    return none ? MapConfig{} : found->second;
}

Rows<Config> make_config_rows() {
    using C = Config;
    return {
        at_start(
            key<C>("clock", &C::clock,
                   word<ClockKind>({{"virtual", ClockKind::virtual_time}, {"real", ClockKind::real_time}}),
                   "Virtual: simulated time, the same result each run. Real: devices and the time of day.")),
        key<C>("seed", &C::seed, integer_64(0, any_64), "Seed of every random decision."),
        at_start(key<C>("workers", &C::workers, integer<unsigned>(1, max_workers),
                        "Worker threads of the dataplane.")),
        at_start(key<C>("cores", &C::cores, list_of(integer<unsigned>(0, 1023), max_workers),
                        "CPU of each worker under the real clock; empty: chosen.")),
        key<C>("hash_seed", &C::hash_seed, integer_64(0, any_64),
               "Seed of the hash that picks among next hops."),
        key<C>("hash_roce_qp", &C::hash_roce_qp, boolean(),
               "The destination queue pair of RoCEv2 takes part in that hash."),
        at_start(key<C>("eal", &C::eal, list_of(text("an EAL argument", 1, 256, "--log-level=6"), 64),
                        "Extra arguments for DPDK's EAL.")),
        key<C>("turn_max", &C::turn_max, time(microseconds(1), milliseconds(10), "50us"),
               "Longest turn of a worker under the real clock; the headroom covers it."),
        at_start(key<C>("idle_sleep", &C::idle_sleep, time({}, milliseconds(10), "50us"),
                        "How long a worker sleeps between two turns when it has had nothing to do for 256 "
                        "turns, under the "
                        "real clock; 0: it polls all the time. At most half of turn_max.")),
        group<C>("virtual",
                 {
                     at_start(key<C>("turn", &C::virtual_turn, time({}, seconds(1), "500ns"),
                                     "Grid of the workers' turns under the virtual clock; 0: exact.")),
                     at_start(key<C>("rx_ring", &C::virtual_ring_frames, integer<unsigned>(32, 1U << 20),
                                     "Frames that a port's receive ring holds between turns.")),
                 },
                 "The virtual clock."),
        group<C>(
            "buffer",
            {
                at_start(key<C>("size", &C::buffer_size_bytes, size(1, max_buffer_bytes, "16MB"),
                                "Packet memory that all ports share.")),
                at_start(key<C>("cell", &C::cell_bytes, stored_as<std::uint32_t>(size(64, 2048, "256")),
                                "Unit in which packet memory is given out.")),
                at_start(key<C>("packet_buffer", &C::packet_buffer_bytes,
                                stored_as<std::uint32_t>(size(2048, 16384, "16384")),
                                "Room of a DPDK packet buffer: a longer frame takes several, which not every "
                                "device can.")),
            },
            "The shared buffer."),
        nested<C>("fib", &C::fib, fib_rows(), "The forwarding tables."),
        nested<C>("punt", &C::punt, punt_rows(),
                  "What control gets of the frames that are not for forwarding."),
        nested<C>("kernel", &C::kernel, kernel_rows(), "The kernel of the machine as control plane."),
        nested<C>("watchdog", &C::watchdog, watchdog_rows(), "The PFC watchdog of all ports."),
        nested<C>("decisions", &C::decisions, decision_rows(), "Decision records."),
        default_row(),
        named<C>(
            "pool", &C::pools, pool_rows(),
            [](const Config&, const std::string&, bool) { return PoolConfig{}; }, 16,
            "A pool of the shared buffer; none: the preset's."),
        named<C>(
            "wred", &C::wred, wred_rows(),
            [](const Config&, const std::string&, bool) { return WredConfig{}; }, 256,
            "A WRED and ECN profile; starts from linear: 100/400 KB at 25G, 20 %, in proportion to the "
            "speed."),
        named<C>("map", &C::maps, map_rows(), map_base, 256,
                 "Maps of a port; start from the map \"default\"."),
        named<C>(
            "port", &C::ports, port_rows(),
            [](const Config& config, const std::string&, bool) { return config.port_defaults; }, max_ports,
            "A port of the switch."),
        list<C>("neighbor", &C::neighbors, neighbor_rows(), max_routes, "A host or router behind a port."),
        list<C>("route", &C::routes, route_rows(), max_routes, "A route."),
        list<C>("event", &C::events, event_rows(), max_events, "A command at a moment."),
    };
}

}  // namespace

const Rows<Config>& config_rows() {
    static const Rows<Config> rows = make_config_rows();
    return rows;
}

}  // namespace schema

const std::vector<KeyInfo>& schema_keys() {
    static const std::vector<KeyInfo> keys = [] {
        std::vector<KeyInfo> all;
        schema::describe_rows(schema::config_rows(), {}, all);
        return all;
    }();
    return keys;
}

std::string schema_reference() {
    std::string out =
        "# Configuration keys\n\nKeys of [port.NAME] may stand under [default] for all ports; "
        "[default.map] is the map \"default\".\n";
    std::string section = "none yet";
    for (const KeyInfo& key : schema_keys()) {
        if (key.section != section) {
            section = key.section;
            std::string heading = "[" + section + "]";
            if (section.empty()) heading = "Top level";
            if (section.ends_with("[]")) heading = "[[" + section.substr(0, section.size() - 2) + "]]";
            out += "\n## " + heading + "\n";
            out += "\n| key | type | allowed | default | meaning |\n|---|---|---|---|---|\n";
        }
        out += fmt::format("| `{}` | {} | {} | {} | {}{} |\n", key.name, key.type, key.allowed, key.fallback,
                           key.sentence, key.restart ? " Takes effect at start." : "");
    }
    return out;
}

std::string set_fault(FaultSettings& fault, std::string_view key, std::string_view value) {
    using namespace schema;
    static const Rows<FaultSettings> rows = fault_rows();
    const auto row =
        std::find_if(rows.begin(), rows.end(), [&](const auto& known) { return known.info.name == key; });
    if (row == rows.end()) {
        std::string known;
        for (const auto& other : rows) append_item(known, ", ", other.info.name);
        return fmt::format("{} is no fault; known: {}", quoted(key), known);
    }
    // "100" and "[3]" are TOML as they stand, "5us" is a string of it.
    auto document = parse_toml(fmt::format("{} = {}", key, value), "command");
    if (!document) document = parse_toml(fmt::format("{} = {}", key, toml_string(value)), "command");
    const toml::node* node = document && document->size() == 1 ? document->get(key) : nullptr;
    if (node == nullptr) return fmt::format("{} is no value; allowed: {}", quoted(value), row->info.allowed);
    Context context("command");
    FaultSettings changed = fault;
    if (!row->read(*node, context, changed)) {
        const ConfigError error = context.take_errors().front();
        return fmt::format("{}: {}; allowed: {}", key, error.wrong, error.allowed);
    }
    fault = changed;
    return {};
}

std::string config_key(std::string_view name) { return schema::toml_key(name); }

std::string to_toml(const Config& config) {
    static const Config base;
    std::string out;
    schema::save_rows(schema::config_rows(), config, base, {}, out);
    return out;
}

}  // namespace sluice

// Ports, their groups and queues, the faults on their links, and the maps by which they classify.
#include "control/config/schema/schema_sections.hh"
#include "lib/pfc/pfc_generator.hh"

namespace sluice::schema {
namespace {

constexpr std::uint32_t max_cable_m = 100'000;
constexpr std::uint64_t max_burst_bytes = 1'000'000;
constexpr const char* burst_sentence =
    "Burst at that rate in bytes on the wire; \"auto\": two frames of the MTU, less below 2 Gb/s.";

template <class T>
Type<std::optional<T>> or_preset(Type<T> type) {
    return optional_or(std::move(type), "preset");
}

Type<std::uint64_t> part_of_buffer(std::string example) {
    return size(0, max_buffer_bytes, std::move(example));
}

template <class Struct>
void add_threshold_rows(Rows<Struct>& rows) {
    rows.key("dynamic_th", &Struct::dynamic_th, or_preset(signed_integer(-8, 7)),
             "Limit on shared use: 2^dynamic_th times what is free in the pool.");
    rows.key("static_th", &Struct::static_bytes, or_preset(part_of_buffer("100KB")),
             "Limit on shared use in bytes; 0: none.");
    rows.key("pool", &Struct::pool, or_preset(name("a pool's name")), "The [pool.NAME] it shares.");
    rows.key("size", &Struct::size_bytes, or_preset(part_of_buffer("20KB")), "Bytes reserved for it alone.");
}

Rows<PriorityGroupConfig> priority_group_rows() {
    using G = PriorityGroupConfig;
    Rows<G> rows;
    add_threshold_rows(rows);
    rows.key("lossless", &G::lossless, or_preset(boolean()), "Paused by PFC instead of dropped.");
    rows.key("xoff", &G::xoff_bytes, or_preset(part_of_buffer("100KB")),
             "Headroom: what may still arrive after XOFF; \"preset\": computed.");
    rows.key("xon", &G::xon_bytes, or_preset(part_of_buffer("10KB")),
             "XON when shared use is at most this, or at most the limit less xon_offset.");
    rows.key("xon_offset", &G::xon_offset_bytes, or_preset(part_of_buffer("18200")),
             "How far shared use falls below the limit before XON.");
    return rows;
}

Rows<QueueConfig> queue_rows() {
    using Q = QueueConfig;
    Rows<Q> rows;
    add_threshold_rows(rows);
    rows.key(
        "scheduler", &Q::scheduler,
        or_preset(word<QueueScheduler>({{"strict", QueueScheduler::strict}, {"dwrr", QueueScheduler::dwrr}})),
        "Strict goes first, the higher index before the lower; the others share by weight.");
    rows.key("weight", &Q::weight, or_preset(integer<std::uint8_t>(1, 255)),
             "Share among the dwrr queues, in wire bytes.");
    rows.key("min_rate", &Q::min_rate, rate(0, max_rate_bits),
             "Served before strict queues up to this rate, on the wire; 0: no minimum.");
    rows.key("max_rate", &Q::max_rate, rate(0, max_rate_bits), "Most it gets, on the wire; 0: no limit.");
    rows.key("max_burst", &Q::max_burst_bytes, optional_or(size(0, max_burst_bytes, "20KB"), "auto"),
             burst_sentence);
    rows.key("wred", &Q::wred, or_preset(name("a WRED profile's name")),
             "The [wred.NAME] that marks and drops, or linear, steep, sonic, none.");
    rows.key("on_full", &Q::on_full,
             or_preset(word<OnFull>({{"drop", OnFull::drop}, {"trim", OnFull::trim}})),
             "What a lossy queue does with packets beyond its limit: drop them, or trim them ([trimming]).");
    rows.key("microburst", &Q::microburst_bytes, optional_or(size(0, max_buffer_bytes, "100KB"), "port"),
             "Depth in bytes above which the queue bursts; 0: none; \"port\": the port's.");
    return rows;
}

}  // namespace

Rows<FaultSettings> fault_rows() {
    using F = FaultSettings;
    using W = FrameFaults;
    const auto every = integer_64(0, 1ULL << 40);
    const auto delay = time({}, seconds(1), "5us");
    const auto off_or_16_bits = optional_or(integer<std::uint16_t>(0, 65535), "off");
    Rows<FaultSettings> rows;
    rows.key("drop_every", &F::received, &W::drop_every, every,
             "A loss among every so many frames of the peer; 0: none.");
    rows.key("drop_chance", &F::received, &W::drop_chance, odds(),
             "Chance that a frame of the peer is lost on its way.");
    rows.key("corrupt_chance", &F::received, &W::corrupt_chance, odds(),
             "Chance that a bit behind the Ethernet header of a frame of the peer is inverted.");
    rows.key("duplicate_chance", &F::received, &W::duplicate_chance, odds(),
             "Chance that a frame of the peer arrives twice.");
    rows.key("delay", &F::received, &W::delay, delay, "How much later frames of the peer arrive, in order.");
    rows.key("ber", &F::received, &W::ber, bit_error_rate(max_ber),
             "Bit error rate of the wire from the peer: the port drops frames with a wrong FCS.");
    rows.key("tx_drop_every", &F::sent, &W::drop_every, every,
             "A loss among every so many frames that we send, with PFC frames; 0: none.");
    rows.key("tx_drop_chance", &F::sent, &W::drop_chance, odds(),
             "Chance that a frame that we send is lost on its way.");
    rows.key("tx_corrupt_chance", &F::sent, &W::corrupt_chance, odds(),
             "Chance that a bit behind the Ethernet header of a frame that we send is inverted.");
    rows.key("tx_duplicate_chance", &F::sent, &W::duplicate_chance, odds(),
             "Chance that a frame that we send reaches the peer twice.");
    rows.key("tx_delay", &F::sent, &W::delay, delay,
             "How much later frames that we send reach the peer, in order.");
    rows.key("tx_ber", &F::sent, &W::ber, bit_error_rate(max_ber), "Bit error rate of the wire to the peer.");
    rows.key("pfc_lose_every", &F::pfc, &W::drop_every, every,
             "A loss among every so many PFC frames that we send; 0: none.");
    rows.key("pfc_lose_chance", &F::pfc, &W::drop_chance, odds(),
             "Chance that a PFC frame that we send is lost on its way.");
    rows.key("pfc_duplicate_chance", &F::pfc, &W::duplicate_chance, odds(),
             "Chance that a PFC frame that we send reaches the peer twice.");
    rows.key("pfc_delay", &F::pfc, &W::delay, delay,
             "How much later our PFC frames reach the peer, in order.");
    rows.key("pfc_class_vector", &F::pfc_class_vector, off_or_16_bits,
             "Class-enable vector of our PFC frames; added classes get the frame's pause time.");
    rows.key("pfc_quanta", &F::pfc_quanta, off_or_16_bits,
             "Pause time of every class in every PFC frame that we send, XON as well.");
    rows.key("storm_classes", &F::storm_classes, class_mask(),
             "Priorities for which the peer sends XOFF in a storm.");
    rows.key("storm_every", &F::storm_every, time(microseconds(1), seconds(1), "10us"),
             "Time between the frames of a storm.");
    rows.key("storm_for", &F::storm_for, time(microseconds(1), seconds(100), "1ms"),
             "Length of a storm from its setting, which a run does not end before.");
    rows.key("stuck_xoff", &F::stuck_xoff, class_mask(),
             "Priorities for which the peer sends a single XOFF when this is set.");
    rows.key("overshoot", &F::overshoot_bytes, size(0, 1ULL << 40, "10KB"),
             "Wire bytes that the peer still sends in a class after it should have stopped.");
    rows.key("slow_receiver", &F::slow_receiver, optional_or(rate(1'000'000, max_rate_bits), "off"),
             "Rate at which the peer receives lossless classes: it pauses us when its buffer fills.");
    rows.key("slow_buffer", &F::slow_buffer_bytes, size(1, 1ULL << 30, "64KB"),
             "Buffer of a slow receiver: XOFF when it holds more, XON at half.");
    return rows;
}

Rows<PortConfig> port_rows() {
    using P = PortConfig;
    Rows<PortConfig> rows;
    rows.start_key("device", &P::device, text("device", 0, 1024, "net_null0"),
                   "DPDK device string, PCI address, or xdp:INTERFACE; needed under the real clock.");
    rows.start_key("speed", &P::speed, port_speed(), "Speed of the link model, and of the pause quanta.");
    rows.start_key("cable", &P::cable_m, length(0, max_cable_m),
                   "Length of the cable, for its propagation and for the headroom.");
    rows.start_key("reaction", &P::reaction, optional_or(time({}, milliseconds(1), "5us"), "auto"),
                   "Time from the end of our PFC frame at the peer until it starts no more frames of the "
                   "class; \"auto\": the published figure of the speed, with both interfaces' delays.");
    rows.start_key("mtu", &P::mtu, integer<std::uint32_t>(min_mtu, max_mtu),
                   "IP MTU in bytes, without the Ethernet header. Default of xdp: ports: 3800, which every "
                   "kernel takes.");
    rows.start_key("mac", &P::mac, optional_or(mac(), "auto"),
                   "The port's own address; \"auto\": the device's, or one made from the port's index.");
    rows.key("address", &P::address, list_of(interface_address(), 64),
             "The port's IP addresses, each with the length of its subnet; its TAP has them, too.");
    rows.key("promiscuous", &P::promiscuous, boolean(),
             "Route frames whatever unicast MAC address they are for.");
    rows.key("responder", &P::responder, boolean(),
             "Answer ARP, neighbor solicitations and echo requests for the port's addresses, and send ICMP "
             "errors.");
    rows.key("proxy_arp", &P::proxy_arp, boolean(),
             "The responder also answers ARP and neighbor solicitations for hosts behind other ports.");
    rows.start_key(
        "peer", &P::peer,
        optional_or(word<PeerKind>({{"obey", PeerKind::obey}, {"ignore", PeerKind::ignore}}), "auto"),
        "Whether the sender behind a capture file obeys our PFC; \"auto\": yes under the virtual clock. "
        "Under the real clock it has a single FIFO, which stops while a class is paused.");
    rows.key("qos", &P::qos, choice({"lossless", "semi-lossless", "lossy", "lossy-trim", "sonic-t0"}),
             "Preset of classes, queues and PFC.");
    rows.key("pfc", &P::pfc, or_preset(list_of(class_id(), classes)), "Priorities that are lossless by PFC.");
    rows.key("pfc_mode", &P::pfc_mode,
             or_preset(word_of<PfcMode>(
                 {PfcMode::symmetric, PfcMode::asymmetric, PfcMode::semi_lossless, PfcMode::off})),
             "Pauses sent and obeyed: both for lossless priorities; obey all eight; never send; none.");
    rows.key("pfc_quanta", &P::pfc_quanta, integer<std::uint16_t>(PfcSendSettings::min_quanta, 65535),
             "Pause time of the XOFFs we send, in quanta of 512 bit times; repeated at half of it.");
    rows.key("small_xoff", &P::small_xoff, boolean(),
             "Accept an xoff or shared headroom that is too small to be lossless; the report then says so.");
    rows.key("shaper", &P::shaper, rate(0, max_rate_bits), "Most the port sends, on the wire; 0: no limit.");
    rows.key("shaper_burst", &P::shaper_burst_bytes, optional_or(size(0, max_burst_bytes, "20KB"), "auto"),
             burst_sentence);
    rows.key("microburst", &P::microburst_bytes, optional_or(size(0, max_buffer_bytes, "100KB"), "auto"),
             "Depth in bytes of a microburst; 0: none; \"auto\": what the port sends in 32 us.");
    rows.key("trim_dscp", &P::trim_dscp, optional_or(dscp(), "trimming"),
             "DSCP of packets that are trimmed at this port, as at the last hop; \"trimming\": that of "
             "[trimming].");
    rows.key("trust", &P::trust,
             word<Trust>({{"dscp", Trust::dscp}, {"pcp", Trust::pcp}, {"port", Trust::port}}),
             "Field that gives a packet its traffic class.");
    rows.key("default_tc", &P::default_tc, class_id(),
             "Traffic class with trust = \"port\", and of packets without DSCP and PCP.");
    rows.key("map", &P::map, name("a map's name"), "The [map.NAME] by which the port classifies.");
    rows.start_key("worker", &P::worker, optional_or(integer<unsigned>(0, max_workers - 1), "auto"),
                   "Worker that owns the port; \"auto\": ports are dealt round.");
    rows.start_key("rx_queues", &P::rx_queues, integer<std::uint16_t>(1, max_receive_queues),
                   "Receive queues, over which the device spreads flows; the port's worker polls the first. "
                   "Real clock.");
    rows.start_key(
        "rx_workers", &P::rx_workers, list_of(integer<unsigned>(0, max_workers - 1), max_workers),
        "Workers that poll the other receive queues, in turn; []: all, from the one after the port's own.");
    rows.indexed("priority_group", &P::priority_group, priority_group_rows(),
                 "A priority group of the port, 0 to 7.");
    rows.indexed("queue", &P::queue, queue_rows(), "A queue of the port, 0 to 7.");
    rows.nested("watchdog", &P::watchdog, port_watchdog_rows(),
                "Settings of the PFC watchdog that differ at this port.");
    rows.nested("fault", &P::fault, fault_rows(),
                "Faults injected on the port's link, under the virtual clock.");
    return rows;
}

Rows<MapConfig> map_rows() {
    using M = MapConfig;
    Rows<MapConfig> rows;
    rows.key("dscp_to_tc", &M::dscp_to_tc, class_map<64>(), "Traffic class of each DSCP.");
    rows.key("pcp_to_tc", &M::pcp_to_tc, class_map<8>(), "Traffic class of each PCP, with trust = \"pcp\".");
    rows.key("tc_to_queue", &M::tc_to_queue, class_map<8>(), "Egress queue of each traffic class.");
    rows.key("tc_to_priority_group", &M::tc_to_priority_group, class_map<8>(),
             "Ingress priority group of each traffic class.");
    rows.key("pfc_priority_to_queue", &M::pfc_priority_to_queue, class_map<8>(),
             "Queue that a received PFC priority pauses.");
    rows.key("roce_tc", &M::roce_tc, optional_or(class_id(), "dscp"),
             "Traffic class of RoCEv2 data and acknowledgements; \"dscp\": as any other packet.");
    rows.key("cnp_tc", &M::cnp_tc, optional_or(class_id(), "dscp"),
             "Traffic class of congestion notification packets; \"dscp\": as any other packet.");
    return rows;
}

}  // namespace sluice::schema

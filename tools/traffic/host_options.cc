#include "tools/traffic/host_options.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/config.hh"
#include "control/config/schema/values.hh"
#include "control/config/schema/words.hh"
#include "control/config/text/say.hh"

namespace sluice::traffic {
namespace {

constexpr std::string_view about =
    "A RoCE host on an interface of the kernel: queue pairs with messages, retransmission, DCQCN and CNPs. "
    "Its times are scaled: a line of 100M, a thousand times slower, is one of 100G to the NIC, with the "
    "times of one. Lines of JSON say what happens; standard input takes `start`, `stop` and `show`, and "
    "prints the account once more when it ends. With `--answers no` a message is complete when it is sent, "
    "nothing is sent again, and the host that receives counts what came, what is lost (gaps of PSNs) and "
    "what came late. With `--cc none --pps N --scale 1` that is a fixed rate.";
constexpr std::string_view about_numbers =
    "Queue pairs have numbers by one rule: with --qps Q, queue pair k for the host in place p of "
    "--hosts (both from 0) is 0x100 + 2pQ + k where it requests, and 0x100 + (2p + 1)Q + k where "
    "it responds. So --hosts and --qps are the same at all hosts. The class of a DSCP is that of "
    "the switch's preset `lossless`: 26 and 3 have class 3, 48 has 6.";

using Cc = roce::CongestionControl;
using Kind = roce::Requester::Kind;

ParsedValue<std::vector<IpAddress>> parse_addresses(std::string_view text) {
    const auto refuse = [](std::string wrong) { return tl::unexpected(ValueError{std::move(wrong), {}}); };
    std::vector<IpAddress> list;
    for (const std::string& one : sluice::split(text, ',')) {
        const auto address = parse_address(one);
        if (!address) return refuse(fmt::format("holds {}, which {}", in_quotes(one), address.error().wrong));
        if (std::ranges::find(list, *address) != list.end())
            return refuse(fmt::format("names {} twice", one));
        list.push_back(*address);
    }
    if (list.size() > max_hosts) return refuse(fmt::format("names more than {} hosts", max_hosts));
    return list;
}

std::vector<Option> options_of(HostOptions& o) {
    const auto rate = [](Rate& out) {
        return keep_within(sluice::parse_rate, print_rate, Rate{1'000'000}, gigabits(800), out);
    };
    const auto time = [](Duration low, Duration high, auto& out) {
        return keep_within(parse_time, print_time, low, high, out);
    };
    return {
        {"interface", "NAME", "Interface of the kernel.", keep(o.interface)},
        {"hosts", "IP,IP...", "All hosts, in the same order at each of them.",
         keep(parse_addresses, o.hosts)},
        {"address", "IP", "Its own, one of hosts.", keep(parse_address, o.address)},
        {"gateway", "MAC", "Where its frames go.", keep(sluice::parse_mac, o.gateway)},
        {"rate", "BITS", "Line rate (100M).", rate(o.rate)},
        {"pps", "N", "Frames a second, as far as rate has room for them; 0: as many as it has (0).",
         keep_number(0, 1'000'000, o.per_second)},
        {"scale", "N", "So many times slower than a NIC it is (1000).", keep_number(1, 100'000, o.scale)},
        {"speed", "BITS", "Of the switch's port, by which pauses are timed (1G).", rate(o.speed)},
        {"reaction", "TIME", "From a pause to what it holds, besides the machine's own; scaled (0s).",
         time({}, seconds(1), o.reaction)},
        {"pfc", "WORD", "What it does with pauses: obey or ignore (obey).",
         keep_one_of<bool>({{"obey", true}, {"ignore", false}}, o.obeys_pfc)},
        {"events", "FILE", "Where its lines go, instead of standard output.", keep(o.events)},
        {"cc", "WORD", "Congestion control: dcqcn, dcqcn-paper, dcqcn-timer or none (dcqcn).",
         keep_one_of<Cc>({{to_string(Cc::dcqcn), Cc::dcqcn},
                          {to_string(Cc::dcqcn_paper), Cc::dcqcn_paper},
                          {to_string(Cc::dcqcn_timer), Cc::dcqcn_timer},
                          {to_string(Cc::none), Cc::none}},
                         o.cc)},
        {"mtu", "BYTES", "Payload of a packet, the same at all hosts: 256, 512, 1024, 2048 or 4096 (1024).",
         keep_one_of<std::uint32_t>(
             {{"256", 256}, {"512", 512}, {"1024", 1024}, {"2048", 2048}, {"4096", 4096}}, o.mtu)},
        {"dscp", "N", "Of data and acknowledgements (26).", keep_number(0, 63, o.dscp)},
        {"cnp_dscp", "N", "Of congestion notification packets (48).", keep_number(0, 63, o.cnp_dscp)},
        {"cnp_interval", "TIME", "Least time between two CNPs of a queue pair; scaled (50us).",
         time({}, seconds(1), o.cnp_interval)},
        {"window", "BYTES", "Payload that a queue pair has outstanding; 0: unlimited (0).",
         keep_within(parse_size, print_size, 0, 1ULL << 40, o.window_bytes)},
        {"timeout", "TIME",
         "Until all is sent again from the oldest unacknowledged packet; scaled. It knows no buffers: write "
         "at least twice the time to drain those on the way (4ms).",
         time(microseconds(1), seconds(100), o.timeout)},
        {"retry_count", "N", "Retries without progress that a queue pair survives, or unlimited (7).",
         [&o](const std::string& text) {
             return text == "unlimited" ? (o.retry_count = roce::unlimited_retries, std::string())
                                        : keep_number(0, 1'000'000, o.retry_count)(text);
         }},
        {"to", "IP,IP...", "Hosts that it sends to; without it, it only answers.",
         keep(parse_addresses, o.to)},
        {"answers", "WORD", "Whether hosts answer each other, the same at all hosts: yes or no (yes).",
         keep_one_of<bool>({{"yes", true}, {"no", false}}, o.answers)},
        {"qps", "N", "Queue pairs of each pair of hosts, the same at all hosts (1).",
         keep_number(1, max_peer_qps, o.qps)},
        {"kind", "WORD", "Operation of its messages: write, send or read (write).",
         keep_one_of<Kind>({{"write", Kind::write}, {"send", Kind::send}, {"read", Kind::read}}, o.kind)},
        {"message", "BYTES", "Size of a message (1MB).",
         keep_within(parse_size, print_size, 1, roce::max_message_bytes, o.message_bytes)},
        {"depth", "N", "Messages that a queue pair has outstanding (1).", keep_number(1, 65'536, o.depth)},
        {"messages", "N", "Of a queue pair, after which it is done; 0: endless (0).",
         [&o](const std::string& text) {
             const std::string wrong = keep_number(0, 1ULL << 40, o.messages)(text);
             if (o.messages == 0) o.messages = UINT64_MAX;
             return wrong;
         }},
        {"start", "WORD", "When its messages begin: now, or told, with `start` on standard input (now).",
         keep_one_of<bool>({{"now", false}, {"told", true}}, o.waits)},
        {"stop", "TIME", "No message begins so long after the start; not scaled (none).",
         time({}, seconds(1'000'000), o.stop)},
    };
}

}  // namespace

std::string wrong_with(const HostOptions& options) {
    const auto is_host = [&](const IpAddress& address) {
        return std::ranges::find(options.hosts, address) != options.hosts.end();
    };
    if (!is_host(*options.address))
        return fmt::format("--address {} is none of --hosts", print_address(*options.address));
    for (const IpAddress& host : options.hosts)
        if (host.is_v6 != options.address->is_v6) return "--hosts are not of one family";
    for (const IpAddress& to : options.to) {
        if (to == *options.address) return "--to names the host itself";
        if (!is_host(to)) return fmt::format("--to {} is none of --hosts", print_address(to));
    }
    if (!options.answers && options.kind == Kind::read) return "--kind read needs --answers yes";
    // DCQCN's constants are those of fast lines.
    const Rate least = options.cc == Cc::none ? Rate{1'000'000} : gigabits(1);
    if (options.nic_rate() < least || options.nic_rate() > gigabits(800))
        return fmt::format("--rate {} times --scale {} is a line of {}; wanted: from {} to 800G",
                           print_rate(options.rate), options.scale, print_rate(options.nic_rate()),
                           print_rate(least));
    return {};
}

Program peer_program(HostOptions& options, int (*work)(const HostOptions&)) {
    return {.name = "sluice-peer",
            .section = '1',
            .title = "a RoCEv2 host on an interface of the kernel",
            .about = about,
            .verbs = {{"host", "--interface NAME --hosts IP,... --address IP --gateway MAC [OPTION...]",
                       about_numbers,
                       [&options, work](const Words&) {
                           if (const std::string wrong = wrong_with(options); !wrong.empty())
                               return complain_of_usage("sluice-peer", wrong);
                           return work(options);
                       }}},
            .options = options_of(options),
            .exit_status = "0 done, 1 failed, 2 wrong usage",
            .sections = nullptr,
            .see_also = "sluiced(8), sluice-traffic(1)"};
}

HostNic make_host_nic(const HostOptions& options, const MacAddress& mac) {
    HostNic made;
    const auto classes = preset_dscp_to_tc();
    roce::NicSettings& nic = made.settings;
    nic.mac = mac;
    nic.gateway_mac = *options.gateway;
    nic.address = *options.address;
    nic.first_qp = first_host_qp;
    nic.reaction = roce::ReactionParameters::of(options.cc, options.nic_rate());
    nic.ack = {options.dscp, classes[options.dscp], Ecn::ect0, {}};
    nic.cnp = {options.cnp_dscp, classes[options.cnp_dscp], Ecn::not_ect, {}};
    nic.cnp_interval = options.cnp_interval;

    roce::FlowSettings flow;
    flow.kind = options.kind;
    flow.sizes = roce::MessageSizes::fixed(options.message_bytes);
    flow.arrivals.depth = options.depth;
    if (options.stop) flow.stop = Time{} + *options.stop / options.scale;
    flow.messages = options.messages;
    flow.data = nic.ack;
    flow.requester.mtu = flow.responder.mtu = options.mtu;
    flow.requester.window_bytes = options.window_bytes;
    flow.requester.messages = options.depth;
    flow.requester.timeout = options.timeout;
    flow.requester.retry_count = options.retry_count;
    if (!options.answers) flow.requester.timeout = seconds(1'000'000);  // however long a pause holds it
    flow.path = {{options.nic_rate().byte_time(), {}}};
    made.flows = {flow, flow};
    // The second flow's queue pairs send nothing of their own.
    made.flows[1].messages = 0;
    made.flows[1].requester.messages = 1;

    const auto own =
        static_cast<std::uint32_t>(std::ranges::find(options.hosts, nic.address) - options.hosts.begin());
    for (const IpAddress& peer : options.hosts) {
        const bool sends = std::ranges::find(options.to, peer) != options.to.end();
        for (const bool requests : {true, false})
            for (std::uint32_t k = 0; k < options.qps; ++k)
                made.queue_pairs.push_back({requests && sends ? 0U : 1U, requests, peer,
                                            queue_pair_number(own, !requests, k, options.qps), k});
    }
    return made;
}

}  // namespace sluice::traffic

#include "tools/traffic/host_options.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/config/schema/config.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/man_page.hh"
#include "tools/traffic/failure.hh"

namespace sluice::traffic {
namespace {

constexpr std::string_view synopsis =
    "sluice-peer host --interface NAME --hosts IP,... --address IP --gateway MAC [OPTION...]\n";
constexpr std::string_view about =
    R"(A RoCE host on an interface of the kernel: queue pairs with messages, retransmission, DCQCN and CNPs. Its times are
scaled: a line of 100M, a thousand times slower, is one of 100G to the NIC, with the times of one. Lines of JSON say
what happens; standard input takes `start`, `stop` and `show`, and prints the account once more when it ends.
)";
constexpr std::string_view about_answers =
    R"(With `--answers no` a message is complete when it is sent, nothing is sent again, and the host that receives counts
what came, what is lost (gaps of PSNs) and what came late. With `--cc none --pps N --scale 1` that is a fixed rate.
)";
constexpr std::string_view about_numbers =
    R"(Queue pairs have numbers by one rule: with --qps Q, queue pair k for the host in place p of --hosts (both from 0) is
0x100 + 2pQ + k where it requests, and 0x100 + (2p + 1)Q + k where it responds. So --hosts and --qps are the same at
all hosts. The class of a DSCP is that of the switch's preset `lossless`: 26 and 3 have class 3, 48 has 6.
)";
constexpr std::string_view exit_codes = "0 done, 1 failed, 2 wrong usage.";

using Cc = roce::CongestionControl;
using Kind = roce::Requester::Kind;

struct Refused {
    std::string what;
};

template <class Value>
Value read(const ParsedValue<Value>& value) {
    if (!value) throw Refused{value.error().wrong};
    return *value;
}

std::uint64_t within(std::uint64_t value, std::uint64_t low, std::uint64_t high, auto print) {
    if (value < low || value > high)
        throw Refused{fmt::format("is not from {} to {}", print(low), print(high))};
    return value;
}

template <class Value = std::uint64_t>
Value number(std::string_view text, std::uint64_t low, std::uint64_t high) {
    return static_cast<Value>(within(read(parse_integer(text)), low, high, [](auto n) { return n; }));
}

Rate rate(std::string_view text, std::uint64_t low, std::uint64_t high) {
    return {within(read(sluice::parse_rate(text)).bits_per_second, low, high,
                   [](auto n) { return print_rate({n}); })};
}

std::uint64_t size(std::string_view text, std::uint64_t low, std::uint64_t high) {
    return within(read(parse_size(text)), low, high, [](auto n) { return print_size(n); });
}

Duration time(std::string_view text, Duration low, Duration high) {
    const auto value = static_cast<std::uint64_t>(read(parse_time(text)).ps);
    within(value, static_cast<std::uint64_t>(low.ps), static_cast<std::uint64_t>(high.ps),
           [](auto n) { return print_time({static_cast<std::int64_t>(n)}); });
    return {static_cast<std::int64_t>(value)};
}

std::vector<IpAddress> addresses(std::string_view text) {
    std::vector<IpAddress> list;
    for (std::size_t at = 0; at <= text.size();) {
        const std::size_t end = std::min(text.find(',', at), text.size());
        const std::string_view one = text.substr(at, end - at);
        const auto address = parse_address(one);
        if (!address) throw Refused{fmt::format("holds {}, which {}", in_quotes(one), address.error().wrong)};
        if (std::ranges::find(list, *address) != list.end())
            throw Refused{fmt::format("names {} twice", one)};
        list.push_back(*address);
        at = end + 1;
    }
    if (list.size() > max_hosts) throw Refused{fmt::format("names more than {} hosts", max_hosts)};
    return list;
}

template <class Value, std::size_t count>
Value one_of(std::string_view text, const std::array<std::pair<std::string_view, Value>, count>& known) {
    std::string names;
    for (const auto& [name, value] : known) {
        if (name == text) return value;
        names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    }
    throw Refused{"is none of: " + names};
}

constexpr std::array<std::pair<std::string_view, Cc>, 4> congestion_controls{
    {{to_string(Cc::dcqcn), Cc::dcqcn},
     {to_string(Cc::dcqcn_paper), Cc::dcqcn_paper},
     {to_string(Cc::dcqcn_timer), Cc::dcqcn_timer},
     {to_string(Cc::none), Cc::none}}};
constexpr std::array<std::pair<std::string_view, Kind>, 3> kinds{
    {{"write", Kind::write}, {"send", Kind::send}, {"read", Kind::read}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> answers{{{"yes", true}, {"no", false}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> pfc{{{"obey", true}, {"ignore", false}}};
constexpr std::array<std::pair<std::string_view, bool>, 2> starts{{{"now", false}, {"told", true}}};
constexpr std::array<std::pair<std::string_view, std::uint32_t>, 5> mtus{
    {{"256", 256}, {"512", 512}, {"1024", 1024}, {"2048", 2048}, {"4096", 4096}}};

struct Row {
    std::string_view word;
    std::string_view value;
    std::string_view help;
    void (*take)(HostOptions& options, std::string_view text);
};

constexpr std::uint64_t gigabit = 1'000'000'000;
using Options = HostOptions;
using Text = std::string_view;
constexpr Row rows[] = {
    {"interface", "NAME", "Interface of the kernel.", [](Options& o, Text t) { o.interface = t; }},
    {"hosts", "IP,IP...", "All hosts, in the same order at each of them.",
     [](Options& o, Text t) { o.hosts = addresses(t); }},
    {"address", "IP", "Its own, one of hosts.",
     [](Options& o, Text t) { o.address = read(parse_address(t)); }},
    {"gateway", "MAC", "Where its frames go.",
     [](Options& o, Text t) { o.gateway = read(sluice::parse_mac(t)); }},
    {"rate", "BITS", "Line rate (100M).",
     [](Options& o, Text t) { o.rate = rate(t, 1'000'000, 800 * gigabit); }},
    {"pps", "N", "Frames a second, as far as rate has room for them; 0: as many as it has (0).",
     [](Options& o, Text t) { o.per_second = number(t, 0, 1'000'000); }},
    {"scale", "N", "So many times slower than a NIC it is (1000).",
     [](Options& o, Text t) { o.scale = number<std::uint32_t>(t, 1, 100'000); }},
    {"speed", "BITS", "Of the switch's port, by which pauses are timed (1G).",
     [](Options& o, Text t) { o.speed = rate(t, 1'000'000, 800 * gigabit); }},
    {"reaction", "TIME", "From a pause to what it holds, besides the machine's own; scaled (0s).",
     [](Options& o, Text t) { o.reaction = time(t, {}, seconds(1)); }},
    {"pfc", "WORD", "What it does with pauses: obey or ignore (obey).",
     [](Options& o, Text t) { o.obeys_pfc = one_of(t, pfc); }},
    {"events", "FILE", "Where its lines go, instead of standard output.",
     [](Options& o, Text t) { o.events = t; }},
    {"cc", "WORD", "Congestion control: dcqcn, dcqcn-paper, dcqcn-timer or none (dcqcn).",
     [](Options& o, Text t) { o.cc = one_of(t, congestion_controls); }},
    {"mtu", "BYTES", "Payload of a packet, the same at all hosts: 256, 512, 1024, 2048 or 4096 (1024).",
     [](Options& o, Text t) { o.mtu = one_of(t, mtus); }},
    {"dscp", "N", "Of data and acknowledgements (26).",
     [](Options& o, Text t) { o.dscp = number<std::uint8_t>(t, 0, 63); }},
    {"cnp_dscp", "N", "Of congestion notification packets (48).",
     [](Options& o, Text t) { o.cnp_dscp = number<std::uint8_t>(t, 0, 63); }},
    {"cnp_interval", "TIME", "Least time between two CNPs of a queue pair; scaled (50us).",
     [](Options& o, Text t) { o.cnp_interval = time(t, {}, seconds(1)); }},
    {"window", "BYTES", "Payload that a queue pair has outstanding; 0: unlimited (0).",
     [](Options& o, Text t) { o.window_bytes = size(t, 0, 1ULL << 40); }},
    {"timeout", "TIME",
     "Until all is sent again from the oldest unacknowledged packet; scaled. It knows no buffers: write at "
     "least "
     "twice the time to drain those on the way (4ms).",
     [](Options& o, Text t) { o.timeout = time(t, microseconds(1), seconds(100)); }},
    {"retry_count", "N", "Retries without progress that a queue pair survives, or unlimited (7).",
     [](Options& o, Text t) {
         o.retry_count = t == "unlimited" ? roce::unlimited_retries : number<unsigned>(t, 0, 1'000'000);
     }},
    {"to", "IP,IP...", "Hosts that it sends to; without it, it only answers.",
     [](Options& o, Text t) { o.to = addresses(t); }},
    {"answers", "WORD", "Whether hosts answer each other, the same at all hosts: yes or no (yes).",
     [](Options& o, Text t) { o.answers = one_of(t, answers); }},
    {"qps", "N", "Queue pairs of each pair of hosts, the same at all hosts (1).",
     [](Options& o, Text t) { o.qps = number<std::uint32_t>(t, 1, max_peer_qps); }},
    {"kind", "WORD", "Operation of its messages: write, send or read (write).",
     [](Options& o, Text t) { o.kind = one_of(t, kinds); }},
    {"message", "BYTES", "Size of a message (1MB).",
     [](Options& o, Text t) {
         o.message_bytes = static_cast<std::uint32_t>(size(t, 1, roce::max_message_bytes));
     }},
    {"depth", "N", "Messages that a queue pair has outstanding (1).",
     [](Options& o, Text t) { o.depth = number<std::uint32_t>(t, 1, 65'536); }},
    {"messages", "N", "Of a queue pair, after which it is done; 0: endless (0).",
     [](Options& o, Text t) {
         o.messages = number(t, 0, 1ULL << 40);
         if (o.messages == 0) o.messages = UINT64_MAX;
     }},
    {"start", "WORD", "When its messages begin: now, or told, with `start` on standard input (now).",
     [](Options& o, Text t) { o.waits = one_of(t, starts); }},
    {"stop", "TIME", "No message begins so long after the start; not scaled (none).",
     [](Options& o, Text t) { o.stop = time(t, {}, seconds(1'000'000)); }},
};

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> notes{
    {{"help", "This text."}, {"man", "Print the man page in troff."}, {"version", "Print the version."}}};

void check(const HostOptions& options) {
    const auto is_host = [&](const IpAddress& address) {
        return std::ranges::find(options.hosts, address) != options.hosts.end();
    };
    if (options.interface.empty() || !options.address || !options.gateway || options.hosts.empty())
        throw Failure("host needs --interface, --hosts, --address and --gateway; see --help");
    if (!is_host(*options.address))
        throw Failure(fmt::format("--address {} is none of --hosts", print_address(*options.address)));
    for (const IpAddress& host : options.hosts)
        if (host.is_v6 != options.address->is_v6) throw Failure("--hosts are not of one family");
    for (const IpAddress& to : options.to) {
        if (to == *options.address) throw Failure("--to names the host itself");
        if (!is_host(to)) throw Failure(fmt::format("--to {} is none of --hosts", print_address(to)));
    }
    if (!options.answers && options.kind == Kind::read) throw Failure("--kind read needs --answers yes");
    if (options.nic_rate() < gigabits(1) || options.nic_rate() > gigabits(800))
        throw Failure(fmt::format("--rate {} times --scale {} is a line of {}; wanted: from 1G to 800G",
                                  print_rate(options.rate), options.scale, print_rate(options.nic_rate())));
}

}  // namespace

HostOptions parse_host_options(std::span<char* const> words) {
    HostOptions options;
    for (std::size_t n = 0; n < words.size(); n += 2) {
        const std::string_view word = words[n];
        const auto row = std::ranges::find_if(
            rows, [&](const Row& each) { return word.starts_with("--") && word.substr(2) == each.word; });
        if (row == std::end(rows))
            throw Failure(fmt::format("{} is no option of a host; see --help", in_quotes(word)));
        if (n + 1 == words.size()) throw Failure(fmt::format("{} needs a value: {}", word, row->value));
        const std::string_view text = words[n + 1];
        try {
            row->take(options, text);
        } catch (const Refused& refused) {
            throw Failure(fmt::format("{} {} {}", word, in_quotes(text), refused.what));
        }
    }
    check(options);
    return options;
}

std::string peer_usage() {
    std::string text = fmt::format("usage:\n{}\n{}\n", synopsis, about);
    for (const Row& row : rows)
        text += fmt::format("  {:<22} {}\n", fmt::format("--{} {}", row.word, row.value), row.help);
    for (const auto& [word, help] : notes) text += fmt::format("  --{:<20} {}\n", word, help);
    return text + fmt::format("\n{}\n{}\nexit status: {}\n", about_answers, about_numbers, exit_codes);
}

std::string peer_man_page(std::string_view version) {
    ManPage page("sluice-peer", '1', "a RoCEv2 host on an interface of the kernel", version);
    page.heading("SYNOPSIS").lines(synopsis);
    page.heading("DESCRIPTION").paragraph(about).paragraph(about_answers).paragraph(about_numbers);
    page.heading("OPTIONS");
    for (const Row& row : rows) page.entry(fmt::format("--{}", row.word), row.value, row.help);
    for (const auto& [word, help] : notes) page.entry(fmt::format("--{}", word), "", help);
    page.heading("EXIT STATUS").paragraph(exit_codes);
    page.heading("SEE ALSO").paragraph("sluiced(8), sluice-traffic(1)");
    return page.text();
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
    flow.path_rate = options.nic_rate();
    made.flows = {flow, flow};
    // Of the queue pairs that send nothing of their own.
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

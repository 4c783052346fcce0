// Simulated hosts and their flows.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <functional>

#include "control/config/schema/schema_sections.hh"
#include "lib/roce/requester.hh"

namespace sluice::schema {
namespace {

constexpr std::uint64_t fraction_one = roce::fraction_one;
constexpr std::uint64_t max_denominator = 65'536;
constexpr double billion = 1e9;
constexpr Duration longest = seconds(100LL * 24 * 3600);

__extension__ using Wide = unsigned __int128;

std::uint64_t from_billionths(std::uint64_t billionths) {
    return static_cast<std::uint64_t>((static_cast<Wide>(fraction_one) * billionths + 500'000'000) /
                                      1'000'000'000);
}

// A part of one, as 1/N or as a decimal of nine digits: both are printed as they were read.
Type<std::uint64_t> fraction() {
    return whole<std::uint64_t>(
        "fraction", fmt::format("a number from 0 to 1, or \"1/N\" with N from 1 to {}", max_denominator),
        R"("1/256")",
        [](const toml::node& node) -> ParsedValue<std::uint64_t> {
            if (const auto* string = node.as_string()) {
                const std::string_view text = string->get();
                const auto under = parse_integer(text.starts_with("1/") ? text.substr(2) : "");
                if (!under) return bad_value("is not a fraction");
                if (*under == 0 || *under > max_denominator)
                    return bad_value("has a denominator out of range");
                return fraction_one / *under;
            }
            const std::optional<double> number = number_in(node);
            if (!number) return bad_value("is not a fraction");
            if (!(*number >= 0 && *number <= 1)) return bad_value("is not from 0 to 1");  // a NaN is neither
            return from_billionths(static_cast<std::uint64_t>(std::llround(*number * billion)));
        },
        [](std::uint64_t value) -> std::string {
            if (value == 0) return "0";
            if (value == fraction_one) return "1";
            const std::uint64_t under = (fraction_one + value / 2) / value;
            if (under <= max_denominator && fraction_one / under == value)
                return fmt::format("\"1/{}\"", under);
            const auto billionths = static_cast<std::uint64_t>(
                (static_cast<Wide>(value) * 1'000'000'000 + fraction_one / 2) / fraction_one);
            return fmt::format("{:.9f}", static_cast<double>(billionths) / billion);
        });
}

Type<std::uint32_t> path_mtu() {
    return checked<std::uint32_t>(
        integer<std::uint32_t>(roce::min_path_mtu, roce::max_path_mtu),
        fmt::format("a multiple of 4 from {} to {}; InfiniBand has its powers of two", roce::min_path_mtu,
                    roce::max_path_mtu),
        "1024", [](const std::uint32_t& mtu) { return roce::valid_mtu(mtu); }, "is not a multiple of 4");
}

template <class T>
Type<std::optional<T>> as_cc_has_it(Type<T> type) {
    return optional_or(std::move(type), "auto");
}

constexpr std::array<std::pair<std::string_view, MessageKind>, 3> distributions{
    {{"web-search", MessageKind::web_search},
     {"hadoop", MessageKind::hadoop},
     {"ali-storage", MessageKind::ali_storage}}};

// A size, "1KB..1MB", or a distribution.
Type<MessageConfig> message() {
    const Type<std::uint64_t> one = size(1, max_message_bytes, "1MB");
    Type<MessageConfig> type{
        "message size", one.allowed + "; two of them with .. between: uniform", one.example, {}, {}};
    for (const auto& [word, kind] : distributions) type.allowed += fmt::format(", or \"{}\"", word);
    type.read = [self = type, one](const toml::node& node, Context& context, MessageConfig& out) {
        const auto* string = node.as_string();
        const std::string_view text = string != nullptr ? std::string_view(string->get()) : "";
        for (const auto& [word, kind] : distributions)
            if (text == word) return out = {kind}, true;
        if (!text.empty() && (text.front() < '0' || text.front() > '9'))
            return self.refuse(node, context, "is neither a size nor a distribution");
        std::uint64_t least = 0, most = 0;
        if (const std::size_t dots = text.find(".."); dots == text.npos) {
            if (!one.read(node, context, least)) return false;
            most = least;
        } else {
            for (const auto& [end, bytes] :
                 {std::pair(text.substr(0, dots), &least), std::pair(text.substr(dots + 2), &most)}) {
                const auto value = parse_size(end);
                if (!value)
                    return self.refuse(node, context, fmt::format("has an end that {}", value.error().wrong));
                if (*value < 1 || *value > max_message_bytes)
                    return self.refuse(node, context, "has an end out of range");
                *bytes = *value;
            }
        }
        if (least > most) return self.refuse(node, context, "ends below its beginning");
        out = {MessageKind::uniform, static_cast<std::uint32_t>(least), static_cast<std::uint32_t>(most)};
        return true;
    };
    type.print = [](const MessageConfig& value, const MessageConfig*) {
        for (const auto& [word, kind] : distributions)
            if (value.kind == kind) return toml_string(word);
        const std::string least = print_size(value.min_bytes);
        return toml_string(value.min_bytes == value.max_bytes
                               ? least
                               : fmt::format("{}..{}", least, print_size(value.max_bytes)));
    };
    return type;
}

// A constant of cc = "dcqcn" at the usual speeds: "25M at 25G, 40M at 40G, ...".
std::string by_speed(const std::function<std::string(const roce::ReactionParameters&)>& constant) {
    std::string text;
    for (const std::uint64_t speed : {25U, 40U, 100U, 200U, 400U, 800U}) {
        const Rate line = gigabits(speed);
        append_item(text, ", ",
                    fmt::format("{} at {}",
                                constant(roce::ReactionParameters::of(roce::CongestionControl::dcqcn, line)),
                                print_rate(line)));
    }
    return text;
}

void add_reaction_rows(Rows<HostConfig>& rows) {
    using H = HostConfig;
    using P = roce::ReactionParameters;
    const std::string additive = by_speed([](const P& p) { return print_rate(p.additive); });
    const std::string hyper = by_speed([](const P& p) { return print_rate(p.hyper); });
    const std::string least = by_speed([](const P& p) { return print_rate(p.min_rate); });
    const std::string bytes = by_speed([](const P& p) { return print_size(p.byte_counter); });
    const auto timer = as_cc_has_it(time(nanoseconds(1), seconds(100), "55us"));
    const auto bits = [](std::uint64_t low) { return as_cc_has_it(rate(low, 1'000'000'000'000)); };
    rows.key("g", &H::gain, as_cc_has_it(fraction()),
             "Gain of alpha: the share of the way to 1 at a CNP, to 0 at the alpha timer; \"auto\": 1/256.");
    rows.key("initial_alpha", &H::first_alpha, as_cc_has_it(fraction()),
             "Alpha at the first CNP; \"auto\": 1.");
    rows.key("alpha_timer", &H::alpha_timer, timer,
             "Alpha decays after this time without a CNP; \"auto\": 55us, dcqcn-timer 1us.");
    rows.key("increase_timer", &H::increase_timer, timer,
             "Period of rate increases; \"auto\": 55us, dcqcn-timer 300us.");
    rows.key("byte_counter", &H::byte_counter, as_cc_has_it(size(0, 1ULL << 40, "10MB")),
             "Also increases after so many wire bytes; 0: by time only; \"auto\": " + bytes +
                 "; dcqcn-paper 10MB, dcqcn-timer 0.");
    rows.key("fast_recovery", &H::fast_recovery, as_cc_has_it(integer<std::uint32_t>(1, 1'000'000)),
             "Increases that halve the way to the target before it rises; \"auto\": 5, dcqcn-timer 1.");
    rows.key("rate_ai", &H::rate_ai, bits(0),
             "Additive increase of the target; \"auto\": 1/1000 of the line rate (" + additive +
                 "); dcqcn-paper 40M, dcqcn-timer 1/5000 of the line rate.");
    rows.key("rate_hai", &H::rate_hai, bits(0),
             "Hyper increase of the target; \"auto\": 1/200 of the line rate (" + hyper +
                 "); dcqcn-paper 200M, dcqcn-timer 1/500 of the line rate.");
    rows.key("rate_min", &H::rate_min, bits(1),
             "Minimum rate; \"auto\": 1/400 of the line rate (" + least + "); dcqcn-paper 100M.");
    rows.key("decrease_timer", &H::decrease_timer, timer,
             "With cc = \"dcqcn-timer\": the period of rate cuts by CNPs; \"auto\": 4us.");
    rows.key("clamp_target", &H::clamp_target, as_cc_has_it(boolean()),
             "With cc = \"dcqcn-timer\": every cut lowers the target, also without an increase before; "
             "\"auto\": false.");
}

Type<std::uint32_t> receive_window() {
    return checked<std::uint32_t>(
        integer<std::uint32_t>(roce::min_receive_window, roce::max_receive_window),
        fmt::format("a power of two from {} to {}", roce::min_receive_window, roce::max_receive_window),
        "1024", [](const std::uint32_t& window) { return std::has_single_bit(window); },
        "is not a power of two");
}

void add_reliability_rows(Rows<HostConfig>& rows) {
    using H = HostConfig;
    using roce::Recovery;
    using R = roce::RecoverySettings;
    const auto retries = optional_or(integer<unsigned>(0, 1'000'000), "unlimited");
    rows.start_key("window", &H::window_bytes, size(0, 1ULL << 40, "100KB"),
                   "Payload that a queue pair has outstanding; 0: unlimited.");
    rows.start_key("ack_every", &H::ack_every, integer<std::uint32_t>(1, 1U << 22),
                   "Packets between requests for an acknowledgement; the last of a message always asks.");
    rows.start_key("ack_coalescing", &H::ack_coalescing, integer<std::uint32_t>(1, 1U << 22),
                   "Most packets that an acknowledgement covers without a request.");
    rows.start_key("reads", &H::reads, integer<std::uint32_t>(1, 255),
                   "READs that a queue pair has outstanding.");
    rows.start_key("recovery", &H::recovery, &R::kind,
                   word<Recovery>({{"go-back-n", Recovery::go_back_n}, {"selective", Recovery::selective}}),
                   "After a loss, resend everything from it on, or only the missing packets, with "
                   "out-of-order placement. Between two hosts it is selective if both are.");
    rows.start_key("receive_window", &H::recovery, &R::receive_window, receive_window(),
                   "With recovery = \"selective\": packets that the receiver keeps from the oldest missing "
                   "one on, which limits its peer. Go-back-N measures reordering over so many.");
    rows.start_key("reorder_window", &H::recovery, &R::reorder_window, time({}, seconds(10), "100us"),
                   "With recovery = \"selective\": a packet missing for this time, at most twice, counts as "
                   "lost; 0: at once.");
    rows.start_key("trim", &H::recovery, &R::naks_trimmed, word<bool>({{"ignore", false}, {"nak", true}}),
                   "A packet that a switch has trimmed counts as lost, or with recovery = \"selective\" the "
                   "host asks for it at once.");
    rows.start_key(
        "trim_cc", &H::trim_marks, word<bool>({{"none", false}, {"mark", true}}),
        "With trim = \"nak\": whether a trimmed packet counts as marked, so that its sender gets a CNP.");
    rows.start_key("timeout", &H::timeout, optional_or(time(microseconds(1), seconds(100), "4ms"), "auto"),
                   "Time without an acknowledgement after which the sender resends from the oldest packet, "
                   "or with recovery = \"selective\" that packet and those reported missing. \"auto\": twice "
                   "the time to drain every buffer of the path at its slowest link, shaper or max_rate, from "
                   "4ms to 500ms; --check shows it.");
    rows.start_key("retry_count", &H::retry_count, retries,
                   "Time-outs and sequence errors without progress before a queue pair fails.");
    rows.start_key("rnr_retry", &H::rnr_retry, retries,
                   "RNR NAKs (no receive posted) without progress before it fails.");
    rows.start_key("rnr_chance", &H::rnr_chance, odds(),
                   "Chance that a SEND to this host finds no receive posted, and gets an RNR NAK.");
    rows.start_key(
        "rnr_timer", &H::rnr_timer, time(microseconds(10), roce::max_rnr_delay, "10us"),
        "Time after an RNR NAK before the SEND is repeated, rounded up to one of InfiniBand's 32.");
}

// The keys of [host.default] beside the rows of one host.
Rows<HostConfig> rows_of_all_hosts(Rows<HostConfig> rows = {}) {
    using H = HostConfig;
    using Cc = roce::CongestionControl;
    using Scope = roce::CnpScope;
    rows.key("cc", &H::cc, word_of<Cc>({Cc::dcqcn, Cc::dcqcn_paper, Cc::dcqcn_timer, Cc::none}),
             "Congestion control: DCQCN with constants in proportion to the line rate, with the paper's own "
             "(for 40G), with NICs' timers only, or none.");
    rows.start_key("mtu", &H::mtu, path_mtu(), "Payload of a packet; two hosts use the smaller one.");
    rows.start_key("dscp", &H::dscp, dscp(), "DSCP of the data it sends.");
    rows.start_key("ack_dscp", &H::ack_dscp, optional_or(dscp(), "auto"),
                   "DSCP of its acknowledgements; \"auto\": its dscp, or with trim = \"nak\" its cnp_dscp.");
    rows.start_key("cnp_dscp", &H::cnp_dscp, dscp(),
                   "DSCP of its CNPs. A port classes them by it only with cnp_tc = \"dscp\" in its map; by "
                   "default by opcode.");
    rows.start_key(
        "pcp", &H::pcp, optional_or(integer<std::uint8_t>(0, 7), "none"),
        "PCP of its data and acknowledgements, in a tag of VLAN 0 (802.1Q 6.9.3); \"none\": untagged.");
    rows.start_key(
        "ecn", &H::ecn, word<Ecn>({{"ect0", Ecn::ect0}, {"ect1", Ecn::ect1}, {"not-ect", Ecn::not_ect}}),
        "ECN field of its data and acknowledgements; \"not-ect\": switches drop instead of marking.");
    rows.start_key("cnp_interval", &H::cnp_interval, time({}, seconds(1), "50us"),
                   "Least time between two CNPs of one scope; 0: a CNP for each packet with CE.");
    rows.start_key(
        "cnp_scope", &H::cnp_scope,
        word<Scope>({{"qp", Scope::queue_pair}, {"address", Scope::peer}, {"port", Scope::port}}),
        "Scope of that interval: a queue pair, a sender's address, or all that the port receives.");
    rows.key("echo_ce", &H::echo_ce, boolean(), "It answers CE by CNPs: its notification point is on.");
    rows.key("ignore_cnp", &H::ignore_cnp, boolean(), "It does not react to CNPs, whatever its cc.");
    add_reaction_rows(rows);
    add_reliability_rows(rows);
    rows.start_key("udp_source_port", &H::port_of_qp, word<bool>({{"qp", true}, {"host", false}}),
                   "UDP source port: one for each queue pair, so that ECMP spreads them, or 49152 for all, "
                   "which take one path unless switches have hash_roce_qp.");
    rows.start_key("payload", &H::describes_payload, word<bool>({{"carried", false}, {"described", true}}),
                   "Frames carry their payload, or only its first bytes, with the same results at less "
                   "memory and time. Hosts of sluice-fabric describe it by default.");
    rows.start_key("ring", &H::ring_frames, integer<std::uint32_t>(1, 4096),
                   "Frames of a class in its transmit ring, which rate changes no longer affect.");
    rows.key("drain", &H::drain, optional_or(rate(1'000'000, max_rate_bits), "unlimited"),
             "Rate at which it takes in what it receives.");
    rows.start_key("receive_buffer", &H::receive_buffer_bytes, size(1, 1ULL << 30, "64KB"),
                   "Receive buffer of a host with drain: it sends XOFF above this.");
    rows.start_key("receive_xon", &H::receive_xon_bytes, optional_or(size(0, 1ULL << 30, "32KB"), "auto"),
                   "Fill of receive_buffer at which it sends XON; \"auto\": half of it.");
    rows.start_key("pause_quanta", &H::pause_quanta, integer<std::uint16_t>(16, 0xFFFF),
                   "Quanta of its XOFF, of 512 bit times; it repeats it after half of them.");
    rows.start_key("send_overhead", &H::send_overhead, time({}, seconds(1), "500ns"),
                   "Time that a send, and a message that has come, hold their processor: o of LogGP. This, "
                   "gap and per_byte are for schedules of a fabric's [[workload]].");
    rows.start_key("gap", &H::gap, time({}, seconds(1), "100ns"),
                   "Least time from one message of a schedule to the next, sent or received: g of LogGP.");
    rows.start_key("per_byte", &H::per_byte, time({}, microseconds(1), "10ps"),
                   "Added to gap for each byte of the first message but one: G of LogGP, beside the link's.");
    return rows;
}

Rows<HostConfig> rows_of_one_host() {
    using H = HostConfig;
    Rows<HostConfig> rows;
    rows.start_key("port", &H::port, name("a port's name"),
                   "Port that it is behind, which needs no device; default: the port of the host's name.",
                   "the host's name");
    rows.required("address", &H::address, address(),
                  "IP address, in a subnet of the port. Its neighbor entry is generated, unless given.")
        .info.restart = true;
    rows.start_key("mac", &H::mac, optional_or(mac(), "auto"),
                   "Its MAC address; \"auto\": 02:53:4c:01 and the host's index.");
    return rows_of_all_hosts(std::move(rows));
}

HostConfig host_base(const Config& config, const std::string& name, bool) {
    HostConfig base = config.host_defaults;
    base.port = name;
    return base;
}

constexpr std::string_view defaults_name = "default";

}  // namespace

Rows<HostConfig> common_host_rows() { return rows_of_all_hosts(); }

// [host.default] is where the others start from, and no host.
void add_host_section(Rows<Config>& rows) {
    const auto common = rows_of_all_hosts(), own = rows_of_one_host();
    Row& row = rows.named("host", &Config::hosts, own, host_base, max_ports + 1,
                          "A simulated RoCE host behind a port, under the virtual clock.");
    row.read = [common, own](const toml::node& node, Context& context, void* object) {
        Config& config = *static_cast<Config*>(object);
        return read_named(node, context, max_ports + 1,
                          [&](const std::string& name, const toml::node& at, const toml::table& table) {
                              if (name == defaults_name)
                                  return common.read(table, context, config.host_defaults);
                              HostConfig host = host_base(config, name, false);
                              host.place = place_of(at.source());
                              if (!own.read(table, context, host)) return false;
                              config.hosts[name] = std::move(host);
                              return true;
                          });
    };
    row.list = [common, list = row.list](const void* object, const void* base, const Place& place,
                                         Listing& out) {
        const auto defaults = [](const void* config) -> const HostConfig* {
            return config == nullptr ? nullptr : &static_cast<const Config*>(config)->host_defaults;
        };
        const Place below = place.below(defaults_name);
        if (out.wants(below.path)) common.list_values(defaults(object), defaults(base), below, out);
        list(object, base, place, out);
    };
}

Type<std::vector<std::string>> names_of_hosts() {
    const Type<std::string> one = name("a host's name");
    Type<std::vector<std::string>> type = list_of(one, max_ports);
    type.name = "host, or list of hosts";
    type.allowed = fmt::format("a host's name, or a list of 1 to {}", max_ports);
    type.example = R"(["h1", "h2"])";
    type.read = [self = type, one](const toml::node& node, Context& context, std::vector<std::string>& out) {
        if (node.is_string()) {
            out.resize(1);
            return one.read(node, context, out.front());
        }
        if (!node.is_array()) return self.refuse(node, context, "is not a list");
        if (!self.read(node, context, out)) return false;
        return !out.empty() || self.refuse(node, context, "is empty");
    };
    type.print = [one, list = type.print](const std::vector<std::string>& names,
                                          const std::vector<std::string>*) {
        return names.size() == 1 ? one.print(names.front(), nullptr) : list(names, nullptr);
    };
    return type;
}

Rows<FlowConfig> flow_rows() {
    using F = FlowConfig;
    const auto burst = optional_or(time(nanoseconds(1), seconds(1000), "100us"), "none");
    Rows<FlowConfig> rows;
    rows.required("from", &F::from, names_of_hosts(), "Hosts that send, each to every other host in to.");
    rows.required("to", &F::to, names_of_hosts(),
                  "Hosts that they send to; with kind = \"read\", read from.");
    rows.key("name", &F::name, text("a name", 0, 64, "incast"),
             "Its name in reports; empty: made of its ends, h1-h4.");
    rows.key("qps", &F::qps, integer<std::uint32_t>(1, max_pair_qps), "Queue pairs of each pair of hosts.");
    rows.key("kind", &F::kind,
             word<FlowKind>({{"write", FlowKind::write}, {"send", FlowKind::send}, {"read", FlowKind::read}}),
             "Operation of its messages.");
    rows.key("message", &F::message, message(),
             "Size of a message: fixed, uniform in a range, or a published distribution, from the tables of "
             "HPCC's simulator (alibaba-edu/High-Precision-Congestion-Control, traffic_gen): WebSearch "
             "(DCTCP's), FbHdp and AliStorage2019.");
    rows.key("depth", &F::depth, optional_or(integer<std::uint32_t>(1, 65'536), "auto"),
             "Messages outstanding of a queue pair, a closed loop; \"auto\": 1.");
    rows.key(
        "load", &F::load, optional_or(per_cent(), "none"),
        "Messages arrive by Poisson, with a payload of this share of the line rate of each host in from.");
    rows.key("on", &F::on, burst, "With load: length of its bursts; load is that of a burst.");
    rows.key("off", &F::off, burst, "Silence between these bursts.");
    rows.key("messages", &F::messages, integer_64(0, 1ULL << 40),
             "Messages of a queue pair in all; 0: endless. With depth = N and messages = N all come at "
             "start: one burst.");
    rows.key("start", &F::start, time({}, longest, "1ms"), "When it begins, from the run's origin.");
    rows.key("spread", &F::spread, time({}, longest, "100us"),
             "Each queue pair begins later, by a drawn part of it.");
    rows.key("stop", &F::stop, optional_or(time({}, longest, "20ms"), "none"),
             "No message begins at or after it.");
    rows.key("dscp", &F::dscp, optional_or(dscp(), "host"), "DSCP of its data; \"host\": the sender's.");
    rows.key("pcp", &F::pcp, optional_or(integer<std::uint8_t>(0, 7), "host"),
             "PCP of its data, in a tag of VLAN 0; \"host\": the sender's.");
    return rows;
}

}  // namespace sluice::schema

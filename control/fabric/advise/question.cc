#include "control/fabric/advise/question.hh"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "control/config/compile/equal_ports.hh"
#include "control/config/compile/hosts.hh"
#include "control/config/compile/qos.hh"
#include "control/config/schema/hosts.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/toml_text.hh"
#include "control/config/schema/values.hh"
#include "control/fabric/advise/like_switch.hh"
#include "control/fabric/plan/fabric_config.hh"
#include "lib/roce/packet.hh"

namespace sluice::fabric {
namespace {

constexpr unsigned least_incast = 2;
constexpr unsigned incast_others =
    2;  // ports of an incast that are not its senders': the receiver, the idle host
constexpr std::uint64_t least_message = 1'000, most_message = 64'000'000;
constexpr std::uint64_t probe_bytes = 4'000, bystander_bytes = 64'000;
constexpr unsigned probe_percent = 1, bystander_percent = 10;
constexpr std::uint64_t usual_ms = 20;       // of a run; its phase "settled" is all but the first quarter
constexpr std::uint64_t least_rounds = 8;    // in which each sender of an incast sends one message, settled
constexpr std::uint64_t least_probes = 200;  // settled, so that their p99 is not their longest
constexpr std::uint32_t least_mtu = 256;
constexpr unsigned round_trips = 4;  // of data that an incast has outstanding at least, to fill its link

// What was asked, with all that was left out.
struct Asked {
    Config config;  // of the switch, without ports
    unsigned ports = 0, incast = 0;
    Rate speed{};
    std::uint32_t cable_m = 0;
    std::uint32_t mtu = 0;
    HostConfig host;  // its dscp or pcp leads to a lossless class
    std::vector<std::string> notes;
};

class Answerer {
  public:
    explicit Answerer(const Question& in) : in_(in) {}

    tl::expected<Asked, std::vector<std::string>> asked() {
        if (in_.like.empty())
            describe();
        else if (auto like = like_switch(in_.like, in_.speed); like)
            take(*like);
        else
            return tl::unexpected(std::move(like.error()));
        need(in_.incast.has_value(), "incast", "N, the senders of one incast, such as 16");
        if (wrong_.empty()) complete();
        if (!wrong_.empty()) return tl::unexpected(std::move(wrong_));
        return std::move(out_);
    }

  private:
    void refuse(std::string_view option, std::string_view wrong, std::string_view remedy) {
        wrong_.push_back(fmt::format("--{}: {}; do: {}", option, wrong, remedy));
    }
    void need(bool is_there, std::string_view option, std::string_view what) {
        if (!is_there) refuse(option, "it is not said", fmt::format("say --{} {}", option, what));
    }

    // From the words alone.
    void describe() {
        need(in_.ports.has_value(), "ports", "N, such as 32");
        need(in_.speed.has_value(), "speed", "RATE, such as 400G");
        need(in_.cable_m.has_value(), "cable", "LENGTH, such as 100m");
        if (in_.profile.empty()) need(in_.buffer_bytes.has_value(), "buffer", "SIZE, such as 64MB");
        if (!wrong_.empty()) return;
        out_.ports = *in_.ports;
        out_.speed = *in_.speed;
        out_.cable_m = *in_.cable_m;
        Config& config = out_.config;
        if (!in_.profile.empty()) config.buffer_profile = in_.profile;
        start_from_profile(config);
        config.buffer_size_bytes = in_.buffer_bytes.value_or(config.buffer_size_bytes);
        config.cell_bytes = in_.cell_bytes.value_or(config.cell_bytes);
        if (in_.lossless_classes) config.port_defaults.pfc = lossless_classes(*in_.lossless_classes);
        sort_config(config);
    }
    void take(LikeSwitch& like) {
        const auto foreign = [&](bool is_said, std::string_view option) {
            if (is_said)
                refuse(option, "--like says it",
                       "leave it out, or change it in a copy of the file of --like");
        };
        foreign(!in_.profile.empty(), "profile");
        foreign(in_.cell_bytes.has_value(), "cell");
        foreign(in_.lossless_classes.has_value(), "classes");
        out_.config = std::move(like.config);
        out_.config.buffer_size_bytes = in_.buffer_bytes.value_or(out_.config.buffer_size_bytes);
        out_.ports = in_.ports.value_or(like.ports);
        out_.speed = like.speed;
        out_.cable_m = in_.cable_m.value_or(like.cable_m);
        out_.notes = std::move(like.notes);
    }

    void complete() {
        out_.incast = *in_.incast;
        if (out_.ports < out_.incast + incast_others)
            refuse("ports",
                   fmt::format("{} are too few for an incast of {}: its senders, a receiver and an idle host "
                               "take {}",
                               print_count(out_.ports, "port"), out_.incast, out_.incast + incast_others),
                   out_.ports < least_incast + incast_others
                       ? fmt::format("say --ports {} or more", out_.incast + incast_others)
                       : fmt::format("say --ports {} or more, or --incast {} or less",
                                     out_.incast + incast_others, out_.ports - incast_others));
        choose_mtu();
        Config config = with_equal_ports(star(), out_.ports);
        const EffectiveQos qos = effective_qos(config);
        if (!qos.problems.empty()) return refuse_buffer(qos.problems.front());
        if (!choose_label(config, qos.ports.begin()->second))
            refuse(in_.like.empty() ? "profile" : "like", "no class of its ports is lossless",
                   "name the configuration of a switch with PFC");
    }

    // The switch with the speed and cable of its ports, which a fabric's topology says.
    Config star() const {
        Config config = out_.config;
        config.port_defaults.speed = out_.speed;
        config.port_defaults.cable_m = out_.cable_m;
        return config;
    }

    void refuse_buffer(const QosProblem& problem) {
        const unsigned most = equal_ports_that_fit(star());
        if (most == 0 || most >= out_.ports)
            return refuse(in_.like.empty() ? "buffer" : "like",
                          fmt::format("the switch is refused: {}: {}", problem.path(), problem.wrong),
                          in_.like.empty() ? "say more --buffer, or a shorter --cable" : problem.fix);
        const std::string rest =
            "more --buffer, a shorter --cable" + std::string(in_.like.empty() ? " or fewer --classes" : "");
        refuse("ports",
               fmt::format("{} of {} with {} of cable have no room in {} for their headroom, {} at most",
                           out_.ports, print_rate(out_.speed), print_length(out_.cable_m),
                           print_size(out_.config.buffer_size_bytes), most),
               most < least_incast + incast_others ? "say " + rest
                                                   : fmt::format("say --ports {}, {}", most, rest));
    }

    // The largest payload that a packet of the ports' MTU has room for, of InfiniBand's sizes.
    void choose_mtu() {
        const std::uint32_t headers = longest_ip_bytes(HostConfig{}) - HostConfig{}.mtu;
        const std::uint32_t room = std::max(out_.config.port_defaults.mtu, headers) - headers;
        const std::uint32_t most = std::min(std::bit_floor(room), roce::max_path_mtu);
        if (room < least_mtu)
            return refuse("like",
                          fmt::format("ports of MTU {} have no room for RoCE", out_.config.port_defaults.mtu),
                          fmt::format("write mtu = {} or more there", least_mtu + headers));
        out_.mtu = in_.mtu.value_or(most);
        if (out_.mtu > room)
            refuse("mtu",
                   fmt::format("ports of MTU {} have no room for a payload of {}",
                               out_.config.port_defaults.mtu, out_.mtu),
                   fmt::format("say --mtu {}", most));
    }

    // False: no packet of a host can be lossless.
    bool choose_label(Config& config, const EffectivePort& port) {
        HostConfig& host = out_.host;
        host.port = config.ports.begin()->first;
        const auto is_lossless = [&](unsigned tc) {
            return port.group[port.map.tc_to_priority_group[tc]].lossless;
        };
        const auto takes = [&](bool own) {
            for (ClassId tc = 0; tc < classes; ++tc) {
                if (!is_lossless(tc)) continue;
                const auto dscp = dscp_of_class(config, host, tc);
                if (!dscp || (own && *dscp != host.dscp)) continue;
                host.dscp = *dscp;
                return true;
            }
            return false;
        };
        if (takes(true) || takes(false)) return true;
        for (std::uint8_t pcp = 0; pcp < classes; ++pcp) {  // of ports that trust it
            host.pcp = pcp;
            if (takes(true)) return true;
        }
        return false;
    }

    const Question& in_;
    Asked out_;
    std::vector<std::string> wrong_;
};

std::uint64_t divided_up(std::uint64_t value, std::uint64_t divisor) {
    return (value + divisor - 1) / divisor;
}

// The time that so many bytes take at a share of the rate.
std::uint64_t picoseconds_of(std::uint64_t bytes, Rate speed, unsigned percent = 100) {
    return static_cast<std::uint64_t>(speed.byte_time().ps) * bytes * 100 / percent;
}

// The usual time, or more where a slow link or large messages leave too few of them in the last three
// quarters.
std::uint64_t run_ms(const Question& in, const Asked& asked) {
    constexpr std::uint64_t ms = 1'000'000'000;
    const std::uint64_t rounds = picoseconds_of(least_rounds * asked.incast * in.message_bytes, asked.speed);
    const std::uint64_t probes = picoseconds_of(least_probes * probe_bytes, asked.speed, probe_percent);
    const std::uint64_t wanted = divided_up(std::max(rounds, probes) / 3 * 4, ms);
    return std::max(usual_ms, divided_up(wanted, 4) * 4);
}

// Messages outstanding of a sender: one, or as many as fill the link while acknowledgements are under way.
std::uint64_t depth_of(const Question& in, const Asked& asked) {
    const std::uint64_t round_trip = 4 * static_cast<std::uint64_t>(propagation_delay(asked.cable_m).ps) +
                                     picoseconds_of(3 * std::uint64_t{asked.mtu}, asked.speed);
    const std::uint64_t bytes =
        round_trips * round_trip / static_cast<std::uint64_t>(asked.speed.byte_time().ps);
    return std::max<std::uint64_t>(1, divided_up(bytes, asked.incast * in.message_bytes));
}

// The switch as [switch.default]: the sections of its file, one deeper.
std::string switch_sections(const Config& config) {
    const std::string text = to_toml(config);
    std::string made = text.empty() || text.starts_with('[') ? "" : "\n[switch.default]\n";
    std::size_t done = 0;
    for (const TomlStatement& each : toml_statements(text).value_or(std::vector<TomlStatement>{})) {
        if (each.kind == TomlStatement::Kind::key) continue;
        made += text.substr(done, each.begin - done);
        if (!made.ends_with("\n\n")) made += "\n";
        made += "[switch.default.";
        done = text.find('[', each.begin) + 1;
    }
    return made + text.substr(done);
}

class Writer {
  public:
    Writer(const Question& in, const Asked& asked)
        : in_(in),
          asked_(asked),
          incasts_(
              std::min<unsigned>(asked.ports / (asked.incast + incast_others), GoalConfig::max_keep - 1)),
          end_ms_(run_ms(in, asked)) {}

    std::string text() const {
        std::string made = fmt::format(
            "# Made by: sluice-fabric advise{}\n"
            "name = {}\n"
            "question = \"Which marking thresholds keep small messages fast beside a full link?\"\n"
            "\n[topology]\nkind = \"star\"\nhosts = {}\nhost_speed = \"{}\"\nhost_cable = \"{}\"\n",
            words(), toml_string(name()), asked_.ports, print_rate(asked_.speed),
            print_length(asked_.cable_m));
        made += switch_sections(asked_.config);
        made += fmt::format("\n[host.default]\ncc = \"dcqcn\"\nmtu = {}\n", asked_.mtu);
        if (asked_.host.dscp != HostConfig{}.dscp) made += fmt::format("dscp = {}\n", asked_.host.dscp);
        if (asked_.host.pcp) made += fmt::format("pcp = {}\n", *asked_.host.pcp);
        for (unsigned n = 0; n < incasts_; ++n) made += flows(n);
        made += fmt::format("\n[[phase]]\nname = \"settled\"\nfrom = \"{}ms\"\nto = \"{}ms\"\n", end_ms_ / 4,
                            end_ms_);
        return made + goal();
    }

  private:
    std::string name() const {
        return fmt::format("{} ports of {}, {}, {}, incasts of {}", asked_.ports, print_rate(asked_.speed),
                           print_size(asked_.config.buffer_size_bytes), print_length(asked_.cable_m),
                           asked_.incast);
    }
    // The options that make the same file.
    std::string words() const {
        std::string text;
        const auto say = [&](std::string_view option, const std::string& value) {
            text += fmt::format(" --{} {}", option, value);
        };
        if (!in_.like.empty()) say("like", toml_string(in_.like));
        if (in_.ports) say("ports", std::to_string(*in_.ports));
        if (in_.speed) say("speed", print_rate(*in_.speed));
        if (in_.buffer_bytes) say("buffer", print_size(*in_.buffer_bytes));
        if (in_.cable_m) say("cable", print_length(*in_.cable_m));
        say("incast", std::to_string(asked_.incast));
        if (in_.message_bytes != Question{}.message_bytes) say("message", print_size(in_.message_bytes));
        if (in_.mtu) say("mtu", std::to_string(*in_.mtu));
        if (!in_.profile.empty()) say("profile", in_.profile);
        if (in_.cell_bytes) say("cell", std::to_string(*in_.cell_bytes));
        if (in_.lossless_classes) say("classes", std::to_string(*in_.lossless_classes));
        return text;
    }

    // Hosts of the n-th incast: its senders, its receiver, the idle one.
    unsigned first_sender(unsigned n) const { return n * (asked_.incast + incast_others) + 1; }
    unsigned receiver(unsigned n) const { return first_sender(n) + asked_.incast; }
    unsigned idle(unsigned n) const { return receiver(n) + 1; }

    std::string flow(std::string_view kind, unsigned n, const std::string& from, unsigned to,
                     std::uint64_t message, const std::string& pace) const {
        return fmt::format(
            "\n[[flow]]\nname = \"{}{}\"\nfrom = \"{}\"\nto = \"h{}\"\nmessage = \"{}\"\n{}spread = "
            "\"10us\"\n"
            "stop = \"{}ms\"\n",
            kind, n + 1, from, to, print_size(message), pace, end_ms_);
    }
    std::string flows(unsigned n) const {
        const std::uint64_t depth = depth_of(in_, asked_);
        const auto load = [](unsigned percent) { return fmt::format("load = {}\n", percent); };
        return flow("incast", n, fmt::format("h{}..h{}", first_sender(n), receiver(n) - 1), receiver(n),
                    in_.message_bytes, depth == 1 ? std::string() : fmt::format("depth = {}\n", depth)) +
               flow("probe", n, fmt::format("h{}", idle(n)), receiver(n), probe_bytes, load(probe_percent)) +
               flow("bystander", n, fmt::format("h{}", first_sender(n)), idle(n), bystander_bytes,
                    load(bystander_percent));
    }
    std::string goal() const {
        std::string made = "\n[goal]\nkeep = [\n    \"verdict.lossless\",\n";
        for (unsigned n = 0; n < incasts_; ++n)
            made += fmt::format(
                "    {{that = \"links.h{}-sw1.directions.1.load_ppm ge 95%\", phase = \"settled\"}},\n",
                receiver(n));
        made += "]\nleast = [\n";
        for (const std::string_view kind : {"probe", "incast", "bystander"})
            made += fmt::format("    {{that = \"max flows.{}*.completion_ns.p99\", phase = \"settled\"}},\n",
                                kind);
        return made + "]\n";
    }

    const Question& in_;
    const Asked& asked_;
    unsigned incasts_;  // at once
    std::uint64_t end_ms_;
};

}  // namespace

std::vector<Option> question_options(Question& question) {
    return {
        {"ports", "N", "of the switch, each with a host: 32; with --like: those of its file",
         keep_number(least_incast + incast_others, max_ports, question.ports)},
        {"speed", "RATE", "of each port: 400G; with --like: of the ports that are asked for",
         keep_port_speed(question.speed)},
        {"buffer", "SIZE", "packet memory of the switch: 64MB; default: that of --profile or --like",
         keep_within(parse_size, print_size, 1, std::uint64_t{1} << 40, question.buffer_bytes)},
        {"cable", "LENGTH", "of each port, one way: 100m",
         keep_within(parse_length, print_length, 1, HeadroomInputs::max_cable_m, question.cable_m)},
        {"incast", "N", "senders that send to one host at once: 16",
         keep_number(least_incast, max_ports - incast_others, question.incast)},
        {"message", "SIZE", "that each of them sends, again and again; default: 1MB",
         keep_within(parse_size, print_size, least_message, most_message, question.message_bytes)},
        {"mtu", "BYTES",
         "payload of the hosts' packets; default: 4096, or the most that ports of --like have room for",
         [&question](const std::string& text) {
             if (const auto number = parse_integer(text); number && *number % 4 != 0)
                 return std::string("is not a multiple of 4");
             return keep_number(least_mtu, roce::max_path_mtu, question.mtu)(text);
         }},
        {"profile", "NAME", "buffer of a switch that is sold: tomahawk3 (see buffer.profile)",
         [&question](const std::string& text) {
             if (buffer_profile(text) != nullptr) return question.profile = text, std::string();
             return "is none of: " + joined(buffer_profile_names(), ", ");
         }},
        {"cell", "SIZE", "of the buffer; default: 256, or that of --profile",
         keep_within(parse_size, print_size, 64, 2048, question.cell_bytes)},
        {"classes", "N", "lossless classes of each port; default: 1",
         keep_number(1, classes, question.lossless_classes)},
        {"like", "CONFIG.toml",
         "takes buffer, pools, maps, profiles and ports of a configuration of sluiced, such as sluice-import "
         "makes",
         [&question](const std::string& text) {
             return question.like = text, text.empty() ? std::string("is empty") : std::string();
         }},
    };
}

tl::expected<QuestionFile, std::vector<std::string>> question_file(const Question& question) {
    auto asked = Answerer(question).asked();
    if (!asked) return tl::unexpected(std::move(asked.error()));
    return QuestionFile{Writer(question, *asked).text(), std::move(asked->notes)};
}

std::string advise_section() { return "\n[advise]\ngroups = [\"wred\"]\nruns = 96\n"; }

}  // namespace sluice::fabric

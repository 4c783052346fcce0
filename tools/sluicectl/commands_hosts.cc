// Simulated RoCE hosts and their flows; wires and their rules; workers: whose ports, how busy, how soon they
// react to pauses, and cycles by stage.
#include <fmt/format.h>

#include <array>

#include "control/config/schema/values.hh"
#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/look.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

// A part of the report, and the text where it is empty.
struct Part {
    const char* name;  // "hosts"
    const char* one;
    const char* none;
};

constexpr Part host_part{
    "hosts", "host",
    "no host is simulated; do: write [host.h1] with its address, behind [port.h1], under the "
    "virtual clock"};
constexpr Part flows{"flows", "flow",
                     "no host sends anything; do: write [[flow]] with from and to, hosts of the file"};

// The member that `said` names or begins, all when it names none.
Look chosen(Context& context, const Part& part, const Arguments& arguments, const std::string& said) {
    Look look = look_at(context, arguments, part.name);
    if (said.empty()) return look;
    if (look.part.empty()) throw Failure{exit_refused, part.none};
    Words known;
    for (const auto& [name, value] : look.part.items()) known.push_back(name);
    const std::string name = resolve_word(said, known, part.one);
    Json one = Json::object();
    one[name] = std::move(look.part[name]);
    look.part = std::move(one);
    return look;
}

// A single one when it was named.
Answer answer(const Look& look, const Part& part, bool named, std::string text) {
    if (look.part.empty()) text = fmt::format("{}\n", part.none);
    return looked(look, named ? Json(*look.part.begin()) : look.part, std::move(text));
}

// "h1: timeouts 3, rnr_naks 1": counters that stay 0 while all is well.
std::string troubles_text(const std::string& name, const Figures& figure, const Json& part) {
    constexpr std::array troubles{"failed_messages",   "timeouts",
                                  "sequence_errors",   "rnr_naks",
                                  "refused_packets",   "trimmed_packets",
                                  "stranger_packets",  "duplicate_packets",
                                  "early_packets",     "overrun_packets",
                                  "pauses_sent",       "wrong_payload_packets",
                                  "reordered_packets", "reorder_depth_packets",
                                  "repeated_packets"};
    std::string text;
    for (const char* trouble : troubles)
        if (part.value(trouble, 0ULL) != 0)
            append_item(text, ", ", fmt::format("{} {}", trouble, figure(trouble)));
    return text.empty() ? text : fmt::format("\n{}: {}\n", name, text);
}

// "3: 718.3 us", by class; "-": never.
std::string paused_text(const Figures& figure, const Json& paused) {
    std::string text;
    for (const auto& [number, time] : paused.items())
        append_item(text, ", ", fmt::format("{}: {}", number, figure("paused_ns." + number)));
    return text.empty() ? "-" : text;
}

Answer host_show(Context& context, const Arguments& arguments) {
    const Look look = chosen(context, host_part, arguments, arguments.value("HOST"));
    Table table({"<host", "<port", "<cc", "rate", "target", "alpha", "CNPs in", "CNPs out", "CE in", "sent",
                 "retransmitted", "<paused"});
    std::string below;
    for (const auto& [name, host] : look.part.items()) {
        const Figures figure("hosts.{host}", host, look.seconds);
        table.row({name, figure("port"), figure("cc"), figure("rate_bps"), figure("target_rate_bps"),
                   figure("alpha_ppm"), figure("cnp_received_packets"), figure("cnp_sent_packets"),
                   figure("ce_packets"), figure("data_packets"), figure("retransmitted_packets"),
                   paused_text(figure, host["paused_ns"])});
        below += troubles_text(name, figure, host);
        for (const Json& symptom : host["symptoms"])
            below += fmt::format("\nSYMPTOM: host {}: {}\n", name, word_text(symptom));
    }
    return answer(look, host_part, arguments.has("HOST"), table.text() + below);
}

Answer flow_show(Context& context, const Arguments& arguments) {
    const Look look = chosen(context, flows, arguments, arguments.value("FLOW"));
    Table rates({"<flow", "queue pairs", "throughput", "rate", "target", "alpha", "CNPs", "sent",
                 "retransmitted", "paused"});
    Table messages({"<messages of", "completed", "retried", "failed", "bytes", "p50", "p99", "p99.9", "max",
                    "slowdown p50", "slowdown p99"});
    std::string below;
    for (const auto& [name, flow] : look.part.items()) {
        const Figures figure("flows.{flow}", flow, look.seconds);
        rates.row(figure.row(name,
                             "queue_pairs throughput_bps rate_bps target_rate_bps alpha_ppm "
                             "cnp_received_packets data_packets retransmitted_packets paused_ns"));
        messages.row(figure.row(name,
                                "messages retried_messages failed_messages message_bytes completion_ns.p50 "
                                "completion_ns.p99 completion_ns.p999 completion_ns.max "
                                "slowdown_permille.p50 slowdown_permille.p99"));
        below += troubles_text(name, figure, flow);
    }
    return answer(look, flows, arguments.has("FLOW"), rates.text() + "\n" + messages.text() + below);
}

constexpr std::string_view no_wire =
    "there is no wire; do: write [wire.w1] with ports = [\"p1\", \"p2\"], and start sluiced anew";
constexpr std::size_t max_trace_lines = 32;

std::string rules_text(const std::string& wire, const Json& rules) {
    Table table({"<wire", "<rule", "<do", "<direction", "matched", "done", "untouched"});
    for (const auto& [name, rule] : rules.items())
        for (const char* direction : {"forward", "backward"}) {
            const Json& figures = rule[direction];
            table.row({wire, name, word_text(rule["do"]), direction, count_text(figures["matched_packets"]),
                       count_text(figures["acted_packets"]), count_text(figures["passed_packets"])});
        }
    return rules.empty() ? fmt::format("wire {} has no rules; do: sluicectl wire add {} RULE do drop nth 5\n",
                                       wire, wire)
                         : table.text();
}

std::string trace_text(const Json& trace) {
    std::string text;
    const std::size_t first = trace.size() > max_trace_lines ? trace.size() - max_trace_lines : 0;
    for (std::size_t n = first; n < trace.size(); ++n) {
        const Json& event = trace[n];
        text += fmt::format("{:>12}  {:<8} {:<12} {}{}", ns_text(event["at_ns"]),
                            word_text(event["direction"]), word_text(event["rule"]), word_text(event["do"]),
                            event["done"] == true ? "" : ", untouched");
        if (event.contains("psn"))
            text += fmt::format(": {} of qp {} psn {}", word_text(event["opcode"]), json_text(event["qp"]),
                                json_text(event["psn"]));
        text += fmt::format(", {} bytes\n", json_text(event["frame_bytes"]));
    }
    return text;
}

Answer show_wire(Context& context, const Arguments& arguments) {
    Json wires = context.stats("wires");
    if (wires.empty()) return {wires, fmt::format("{}\n", no_wire)};
    if (arguments.has("WIRE")) {
        Words known;
        for (const auto& [name, value] : wires.items()) known.push_back(name);
        const std::string name = resolve_word(arguments.value("WIRE"), known, "wire");
        Json one = wires[name];
        std::string text = fmt::format("{} and {}, PFC: {}, held {} and {}\n", word_text(one["ports"][0]),
                                       word_text(one["ports"][1]), word_text(one["pfc"]),
                                       json_text(one["forward"]["held_packets"]),
                                       json_text(one["backward"]["held_packets"])) +
                           rules_text(name, one["rules"]) + trace_text(one["trace"]);
        return {std::move(one), std::move(text)};
    }
    std::string text;
    for (const auto& [name, wire] : wires.items()) text += rules_text(name, wire["rules"]);
    return {std::move(wires), std::move(text)};
}

double ratio(const Json& part, const Json& whole) {
    const double all = whole.get<double>();
    return all == 0 ? 0 : part.get<double>() / all;
}

// A stage a line, and all of them but the idle turns: the cost of a packet.
std::string stages_table(const Json& meter, const Json& tsc_hz) {
    const Json& stages = meter["stages"];
    std::uint64_t all = 0;
    for (const Json& stage : stages) all += stage["cycles"].get<std::uint64_t>();
    Table table({"<stage", "packets", "cycles", "a packet", "share"});
    const auto line = [&](const std::string& name, const Json& packets, const Json& cycles) {
        table.row({name, count_text(packets), count_text(cycles),
                   packets == 0 ? "-" : fmt::format("{:.1f}", ratio(cycles, packets)),
                   share_text(ratio(cycles, all))});
    };
    for (const auto& [name, stage] : stages.items()) line(name, stage["packets"], stage["cycles"]);
    line("all but idle", stages["enqueue"]["packets"], all - stages["idle"]["cycles"].get<std::uint64_t>());
    return fmt::format("{} turns, {} with packets{}; cycles of {:.0f} MHz\n{}", count_text(meter["turns"]),
                       count_text(meter["busy_turns"]),
                       meter["on"] == true ? "" : ", metered until it was switched off",
                       tsc_hz.get<double>() / 1e6, table.text());
}

// How soon pauses were obeyed and sent, of workers that had any.
std::string reactions_table(const Json& workers) {
    Table table({"worker", "<reaction, at most", "times", "p50", "p99", "max"});
    bool any = false;
    for (std::size_t n = 0; n < workers.size(); ++n) {
        const auto line = [&](const char* what, const char* times, const char* took) {
            if (workers[n][times] == 0) return;
            any = true;
            const Figures worker("workers.{worker}", workers[n]);
            const auto quantile = [&](const char* of) { return worker(fmt::format("{}.{}", took, of)); };
            table.row({fmt::format("{}", n), what, worker(times), quantile("p50"), quantile("p99"),
                       quantile("max")});
        };
        line("pause obeyed", "pauses_obeyed", "pause_obeyed_ns");
        line("XOFF sent", "xoffs_sent", "xoff_sent_ns");
    }
    return any ? "\n" + table.text() : std::string();
}

Answer worker_show(Context& context, const Arguments&) {
    Json json = context.call("worker.show");
    const bool turns = json.contains("tsc_hz");  // of the real clock
    Table table({"worker", "<ports", "in", "out", "turns", "with packets", "busy", "turn p50", "p99", "max"});
    std::string stages;
    for (std::size_t n = 0; n < json["workers"].size(); ++n) {
        const Json& worker = json["workers"][n];
        const Figures figure("workers.{worker}", worker);
        table.row({fmt::format("{}", n), joined(worker["ports"].get<Words>(), " "), figure("rx_packets"),
                   figure("tx_packets"), figure("turns"), figure("busy_turns"),
                   turns ? share_text(ratio(worker["busy_ns"], worker["time_ns"])) : std::string("-"),
                   figure("busy_turn_ns.p50"), figure("busy_turn_ns.p99"), figure("longest_turn_ns")});
        if (worker.contains("meter"))
            stages += fmt::format("\nworker {}: ", n) + stages_table(worker["meter"], json["tsc_hz"]);
    }
    if (turns) stages.insert(0, reactions_table(json["workers"]));
    return {std::move(json), table.text() + stages};
}

Answer worker_meter(Context& context, const Arguments& arguments) {
    return {context.call("worker.meter", {{"on", arguments.value("on|off") == "on"}}), {}};
}

}  // namespace

std::span<const Command> host_commands() {
    static constexpr std::array table{
        Command{"host show [HOST] [total] [rates] [over TIME]",
                "simulated hosts: rates, CNPs, pauses, and misconfigurations they show", host_show},
        Command{"flow show [FLOW] [total] [rates] [over TIME]",
                "what their flows reach: throughput, completion times, slowdown", flow_show},
    };
    return table;
}

std::span<const Command> wire_commands() {
    static constexpr std::array table{
        Command{"wire show [WIRE]", "rules, their counters, and the last frames that they took", show_wire},
        Command{"wire add WIRE RULE WORDS...", "a rule: do ACTION, then its keys and those of match",
                timed_command},
        Command{"wire remove WIRE RULE", "takes it away; frames that it holds leave at their time",
                timed_command},
    };
    return table;
}

std::span<const Command> worker_commands() {
    static constexpr std::array table{
        Command{"worker show", "workers: ports, turns, how busy; cycles by stage while metered", worker_show},
        Command{"worker meter on|off", "counts cycles by stage from now on, or stops; real clock only",
                worker_meter},
    };
    return table;
}

}  // namespace sluice::ctl

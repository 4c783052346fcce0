// Simulated RoCE hosts and their flows.
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

// One of them alone when it was named.
Answer answer(const Look& look, const Part& part, bool named, std::string text) {
    if (look.part.empty()) text = fmt::format("{}\n", part.none);
    return looked(look, named ? Json(*look.part.begin()) : look.part, std::move(text));
}

// "h1: timeouts 3, rnr_naks 1": counters that stay 0 while all is well.
std::string troubles_text(const std::string& name, const Figures& figure, const Json& part) {
    constexpr std::array troubles{
        "failed_messages",       "timeouts",         "sequence_errors",       "rnr_naks",
        "refused_packets",       "stranger_packets", "duplicate_packets",     "early_packets",
        "overrun_packets",       "pauses_sent",      "wrong_payload_packets", "reordered_packets",
        "reorder_depth_packets", "repeated_packets"};
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
    Table messages({"<messages of", "completed", "retried", "failed", "bytes", "median", "99 %", "99.9 %",
                    "longest", "slowdown: median", "99 %"});
    std::string below;
    for (const auto& [name, flow] : look.part.items()) {
        const Figures figure("flows.{flow}", flow, look.seconds);
        rates.row({name, figure("queue_pairs"), figure("throughput_bps"), figure("rate_bps"),
                   figure("target_rate_bps"), figure("alpha_ppm"), figure("cnp_received_packets"),
                   figure("data_packets"), figure("retransmitted_packets"), figure("paused_ns")});
        messages.row({name, figure("messages"), figure("retried_messages"), figure("failed_messages"),
                      figure("message_bytes"), figure("completion_ns.p50"), figure("completion_ns.p99"),
                      figure("completion_ns.p999"), figure("completion_ns.max"),
                      figure("slowdown_permille.p50"), figure("slowdown_permille.p99")});
        below += troubles_text(name, figure, flow);
    }
    return answer(look, flows, arguments.has("FLOW"), rates.text() + "\n" + messages.text() + below);
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

}  // namespace sluice::ctl

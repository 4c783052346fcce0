// Simulated RoCE hosts and their flows.
#include <fmt/format.h>

#include <array>

#include "control/config/values.hh"
#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

// A part of the report, and the text where it is empty.
struct Part {
    const char* name;  // "hosts"
    const char* one;
    const char* none;
};

constexpr Part hosts{
    "hosts", "host",
    "no host is simulated; do: write [host.h1] with its address, behind [port.h1], under the "
    "virtual clock"};
constexpr Part flows{"flows", "flow",
                     "no host sends anything; do: write [[flow]] with from and to, hosts of the file"};

// The member that `said` names or begins, all when it names none.
Json chosen(Context& context, const Part& part, const std::string& arguments) {
    Json all = context.stats(part.name);
    if (arguments.empty()) return all;
    if (all.empty()) throw Failure{exit_refused, part.none};
    Words known;
    for (const auto& [name, value] : all.items()) known.push_back(name);
    const std::string name = resolve_word(arguments, known, part.one);
    Json one = Json::object();
    one[name] = std::move(all[name]);
    return one;
}

// One of them alone when it was named.
Answer answer(Json json, const Part& part, bool named, std::string text) {
    if (json.empty()) text = fmt::format("{}\n", part.none);
    if (named) return {Json(*json.begin()), std::move(text)};
    return {std::move(json), std::move(text)};
}

// "h1: timeouts 3, rnr_naks 1": counters that stay 0 while all is well.
std::string troubles_text(const std::string& name, const Figures& figure, const Json& part) {
    constexpr std::array troubles{
        "failed_messages", "timeouts",         "sequence_errors",      "rnr_naks",
        "refused_packets", "stranger_packets", "duplicate_packets",    "early_packets",
        "overrun_packets", "pauses_sent",      "wrong_payload_packets"};
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
    Json json = chosen(context, hosts, arguments.value("HOST"));
    Table table({"<host", "<port", "<cc", "rate", "target", "alpha", "CNPs in", "CNPs out", "CE in", "sent",
                 "retransmitted", "<paused"});
    std::string below;
    for (const auto& [name, host] : json.items()) {
        const Figures figure("hosts.{host}", host);
        table.row({name, figure("port"), figure("cc"), figure("rate_bps"), figure("target_rate_bps"),
                   figure("alpha_ppm"), figure("cnp_received_packets"), figure("cnp_sent_packets"),
                   figure("ce_packets"), figure("data_packets"), figure("retransmitted_packets"),
                   paused_text(figure, host["paused_ns"])});
        below += troubles_text(name, figure, host);
        for (const Json& symptom : host["symptoms"])
            below += fmt::format("\nSYMPTOM: host {}: {}\n", name, word_text(symptom));
    }
    return answer(std::move(json), hosts, arguments.has("HOST"), table.text() + below);
}

Answer flow_show(Context& context, const Arguments& arguments) {
    Json json = chosen(context, flows, arguments.value("FLOW"));
    Table rates({"<flow", "queue pairs", "throughput", "rate", "target", "alpha", "CNPs", "sent",
                 "retransmitted", "paused"});
    Table messages({"<messages of", "completed", "retried", "failed", "bytes", "median", "99 %", "99.9 %",
                    "longest", "slowdown: median", "99 %"});
    std::string below;
    for (const auto& [name, flow] : json.items()) {
        const Figures figure("flows.{flow}", flow);
        rates.row({name, figure("queue_pairs"), figure("throughput_bps"), figure("rate_bps"),
                   figure("target_rate_bps"), figure("alpha_ppm"), figure("cnp_received_packets"),
                   figure("data_packets"), figure("retransmitted_packets"), figure("paused_ns")});
        messages.row({name, figure("messages"), figure("retried_messages"), figure("failed_messages"),
                      figure("message_bytes"), figure("completion_ns.p50"), figure("completion_ns.p99"),
                      figure("completion_ns.p999"), figure("completion_ns.max"),
                      figure("slowdown_permille.p50"), figure("slowdown_permille.p99")});
        below += troubles_text(name, figure, flow);
    }
    return answer(std::move(json), flows, arguments.has("FLOW"),
                  rates.text() + "\n" + messages.text() + below);
}

}  // namespace

std::span<const Command> host_commands() {
    static constexpr std::array table{
        Command{"host show [HOST]", "simulated hosts: rates, CNPs, pauses, and misconfigurations they show",
                host_show},
        Command{"flow show [FLOW]", "what their flows reach: throughput, completion times, slowdown",
                flow_show},
    };
    return table;
}

}  // namespace sluice::ctl

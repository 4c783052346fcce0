// Workers: whose ports, how busy, how soon they react to pauses, and cycles by stage.
#include <fmt/format.h>

#include <array>

#include "control/config/schema/values.hh"
#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

double ratio(const Json& part, const Json& whole) {
    const double all = whole.get<double>();
    return all == 0 ? 0 : part.get<double>() / all;
}

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

// A stage a line, and all of them but the idle turns: the cost of a packet.
std::string stages_table(const Json& meter, const Json& tsc_hz) {
    const Json& stages = meter["stages"];
    std::uint64_t all = 0;
    for (const Json& stage : stages) all += stage["cycles"].get<std::uint64_t>();
    Table table({"<stage", "packets", "cycles", "a packet", "share"});
    const auto line = [&](const std::string& name, const Json& packets, const Json& cycles) {
        table.row({name, count_text(packets), count_text(cycles),
                   packets == 0 ? "-" : fmt::format("{:.1f}", ratio(cycles, packets)),
                   percent(ratio(cycles, all))});
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
    Table table({"worker", "<reaction, at most", "times", "median", "99 %", "longest"});
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
    Table table({"worker", "<ports", "in", "out", "turns", "with packets", "busy", "median of those", "99 %",
                 "longest turn"});
    std::string stages;
    for (std::size_t n = 0; n < json["workers"].size(); ++n) {
        const Json& worker = json["workers"][n];
        std::string ports;
        for (const Json& port : worker["ports"]) append_item(ports, " ", port.get<std::string>());
        const Figures figure("workers.{worker}", worker);
        table.row({fmt::format("{}", n), ports, figure("rx_packets"), figure("tx_packets"), figure("turns"),
                   figure("busy_turns"),
                   turns ? percent(ratio(worker["busy_ns"], worker["time_ns"])) : std::string("-"),
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

std::span<const Command> worker_commands() {
    static constexpr std::array table{
        Command{"worker show", "workers: ports, turns, how busy; cycles by stage while metered", worker_show},
        Command{"worker meter on|off", "counts cycles by stage from now on, or stops; real clock only",
                worker_meter},
    };
    return table;
}

}  // namespace sluice::ctl

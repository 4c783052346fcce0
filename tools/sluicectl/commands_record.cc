// Decision records: why packets went, were marked or dropped, and why senders were paused.
#include <fmt/format.h>

#include <array>

#include "control/config/values.hh"
#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

Answer command(Context& context, std::string words, const Words& more) {
    for (const std::string& word : more) words += " " + word;
    return {context.call("command", {{"command", words}}), {}};
}

Answer on(Context& context, const Arguments& arguments) {
    return command(context, "decisions on", arguments.rest);
}
Answer off(Context& context, const Arguments&) { return command(context, "decisions off", {}); }

Answer show(Context& context, const Arguments&) {
    Json json = context.stats("decisions");
    std::string text = "recording: " + word_text(json["state"]) + "\n";
    if (json.contains("verdicts"))
        for (const auto& [verdict, count] : json["verdicts"].items())
            text += fmt::format("{:<12}{:>12}\n", verdict, count_text(count));
    if (json.value("lost", 0U) != 0)
        text += count_text(json["lost"]) + " events lost: the ring was too small\n";
    return {std::move(json), std::move(text)};
}

std::string record_line(const Json& record) {
    const bool is_pause = record.contains("signal");
    const Json& end = is_pause                       ? record
                      : record.contains("drop")      ? record["drop"]
                      : record.contains("departure") ? record["departure"]
                                                     : record;
    const std::string at = end.contains("at_ps") ? ns_text(end["at_ps"].get<std::uint64_t>() / 1000) : "-";
    const std::string sentence = word_text(record["sentence"]);
    return fmt::format("{:>12}  {} {}{}{}{}{}\n", at, word_text(record[is_pause ? "signal" : "verdict"]),
                       word_text(record["port"]), is_pause ? "." : "#",
                       json_text(record[is_pause ? "group" : "sequence"]), sentence.empty() ? "" : ": ",
                       sentence);
}

Answer list(Context& context, const Arguments& arguments) {
    Json parameters = Json::object();
    if (arguments.has("last")) {
        const auto last = parse_integer(arguments.value("last"));
        if (!last)
            throw Failure{exit_usage,
                          "last " + sluice::in_quotes(arguments.value("last")) + " " + last.error().wrong};
        parameters["last"] = *last;
    }
    Json json = context.call("decisions.list", parameters);
    std::string text;
    for (const Json& record : json["records"]) text += record_line(record);
    return {std::move(json), text.empty() ? "no decision is kept\n" : std::move(text)};
}

// Frames without a record: no receive ring had room for them.
Json missed_frames(const Json& ports) {
    Json missed = Json::array();
    for (const auto& [name, port] : ports.items())
        if (port["imissed"] != 0)
            missed.push_back({{"verdict", "missed"},
                              {"reason", "ring_overrun"},
                              {"port", name},
                              {"count", port["imissed"]},
                              {"sentence",
                               "the receive ring had no room, or no packet buffer: they were lost before "
                               "anything was known of them, their class included"}});
    return missed;
}

std::string why_text(const Json& entry) {
    if (entry.contains("host"))
        return fmt::format("SYMPTOM: host {}: {}\n", word_text(entry["host"]), word_text(entry["sentence"]));
    std::string place = word_text(entry["port"]);
    for (const char* part : {"queue", "group"})
        if (entry.contains(part)) place = fmt::format("{} {}.{}", part, place, json_text(entry[part]));
    const std::string first =
        entry.contains("first") ? ", first at " + ns_text(entry["first"]["at_ns"]) : std::string();
    return fmt::format("{} {} at {}: {}{}\n    {}\n", word_text(entry["verdict"]), word_text(entry["reason"]),
                       place, count_text(entry["count"]), first, word_text(entry["sentence"]));
}

// What the figures of simulated hosts say of their configuration.
Json host_symptoms(const Json& hosts) {
    Json symptoms = Json::array();
    for (const auto& [name, host] : hosts.items())
        for (const Json& symptom : host["symptoms"])
            symptoms.push_back(
                {{"verdict", "symptom"}, {"host", name}, {"port", host["port"]}, {"sentence", symptom}});
    return symptoms;
}

// Those at a place: a port, or a host behind one. Throws where there is neither.
void keep_those_at(const std::string& place, const Json& report, Json& entries) {
    const bool is_host = report["hosts"].contains(place);
    Words places;
    for (const char* part : {"ports", "hosts"})
        for (const auto& [name, value] : report[part].items()) places.push_back(name);
    const std::string name = is_host ? place : resolve_word(place, places, "port or host");
    const std::string port =
        report["hosts"].contains(name) ? report["hosts"][name]["port"].get<std::string>() : name;
    Json kept = Json::array();
    for (const Json& entry : entries)
        if (entry["port"] == port) kept.push_back(entry);
    entries = std::move(kept);
}

Answer why(Context& context, const Arguments& arguments) {
    const Json report = context.stats("");
    const Json& decisions = report["decisions"];
    Json entries = missed_frames(report["ports"]);
    for (const Json& symptom : host_symptoms(report["hosts"])) entries.push_back(symptom);
    constexpr const char* unrecorded =
        "nothing is recorded; do: write record = \"ready\" under [decisions], start the switch, and say: "
        "decisions on";
    const bool recorded = decisions.contains("why");
    if (recorded)
        entries.insert(entries.end(), decisions["why"].begin(), decisions["why"].end());
    else if (entries.empty())
        throw Failure{exit_refused, unrecorded};
    if (arguments.has("PLACE")) keep_those_at(arguments.value("PLACE"), report, entries);
    std::string text;
    for (const Json& entry : entries) text += why_text(entry);
    if (text.empty()) text = "nothing has been decided against a packet\n";
    Words notes;
    if (!recorded) notes.emplace_back(unrecorded);
    return {std::move(entries), std::move(text), exit_done, std::move(notes)};
}

}  // namespace

std::span<const Command> record_commands() {
    static constexpr std::array table{
        Command{"decisions show", "how many decisions were recorded", show},
        Command{"decisions list [last N]", "the last 20 records, or N; all of each with --json", list},
        Command{"decisions on [WORDS...]",
                "records from now on: [port P] [egress P] [class N] [verdict V] [qp N] ...", on},
        Command{"decisions off", "records no more", off},
        Command{"why [PLACE]",
                "why packets were dropped or marked, and senders paused; at a port, or a host of it", why},
    };
    return table;
}

}  // namespace sluice::ctl

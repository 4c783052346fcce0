// Decision records: why packets went, were marked or dropped, and why senders were paused.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "control/config/schema/values.hh"
#include "control/report/figures/losses.hh"
#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

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

void add_last(const Arguments& arguments, Json& question) {
    if (const auto last = number_said(arguments, "last")) question["last"] = *last;
}

Answer list(Context& context, const Arguments& arguments) {
    Json parameters = Json::object();
    add_last(arguments, parameters);
    Json json = context.call("decisions.list", parameters);
    std::string text;
    for (const Json& record : json["records"]) text += record_line(record);
    return {std::move(json), text.empty() ? "no decision is kept\n" : std::move(text)};
}

// Frames without a record: they never came to the switch.
Json missed_frames(const Json& ports) {
    const std::map<std::string, std::string> sentences{
        {"ring_overrun", "the receive ring had no room, or no packet buffer"},
        {"rx_errors", "the device received them with errors"},
        {"beyond_mtu", "they were longer than the port takes"}};
    Json missed = Json::array();
    for (const auto& [name, port] : ports.items())
        for (const auto& [reason, packets] : missed_of(port))
            missed.push_back(
                {{"verdict", "missed"},
                 {"reason", reason},
                 {"port", name},
                 {"count", packets},
                 {"sentence", sentences.at(reason) + ": they were lost before they were classified"}});
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
void add_symptoms(const Json& hosts, Json& entries) {
    for (const auto& [name, host] : hosts.items())
        for (const Json& symptom : host["symptoms"])
            entries.push_back(
                {{"verdict", "symptom"}, {"host", name}, {"port", host["port"]}, {"sentence", symptom}});
}

// A port, or a host behind one, and a class of it: "h1", "h1.3".
struct Place {
    std::string port;
    std::optional<unsigned> number;

    std::string text() const { return number ? fmt::format("{}.{}", port, *number) : port; }
    bool has(const Json& entry) const {
        if (entry["port"] != port) return false;
        for (const char* part : {"queue", "group"})
            if (entry.contains(part)) return !number || entry[part] == *number;
        return true;
    }
};

// Throws where there is none.
Place place_of(const std::string& said, const Json& report) {
    Words known;
    for (const char* part : {"ports", "hosts"})
        for (const auto& [name, value] : report[part].items()) known.push_back(name);
    Place place;
    std::string name = said;
    const bool is_known = std::find(known.begin(), known.end(), said) != known.end();
    const std::size_t dot = said.size() > 2 ? said.size() - 2 : 0;
    if (!is_known && dot != 0 && said[dot] == '.' && said.back() >= '0' && said.back() <= '7') {
        place.number = static_cast<unsigned>(said.back() - '0');
        name.resize(dot);
    }
    name = resolve_word(name, known, "port or host");
    place.port = report["hosts"].contains(name) ? report["hosts"][name]["port"].get<std::string>() : name;
    return place;
}

std::string recorder_text(const Json& entry) {
    std::string text = word_text(entry["sentence"]) + "\n";
    for (const Json& detail : entry["details"]) text += "    " + word_text(detail) + "\n";
    if (entry.contains("do")) text += "    to avoid it: " + word_text(entry["do"]) + "\n";
    return text;
}

// What figures, decision records and the recorder say; `answer`: of why.show.
Answer tell(const Json& answer, Json entries, bool has_decisions) {
    // Storms and losses first: frames that were missed, and what the recorder has of lossless classes.
    std::string text, storms, symptoms, losses, others;
    for (const Json& entry : entries)
        if (!entry.contains("source")) (entry.contains("host") ? symptoms : text) += why_text(entry);
    const Json& recorded = answer["entries"];
    for (const Json& entry : recorded)
        if (entry["source"] == "recorder")
            (entry["verdict"] == "storm"  ? storms
             : entry.contains("lossless") ? losses
                                          : others) += recorder_text(entry);
    text = storms + text + losses + symptoms + others;
    if (!recorded.empty() && recorded[0]["source"] == "recorder")
        text += fmt::format(
            "(from the flight recorder: last {} events per port{})\n", json_text(answer["recorder"]),
            answer["left_out"] == 0 ? std::string()
                                    : fmt::format("; {} more: say last N", json_text(answer["left_out"])));
    std::string decided;
    for (const Json& entry : entries)
        if (entry.contains("source")) decided += why_text(entry);
    for (const Json& entry : recorded)
        if (entry["source"] == "decisions")
            decided += fmt::format("{} {}#{} at {}: {}\n", word_text(entry["verdict"]),
                                   word_text(entry["port"]), json_text(entry["sequence"]),
                                   ns_text(entry["at_ns"]), word_text(entry["sentence"]));
    if (!decided.empty()) text += "from decision records:\n" + decided;
    for (const Json& entry : recorded) entries.push_back(entry);
    if (text.empty()) text = "no packet was dropped, marked or paused after classification\n";
    Words notes;
    if (answer["recorder"] == 0 && !has_decisions)
        notes.emplace_back(
            "nothing is recorded; do: write recorder = 256 under [decisions], or record = \"ready\", start "
            "the switch, and say: decisions on");
    if (!notes.empty() && entries.empty()) throw Failure{exit_refused, notes[0]};
    return {std::move(entries), std::move(text), exit_done, std::move(notes)};
}

Answer why_flow(Context& context, const Arguments& arguments) {
    Json question = flow_question(arguments);
    add_last(arguments, question);
    const Json json = context.call("why.flow", question);
    const Json& way = json["way"];
    Answer answer = tell(json, Json::array(), false);
    const std::string from = way["from"].is_null() ? "an unknown port" : word_text(way["from"]);
    answer.text = way["to"].is_null()
                      ? "such a packet is dropped: " + word_text(way["sentence"]) + "\n" + answer.text
                      : fmt::format("such a packet comes in by {} and leaves by {}: {}\n", from,
                                    word_text(way["to"]), word_text(way["sentence"])) +
                            answer.text;
    answer.json = json;
    return answer;
}

Answer mirrors(Context& context, const Arguments&) {
    Json json = context.call("mirror.show");
    Table table({"<mirror", "<shows", "mirrored", "suppressed", "lost", "<state", "<written to"});
    for (const Json& mirror : json["mirrors"]) {
        table.row({word_text(mirror["name"]), joined(mirror["on"].get<Words>(), " "),
                   count_text(mirror["mirrored_packets"]), count_text(mirror["suppressed_packets"]),
                   count_text(mirror["lost_packets"]), word_text(mirror["state"]),
                   word_text(mirror[mirror.contains("collector") ? "collector"
                                    : mirror.contains("fifo")    ? "fifo"
                                                                 : "file"])});
    }
    std::string text =
        table.empty() ? "no mirror; write [mirror.NAME], or: sluicectl set mirror.drops.file=drops.pcapng\n"
                      : table.text();
    return {std::move(json), std::move(text)};
}

}  // namespace

Answer why(Context& context, const Arguments& arguments) {
    const Json report = context.stats("");
    const Json& decisions = report["decisions"];
    Json entries = missed_frames(report["ports"]);
    add_symptoms(report["hosts"], entries);
    const bool has_decisions = decisions.contains("why");
    if (has_decisions)
        for (Json entry : decisions["why"]) {
            entry["source"] = "decisions";
            entries.push_back(std::move(entry));
        }
    Json question = Json::object();
    if (arguments.has("PLACE")) {
        const Place place = place_of(arguments.value("PLACE"), report);
        question["at"] = place.text();
        Json kept = Json::array();
        for (const Json& entry : entries)
            if (place.has(entry)) kept.push_back(entry);
        entries = std::move(kept);
    }
    add_last(arguments, question);
    return tell(context.call("why.show", question), std::move(entries), has_decisions);
}

std::span<const Command> record_commands() {
    static constexpr std::array table{
        Command{"decisions show", "how many decisions were recorded", show},
        Command{"decisions list [last N]", "the last 20 records, or N; all of each with --json", list},
        Command{"decisions on [WORDS...]",
                "records from now on: [port P] [egress P] [class N] [verdict V] [qp N] ...", timed_command},
        Command{"decisions off", "records no more", timed_command},
        Command{"mirror show", "the mirrors of drops, delays and pauses, and what has become of their frames",
                mirrors},
        Command{"why flow DESTINATION [from ADDRESS] [sport N] [dport N] [qp N] [proto N] [last N]",
                "the same on the way that such a packet takes", why_flow},
        Command{"why [PLACE] [last N]",
                "why senders were paused, and packets dropped or marked: everywhere, or at h1, or h1.3", why},
    };
    return table;
}

}  // namespace sluice::ctl

// The configuration: look, judge, change, roll back.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <utility>

#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

std::string changes_text(const Json& changes) {
    std::string text;
    for (const Json& change : changes)
        text += fmt::format("{}: {} -> {}{}\n", word_text(change["path"]),
                            change["from"].is_null() ? "default" : word_text(change["from"]),
                            change["to"].is_null() ? "default" : word_text(change["to"]),
                            change.contains("restart") ? "  (at the next start)" : "");
    return text;
}

std::string findings_text(const Json& findings, bool with_notes) {
    std::string text;
    for (const Json& finding : findings)
        if (with_notes || finding["severity"] != "note")
            text += fmt::format(
                "{}{}: {}: {}{}; do: {}\n",
                finding.contains("line") ? "line " + json_text(finding["line"]) + ": " : "",
                word_text(finding["severity"]), word_text(finding["path"]), word_text(finding["message"]),
                finding.contains("forced") ? ": forced, not lossless" : "", word_text(finding["do"]));
    return text;
}

std::string changes_count(const Json& count) {
    return json_text(count) + (count == 1 ? " change" : " changes");
}

}  // namespace

Answer applied(Json json) {
    std::string text = changes_text(json["changes"]);
    if (text.empty()) text = "nothing changes\n";
    text += findings_text(json["findings"], false);  // as at the start, without notes
    if (json["pending_cells"] != 0)
        text += fmt::format("the limits that were cut apply when {} cells have left the buffer\n",
                            json_text(json["pending_cells"]));
    if (json.contains("kept"))
        text += fmt::format("kept as well: {} that waited to be confirmed\n", changes_count(json["kept"]));
    if (json.contains("confirm_by_ns"))
        text +=
            fmt::format("{} at {} of the switch's clock unless you run: sluicectl config confirm\n",
                        json["waiting"] == 1 ? "rolls back" : changes_count(json["waiting"]) + " roll back",
                        ns_text(json["confirm_by_ns"]));
    return {std::move(json), std::move(text)};
}

Json with_options(Json parameters, const Arguments& arguments) {
    if (arguments.has("confirm")) parameters["confirm"] = arguments.value("confirm");
    if (arguments.has("force")) parameters["force"] = true;
    return parameters;
}

namespace {

std::string file_text(const std::string& path) {
    std::ostringstream text;
    if (path == "-") {
        text << std::cin.rdbuf();
        return text.str();
    }
    std::ifstream file(path);
    text << file.rdbuf();
    if (!file) throw Failure{exit_usage, path + ": cannot be read"};
    return text.str();
}

Answer get(Context& context, const Arguments& arguments) {
    if (!arguments.has("KEY")) {
        Json json = context.call("config.get");
        return {json, word_text(json["toml"])};
    }
    Json json = context.call("config.get", {{"path", arguments.value("KEY")}});
    return {json, word_text(json["value"]) + "\n"};
}

Answer check(Context& context, const Arguments& arguments) {
    Json json = context.call("config.check", {{"toml", file_text(arguments.value("FILE"))}});
    const bool usable = json["usable"].get<bool>();
    std::string text = findings_text(json["findings"], true);
    if (text.empty()) text = "good\n";
    return {std::move(json), std::move(text), usable ? exit_done : exit_usage};
}

Answer diff(Context& context, const Arguments& arguments) {
    if (arguments.has("FILE")) {
        Json json = context.call("config.diff", {{"toml", file_text(arguments.value("FILE"))}});
        return {json, json.empty() ? "no difference\n" : changes_text(json)};
    }
    Json json = context.call("config.unsaved");
    return {json, json["changes"].empty() ? "no difference: all of it is in " + word_text(json["file"]) + "\n"
                                          : changes_text(json["changes"])};
}

Answer history(Context& context, const Arguments&) {
    Json json = context.call("config.history");
    std::string text;
    for (const Json& entry : json["entries"]) {
        const std::string who = word_text(entry["who"]);
        text +=
            fmt::format("{:>3}  {}  {:>10}  {}: {}\n", json_text(entry["number"]), word_text(entry["wall"]),
                        ns_text(entry["at_ns"]),
                        entry.contains("user") ? fmt::format("{} ({})", word_text(entry["user"]), who) : who,
                        word_text(entry["what"]));
        for (const Json& change : entry["changes"]) text += "       " + changes_text(Json::array({change}));
        if (entry.contains("left_out"))
            text += fmt::format("       and {} more\n", json_text(entry["left_out"]));
    }
    if (json["lost"] != 0) text += fmt::format("{} older changes are forgotten\n", json_text(json["lost"]));
    return {std::move(json), text.empty() ? "nothing has been changed since the start\n" : std::move(text)};
}

Answer apply(Context& context, const Arguments& arguments) {
    return applied(context.call("config.apply",
                                with_options({{"toml", file_text(arguments.value("FILE"))}}, arguments)));
}

Answer confirm(Context& context, const Arguments&) {
    Json json = context.call("config.confirm");
    std::string text = "kept: " + changes_count(json["kept"]) + "\n";
    return {std::move(json), std::move(text)};
}

Answer rollback(Context& context, const Arguments&) { return applied(context.call("config.rollback")); }

Answer save(Context& context, const Arguments& arguments) {
    Json parameters = Json::object();
    if (arguments.has("NAME")) parameters["file"] = arguments.value("NAME");
    if (arguments.has("startup")) parameters["startup"] = true;
    Json json = context.call("config.save", parameters);
    std::string text = "saved to " + word_text(json["file"]) + "\n";
    if (json.contains("original"))
        text += "it was written anew; what it said before is in " + word_text(json["original"]) + "\n";
    return {std::move(json), std::move(text)};
}

Answer reset(Context& context, const Arguments& arguments) {
    if (!arguments.has("startup"))
        throw Failure{exit_usage, "startup is missing; wanted: config reset --startup"};
    Json json = context.call("config.reset");
    std::string text = fmt::format("{}: the next start reads {}\n",
                                   json["removed"] == true ? "removed" : "nothing was saved for the start",
                                   word_text(json["file"]));
    return {std::move(json), std::move(text)};
}

Answer reload(Context& context, const Arguments&) { return applied(context.call("config.reload")); }

Answer keys(Context& context, const Arguments& arguments) {
    Json all = context.call("config.keys");
    Json json = Json::array();
    std::string text;
    for (const Json& key : all) {
        if (key["path"].get_ref<const std::string&>().find(arguments.value("WORD")) == std::string::npos)
            continue;
        text += fmt::format(
            "{} = {}{}\n    {}{}{}\n", word_text(key["path"]), word_text(key["default"]),
            key["restart"] == true ? "  (at start)" : "", word_text(key["sentence"]),
            key["allowed"] == "" ? "" : " Allowed: ", key["allowed"] == "" ? "" : word_text(key["allowed"]));
        json.push_back(key);
    }
    return {std::move(json), std::move(text)};
}

}  // namespace

std::span<const Command> config_commands() {
    static constexpr std::array table{
        Command{"config get [KEY]", "the running configuration, one value, or all of a section: port.h1",
                get},
        Command{"config check FILE", "judges a file (- is the input) without using it", check},
        Command{"config diff [FILE]",
                "what the file would change; without one: what is changed against the switch's own file",
                diff},
        Command{
            "config apply FILE [confirm TIME] [force]",
            "makes the file the configuration, whole or not at all; with confirm for a time only, with force "
            "although not lossless",
            apply},
        Command{"config confirm", "keeps the changes that wait for it; so does a change without confirm",
                confirm},
        Command{"config history", "the last changes: when, by whom, from what to what", history},
        Command{"config rollback", "back to before the last change", rollback},
        Command{"config save [NAME] [startup]",
                "writes the running configuration to its file, or one beside it, or with startup for the "
                "next start",
                save},
        Command{"config reset [startup]",
                "the next start is from the file again, not from what was saved for it", reset},
        Command{"config reload", "reads the file anew and applies it, whole or not at all", reload},
        Command{"config keys [WORD]", "every key whose path holds the word: default, range, meaning", keys},
    };
    return table;
}

}  // namespace sluice::ctl

// The configuration: look, judge, change, go back.
#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
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

Answer applied(Json json) {
    std::string text = changes_text(json["changes"]);
    if (text.empty()) text = "nothing changes\n";
    text += findings_text(json["findings"], false);  // as at the start, without notes
    if (json["pending_cells"] != 0)
        text += fmt::format("limits that were cut follow when {} cells have left\n",
                            json_text(json["pending_cells"]));
    if (json.contains("kept"))
        text += fmt::format("kept as well: {} that waited to be confirmed\n", changes_count(json["kept"]));
    if (json.contains("confirm_by_ns"))
        text += fmt::format("{} at {} of the switch's clock unless: sluicectl config confirm\n",
                            json["waiting"] == 1 ? "goes back" : changes_count(json["waiting"]) + " go back",
                            ns_text(json["confirm_by_ns"]));
    return {std::move(json), std::move(text)};
}

Json with_options(Json parameters, const Arguments& arguments) {
    if (arguments.has("confirm")) parameters["confirm"] = arguments.value("confirm");
    if (arguments.has("force")) parameters["force"] = true;
    return parameters;
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
    Json json = context.call("config.diff", {{"toml", file_text(arguments.value("FILE"))}});
    return {json, json.empty() ? "no difference\n" : changes_text(json)};
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
    Json json = context.call("config.save", parameters);
    std::string text = "saved to " + word_text(json["file"]) + "\n";
    if (json.contains("original"))
        text += "it was written anew; what it said before is in " + word_text(json["original"]) + "\n";
    return {std::move(json), std::move(text)};
}

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

Answer set(Context& context, const Arguments& arguments) {
    return applied(context.call(
        "config.set",
        with_options({{"path", arguments.value("KEY")}, {"value", arguments.value("VALUE")}}, arguments)));
}

Answer roce_lossless(Context& context, const Arguments&) {
    return applied(context.call("config.set", {{"path", "default.qos"}, {"value", "lossless"}}));
}

}  // namespace

std::span<const Command> config_commands() {
    static constexpr std::array table{
        Command{"config get [KEY]", "the running configuration, or one value", get},
        Command{"config check FILE", "judges a file (- is the input) without using it", check},
        Command{"config diff FILE", "what the file would change", diff},
        Command{
            "config apply FILE [confirm TIME] [force]",
            "makes the file the configuration, whole or not at all; with confirm for a time only, with force "
            "although not lossless",
            apply},
        Command{"config confirm", "keeps the changes that wait for it; so does a change without confirm",
                confirm},
        Command{"config rollback", "back to before the last change", rollback},
        Command{"config save [NAME]", "writes the running configuration to its file, or one beside it", save},
        Command{"config keys [WORD]", "every key whose path holds the word: default, range, meaning", keys},
        Command{"set KEY VALUE [confirm TIME] [force]", "changes one value: set default.queue.3.wred steep",
                set},
        Command{"qos roce lossless", "RoCE lossless on every port that does not say otherwise",
                roce_lossless},
    };
    return table;
}

}  // namespace sluice::ctl

#include "tools/sluicectl/config_text.hh"

#include <fmt/format.h>

#include <utility>

#include "tools/sluicectl/table.hh"

namespace sluice::ctl {

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

}  // namespace sluice::ctl

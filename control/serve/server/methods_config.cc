// Methods of the configuration: look, judge, change as a whole or by one value, go back.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <optional>
#include <thread>

#include "control/config/lint/judge.hh"
#include "control/config/schema/config_paths.hh"
#include "control/config/schema/finding.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "control/serve/server/api.hh"
#include "control/serve/server/methods.hh"

namespace sluice {
namespace {

Json finding_json(const Finding& finding) {
    constexpr std::array<const char*, 3> names{"error", "warning", "note"};
    Json json = {{"severity", names[static_cast<unsigned>(finding.severity)]},
                 {"id", finding.id},
                 {"path", finding.path},
                 {"message", finding.message},
                 {"do", finding.fix}};
    if (finding.place.line != 0) json["line"] = finding.place.line;
    if (finding.forced) json["forced"] = true;
    if (finding.severity == Severity::error && may_be_forced(finding.id)) json["may_be_forced"] = true;
    return json;
}

Json findings_json(const std::vector<Finding>& findings) {
    Json list = Json::array();
    for (const Finding& finding : findings) list.push_back(finding_json(finding));
    return list;
}

Json changes_json(const std::vector<ConfigChange>& changes) {
    Json list = Json::array();
    for (const ConfigChange& change : changes) {
        Json entry = {{"path", change.path},
                      {"from", change.from.empty() ? Json(nullptr) : Json(change.from)},
                      {"to", change.to.empty() ? Json(nullptr) : Json(change.to)}};
        if (change.restart) entry["restart"] = true;
        list.push_back(std::move(entry));
    }
    return list;
}

RpcError refusal(const ConfigError& error) {
    Json data = Json::object();
    if (!error.path.empty()) data["path"] = error.path;
    if (error.place.line != 0) data["line"] = error.place.line;
    if (!error.allowed.empty()) data["allowed"] = error.allowed;
    if (!error.remedy.empty()) data["do"] = error.remedy;
    return {RpcCode::refused, (error.path.empty() ? "" : error.path + ": ") + error.wrong, std::move(data)};
}

Config parsed(const std::string& text) {
    auto config = parse_config(text, "");
    if (config) return std::move(*config);
    RpcError error = refusal(config.error().front());
    Json all = Json::array();
    for (const ConfigError& one : config.error()) all.push_back(one.text());
    error.data["errors"] = std::move(all);
    throw error;
}

Json get(Api& api, RpcClient&, RpcParameters& parameters) {
    const std::string path = parameters.text_or("path", "");
    if (path.empty()) return {{"toml", to_toml(api.running().config())}};
    const auto value = value_at(api.running().config(), path);
    if (!value) throw refusal(value.error());
    return {{"path", path}, {"value", *value}};
}

Json check(Api&, RpcClient&, RpcParameters& parameters) {
    const Config config = parsed(parameters.text("toml"));
    const auto findings = judge_config(config, Machine{std::thread::hardware_concurrency()});
    return {{"usable", !has_error(findings)}, {"findings", findings_json(findings)}};
}

Json diff(Api& api, RpcClient&, RpcParameters& parameters) {
    const Config config = parsed(parameters.text("toml"));
    return changes_json(config_changes(api.running().config(), config));
}

Json applied(const Transaction::Applied& done) {
    Json json = {{"changes", changes_json(done.changes)},
                 {"generation", done.generation},
                 {"pending_cells", done.pending_cells},
                 {"findings", findings_json(done.findings)}};
    if (done.confirm_by) {
        json["confirm_by_ns"] = done.confirm_by->ps / 1000;
        json["waiting"] = done.waiting;
    }
    if (done.kept != 0) json["kept"] = done.kept;
    return json;
}

Transaction::Options options_of(RpcParameters& parameters, std::string_view what = "set") {
    const std::string text = parameters.text_or("confirm", "");
    const bool force = parameters.boolean_or("force", false);
    if (text.empty()) return {.force = force, .what = what};
    const auto time = parse_time(text);
    if (!time || time->ps <= 0)
        throw wrong_parameter("confirm", sluice::in_quotes(text) + " is no time", {{"do", "write 30s"}});
    return {.confirm = *time, .force = force, .what = what};
}

Json apply(Api& api, RpcClient&, RpcParameters& parameters) {
    Config config = parsed(parameters.text("toml"));
    const Transaction::Options wanted = options_of(parameters, "apply");
    return applied(done_or_throw(api.changes().apply(std::move(config), wanted)));
}

// As the configuration takes it: a string is its text, anything else its JSON.
std::string value_text(const Json& value) {
    return value.is_string() ? value.get<std::string>() : json_text(value);
}

Json set(Api& api, RpcClient&, RpcParameters& parameters) {
    const std::string path = parameters.text("path");
    const Json& value = parameters.any("value");
    const Transaction::Options wanted = options_of(parameters);
    auto changed = with_value(api.changes().base(), path, value_text(value));
    if (!changed) throw refusal(changed.error());
    return applied(done_or_throw(api.changes().apply(std::move(*changed), wanted)));
}

std::vector<ValueChange> value_changes(const Json& list) {
    constexpr std::size_t most = 256;
    const auto wrong = [](const std::string& why) {
        return wrong_parameter("changes", "parameter \"changes\" " + why,
                               {{"do", R"(write [{"path": "seed", "value": 2}])"}});
    };
    if (!list.is_array() || list.empty()) throw wrong("must be a list, and not empty");
    if (list.size() > most) throw wrong(fmt::format("has more than {} entries", most));
    std::vector<ValueChange> changes;
    for (const Json& entry : list) {
        const auto path = entry.is_object() ? entry.find("path") : entry.end();
        if (path == entry.end() || !path->is_string()) throw wrong("has an entry without a path");
        const auto value = entry.find("value");
        if (entry.size() > (value == entry.end() ? 1U : 2U))
            throw wrong("has an entry with more than path and value");
        changes.push_back({path->get<std::string>(),
                           value == entry.end() ? std::nullopt : std::optional(value_text(*value))});
    }
    return changes;
}

Json change(Api& api, RpcClient& client, RpcParameters& parameters) {
    const std::vector<ValueChange> changes = value_changes(parameters.any("changes"));
    Transaction::Options wanted = options_of(parameters);
    if (parameters.boolean_or("trial", false)) wanted.trial = client.id;
    if (wanted.trial && !wanted.confirm)
        throw wrong_parameter("confirm", "a trial has an end: parameter \"confirm\" is missing",
                              {{"do", "write 30s"}});
    auto changed = with_values(api.changes().base(), changes);
    if (!changed) throw refusal(changed.error());
    return applied(done_or_throw(api.changes().apply(std::move(*changed), wanted)));
}

// `trial`: of the client's own trial only.
void take_trial(Api& api, const RpcClient& client, RpcParameters& parameters) {
    const bool trial = parameters.boolean_or("trial", false);
    if (trial) done_or_throw(api.changes().require_trial(client.id));
}

Json confirm(Api& api, RpcClient& client, RpcParameters& parameters) {
    take_trial(api, client, parameters);
    return {{"kept", done_or_throw(api.changes().confirm())}};
}

Json rollback(Api& api, RpcClient& client, RpcParameters& parameters) {
    take_trial(api, client, parameters);
    return applied(done_or_throw(api.changes().rollback()));
}

Json unsaved(Api& api, RpcClient&, RpcParameters&) {
    return {{"file", api.file().path}, {"changes", changes_json(api.unsaved())}};
}

Json entry_json(const ChangeLog::Entry& entry, std::uint64_t number) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(entry.wall);
    Json json = {{"number", number},
                 {"at_ns", entry.at.ps / 1000},
                 {"wall", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", seconds)},
                 {"what", entry.what},
                 {"who", entry.who.name}};
    if (entry.who.pid) json["pid"] = *entry.who.pid;
    if (entry.who.uid) json["uid"] = *entry.who.uid;
    if (!entry.user.empty()) json["user"] = entry.user;
    json["changes"] = changes_json(entry.changes);
    if (entry.left_out != 0) json["left_out"] = entry.left_out;
    return json;
}

Json history(Api& api, RpcClient&, RpcParameters&) {
    const ChangeLog& log = api.changes().log();
    Json list = Json::array();
    std::uint64_t number = log.lost();
    for (const ChangeLog::Entry& entry : log.entries()) list.push_back(entry_json(entry, number++));
    return {{"entries", std::move(list)}, {"lost", log.lost()}};
}

Json save(Api& api, RpcClient&, RpcParameters& parameters) {
    const bool is_startup = parameters.boolean_or("startup", false);
    const std::string name =
        is_startup ? api.options().startup_file : parameters.text_or("file", api.options().config_file);
    const ConfigFile::Saved saved = is_startup ? api.save_startup() : api.save(name);
    Json json = {{"file", name}};
    if (!saved.original.empty()) json["original"] = saved.original;
    return json;
}

Json reset(Api& api, RpcClient&, RpcParameters&) {
    return {{"file", api.options().config_file}, {"removed", api.reset_startup()}};
}

Json reload(Api& api, RpcClient&, RpcParameters&) { return applied(api.reload()); }

Json keys(Api&, RpcClient&, RpcParameters&) {
    Json list = Json::array();
    for (const KeyInfo& key : schema_keys())
        list.push_back({{"path", key.path()},
                        {"type", key.type},
                        {"allowed", key.allowed},
                        {"default", key.fallback},
                        {"restart", key.restart},
                        {"sentence", key.sentence}});
    return list;
}

}  // namespace

std::span<const RpcMethod> config_methods() {
    static const std::vector<RpcMethod> methods{
        {"config.apply", changes_bulk, apply, "toml: TEXT, confirm?: TIME, force?: BOOL", "APPLIED",
         "Makes this the configuration, whole or not at all; with `confirm` it goes back by itself "
         "unless config.confirm comes in time, and without it keeps changes that wait; "
         "with `force` although it is not lossless."},
        {"config.change", changes, change,
         "changes: [{path: PATH, value?: VALUE}], confirm?: TIME, force?: BOOL, trial?: BOOL", "APPLIED",
         "Changes values together, all or none, judged together; without `value` a key or section "
         "goes back to its default. A `trial` has `confirm` and belongs to this connection: it goes "
         "back when the connection ends, or when another change comes."},
        {"config.check", reads_bulk, check, "toml: TEXT", "{usable: BOOL, findings: [FINDING]}",
         "Judges a configuration without using it."},
        {"config.confirm", changes, confirm, "trial?: BOOL", "{kept: NUMBER}",
         "Keeps the changes that wait for it; with `trial` only this connection's trial."},
        {"config.diff", reads_bulk, diff, "toml: TEXT", "[CHANGE]", "The changes that TEXT would make."},
        {"config.get", reads, get, "path?: PATH", "{toml?: TEXT, path?: PATH, value?: TEXT}",
         "The running configuration as TOML, or one value."},
        {"config.history", reads, history, "",
         "{entries: [{number: NUMBER, at_ns: NUMBER, wall: TEXT, what: TEXT, who: TEXT, "
         "pid?: NUMBER, uid?: NUMBER, user?: TEXT, changes: [CHANGE], left_out?: NUMBER}], "
         "lost: NUMBER}",
         "The last 64 changes of the configuration: when, by whom, from what to what."},
        {"config.keys", reads, keys, "",
         "[{path: PATH, type: TEXT, allowed: TEXT, default: TEXT, restart: BOOL, sentence: TEXT}]",
         "All keys with type, range, default and meaning."},
        {"config.reload", changes, reload, "", "APPLIED",
         "Reads the switch's file anew and applies it, whole or not at all, as SIGHUP does."},
        {"config.reset", changes, reset, "", "{file: TEXT, removed: BOOL}",
         "Removes what config.save with `startup` wrote: the next start reads `file`."},
        {"config.rollback", changes, rollback, "trial?: BOOL", "APPLIED",
         "Goes back to the configuration before the last change; with `trial` only if that is this "
         "connection's trial."},
        {"config.save", changes, save, "file?: TEXT, startup?: BOOL", "{file: TEXT, original?: TEXT}",
         "Writes the running configuration to the file it came from, whose text changes only where "
         "it has to, or to one beside it, or with `startup` to that of --startup, for the next start; "
         "`original` is where the text before is kept when it could not be kept."},
        {"config.set", changes, set, "path: PATH, value: VALUE, confirm?: TIME, force?: BOOL", "APPLIED",
         "Changes one value."},
        {"config.unsaved", reads, unsaved, "", "{file: TEXT, changes: [CHANGE]}",
         "The changes of the running configuration against the file that it came from."},
    };
    return methods;
}

}  // namespace sluice

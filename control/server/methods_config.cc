// Methods of the configuration: look, judge, change as a whole or by one value, go back.
#include <fmt/format.h>

#include <array>
#include <thread>

#include "control/config/config_paths.hh"
#include "control/config/schema.hh"
#include "control/config/values.hh"
#include "control/lint/judge.hh"
#include "control/server/api.hh"
#include "control/server/methods.hh"
#include "control/text/json_text.hh"

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
    parameters.finish();
    if (path.empty()) return {{"toml", to_toml(api.running().config())}};
    const auto value = value_at(api.running().config(), path);
    if (!value) throw refusal(value.error());
    return {{"path", path}, {"value", *value}};
}

Json check(Api&, RpcClient&, RpcParameters& parameters) {
    const Config config = parsed(parameters.text("toml"));
    parameters.finish();
    const auto findings = judge(config, Machine{std::thread::hardware_concurrency()});
    return {{"usable", !has_error(findings)}, {"findings", findings_json(findings)}};
}

Json diff(Api& api, RpcClient&, RpcParameters& parameters) {
    const Config config = parsed(parameters.text("toml"));
    parameters.finish();
    return changes_json(config_changes(api.running().config(), config));
}

Json applied(const Api::Applied& done) {
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

Api::ApplyOptions options_of(RpcParameters& parameters) {
    const std::string text = parameters.text_or("confirm", "");
    const bool force = parameters.boolean_or("force", false);
    if (text.empty()) return {std::nullopt, force};
    const auto time = parse_time(text);
    if (!time || time->ps <= 0)
        throw RpcError{RpcCode::bad_parameters,
                       sluice::in_quotes(text) + " is no time",
                       {{"path", "confirm"}, {"do", "write 30s"}}};
    return {*time, force};
}

Json apply(Api& api, RpcClient&, RpcParameters& parameters) {
    Config config = parsed(parameters.text("toml"));
    const Api::ApplyOptions wanted = options_of(parameters);
    parameters.finish();
    return applied(api.apply(std::move(config), wanted));
}

Json set(Api& api, RpcClient&, RpcParameters& parameters) {
    const std::string path = parameters.text("path");
    const Json& value = parameters.any("value");
    const Api::ApplyOptions wanted = options_of(parameters);
    parameters.finish();
    auto changed = with_value(api.running().config(), path,
                              value.is_string() ? value.get<std::string>() : json_text(value));
    if (!changed) throw refusal(changed.error());
    return applied(api.apply(std::move(*changed), wanted));
}

Json confirm(Api& api, RpcClient&, RpcParameters& parameters) {
    parameters.finish();
    return {{"kept", api.confirm()}};
}

Json rollback(Api& api, RpcClient&, RpcParameters& parameters) {
    parameters.finish();
    return applied(api.rollback());
}

Json save(Api& api, RpcClient&, RpcParameters& parameters) {
    const std::string name = parameters.text_or("file", api.options().config_file);
    parameters.finish();
    const ConfigFile::Saved saved = api.save(name);
    Json json = {{"file", name}};
    if (!saved.original.empty()) json["original"] = saved.original;
    return json;
}

Json keys(Api&, RpcClient&, RpcParameters& parameters) {
    parameters.finish();
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
    static constexpr std::array methods{
        RpcMethod{"config.apply", "toml: TEXT, confirm?: TIME, force?: BOOL", "APPLIED",
                  "Makes this the configuration, whole or not at all; with `confirm` it goes back by itself "
                  "unless config.confirm comes in time, and without it keeps changes that wait; "
                  "with `force` although it is not lossless.",
                  changes, true, apply},
        RpcMethod{"config.check", "toml: TEXT", "{usable: BOOL, findings: [FINDING]}",
                  "Judges a configuration without using it.", reads, true, check},
        RpcMethod{"config.confirm", "", "{kept: NUMBER}", "Keeps the changes that wait for it.", changes,
                  false, confirm},
        RpcMethod{"config.diff", "toml: TEXT", "[CHANGE]", "The changes that TEXT would make.", reads, true,
                  diff},
        RpcMethod{"config.get", "path?: PATH", "{toml?: TEXT, path?: PATH, value?: TEXT}",
                  "The running configuration as TOML, or one value.", reads, false, get},
        RpcMethod{"config.keys", "",
                  "[{path: PATH, type: TEXT, allowed: TEXT, default: TEXT, restart: BOOL, sentence: TEXT}]",
                  "All keys with type, range, default and meaning.", reads, false, keys},
        RpcMethod{"config.rollback", "", "APPLIED", "Goes back to the configuration before the last change.",
                  changes, false, rollback},
        RpcMethod{"config.save", "file?: TEXT", "{file: TEXT, original?: TEXT}",
                  "Writes the running configuration to the file it came from, whose text changes only where "
                  "it has to, or "
                  "to one beside it; `original` is where the text before is kept when it could not be kept.",
                  changes, false, save},
        RpcMethod{"config.set", "path: PATH, value: VALUE, confirm?: TIME, force?: BOOL", "APPLIED",
                  "Changes one value.", changes, false, set},
    };
    return methods;
}

}  // namespace sluice

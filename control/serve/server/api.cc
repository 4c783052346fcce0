#include "control/serve/server/api.hh"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "control/report/figures/report.hh"
#include "control/report/figures/since.hh"

namespace sluice {
void Api::require_changes() const {
    if (!is_virtual() || options_.interactive) return;
    throw RpcError{RpcCode::not_now,
                   "a virtual clock that runs by itself is only looked at",
                   {{"do", "start sluiced with --interactive"}}};
}

RpcError rpc_error(const Refusal& refusal) {
    RpcError error{refusal.kind == Refusal::Kind::too_many ? RpcCode::too_much : RpcCode::refused,
                   refusal.message, Json::object()};
    const auto add = [&](const char* key, const std::optional<std::string>& text) {
        if (text) error.data[key] = *text;
    };
    add("path", refusal.path);
    add("id", refusal.id);
    add("value", refusal.value);
    add("do", refusal.remedy);
    if (refusal.may_be_forced) error.data["may_be_forced"] = true;
    return error;
}

ConfigFile::Saved Api::save(const std::string& name) {
    auto saved = file_.save(name, running_.config(), read_);
    if (!saved)
        throw RpcError{
            RpcCode::refused,
            saved.error(),
            {{"path", "file"},
             {"do", "give no name, or one without a folder: sluiced --save-folder says where it goes"}}};
    std::error_code error;
    if (std::filesystem::equivalent(saved->path, options_.config_file, error)) read_ = running_.config();
    return std::move(*saved);
}

void Api::clear_stats() {
    refuse_if(running_.clear_user_watermarks());
    Cleared now{running_.now(), changes_.author().name, make_report(running_)};
    for (const char* list : {"events", "microbursts", "decisions", "captures"}) now.report.erase(list);
    add_buckets(now.report, running_);
    cleared_ = std::move(now);
}

namespace {

RpcError errors_of(const std::vector<ConfigError>& errors) {
    RpcError error{RpcCode::refused, errors.front().text(), {{"errors", Json::array()}}};
    for (const ConfigError& one : errors) error.data["errors"].push_back(one.text());
    return error;
}

}  // namespace

tl::expected<Config, std::vector<ConfigError>> Api::read_file() const {
    auto config = load_config(file().path);
    if (config) options_.overrides.apply(*config);
    return config;
}

ConfigFile::Saved Api::save_startup() {
    auto saved = file_.save_startup(running_.config());
    if (!saved) throw RpcError{RpcCode::refused, saved.error(), {{"path", "startup"}}};
    return std::move(*saved);
}

bool Api::reset_startup() {
    const auto removed = file_.reset_startup();
    if (!removed) throw RpcError{RpcCode::refused, removed.error()};
    return *removed;
}

std::vector<ConfigChange> Api::unsaved() const {
    const auto file = read_file();
    if (!file) throw errors_of(file.error());
    return config_changes(*file, running_.config());
}

Transaction::Applied Api::reload() {
    if (on_reload) on_reload();
    try {
        auto config = read_file();
        if (!config) throw errors_of(config.error());
        read_ = *config;
        Transaction::Applied done =
            done_or_throw(changes_.apply(std::move(*config), {.force = options_.force, .what = "reload"}));
        running_.events().note("reloaded", fmt::format("{}: {} changed", file().path,
                                                       print_count(done.changes.size(), "value")));
        if (on_reloaded) on_reloaded(true);
        return done;
    } catch (const RpcError& error) {
        if (error.data.contains("errors"))
            for (const Json& one : error.data["errors"])
                running_.events().note("reload_refused", one.get<std::string>());
        else
            running_.events().note("reload_refused", error.message);
        if (on_reloaded) on_reloaded(false);
        throw;
    }
}

}  // namespace sluice

#include "control/serve/server/api.hh"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "control/config/lint/judge.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"
#include "control/report/figures/report.hh"
#include "control/report/figures/since.hh"

namespace sluice {
namespace {

void refuse_errors(const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
        if (finding.severity != Severity::error) continue;
        RpcError error{RpcCode::refused,
                       finding.path + ": " + finding.message,
                       {{"path", finding.path}, {"id", finding.id}, {"do", finding.fix}}};
        if (force_helps(findings)) error.data["may_be_forced"] = true;
        throw error;
    }
}

}  // namespace

void Api::require_changes() const {
    if (!is_virtual() || options_.interactive) return;
    throw RpcError{RpcCode::not_now,
                   "a virtual clock that runs by itself is only looked at",
                   {{"do", "start sluiced with --interactive"}}};
}

Api::Applied Api::change(Config config, const std::vector<std::string>& forced, bool force) {
    Applied done;
    done.changes = config_changes(running_.config(), config);
    for (const ConfigChange& change : done.changes)
        if (change.restart)
            throw RpcError{RpcCode::refused,
                           fmt::format("{} cannot change while the switch runs", change.path),
                           {{"path", change.path},
                            {"value", change.to},
                            {"do", "save the file and start sluiced anew"}}};
    done.findings = judge(config, Machine{std::thread::hardware_concurrency()}, &running_.config());
    for (Finding& finding : running_.nic_findings(config)) done.findings.push_back(std::move(finding));
    force_again(done.findings, forced);
    if (force) sluice::force(done.findings);
    refuse_errors(done.findings);
    refuse_if(running_.apply(std::move(config), forced_reasons(done.findings)));
    done.generation = running_.generation();
    done.pending_cells = running_.pending_cells();
    return done;
}

Config Api::base() const {
    if (!trial_) return running_.config();
    Config before = history_.back().config;
    before.routes = running_.config().routes;
    before.neighbors = running_.config().neighbors;
    return before;
}

void Api::refuse_trial() const {
    if (trial_)
        throw RpcError{RpcCode::refused,
                       fmt::format("{} tries a change until {} of the switch's clock", trial_->author.name,
                                   print_time(*confirm_by_ - Time{})),
                       {{"do", "try yours then"}}};
    if (waiting_ != 0)
        throw RpcError{RpcCode::refused,
                       fmt::format("{} to be confirmed", waiting_ == 1 ? "a change waits" : "changes wait"),
                       {{"do", "config confirm, or config rollback"}}};
}

void Api::end_trial(std::string how) {
    if (!trial_) return;
    trial_.reset();
    trial_end_ = std::move(how);
}

Api::Applied Api::apply(Config config, const ApplyOptions& wanted) {
    const auto& confirm = wanted.confirm;
    if (wanted.trial) refuse_trial();
    if (confirm && waiting_ == max_history)
        throw RpcError{RpcCode::too_much,
                       fmt::format("{} changes wait to be confirmed", waiting_),
                       {{"do", "config confirm, or config rollback"}}};
    Config before = base();
    std::vector<std::string> forced = trial_ ? history_.back().forced : running_.forced();
    Applied done = change(std::move(config), forced, wanted.force);
    if (done.changes.empty()) {
        if (waiting_ != 0) await(confirm, done);
        return done;
    }
    bool is_new = true;
    if (trial_) {  // the state before it is that before this change
        history_.pop_back();
        waiting_ = 0;
        confirm_by_.reset();
        end_trial("another change came, by " + author_.name);
        is_new = !config_changes(before, running_.config()).empty();
    }
    if (is_new) {
        const bool with_lists =
            std::any_of(done.changes.begin(), done.changes.end(), [](const ConfigChange& change) {
                return change.path.starts_with("route.") || change.path.starts_with("neighbor.");
            });
        if (!with_lists) before.routes = {}, before.neighbors = {};
        history_.push_back({std::move(before), std::move(forced), with_lists});
        if (history_.size() > max_history) history_.erase(history_.begin());
        if (confirm) ++waiting_;
        await(confirm, done);
    }
    if (wanted.trial) trial_ = Trial{*wanted.trial, author_};
    log_.add(running_.now(), wanted.trial ? "trial" : std::string(wanted.what), author_, done.changes);
    running_.note("configuration",
                  fmt::format("{} changed, the first: {}", print_count(done.changes.size(), "value"),
                              done.changes.front().path));
    return done;
}

// A pending change gets `confirm` from now on, or is kept.
void Api::await(std::optional<Duration> confirm, Applied& done) {
    if (confirm) {
        done.confirm_by = confirm_by_ = running_.now() + *confirm;
        done.waiting = waiting_;
    } else if (waiting_ != 0) {
        done.kept = this->confirm();
    }
}

void Api::change_routes(const RouteChanges& changes) {
    // Judged as a file, so that the running configuration can be saved and every other value still be
    // changed.
    refuse_errors(check_changes(
        running_.config(), changes, [this](const NextHopConfig& hop) -> std::optional<IpPrefix> {
            const auto port = hop.port.empty() ? any_port : running_.find_port(hop.port);
            return port ? running_.routes().route_by(hop.address, *port) : std::nullopt;
        }));
    refuse_if(running_.change_routes(changes));
}

std::size_t Api::confirm() {
    if (!confirm_by_) throw RpcError{RpcCode::refused, "nothing waits to be confirmed"};
    confirm_by_.reset();
    end_trial("kept by " + author_.name);
    log_.add(running_.now(), "confirm", author_, {});
    running_.note("configuration", "confirmed: kept " + print_count(waiting_, "change"));
    return std::exchange(waiting_, 0);
}

Api::Applied Api::rollback() {
    if (history_.empty())
        throw RpcError{RpcCode::refused, "nothing has been changed that could be rolled back"};
    Applied done = go_back(1, "rollback");
    end_trial("taken back by " + author_.name);
    if (waiting_ != 0 && --waiting_ == 0) confirm_by_.reset();
    done.confirm_by = confirm_by_;
    done.waiting = waiting_;
    return done;
}

void Api::require_trial(std::uint64_t client) const {
    if (!trial_ || trial_->client != client)
        throw RpcError{RpcCode::refused,
                       trial_end_.empty() ? "nothing is tried" : "the trial is over: " + trial_end_,
                       {{"do", "see config history"}}};
}

void Api::client_gone(std::uint64_t client) {
    if (trial_ && trial_->client == client) trial_->is_gone = true;
}

// Undoes the last `changes`, at least one, in one step.
Api::Applied Api::go_back(std::size_t changes, std::string what) {
    const auto first = history_.end() - static_cast<std::ptrdiff_t>(changes);
    Config back = first->config;
    const auto lists = std::find_if(first, history_.end(), [](const Past& past) { return past.with_lists; });
    const Config& with_lists = lists == history_.end() ? running_.config() : lists->config;
    back.routes = with_lists.routes;
    back.neighbors = with_lists.neighbors;
    Applied done = change(std::move(back), first->forced, false);
    history_.erase(first, history_.end());
    log_.add(running_.now(), std::move(what), author_, done.changes);
    running_.note("configuration", "rolled back: " + print_count(done.changes.size(), "value"));
    return done;
}

void Api::tick() {
    const bool is_gone = trial_ && trial_->is_gone;
    // A late worker would have it refused; another exception leaves it to the next round.
    if (!confirm_by_ || (!is_gone && running_.now() < *confirm_by_) || !running_.late_worker().empty())
        return;
    const Acting acting(*this, {});
    const char* why = is_gone ? "its client is gone" : "not confirmed";
    try {
        go_back(waiting_, why);
        running_.note("configuration", is_gone ? "the client of a trial is gone"
                                               : "not confirmed in time: " + print_count(waiting_, "change"));
    } catch (const RpcError& error) {
        running_.note("configuration", "cannot be rolled back: " + error.message);
    }
    end_trial(is_gone ? "its client was gone" : "its time was over");
    confirm_by_.reset();
    waiting_ = 0;
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
    Cleared now{running_.now(), author_.name, make_report(running_)};
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

Api::Applied Api::reload() {
    if (on_reload) on_reload();
    try {
        auto config = read_file();
        if (!config) throw errors_of(config.error());
        read_ = *config;
        Applied done = apply(std::move(*config), {.force = options_.force, .what = "reload"});
        running_.note("reloaded",
                      fmt::format("{}: {} changed", file().path, print_count(done.changes.size(), "value")));
        if (on_reloaded) on_reloaded(true);
        return done;
    } catch (const RpcError& error) {
        if (error.data.contains("errors"))
            for (const Json& one : error.data["errors"])
                running_.note("reload_refused", one.get<std::string>());
        else
            running_.note("reload_refused", error.message);
        if (on_reloaded) on_reloaded(false);
        throw;
    }
}

}  // namespace sluice

#include "control/server/api.hh"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include "control/config/schema.hh"
#include "control/config/values.hh"
#include "control/lint/judge.hh"

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

Api::Applied Api::apply(Config config, const ApplyOptions& wanted) {
    const auto& confirm = wanted.confirm;
    if (confirm && waiting_ == max_history)
        throw RpcError{RpcCode::too_much,
                       fmt::format("{} changes wait to be confirmed", waiting_),
                       {{"do", "config confirm, or config rollback"}}};
    Config before = running_.config();
    std::vector<std::string> forced = running_.forced();
    Applied done = change(std::move(config), forced, wanted.force);
    if (done.changes.empty()) {
        if (waiting_ != 0) await(confirm, done);
        return done;
    }
    const bool with_lists =
        std::any_of(done.changes.begin(), done.changes.end(), [](const ConfigChange& change) {
            return change.path.starts_with("route.") || change.path.starts_with("neighbor.");
        });
    if (!with_lists) before.routes = {}, before.neighbors = {};
    history_.push_back({std::move(before), std::move(forced), with_lists});
    if (history_.size() > max_history) history_.erase(history_.begin());
    if (confirm) ++waiting_;
    await(confirm, done);
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
    refuse_errors(check_changes(running_.config(), changes, [this](const IpAddress& address) {
        return running_.routes().route_by(address);
    }));
    refuse_if(running_.change_routes(changes));
}

std::size_t Api::confirm() {
    if (!confirm_by_) throw RpcError{RpcCode::refused, "nothing waits to be confirmed"};
    confirm_by_.reset();
    running_.note("configuration", "confirmed: kept " + print_count(waiting_, "change"));
    return std::exchange(waiting_, 0);
}

Api::Applied Api::rollback() {
    if (history_.empty())
        throw RpcError{RpcCode::refused, "nothing has been changed that could be rolled back"};
    Applied done = go_back(1);
    if (waiting_ != 0 && --waiting_ == 0) confirm_by_.reset();
    done.confirm_by = confirm_by_;
    done.waiting = waiting_;
    return done;
}

// Undoes the last `changes`, at least one, in one step.
Api::Applied Api::go_back(std::size_t changes) {
    const auto first = history_.end() - static_cast<std::ptrdiff_t>(changes);
    Config back = first->config;
    const auto lists = std::find_if(first, history_.end(), [](const Past& past) { return past.with_lists; });
    const Config& with_lists = lists == history_.end() ? running_.config() : lists->config;
    back.routes = with_lists.routes;
    back.neighbors = with_lists.neighbors;
    Applied done = change(std::move(back), first->forced, false);
    history_.erase(first, history_.end());
    running_.note("configuration", "rolled back: " + print_count(done.changes.size(), "value"));
    return done;
}

void Api::tick() {
    // A late worker would have it refused; another exception leaves it to the next round.
    if (!confirm_by_ || running_.now() < *confirm_by_ || !running_.late_worker().empty()) return;
    try {
        go_back(waiting_);
        running_.note("configuration", "not confirmed in time: " + print_count(waiting_, "change"));
    } catch (const RpcError& error) {
        running_.note("configuration", "cannot be rolled back: " + error.message);
    }
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

bool Api::reload() {
    auto config = load_config(options_.config_file);
    if (!config) {
        for (const ConfigError& error : config.error()) running_.note("reload_refused", error.text());
        return false;
    }
    options_.overrides.apply(*config);
    read_ = *config;
    try {
        const Applied done = apply(std::move(*config), {std::nullopt, options_.force});
        running_.note("reloaded", fmt::format("{}: {} changed", options_.config_file,
                                              print_count(done.changes.size(), "value")));
        return true;
    } catch (const RpcError& error) {
        running_.note("reload_refused", error.message);
        return false;
    }
}

}  // namespace sluice

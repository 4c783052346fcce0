#include "control/switch/transaction/transaction.hh"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "control/config/lint/judge.hh"
#include "control/config/schema/finding.hh"
#include "control/config/schema/values.hh"
#include "control/switch/running/surroundings.hh"

namespace sluice {
namespace {

using Refused = tl::unexpected<Refusal>;

tl::expected<void, Refusal> refuse_errors(const std::vector<Finding>& findings) {
    const auto error = std::find_if(findings.begin(), findings.end(), [](const Finding& finding) {
        return finding.severity == Severity::error;
    });
    if (error == findings.end()) return {};
    return Refused({.message = error->path + ": " + error->message,
                    .path = error->path,
                    .id = std::string(error->id),
                    .remedy = error->fix,
                    .may_be_forced = force_helps(findings)});
}

tl::expected<void, Refusal> refused_by(std::string error) {
    if (!error.empty()) return Refused({.message = std::move(error)});
    return {};
}

}  // namespace

tl::expected<Transaction::Applied, Refusal> Transaction::change(Config config,
                                                                const std::vector<std::string>& forced,
                                                                bool force) {
    Applied done;
    done.changes = config_changes(running_.config(), config);
    for (const ConfigChange& change : done.changes)
        if (change.restart)
            return Refused({.message = fmt::format("{} cannot change while the switch runs", change.path),
                            .path = change.path,
                            .value = change.to,
                            .remedy = "save the file and restart sluiced"});
    done.findings = judge_config(config, Machine{std::thread::hardware_concurrency()}, &running_.config());
    for (Finding& finding : running_.surroundings().findings(config))
        done.findings.push_back(std::move(finding));
    force_again(done.findings, forced);
    if (force) sluice::force(done.findings);
    if (auto good = refuse_errors(done.findings); !good) return Refused(std::move(good.error()));
    if (auto good = refused_by(running_.apply(std::move(config), forced_reasons(done.findings))); !good)
        return Refused(std::move(good.error()));
    done.generation = running_.generation();
    done.pending_cells = running_.limit_change().pending_cells();
    return done;
}

Config Transaction::base() const {
    if (!trial_) return running_.config();
    Config before = history_.back().config;
    before.routes = running_.config().routes;
    before.neighbors = running_.config().neighbors;
    return before;
}

tl::expected<void, Refusal> Transaction::refuse_trial() const {
    if (trial_)
        return Refused({.message = fmt::format("{} tries a change until {} of the switch's clock",
                                               trial_->author.name, print_time(*confirm_by_ - Time{})),
                        .remedy = "try yours then"});
    if (waiting_ != 0)
        return Refused(
            {.message = fmt::format("{} to be confirmed", waiting_ == 1 ? "a change waits" : "changes wait"),
             .remedy = "config confirm, or config rollback"});
    return {};
}

void Transaction::end_trial(std::string how) {
    if (!trial_) return;
    trial_.reset();
    trial_end_ = std::move(how);
}

tl::expected<Transaction::Applied, Refusal> Transaction::apply(Config config, const Options& wanted) {
    const auto& confirm = wanted.confirm;
    if (wanted.trial)
        if (auto free = refuse_trial(); !free) return Refused(std::move(free.error()));
    if (confirm && waiting_ == max_history)
        return Refused({.message = fmt::format("{} changes wait to be confirmed", waiting_),
                        .remedy = "config confirm, or config rollback",
                        .kind = Refusal::Kind::too_many});
    Config before = base();
    std::vector<std::string> forced = trial_ ? history_.back().forced : running_.forced();
    auto done = change(std::move(config), forced, wanted.force);
    if (!done) return done;
    if (done->changes.empty()) {
        if (waiting_ != 0) await(confirm, *done);
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
            std::any_of(done->changes.begin(), done->changes.end(), [](const ConfigChange& change) {
                return change.path.starts_with("route.") || change.path.starts_with("neighbor.");
            });
        if (!with_lists) before.routes = {}, before.neighbors = {};
        history_.push_back({std::move(before), std::move(forced), with_lists});
        if (history_.size() > max_history) history_.erase(history_.begin());
        if (confirm) ++waiting_;
        await(confirm, *done);
    }
    if (wanted.trial) trial_ = Trial{*wanted.trial, author_};
    log_.add(running_.now(), wanted.trial ? "trial" : std::string(wanted.what), author_, done->changes);
    running_.events().note(
        "configuration", fmt::format("{} changed, the first: {}", print_count(done->changes.size(), "value"),
                                     done->changes.front().path));
    return done;
}

// Sets the new time of pending changes, or keeps them.
void Transaction::await(std::optional<Duration> confirm, Applied& done) {
    if (confirm) {
        done.confirm_by = confirm_by_ = running_.now() + *confirm;
        done.waiting = waiting_;
    } else if (waiting_ != 0) {
        done.kept = keep_waiting();
    }
}

std::size_t Transaction::keep_waiting() {
    confirm_by_.reset();
    end_trial("kept by " + author_.name);
    log_.add(running_.now(), "confirm", author_, {});
    running_.events().note("configuration", "confirmed: kept " + print_count(waiting_, "change"));
    return std::exchange(waiting_, 0);
}

tl::expected<std::size_t, Refusal> Transaction::confirm() {
    if (!confirm_by_) return Refused({.message = "nothing waits to be confirmed"});
    return keep_waiting();
}

tl::expected<void, Refusal> Transaction::change_routes(const RouteChanges& changes) {
    // Judged as a file is, so that the running configuration can be saved and changed.
    auto good = refuse_errors(check_changes(
        running_.config(), changes, [this](const NextHopConfig& hop) -> std::optional<IpPrefix> {
            const auto port = hop.port.empty() ? any_port : running_.find_port(hop.port);
            return port ? running_.routes().route_by(hop.address, *port) : std::nullopt;
        }));
    return good ? refused_by(running_.change_routes(changes)) : good;
}

tl::expected<Transaction::Applied, Refusal> Transaction::rollback() {
    if (history_.empty()) return Refused({.message = "nothing has been changed that could be rolled back"});
    auto done = go_back(1, "rollback");
    if (!done) return done;
    end_trial("rolled back by " + author_.name);
    if (waiting_ != 0 && --waiting_ == 0) confirm_by_.reset();
    done->confirm_by = confirm_by_;
    done->waiting = waiting_;
    return done;
}

tl::expected<void, Refusal> Transaction::require_trial(std::uint64_t client) const {
    if (trial_ && trial_->client == client) return {};
    return Refused({.message = trial_end_.empty() ? "nothing is tried" : "the trial is over: " + trial_end_,
                    .remedy = "see config history"});
}

void Transaction::client_gone(std::uint64_t client) {
    if (trial_ && trial_->client == client) trial_->is_gone = true;
}

// Undoes the last `changes`, at least one, in one step.
tl::expected<Transaction::Applied, Refusal> Transaction::go_back(std::size_t changes, std::string what) {
    const auto first = history_.end() - static_cast<std::ptrdiff_t>(changes);
    Config back = first->config;
    const auto lists = std::find_if(first, history_.end(), [](const Past& past) { return past.with_lists; });
    const Config& with_lists = lists == history_.end() ? running_.config() : lists->config;
    back.routes = with_lists.routes;
    back.neighbors = with_lists.neighbors;
    auto done = change(std::move(back), first->forced, false);
    if (!done) return done;
    history_.erase(first, history_.end());
    log_.add(running_.now(), std::move(what), author_, done->changes);
    running_.events().note("configuration", "rolled back: " + print_count(done->changes.size(), "value"));
    return done;
}

void Transaction::tick() {
    const bool is_gone = trial_ && trial_->is_gone;
    // A late worker would refuse it: then it waits for a later round.
    if (!confirm_by_ || (!is_gone && running_.now() < *confirm_by_) ||
        !running_.limit_change().publication().late().empty())
        return;
    const Acting acting(*this, {});
    if (const auto done = go_back(waiting_, is_gone ? "its client is gone" : "not confirmed"); !done)
        running_.events().note("configuration", "cannot be rolled back: " + done.error().message);
    else
        running_.events().note("configuration",
                               is_gone ? "the client of a trial is gone"
                                       : "not confirmed in time: " + print_count(waiting_, "change"));
    end_trial(is_gone ? "its client was gone" : "its time was over");
    confirm_by_.reset();
    waiting_ = 0;
}

}  // namespace sluice

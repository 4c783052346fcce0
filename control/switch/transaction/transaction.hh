// Changes of a running switch's configuration: judged, applied, confirmed, tried, rolled back. Control thread
// only.
//
// As with NETCONF's confirmed commits (RFC 6241, 8.4): a change without `confirm` confirms those that wait,
// one more with `confirm` sets the time of them all, and unconfirmed changes are rolled back as a whole. A
// problem that was forced once need not be forced again.
//
// A trial is a single change of a client that waits for confirmation. It is also rolled back when the client
// hangs up, or when another change comes, which starts from the configuration before the trial.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "control/config/lint/lint.hh"
#include "control/config/schema/config_paths.hh"
#include "control/switch/running/running_switch.hh"
#include "control/switch/transaction/change_log.hh"

namespace sluice {

// Why a change was refused; nothing has changed then.
struct Refusal {
    std::string message;                 // a sentence
    std::optional<std::string> path{};   // the key in question
    std::optional<std::string> id{};     // the finding's name: findings.def
    std::optional<std::string> value{};  // wanted for it
    std::optional<std::string> remedy{};
    bool may_be_forced = false;  // finding.hh
    enum class Kind : std::uint8_t { refused, too_many } kind = Kind::refused;
};

class Transaction {
  public:
    static constexpr std::size_t max_history = 16;

    explicit Transaction(RunningSwitch& running) : running_(running) {}

    // Sets the author of changes for its lifetime.
    class Acting {
      public:
        Acting(Transaction& changes, Author author)
            : changes_(changes), before_(std::exchange(changes.author_, std::move(author))) {}
        ~Acting() { changes_.author_ = std::move(before_); }
        Acting(const Acting&) = delete;
        Acting& operator=(const Acting&) = delete;

      private:
        Transaction& changes_;
        Author before_;
    };
    const Author& author() const { return author_; }

    struct Options {
        std::optional<Duration> confirm{};     // goes back after this time, unless it is confirmed
        bool force = false;                    // although it is not lossless: finding.hh
        std::optional<std::uint64_t> trial{};  // of this client
        std::string_view what = "set";         // for the history
    };
    struct Applied {
        std::vector<ConfigChange> changes;
        std::vector<Finding> findings;     // warnings and notes
        std::uint64_t generation = 0;      // of the policy that every worker runs
        std::int64_t pending_cells = 0;    // the rest of the change waits until they have left
        std::optional<Time> confirm_by{};  // without confirm() by then it is rolled back
        std::size_t waiting = 0;           // changes that go back then, this one among them
        std::size_t kept = 0;              // changes before it that waited and do no longer
    };
    // Applies all or nothing, and returns when every worker runs it.
    tl::expected<Applied, Refusal> apply(Config config, const Options& wanted);
    // Routes and neighbors alone, checked, without history.
    tl::expected<void, Refusal> change_routes(const RouteChanges& changes);
    // The configuration that a change starts from: the running one, without a trial.
    Config base() const;
    // Returns the number of changes that waited for it.
    tl::expected<std::size_t, Refusal> confirm();
    // Undoes the last change; earlier ones still wait for confirmation.
    tl::expected<Applied, Refusal> rollback();
    // Refused when no trial of this client waits, with the end of the last one.
    tl::expected<void, Refusal> require_trial(std::uint64_t client) const;
    // The client has hung up.
    void client_gone(std::uint64_t client);
    // Once a round: rolls back changes that were not confirmed in time.
    void tick();
    // The time of that, if changes wait.
    std::optional<Time> confirm_by() const { return confirm_by_; }
    const ChangeLog& log() const { return log_; }

  private:
    struct Past {
        Config config;
        std::vector<std::string> forced;
        bool with_lists;  // else routes and neighbors are not part of it: they have a life of their own
    };
    struct Trial {
        std::uint64_t client;
        Author author;
        bool is_gone = false;
    };
    tl::expected<Applied, Refusal> change(Config config, const std::vector<std::string>& forced, bool force);
    tl::expected<Applied, Refusal> go_back(std::size_t changes, std::string what);
    tl::expected<void, Refusal> refuse_trial() const;
    void await(std::optional<Duration> confirm, Applied& done);
    std::size_t keep_waiting();
    void end_trial(std::string how);

    RunningSwitch& running_;
    std::vector<Past> history_;         // before each change, the latest last; at most max_history
    std::optional<Time> confirm_by_{};  // of the last `waiting_` changes
    std::size_t waiting_ = 0;
    std::optional<Trial> trial_{};  // the one change that waits
    std::string trial_end_;         // of the last one
    Author author_{};
    ChangeLog log_;
};

}  // namespace sluice

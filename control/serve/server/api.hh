// The state behind the methods of the control socket: the running switch, its file, and the changes that wait
// for a confirmation. One thread, the control thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/config/lint/lint.hh"
#include "control/config/schema/config_paths.hh"
#include "control/config/schema/force.hh"
#include "control/config/schema/overrides.hh"
#include "control/serve/server/change_log.hh"
#include "control/serve/server/config_file.hh"
#include "control/serve/server/rpc.hh"
#include "control/switch/running/running_switch.hh"

namespace sluice {

// A connection as the methods see it.
struct RpcClient {
    std::uint64_t id = 0;                    // its own among the connections of a server
    Author author{};                         // who is behind it
    bool wants_events = false;               // events.subscribe
    std::uint64_t next_event = 0;            // number of the first event that it has not been sent
    std::optional<Duration> watch_interval;  // stats.watch, on the switch's clock
    Time next_watch{};
    std::string watch_path;
};

class Api {
  public:
    static constexpr std::size_t max_history = 16;

    struct Options {
        std::string config_file;
        Overrides overrides;
        bool interactive = false;    // a virtual clock that moves only when it is told to
        bool force = false;          // the file's errors are forced, as at the start
        std::string save_folder{};   // in which save() writes; empty: that of the file
        std::string startup_file{};  // --startup: read instead of the file where it is newer
    };
    Api(RunningSwitch& running, Options options)
        : running_(running),
          options_(std::move(options)),
          file_(options_.config_file, options_.startup_file, options_.save_folder, options_.overrides),
          read_(running.config()) {}

    RunningSwitch& running() { return running_; }
    const Options& options() const { return options_; }
    bool is_virtual() const { return running_.is_virtual(); }

    // Throws RpcError where the switch may only be looked at: a virtual clock that runs by itself.
    void require_changes() const;

    // While it lives what is done is by this author. Before and after: by the one before.
    class Acting {
      public:
        Acting(Api& api, Author author) : api_(api), before_(std::exchange(api.author_, std::move(author))) {}
        ~Acting() { api_.author_ = std::move(before_); }
        Acting(const Acting&) = delete;
        Acting& operator=(const Acting&) = delete;

      private:
        Api& api_;
        Author before_;
    };

    // How a change is wanted.
    struct ApplyOptions {
        std::optional<Duration> confirm{};
        bool force = false;                    // although it is not lossless: force.hh
        std::optional<std::uint64_t> trial{};  // of this client
        std::string_view what = "set";         // for the history
    };
    // The result of a change of the configuration.
    struct Applied {
        std::vector<ConfigChange> changes;
        std::vector<Finding> findings;     // warnings and notes
        std::uint64_t generation = 0;      // of the policy that every worker runs
        std::int64_t pending_cells = 0;    // the rest of the change waits until they have left
        std::optional<Time> confirm_by{};  // without confirm() by then it is rolled back
        std::size_t waiting = 0;           // changes that go back then, this one among them
        std::size_t kept = 0;              // changes before it that waited and do no longer
    };
    // Whole or not at all (RpcError). Answers when every worker runs it. As with NETCONF's confirmed commits
    // (RFC 6241, 8.4): a change without `confirm` keeps those that wait for it, one more with `confirm` gives
    // them all its new time, and unconfirmed changes are taken back as a whole. A problem that was forced
    // once need not be forced again.
    //
    // A trial is a change that waits for confirmation, alone, and belongs to a client: it goes back also when
    // the client hangs up, and when another change comes, which is made as if the trial had not been. Only
    // one at a time: two would measure each other.
    Applied apply(Config config, const ApplyOptions& wanted);
    // The configuration that a change is to be made of: the running one, without a trial.
    Config base() const;
    // Returns the number of changes that waited for it.
    std::size_t confirm();
    // Routes and neighbors alone; the names in them are checked, no history is kept.
    void change_routes(const RouteChanges& changes);
    // Of the last change; those before it that wait for confirmation go on waiting.
    Applied rollback();
    // RpcError with its end when no trial of this client's waits.
    void require_trial(std::uint64_t client) const;
    // The client has hung up.
    void client_gone(std::uint64_t client);
    ConfigFile::Saved save(const std::string& name);
    ConfigFile::Saved save_startup();
    bool reset_startup();
    // The one that a start would read now.
    StartupChoice file() const { return startup_choice(options_.config_file, options_.startup_file); }
    // The changes of the running configuration against its file, as it is now. RpcError: it cannot be read.
    std::vector<ConfigChange> unsaved() const;
    const ChangeLog& change_log() const { return log_; }
    // Once a round: rolls back changes that were not confirmed in time.
    void tick();
    // When that is; nothing: nothing waits for it.
    std::optional<Time> confirm_by() const { return confirm_by_; }
    // From now on tables show what happens after this moment: users' watermarks start anew, and the figures
    // of now are kept for stats.since. The report and the metrics go on from the start.
    void clear_stats();
    struct Cleared {
        Time at;
        std::string by;
        Json report;  // with buckets, without lists
    };
    const std::optional<Cleared>& cleared() const { return cleared_; }
    // Reads the file anew and applies it; where that is refused, an event says why, too.
    Applied reload();

    // Interactive: moves the clock; set by the loop. Nothing: until nothing can happen any more.
    std::function<void(std::optional<Duration>)> advance;
    // Told of a reload: that it begins, and whether it was good; set by the loop.
    std::function<void()> on_reload;
    std::function<void(bool)> on_reloaded;
    // The clients' use of the control thread; set by the loop.
    std::function<Json()> account;

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
    Applied change(Config config, const std::vector<std::string>& forced, bool force);
    Applied go_back(std::size_t changes, std::string what);
    void await(std::optional<Duration> confirm, Applied& done);
    void refuse_trial() const;
    void end_trial(std::string how);
    tl::expected<Config, std::vector<ConfigError>> read_file() const;

    RunningSwitch& running_;
    Options options_;
    ConfigFile file_;
    Config read_;                       // the file's configuration when it was read or written last
    std::vector<Past> history_;         // before each change, the latest last; at most max_history
    std::optional<Time> confirm_by_{};  // of the last `waiting_` changes
    std::size_t waiting_ = 0;
    std::optional<Trial> trial_{};  // the one change that waits
    std::string trial_end_;         // of the last one
    Author author_{};
    ChangeLog log_;
    std::optional<Cleared> cleared_{};
};

}  // namespace sluice

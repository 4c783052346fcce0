// The state behind the methods of the control socket: the running switch, its file, and its changes. One
// thread, the control thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/config/schema/config_paths.hh"
#include "control/serve/server/config_file.hh"
#include "control/serve/server/rpc.hh"
#include "control/switch/running/running_switch.hh"
#include "control/switch/transaction/transaction.hh"

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
          read_(running.config()),
          changes_(running) {}

    RunningSwitch& running() { return running_; }
    const Options& options() const { return options_; }
    bool is_virtual() const { return running_.is_virtual(); }

    // Throws RpcError where the switch may only be looked at: a virtual clock that runs by itself.
    void require_changes() const;

    // Its configuration changes here, and nowhere else.
    Transaction& changes() { return changes_; }
    const Transaction& changes() const { return changes_; }
    ConfigFile::Saved save(const std::string& name);
    ConfigFile::Saved save_startup();
    bool reset_startup();
    // The one that a start would read now.
    StartupChoice file() const { return startup_choice(options_.config_file, options_.startup_file); }
    // The changes of the running configuration against its file, as it is now. RpcError: it cannot be read.
    std::vector<ConfigChange> unsaved() const;
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
    Transaction::Applied reload();

    // Interactive: moves the clock; set by the loop. Nothing: until nothing can happen any more.
    std::function<void(std::optional<Duration>)> advance;
    // Told of a reload: that it begins, and whether it was good; set by the loop.
    std::function<void()> on_reload;
    std::function<void(bool)> on_reloaded;
    // The clients' use of the control thread; set by the loop.
    std::function<Json()> account;

  private:
    tl::expected<Config, std::vector<ConfigError>> read_file() const;

    RunningSwitch& running_;
    Options options_;
    ConfigFile file_;
    Config read_;  // the file's configuration when it was read or written last
    Transaction changes_;
    std::optional<Cleared> cleared_{};
};

// Carries out an operator's command (command_words.hh), of a timed event or a client: an error's text, or
// empty.
std::string run_command(Api& api, std::string_view text);

// What the transaction refuses, as the answer to a request.
RpcError rpc_error(const Refusal& refusal);
// Throws RpcError.
template <class T>
T done_or_throw(tl::expected<T, Refusal> done) {
    if (!done) throw rpc_error(done.error());
    if constexpr (!std::is_void_v<T>) return std::move(*done);
}

}  // namespace sluice

// The table of commands: pattern, sentence and function. Help, completion and dispatch are made from this
// table.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/sluicectl/client.hh"
#include "tools/sluicectl/failure.hh"
#include "tools/sluicectl/grammar.hh"

namespace sluice::ctl {

struct Options {
    std::string socket;
    bool json = false;
    std::chrono::nanoseconds wait{};  // for a switch that only starts
};

// A moment of the switch: a part of its report, with the buckets of histograms (stats.since).
struct Sample {
    Json part;
    std::uint64_t now_ns = 0;
};

// The switch as commands see it: asked when first needed.
class Context {
  public:
    explicit Context(Options options) : options_(std::move(options)), is_json_(options_.json) {}

    // The moment that a shell's tables begin with, after its own `stats clear`.
    std::optional<Sample> beginning{};
    bool is_shell = false;
    // A command that is repeated keeps the looks before, by their path.
    bool is_watching() const { return watching_; }
    void set_watching(bool watching) {
        watching_ = watching;
        before_.clear();
    }
    std::optional<Sample>& before(const std::string& path) { return before_[path]; }
    // What the switch kept for this connection ends.
    void hang_up() { client_.reset(); }

    const Options& options() const { return options_; }
    // For a command that waits by itself.
    void wait_no_more() { options_.wait = {}; }
    // A line of a shell may have `--json` of its own.
    bool is_json() const { return is_json_; }
    void set_json(bool json) { is_json_ = json; }
    Json call(std::string_view method, const Json& parameters = Json::object()) {
        return client().call(method, parameters);
    }
    Json stats(const std::string& path) { return call("stats.show", {{"path", path}}); }
    // Connects anew when the connection was lost.
    Client& client() {
        if (!client_ || client_->is_lost())
            client_ = std::make_unique<Client>(options_.socket, std::exchange(options_.wait, {}));
        return *client_;
    }

  private:
    Options options_;
    bool is_json_;
    std::unique_ptr<Client> client_;
    bool watching_ = false;
    std::map<std::string, std::optional<Sample>> before_;
};

struct Answer {
    Json json;         // for --json
    std::string text;  // for people, whole lines; empty: nothing to say
    int status = exit_done;
    std::vector<std::string> notes{};  // for stderr
};

struct Command {
    std::string_view pattern;
    std::string_view sentence;
    Answer (*run)(Context&, const Arguments&);
};

// Commands for one task, in the order of the help, with one that shows it.
struct Task {
    std::string_view title;
    std::string_view example;
    std::span<const Command> commands;
    std::string_view note{};  // on words that several of them take
};
std::span<const Task> tasks();
// The commands of all tasks.
std::span<const Command> commands();
const Grammar& grammar();

// A named number; nothing: it was not said. Throws Failure: it is none.
std::optional<std::uint64_t> number_said(const Arguments& arguments, std::string_view name);
// Runs a command that a timed event may give, too: the words of its pattern, with the arguments in their
// places.
Answer timed_command(Context& context, const Arguments& arguments);

// The question about a flow: DESTINATION and the pairs from, sport, dport, qp, proto.
Json flow_question(const Arguments& arguments);

// The parts of the table, by subject.
std::span<const Command> look_commands();
std::span<const Command> config_commands();
std::span<const Command> set_commands();
std::span<const Command> route_commands();
std::span<const Command> port_commands();
std::span<const Command> queue_commands();
std::span<const Command> host_commands();
std::span<const Command> record_commands();
std::span<const Command> wire_commands();
std::span<const Command> worker_commands();
std::span<const Command> script_commands();

// What a change has done (APPLIED of the API).
Answer applied(Json json);
// `parameters` with the `confirm` and `force` that the user has said.
Json with_options(Json parameters, const Arguments& arguments);

// Next hops in iproute2's words.
//
// `via A [dev P] [weight N]`, again and again, each behind `nexthop` or not, and `balance MODE`, or
// `blackhole`. Any other word is refused.
struct Hops {
    Json via;                  // as route.add wants it
    std::string load_balance;  // empty: not said
};
// Throws Failure.
Hops parse_hops(std::span<const std::string> words);

// The words behind `set`: values of the configuration, and options that may stand without dashes.
//
// KEY=VALUE, KEY = VALUE or KEY VALUE, any number of them, as entries for `config.change`. The option's
// words (`confirm 5s`, `force`, `keep`) go to `arguments`. Throws Failure: a value is missing.
Json values_said(Arguments& arguments);

// For completion: the key whose value comes next behind these words, or nothing: a key does.
std::optional<std::string> key_before(std::span<const std::string> words);

// `set --watch TIME`: a window is measured, the change is made, a window as long is measured, and the change
// is taken back, or kept. The change is a trial of this connection (config.change): however this program
// ends, the switch takes it back by itself.
//
// `changes`: entries of config.change; of the arguments `watch`, `keep` and `force`. Throws Failure when
// another change comes meanwhile, because nothing that was measured would be of this one.
Answer try_changes(Context& context, const Json& changes, const Arguments& arguments);

// `top`: the pages of top_view on a terminal, from looks at a switch at regular times, until a key ends it.
// The terminal is as it was before, however it ends. Throws Failure: this is not a terminal, or nobody
// answers at the first look; one that goes away later is asked again and again.
Answer top(Context& context, const Arguments& arguments);
// Explains everything, or one place.
Answer why(Context& context, const Arguments& arguments);

}  // namespace sluice::ctl

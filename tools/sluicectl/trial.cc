#include "tools/sluicectl/trial.hh"

#include <fmt/format.h>
#include <unistd.h>

#include <utility>

#include "control/config/schema/values.hh"
#include "control/config/text/say.hh"
#include "tools/sluicectl/comparison.hh"
#include "tools/sluicectl/config_text.hh"
#include "tools/sluicectl/look.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

// The connection ends with the command, so that the switch takes the change back, unless it is done().
class Connection {
  public:
    explicit Connection(Context& context) : context_(context) {}
    ~Connection() {
        if (!is_done_) context_.hang_up();
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    void done() { is_done_ = true; }

  private:
    Context& context_;
    bool is_done_ = false;
};

Window measured(Context& context, Duration window) {
    const Sample before = sample(context, "");
    pass_time(context, window, true);
    const Sample after = sample(context, "");
    return {between(before, after, ""), static_cast<double>(after.now_ns - before.now_ns) / 1e9};
}

// The window, where it can be measured and a change be made at all.
Duration window_of(Context& context, const Arguments& arguments) {
    constexpr Duration shortest = microseconds(1), longest = seconds(3600);
    const Duration window = time_said(arguments, "watch");
    if (window < shortest || window > longest)
        throw Failure{exit_usage, fmt::format("watch {}: allowed: 1us to 1h", print_time(window))};
    if (arguments.has("confirm"))
        throw Failure{exit_usage,
                      "watch takes the change back by itself; do: leave confirm out, or say keep"};
    const Json hello = context.call("hello");
    if (hello["clock"] == "virtual" && hello["interactive"] != true)
        throw Failure{exit_refused,
                      "a virtual clock that runs by itself is only looked at; do: start sluiced with "
                      "--interactive"};
    return window;
}

void progress(const std::string& text) {
    if (isatty(STDERR_FILENO) == 1) complain("{}\n", text);
}

}  // namespace

Answer try_changes(Context& context, const Json& changes, const Arguments& arguments) {
    const Duration window = window_of(context, arguments);
    const bool keep = arguments.has("keep");
    progress(fmt::format("{} before the change ...", print_time(window)));
    const Window before = measured(context, window);
    constexpr Duration patience = seconds(30);
    Json parameters = {
        {"changes", changes}, {"confirm", print_time(window + window + patience)}, {"trial", true}};
    Connection connection(context);
    Json done = context.call("config.change", with_options(std::move(parameters), arguments));
    done.erase("confirm_by_ns");  // nobody needs to confirm it
    done.erase("waiting");
    if (done["changes"].empty()) {
        connection.done();
        return applied(std::move(done));
    }
    progress(fmt::format("{} behind it ...", print_time(window)));
    const Window after = measured(context, window);
    context.call(keep ? "config.confirm" : "config.rollback", {{"trial", true}});
    connection.done();

    const bool is_virtual = context.call("hello")["clock"] == "virtual";
    std::string text = applied(done).text;
    Json rows = comparison(before, after);
    text += fmt::format("\n{} before, and {} behind it{}:\n{}", ns_text(before.seconds * 1e9),
                        ns_text(after.seconds * 1e9),
                        is_virtual ? ", by which the switch's clock has run on" : "", comparison_text(rows));
    text += keep ? "kept\n" : "taken back; to keep it: --keep\n";
    return {{{"applied", std::move(done)},
             {"before_ns", static_cast<std::uint64_t>(before.seconds * 1e9)},
             {"after_ns", static_cast<std::uint64_t>(after.seconds * 1e9)},
             {"rows", std::move(rows)},
             {"kept", keep}},
            std::move(text)};
}

}  // namespace sluice::ctl

// priority-flow-control of interfaces and profiles, and its watchdog.
//
// A priority is lossless where it is `no-drop` and the port's PFC is on; the watchdog watches ports that PFC
// is on at, once a timeout is said for all of them or for the port. Times are seconds with a fraction.
#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "tools/import/eos.hh"

namespace sluice::import {
namespace {

constexpr Duration longest_restoration = seconds(60);
constexpr const char* watchdog_key = "priority-flow-control pause watchdog";

bool is_on(const Said& said) { return !said.negated && said.words != "off"; }

class Pfc {
  public:
    explicit Pfc(Eos& in) : in_(in) {}

    void take() {
        for (const auto& statement : in_.cli.root.members) {
            StatementWords words(statement->word);
            const bool no = words.take("no") || words.take("default");
            if (!words.take("priority-flow-control all off")) continue;
            all_off_ = !no;
            in_.account().taken(*statement, no ? "EOS's default" : "pfc = [] at each port");
        }
        std::size_t lossless = 0;
        for (auto& [name, port] : in_.cli.config().ports) {
            take_port(name, port);
            lossless += port.pfc->empty() ? 0 : 1;
        }
        if (lossless != 0)
            in_.account().assumed(
                "priority-flow-control",
                "headroom is the platform's own in EOS: Sluice computes it for speed, cable and MTU");
    }

  private:
    void take_port(const std::string& name, PortConfig& port) {
        const Settings& settings = in_.settings_of(name);
        bool on = false;
        if (const Said* said = find_said(settings, "priority-flow-control")) {
            on = is_on(*said);
            in_.account().taken(*said->item, key_of_port(name, "pfc") + (on ? " is on" : " = []"));
        }
        on = on && !all_off_;
        std::vector<ClassId> lossless;
        for (const auto& [key, said] : settings) {
            constexpr std::string_view start = "priority-flow-control priority ";
            if (!key.starts_with(start)) continue;
            const auto list = in_.cli.out.classes_of(*said.item, std::string_view(key).substr(start.size()));
            const std::string_view word = said.arguments().peek();
            const bool drops = said.negated || word == "drop";
            if (!drops && word != "no-drop") {
                in_.cli.wrong(said, in_quotes(word) + " is neither no-drop nor drop");
                continue;
            }
            if (drops)
                in_.account().taken(*said.item, "a lossy class");
            else if (!on)
                in_.account().assumed(*said.item, all_off_ ? "lossy: PFC is off for all ports"
                                                           : "lossy: PFC is not on at the port");
            else
                in_.account().taken(*said.item,
                                    key_of_port(name, "pfc") + " has " + key.substr(start.size()));
            in_.cli.out.note(port, Aspect::pfc, *said.item);
            if (!drops && on) lossless.insert(lossless.end(), list.begin(), list.end());
        }
        std::ranges::sort(lossless);
        const auto twice = std::ranges::unique(lossless);
        lossless.erase(twice.begin(), twice.end());
        port.pfc = lossless;
    }

    Eos& in_;
    bool all_off_ = false;
};

class Watchdog {
  public:
    explicit Watchdog(Eos& in) : in_(in) {}

    void take() {
        for (const auto& statement : in_.cli.root.members) read_global(*statement);
        for (auto& [name, port] : in_.cli.config().ports) take_port(name, port);
        if (in_.cli.config().watchdog.restoration || !watches_) return;
        in_.account().assumed("priority-flow-control pause watchdog default recovery-time",
                              "twice the timeout: the file does not say it");
    }

  private:
    std::optional<Duration> time(const Said& said, std::string_view word) const {
        const auto value = parse_time(std::string(word) + "s");
        if (value) return *value;
        in_.cli.wrong(said, fmt::format("{} {}", in_quotes(word), value.error().wrong),
                      "write seconds: 0.2, for example");
        return std::nullopt;
    }

    Duration detection(const Said& said, Duration time) const {
        return in_.cli.watchdog_time(said, time, WatchdogConfig::min_detection, WatchdogConfig::max_detection,
                                     "watchdog.detection");
    }
    Duration restoration(const Said& said, Duration time) const {
        return in_.cli.watchdog_time(said, time, WatchdogConfig::min_detection, longest_restoration,
                                     "watchdog.restoration");
    }

    // A word of EOS for what is done to a queue that is stuck.
    std::optional<WatchdogAction> action(const Said& said, std::string_view word) {
        if (word == "drop")
            return in_.account().taken(*said.item, "watchdog.action = \"drop\""), WatchdogAction::drop;
        if (word == "no-drop")
            return in_.account().taken(*said.item, "watchdog.action = \"forward\""), WatchdogAction::forward;
        if (word == "notify-only")
            return in_.account().taken(*said.item, "watchdog.action = \"alert\""), WatchdogAction::alert;
        if (word == "errdisable") {
            in_.account().assumed(*said.item,
                                  "watchdog.action = \"drop\": Sluice does not shut the port down");
            return WatchdogAction::drop;
        }
        in_.cli.wrong(said, in_quotes(word) + " is none of drop, no-drop, notify-only, errdisable");
        return std::nullopt;
    }

    void read_global(const Item& statement) {
        StatementWords words(statement.word);
        const bool no = words.take("no") || words.take("default");
        if (!words.take(watchdog_key)) return;
        const Said said{&statement, no, words.rest()};
        if (no) {
            take_back(words);
            return in_.account().taken(statement, "EOS's default");
        }
        if (words.take("default")) {
            read_default(said, words);
        } else if (words.take("override action") || words.take("action")) {
            if (const auto chosen = action(said, words.peek())) action_ = *chosen;
        } else if (words.take("hardware")) {
            in_.account().nothing(statement, "Sluice's watchdog is the program's own");
        } else {
            in_.account().nothing(statement, "Sluice's watchdog has none of it");
        }
    }

    // `no`, behind what it takes back.
    void take_back(StatementWords words) {
        WatchdogConfig& all = in_.cli.config().watchdog;
        if (words.take("default timeout"))
            watches_ = false, all.detection = WatchdogConfig{}.detection;
        else if (words.take("default recovery-time"))
            all.restoration.reset();
        else if (words.take("default polling-interval"))
            all.poll.reset();
        else if (words.take("override action") || words.take("action"))
            action_ = WatchdogAction::drop;
    }

    void read_default(const Said& said, StatementWords words) {
        const std::string_view which = words.next();
        const auto value = words.peek() == "auto" ? std::nullopt : time(said, words.peek());
        if (which == "polling-interval" && words.peek() == "auto")
            return in_.account().taken(*said.item, "watchdog.poll follows detection");
        if (!value) return;
        if (which == "timeout") {
            watches_ = value->ps != 0;
            if (watches_)
                in_.cli.config().watchdog.detection = detection(said, *value);
            else
                in_.account().taken(*said.item, "watchdog.action = \"off\"");
        } else if (which == "recovery-time") {
            in_.cli.config().watchdog.restoration = restoration(said, *value);
        } else if (which == "polling-interval") {
            in_.cli.config().watchdog.poll = in_.cli.watchdog_time(
                said, *value, milliseconds(1), WatchdogConfig::max_detection, "watchdog.poll");
        } else {
            in_.account().nothing(*said.item, "Sluice's watchdog has none of it");
        }
    }

    void take_port(const std::string& name, PortConfig& port) {
        const Settings& settings = in_.settings_of(name);
        bool watched = watches_;
        if (const Said* said = find_said(settings, std::string(watchdog_key) + " port timer");
            said != nullptr && !said->negated) {
            watched = true;
            read_timer(*said, port);
        }
        // A port's default, which EOS may print: without a timeout nothing is watched.
        if (const Said* said = find_said(settings, watchdog_key)) {
            watched = watched && !said->negated;
            in_.account().taken(*said->item,
                                key_of_port(name, "watchdog.action") + (watched ? " is on" : " = \"off\""));
        }
        for (const auto& [key, said] : settings)
            if (key.starts_with(watchdog_key)) in_.cli.out.note(port, Aspect::watchdog, *said.item);
        port.watchdog.action = action_;
        if (const Said* said = find_said(settings, std::string(watchdog_key) + " port action");
            said != nullptr && !said->negated)
            if (const auto chosen = action(*said, said->arguments().peek())) port.watchdog.action = *chosen;
        if (const Said* said = find_said(settings, std::string(watchdog_key) + " disable")) {
            watched = watched && said->negated;
            in_.account().taken(*said->item, key_of_port(name, "watchdog.action") + " = \"off\"");
        }
        if (!watched) port.watchdog.action = WatchdogAction::off;
    }

    void read_timer(const Said& said, PortConfig& port) {
        StatementWords words = said.arguments();
        while (!words.empty()) {
            const std::string_view which = words.next();
            if (which == "forced") continue;
            const std::string_view word = words.next();
            if (which == "polling-interval") {
                if (word != "auto")
                    in_.account().assumed(*said.item,
                                          "polled as the whole switch is: Sluice has no poll of a port");
                continue;
            }
            const auto value = time(said, word);
            if (!value) return;
            if (which == "timeout")
                port.watchdog.detection = detection(said, *value);
            else if (which == "recovery-time")
                port.watchdog.restoration = restoration(said, *value);
            else
                return in_.cli.wrong(
                    said, in_quotes(which) + " is none of timeout, polling-interval, recovery-time");
        }
    }

    Eos& in_;
    bool watches_ = false;
    WatchdogAction action_ = WatchdogAction::drop;
};

}  // namespace

void take_eos_pfc(Eos& in) { Pfc(in).take(); }
void take_eos_watchdog(Eos& in) { Watchdog(in).take(); }

}  // namespace sluice::import

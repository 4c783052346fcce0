// priority-flow-control of interfaces, and its watchdog: an interval, after how many of them a queue is shut,
// and after how many it is back.
#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "tools/import/nxos.hh"

namespace sluice::import {
namespace {

constexpr const char* mode_key = "priority-flow-control mode";
constexpr const char* interval_key = "priority-flow-control watch-dog-interval";

class PfcReader {
  public:
    explicit PfcReader(Nxos& in) : in_(in) {}

    void take() {
        std::vector<ClassId> lossless;
        for (const auto& each : in_.no_drop)
            if (each) lossless.push_back(each->priority);
        std::ranges::sort(lossless);
        const auto twice = std::ranges::unique(lossless);
        lossless.erase(twice.begin(), twice.end());
        std::size_t by_peer = 0, on_ports = 0;
        for (auto& [name, port] : in_.cli.config().ports) {
            const bool on = read_mode(name, by_peer, lossless.empty());
            on_ports += on ? 1 : 0;
            port.pfc = on ? lossless : std::vector<ClassId>{};
        }
        if (by_peer != 0)
            in_.account().assumed(mode_key, fmt::format("off at {}: `auto`, the default, leaves it to DCBX",
                                                        print_count(by_peer, "port")));
        if (on_ports != 0 && !lossless.empty() && !has_thresholds())
            in_.account().assumed(
                "pause buffer-size",
                "the file does not say the headroom: Sluice computes it for speed, cable and MTU");
        read_globals();
        for (auto& [name, port] : in_.cli.config().ports) watch(name, port);
    }

  private:
    bool has_thresholds() const {
        return std::ranges::any_of(in_.cli.config().ports, [](const auto& each) {
            return std::ranges::any_of(each.second.priority_group,
                                       [](const auto& group) { return group.xoff_bytes.has_value(); });
        });
    }

    bool read_mode(const std::string& name, std::size_t& by_peer, bool has_no_class) {
        const Said* said = find_said(in_.settings_of(name), mode_key);
        const std::string_view word = said == nullptr || said->negated ? "auto" : said->arguments().peek();
        if (word != "on" && word != "off" && word != "auto") {
            in_.cli.wrong(*said, in_quotes(word) + " is none of on, off, auto");
            return false;
        }
        const bool on = word == "on";
        if (said != nullptr) in_.cli.out.note(in_.cli.config().ports.at(name), Aspect::pfc, *said->item);
        if (word == "auto" && !has_no_class) ++by_peer;
        if (said == nullptr) return on;
        if (on && has_no_class)
            in_.account().assumed(*said->item,
                                  "pfc = []: no class is lossless, as no network-qos policy has "
                                  "pause");
        else if (word == "auto")
            in_.account().assumed(*said->item, key_of_port(name, "pfc") + " = []: it is left to DCBX");
        else
            in_.account().taken(*said->item, key_of_port(name, "pfc") + (on ? " is on" : " = []"));
        return on;
    }

    void read_globals() {
        for (const auto& statement : in_.cli.root.members) {
            StatementWords words(statement->word);
            const bool no = words.take("no");
            if (!words.take("priority-flow-control")) continue;
            const Said said{statement.get(), no, words.rest()};
            if (words.take("watch-dog-interval"))
                on_ = read_on(said, words.peek(), interval_);
            else if (words.take("watch-dog"))
                read_timers(said, words);
            else if (words.take("auto-restore multiplier") || words.take("fixed-restore multiplier"))
                read_restore(said, words.peek());
            else
                in_.account().nothing(*statement, "Sluice's watchdog has none of it");
        }
        WatchdogConfig& all = in_.cli.config().watchdog;
        all.detection = detection_of(interval_);
        all.restoration = restoration_of(interval_);
        if (is_used_)
            in_.account().assumed(
                "priority-flow-control watch-dog",
                fmt::format(
                    "detection = \"{}\", {} times shutdown-multiplier {}; restoration = \"{}\", times "
                    "auto-restore multiplier {}",
                    print_time(all.detection), print_time(interval_), shutdown_, print_time(*all.restoration),
                    restore_));
    }

    Duration detection_of(Duration interval) const {
        return std::clamp(interval * static_cast<std::int64_t>(shutdown_), WatchdogConfig::min_detection,
                          WatchdogConfig::max_detection);
    }
    Duration restoration_of(Duration interval) const {
        return std::clamp(interval * static_cast<std::int64_t>(restore_), milliseconds(100), seconds(60));
    }

    // "on", "off"; a number is an interval, which people write there.
    bool read_on(const Said& said, std::string_view word, Duration& interval) {
        if (const auto ms = parse_integer(word); ms && *ms >= 1 && *ms <= 60'000) {
            interval = milliseconds(static_cast<std::int64_t>(*ms));
            is_used_ = true;
            in_.account().assumed(*said.item, "on, and its interval in ms: NX-OS has on or off here");
            return true;
        }
        if (!said.negated && word != "on" && word != "off") {
            in_.cli.wrong(said, in_quotes(word) + " is neither on nor off");
            return false;
        }
        const bool on = !said.negated && word == "on";
        is_used_ = is_used_ || on;
        in_.account().taken(*said.item, on ? "watchdog.action = \"drop\"" : "watchdog.action = \"off\"");
        return on;
    }

    void read_timers(const Said& said, StatementWords words) {
        if (said.negated) {
            interval_ = usual_interval, shutdown_ = usual_shutdown;
            return in_.account().taken(*said.item, "NX-OS's default");
        }
        while (!words.empty()) {
            const std::string_view which = words.next();
            constexpr std::uint64_t longest_ms = 60'000, most = 1000;
            if (which == "interval") {
                const auto ms = in_.cli.number(said, words.next(), 1, longest_ms);
                if (!ms) return;
                interval_ = milliseconds(static_cast<std::int64_t>(*ms));
            } else if (which == "shutdown-multiplier") {
                const auto times = in_.cli.number(said, words.next(), 1, most);
                if (!times) return;
                shutdown_ = *times;
            } else {
                return in_.account().nothing(*said.item, "Sluice's watchdog has none of it");
            }
        }
        is_used_ = true;
        in_.account().taken(*said.item, "watchdog.detection");
    }

    void read_restore(const Said& said, std::string_view word) {
        if (said.negated) {
            restore_ = usual_restore;
            return in_.account().taken(*said.item, "NX-OS's default");
        }
        const auto times = in_.cli.number(said, word, 0, 1000);
        if (!times) return;
        restore_ = *times;
        is_used_ = true;
        in_.account().taken(*said.item, "watchdog.restoration");
    }

    void watch(const std::string& name, PortConfig& port) {
        bool on = on_;
        if (const Said* said = find_said(in_.settings_of(name), interval_key)) {
            Duration interval = interval_;
            on = read_on(*said, said->arguments().peek(), interval);
            if (interval != interval_) {
                port.watchdog.detection = detection_of(interval);
                port.watchdog.restoration = restoration_of(interval);
            }
            in_.cli.out.note(port, Aspect::watchdog, *said->item);
        }
        port.watchdog.action = on ? WatchdogAction::drop : WatchdogAction::off;
    }

    Nxos& in_;
    bool on_ = false, is_used_ = false;
    // NX-OS's defaults.
    static constexpr Duration usual_interval = milliseconds(100);
    static constexpr std::uint64_t usual_shutdown = 1, usual_restore = 10;
    Duration interval_ = usual_interval;
    std::uint64_t shutdown_ = usual_shutdown, restore_ = usual_restore;
};

}  // namespace

void take_nxos_pfc(Nxos& in) { PfcReader(in).take(); }

}  // namespace sluice::import

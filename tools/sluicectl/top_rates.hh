// What `top` shows of two looks at a switch: rates of its ports, classes and queues, and those of the looks
// before.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "tools/sluicectl/commands.hh"

namespace sluice::ctl {

// A port, a class or a queue; what it does not have is 0. Rates are a second, pauses are shares of the
// time.
struct TopRow {
    std::string name{};  // "h1", "h1.3"
    double in_bps = 0, out_bps = 0;
    double marked = 0, cnps = 0, xoff = 0;
    double missed = 0;               // lost before they were classified; of a port
    double dropped = 0, lost = 0;    // lost: lossless packets among them
    double paused = 0, pausing = 0;  // by its peer; its peer. Of a port: the class that is paused the longest
    double held_bytes = 0, wait_ns = 0;  // in the queue, or of the class in the buffer; 99 % wait no longer
    std::string state{};                 // a storm, a link that is down, a class that is not lossless

    // What is shown of the past.
    double load_bps() const { return in_bps > out_bps ? in_bps : out_bps; }
    double pause() const { return paused > pausing ? paused : pausing; }
};

// How bad it is: lost lossless packets, storms, missed frames, drops, pauses, marks, in this order, then how
// much of it.
struct TopTrouble {
    int level = 0;  // 0: none
    double amount = 0;
    std::string word;
};
TopTrouble trouble_of(const TopRow& row);

class TopRates {
  public:
    struct Past {
        double load_bps = 0, pause = 0;
    };
    static constexpr std::size_t max_past = 240;

    // `ports` and `watchdog`: these parts of the report. The first look is shown since the start of the
    // switch; so is one whose clock is behind the look before: the switch is another.
    void add(Sample ports, const Json& watchdog);
    // The switch went away: what comes next may be another one.
    void forget() { has_looked_ = false; }

    const std::vector<TopRow>& ports() const { return ports_; }
    const std::vector<TopRow>& classes(const std::string& port) const { return of(classes_, port); }
    const std::vector<TopRow>& queues(const std::string& port) const { return of(queues_, port); }
    // Oldest first; `kind`: "port", "class" or "queue".
    const std::deque<Past>& past(const std::string& kind, const std::string& name) const;

    double seconds() const { return seconds_; }  // between the two looks; 0: no time has passed at all
    std::uint64_t now_ns() const { return before_.now_ns; }
    bool since_start() const { return since_start_; }
    bool stands_still() const { return stands_still_; }

  private:
    using Rows = std::map<std::string, std::vector<TopRow>>;
    static const std::vector<TopRow>& of(const Rows& rows, const std::string& port);
    void add_port(const std::string& name, const Json& port, const Json& watchdog);
    void remember(const std::string& kind, const TopRow& row);

    Sample before_;
    double seconds_ = 0;
    bool since_start_ = true, stands_still_ = false, has_looked_ = false;
    std::vector<TopRow> ports_;
    Rows classes_, queues_;
    std::map<std::string, std::deque<Past>> past_, new_past_;
};

}  // namespace sluice::ctl

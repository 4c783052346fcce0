#include "tools/sluicectl/commands.hh"

#include <fmt/format.h>
#include <langinfo.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <set>

#include "control/config/schema/values.hh"
#include "tools/sluicectl/failure.hh"
#include "tools/sluicectl/look.hh"
#include "tools/sluicectl/top_rates.hh"
#include "tools/sluicectl/top_view.hh"

// Last: without its macros, which are plain words.
#define NCURSES_NOMACROS
#include <ncurses.h>

namespace sluice::ctl {
namespace {

using TopClock = std::chrono::steady_clock;

// The terminal while it is ours.
class Curses {
  public:
    Curses() {
        const char* locale = std::setlocale(LC_CTYPE, "");
        blocks_ = locale != nullptr && std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
        screen_ = newterm(nullptr, stdout, stdin);
        if (screen_ == nullptr) {
            const char* name = std::getenv("TERM");
            throw Failure{exit_usage, fmt::format("top does not know the terminal {}; do: set TERM, such as "
                                                  "TERM=xterm, or: sluicectl port show rates --watch",
                                                  sluice::in_quotes(name == nullptr ? "" : name))};
        }
        constexpr int escape_ms = 25;
        set_escdelay(escape_ms);
        cbreak();
        noecho();
        nonl();
        keypad(stdscr, true);
        nodelay(stdscr, true);
        curs_set(0);
        if (std::getenv("NO_COLOR") == nullptr && has_colors() && start_color() == OK) {
            use_default_colors();
            init_pair(warning_pair, COLOR_YELLOW, -1);
            init_pair(alarm_pair, COLOR_RED, -1);
            colors_ = true;
        }
    }
    ~Curses() {
        endwin();
        delscreen(screen_);
    }
    Curses(const Curses&) = delete;
    Curses& operator=(const Curses&) = delete;

    TopScreen size() const {
        return {static_cast<std::size_t>(std::max(getmaxx(stdscr), 0)),
                static_cast<std::size_t>(std::max(getmaxy(stdscr), 0)), blocks_};
    }
    void draw(const std::vector<TopLine>& lines) const {
        erase();
        for (std::size_t y = 0; y < lines.size(); ++y) {
            attrset(static_cast<int>(attributes(lines[y].style)));
            mvaddstr(static_cast<int>(y), 0, lines[y].text.c_str());
        }
        refresh();
    }
    // ERR: none was pressed.
    static int key() { return getch(); }

  private:
    static constexpr short warning_pair = 1, alarm_pair = 2;
    attr_t attributes(TopLine::Style style) const {
        const auto color = [&](short pair) { return colors_ ? static_cast<attr_t>(COLOR_PAIR(pair)) : 0; };
        switch (style) {
            case TopLine::Style::title:
                return A_BOLD;
            case TopLine::Style::chosen:
                return A_REVERSE;
            case TopLine::Style::warning:
                return color(warning_pair);
            case TopLine::Style::alarm:
                return A_BOLD | color(alarm_pair);
            default:
                return A_NORMAL;
        }
    }

    SCREEN* screen_ = nullptr;
    bool blocks_ = false, colors_ = false;
};

std::optional<TopKey> top_key(int key) {
    using enum TopKey;
    constexpr int escape = 27, backspace = 127;
    static const std::map<TopKey, std::set<int>> known{
        {up, {KEY_UP, 'k'}},
        {down, {KEY_DOWN, 'j'}},
        {page_up, {KEY_PPAGE}},
        {page_down, {KEY_NPAGE, ' '}},
        {enter, {KEY_ENTER, KEY_RIGHT, '\r', '\n'}},
        {back, {KEY_LEFT, KEY_BACKSPACE, '\b', escape, backspace}},
        {TopKey::why, {'w'}},
        {sort, {'s'}},
        {help, {'h', '?'}},
        {quit, {'q'}}};
    for (const auto& [does, keys] : known)
        if (keys.contains(key)) return does;
    return std::nullopt;
}

void look_at_switch(Context& context, TopRates& rates) {
    Sample ports = sample(context, "ports");
    rates.add(std::move(ports), context.stats("watchdog"));
}

class TopLoop {
  public:
    TopLoop(Context& context, std::chrono::nanoseconds every, std::optional<std::uint64_t> count)
        : context_(context), every_(every), count_(count), view_(context.options().socket) {
        look_at_switch(context_, rates_);
    }

    void run() {
        const Curses curses;
        for (std::uint64_t n = 1;; ++n) {
            curses.draw(view_.lines(rates_, curses.size()));
            if (count_ && n >= *count_) return;
            if (!keys_until(curses, TopClock::now() + every_)) return;
            look();
        }
    }

  private:
    void look() {
        try {
            look_at_switch(context_, rates_);
            view_.set_warning("");
        } catch (const Failure& failure) {
            rates_.forget();
            view_.set_warning("asks again and again: " + failure.message);
        }
    }

    void show_why() {
        const std::string port = view_.chosen(rates_);
        try {
            Arguments arguments;
            arguments.values["PLACE"] = port;
            view_.show_why(port, why(context_, arguments).text);
        } catch (const Failure& failure) {
            view_.show_why(port, failure.message);
        }
    }

    // False: it is to end.
    bool keys_until(const Curses& curses, TopClock::time_point end) {
        // A new size of the window is seen between waits only.
        constexpr std::chrono::nanoseconds slice = std::chrono::milliseconds(50);
        constexpr unsigned too_often = 100;
        for (;;) {
            const std::chrono::nanoseconds left = end - TopClock::now();
            if (left.count() <= 0) return true;
            const bool ready = wait_for_input(STDIN_FILENO, std::min(left, slice));
            const int key = Curses::key();
            // A terminal that has hung up is always ready, and never says anything.
            empty_ = ready && key == ERR ? empty_ + 1 : 0;
            if (empty_ == too_often) return false;
            if (key == ERR) continue;
            if (const auto known = top_key(key)) {
                const TopAsk ask = view_.press(*known, rates_);
                if (ask == TopAsk::quit) return false;
                if (ask == TopAsk::why) show_why();
            }
            curses.draw(view_.lines(rates_, curses.size()));
        }
    }

    Context& context_;
    std::chrono::nanoseconds every_;
    std::optional<std::uint64_t> count_;
    TopRates rates_;
    TopView view_;
    unsigned empty_ = 0;
};

}  // namespace

Answer top(Context& context, const Arguments& arguments) {
    if (context.is_json() || isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1)
        throw Failure{exit_usage,
                      "top is a screen, and wants a terminal to read and to write; for a program or a file "
                      "do: sluicectl port show rates --watch"};
    const Duration every = arguments.has("every") ? time_said(arguments, "every") : milliseconds(1000);
    const auto count = number_said(arguments, "count");
    if (count == 0U) throw Failure{exit_usage, "count \"0\": allowed: 1 and more"};
    catch_interrupts();
    try {
        TopLoop(context, std::chrono::nanoseconds(every.ps / 1000), count).run();
    } catch (const Interrupted&) {  // its usual end
    }
    return {nullptr, {}};
}

}  // namespace sluice::ctl

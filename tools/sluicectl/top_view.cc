#include "tools/sluicectl/top_view.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <utility>

#include "control/config/text/quantity_text.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {
namespace {

using TopStyle = TopLine::Style;

bool is_worse(const TopRow& a, const TopRow& b) {
    const TopTrouble one = trouble_of(a), other = trouble_of(b);
    return std::pair(one.level, one.amount) > std::pair(other.level, other.amount);
}
template <auto figure>
bool is_more(const TopRow& a, const TopRow& b) {
    return std::invoke(figure, a) > std::invoke(figure, b);
}

// Ports that are equal in an order stay in the switch's.
struct TopOrder {
    const char* word;
    bool (*is_before)(const TopRow&, const TopRow&);
};
constexpr std::array top_orders{
    TopOrder{"trouble", is_worse},
    TopOrder{"what comes in", is_more<&TopRow::in_bps>},
    TopOrder{"what goes out", is_more<&TopRow::out_bps>},
    TopOrder{"marks", is_more<&TopRow::marked>},
    TopOrder{"drops", is_more<&TopRow::dropped>},
    TopOrder{"pauses", is_more<&TopRow::pause>},
    TopOrder{"bytes in queues", is_more<&TopRow::held_bytes>},
    TopOrder{"name", [](const TopRow& a, const TopRow& b) { return a.name < b.name; }},
};

// A column is there from so many columns of the screen on. Width 0: the name, to the left.
struct TopColumn {
    const char* title;
    std::size_t width;
    std::size_t from;
    std::string (*cell)(const TopRow&);
};
std::string in_cell(const TopRow& row) { return bits_text(row.in_bps); }
std::string out_cell(const TopRow& row) { return bits_text(row.out_bps); }
std::string marked_cell(const TopRow& row) { return times_text(row.marked); }
std::string missed_cell(const TopRow& row) { return times_text(row.missed); }
std::string dropped_cell(const TopRow& row) { return times_text(row.dropped); }
std::string cnps_cell(const TopRow& row) { return times_text(row.cnps); }
std::string xoff_cell(const TopRow& row) { return times_text(row.xoff); }
std::string paused_cell(const TopRow& row) { return share_text(row.paused); }
std::string pausing_cell(const TopRow& row) { return share_text(row.pausing); }
std::string held_cell(const TopRow& row) { return bytes_text(row.held_bytes); }
std::string wait_cell(const TopRow& row) { return quantile_text(static_cast<std::uint64_t>(row.wait_ns)); }
std::string trouble_cell(const TopRow& row) { return trouble_of(row).word; }
std::string state_cell(const TopRow& row) { return row.state; }

constexpr std::array port_columns{
    TopColumn{"in", 11, 90, in_cell},         TopColumn{"out", 11, 0, out_cell},
    TopColumn{"marked", 10, 70, marked_cell}, TopColumn{"CNPs in", 10, 130, cnps_cell},
    TopColumn{"missed", 10, 80, missed_cell}, TopColumn{"dropped", 10, 0, dropped_cell},
    TopColumn{"paused", 7, 0, paused_cell},   TopColumn{"pausing", 7, 60, pausing_cell},
    TopColumn{"queued", 10, 130, held_cell},  TopColumn{"trouble", 7, 0, trouble_cell},
};
constexpr std::array queue_columns{
    TopColumn{"sent", 11, 0, out_cell},        TopColumn{"marked", 10, 0, marked_cell},
    TopColumn{"dropped", 10, 0, dropped_cell}, TopColumn{"now", 9, 50, held_cell},
    TopColumn{"p99", 8, 60, wait_cell},
};
constexpr std::array class_columns{
    TopColumn{"in", 11, 0, in_cell},           TopColumn{"XOFF", 10, 90, xoff_cell},
    TopColumn{"dropped", 10, 0, dropped_cell}, TopColumn{"paused", 7, 0, paused_cell},
    TopColumn{"pausing", 7, 50, pausing_cell}, TopColumn{"now", 9, 60, held_cell},
    TopColumn{"state", 8, 90, state_cell},
};

constexpr std::size_t narrowest = 40, lowest = 8, name_width = 9;
constexpr std::size_t two_sparklines_from = 100;
constexpr std::string_view keys_of_ports = "q quit  arrows choose  Enter its queues  w why  s sort  h help";
constexpr std::string_view keys_of_pages = "q quit  arrows move  Esc back  w why  h help";
constexpr std::string_view help_of_top =
    "Rates are those between the last two looks, a second; pauses are shares of that time.\n"
    "\n"
    "in, out     bits of frames, without FCS, preamble and gap\n"
    "marked      packets marked CE, in queues of the port\n"
    "missed      frames that were lost before they were classified\n"
    "dropped     packets that came in by the port and were dropped\n"
    "paused      time that the peer holds the class that it holds the longest\n"
    "pausing     time that we hold the peer's\n"
    "trouble     the worst of: LOST (a lossless packet was dropped), storm or cut (the PFC watchdog), "
    "missed, drops, paused, pausing, marks, down; ports are sorted by it\n"
    "sparklines  the looks before: the busier direction, against the busiest port; the longer pause, "
    "against all of the time\n"
    "\n"
    "up k, down j  choose a port, or move the text; also Page Up, Page Down\n"
    "Enter         classes and queues of the port\n"
    "w             why its senders were paused, and packets dropped or marked\n"
    "s             sort by another figure\n"
    "Esc, left     back\n"
    "h ?           this text\n"
    "q, Ctrl-C     the end\n";

std::string cut_to(std::string text, std::size_t width) {
    if (text.size() > width) text.resize(width);
    return text;
}

TopStyle style_of(const TopRow& row) {
    constexpr int alarming = 6, worth_a_look = 2;
    const int level = trouble_of(row).level;
    if (level >= alarming) return TopStyle::alarm;
    return level >= worth_a_look ? TopStyle::warning : TopStyle::plain;
}

// Rows under their titles, and their past in what is left of the width.
class TopTable {
  public:
    TopTable(const char* title, std::string kind, std::span<const TopColumn> columns, const TopRates& rates,
             const TopScreen& screen)
        : kind_(std::move(kind)), columns_(columns), rates_(rates), screen_(screen) {
        std::string titles = fmt::format("{:<{}}", title, name_width);
        std::size_t used = name_width;
        for (const TopColumn& column : columns_)
            if (column.from <= screen.width) {
                titles += fmt::format(" {:>{}}", column.title, column.width);
                used += column.width + 1;
            }
        two_ = screen.width >= two_sparklines_from;
        const std::size_t left = screen.width > used ? screen.width - used : 0;
        const std::size_t gaps = two_ ? 2 : 1;
        spark_ = left > gaps ? (left - gaps) / gaps : 0;
        if (spark_ > 0) titles += " " + fmt::format("{:>{}}", cut_to("load", spark_), spark_);
        if (two_ && spark_ > 0) titles += " " + fmt::format("{:>{}}", cut_to("pauses", spark_), spark_);
        titles_ = cut_to(std::move(titles), screen.width);
    }

    TopLine titles() const { return {titles_, TopStyle::title}; }
    // `full`: what the highest mark of the load stands for.
    TopLine line(const TopRow& row, double full) const {
        std::string text = fmt::format("{:<{}}", cut_to(shown_text(row.name), name_width), name_width);
        for (const TopColumn& column : columns_)
            if (column.from <= screen_.width)
                text +=
                    fmt::format(" {:>{}}", cut_to(shown_text(column.cell(row)), column.width), column.width);
        text = cut_to(std::move(text), screen_.width);
        if (spark_ == 0) return {std::move(text), style_of(row)};
        std::vector<double> load, pause;
        for (const TopRates::Past& past : rates_.past(kind_, row.name)) {
            load.push_back(past.load_bps);
            pause.push_back(past.pause);
        }
        text += " " + sparkline(load, spark_, full, screen_.blocks);
        if (two_) text += " " + sparkline(pause, spark_, 1, screen_.blocks);
        return {std::move(text), style_of(row)};
    }
    // The highest load in the past of the rows, as far as it is shown.
    double busiest(const std::vector<TopRow>& rows) const {
        double most = 0;
        for (const TopRow& row : rows) {
            const auto& past = rates_.past(kind_, row.name);
            const std::size_t shown = std::min(spark_, past.size());
            for (std::size_t n = past.size() - shown; n < past.size(); ++n)
                most = std::max(most, past[n].load_bps);
        }
        return most;
    }

  private:
    std::string kind_;
    std::span<const TopColumn> columns_;
    const TopRates& rates_;
    const TopScreen& screen_;
    std::string titles_;
    std::size_t spark_ = 0;
    bool two_ = false;
};

void add_table(std::vector<TopLine>& lines, const TopTable& table, const std::vector<TopRow>& rows) {
    const double full = table.busiest(rows);
    lines.push_back(table.titles());
    for (const TopRow& row : rows) lines.push_back(table.line(row, full));
}

}  // namespace

std::string sparkline(const std::vector<double>& values, std::size_t width, double full, bool blocks) {
    constexpr std::array unicode{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    constexpr std::array ascii{".", ":", "-", "=", "+", "*", "#", "@"};
    const std::size_t shown = std::min(width, values.size());
    std::string text(width - shown, ' ');
    for (std::size_t n = values.size() - shown; n < values.size(); ++n) {
        const double part = full > 0 ? std::clamp(values[n] / full, 0.0, 1.0) : 0;
        if (!(part > 0)) {
            text += ' ';
            continue;
        }
        const auto mark =
            std::min(static_cast<std::size_t>(part * double(unicode.size())), unicode.size() - 1);
        text += blocks ? unicode[mark] : ascii[mark];
    }
    return text;
}

std::string shown_text(std::string_view text) {
    constexpr unsigned char first = 0x20, last = 0x7e, continues = 0x80, continues_mask = 0xc0;
    std::string shown;
    bool in_character = false;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (in_character && (byte & continues_mask) == continues) continue;
        in_character = byte > last + 1;
        shown += byte >= first && byte <= last ? c : '?';
    }
    return shown;
}

std::vector<std::string> broken_lines(std::string_view text, std::size_t width) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string line = shown_text(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t indented = std::min(line.find_first_not_of(' '), width / 2);
        while (line.size() > width) {
            std::size_t at = line.rfind(' ', width);
            if (at == std::string::npos || at <= indented) at = width;
            lines.push_back(line.substr(0, at));
            const std::size_t next = std::min(line.find_first_not_of(' ', at), line.size());
            line = std::string(indented, ' ') + line.substr(next);
        }
        lines.push_back(std::move(line));
    }
    return lines;
}

std::vector<const TopRow*> TopView::sorted(const TopRates& rates) const {
    std::vector<const TopRow*> rows;
    for (const TopRow& row : rates.ports()) rows.push_back(&row);
    std::stable_sort(rows.begin(), rows.end(),
                     [is_before = top_orders[order_].is_before](const TopRow* a, const TopRow* b) {
                         return is_before(*a, *b);
                     });
    return rows;
}

std::string TopView::chosen(const TopRates& rates) const {
    const auto rows = sorted(rates);
    for (const TopRow* row : rows)
        if (row->name == chosen_) return chosen_;
    return rows.empty() ? "" : rows.front()->name;
}

void TopView::move(const TopRates& rates, long by) {
    if (page_ != Page::ports) {
        scroll_ = static_cast<std::size_t>(std::max(0L, static_cast<long>(scroll_) + by));
        return;
    }
    const auto rows = sorted(rates);
    if (rows.empty()) return;
    const std::string now = chosen(rates);
    long at = 0;
    while (rows[static_cast<std::size_t>(at)]->name != now) ++at;
    at = std::clamp(at + by, 0L, static_cast<long>(rows.size()) - 1);
    chosen_ = rows[static_cast<std::size_t>(at)]->name;
}

void TopView::go(Page page) {
    if (page == Page::why || page == Page::help) {
        if (page_ == Page::ports || page_ == Page::port) below_ = page_;
    }
    page_ = page;
    scroll_ = 0;
}

TopAsk TopView::press(TopKey key, const TopRates& rates) {
    const long page = std::max<long>(1, static_cast<long>(room_) - 1);
    switch (key) {
        case TopKey::up:
            move(rates, -1);
            break;
        case TopKey::down:
            move(rates, 1);
            break;
        case TopKey::page_up:
            move(rates, -page);
            break;
        case TopKey::page_down:
            move(rates, page);
            break;
        case TopKey::enter:
            if (page_ != Page::ports || chosen(rates).empty()) break;
            chosen_ = chosen(rates);
            go(Page::port);
            break;
        case TopKey::back:
            go(page_ == Page::port || page_ == Page::ports ? Page::ports : below_);
            break;
        case TopKey::why:
            return chosen(rates).empty() ? TopAsk::nothing : TopAsk::why;
        case TopKey::sort:
            if (page_ == Page::ports) order_ = (order_ + 1) % top_orders.size();
            break;
        case TopKey::help:
            go(page_ == Page::help ? below_ : Page::help);
            break;
        case TopKey::quit:
            return TopAsk::quit;
    }
    return TopAsk::nothing;
}

void TopView::show_why(const std::string& port, std::string text) {
    chosen_ = port;
    why_ = std::move(text);
    go(Page::why);
}

std::string TopView::head(const TopRates& rates) const {
    std::string text = "at " + ns_text(rates.now_ns());
    if (rates.stands_still()) text += ", where the clock stands still";
    if (rates.seconds() > 0)
        text += fmt::format(", over {}{}", ns_text(rates.seconds() * 1e9),
                            rates.since_start() ? " since the start" : "");
    return text + "  on " + socket_;
}

TopView::Lines TopView::ports_page(const TopRates& rates, const TopScreen& screen) const {
    const TopTable table("port", "port", port_columns, rates, screen);
    const double full = table.busiest(rates.ports());
    Lines lines{table.titles()};
    const std::string chosen_name = chosen(rates);
    for (const TopRow* row : sorted(rates)) {
        lines.push_back(table.line(*row, full));
        if (row->name == chosen_name) lines.back().style = TopStyle::chosen;
    }
    return lines;
}

TopView::Lines TopView::port_page(const TopRates& rates, const TopScreen& screen) const {
    Lines lines;
    if (rates.queues(chosen_).empty())
        lines.push_back({cut_to(shown_text("no port " + chosen_ + " is there any more"), screen.width)});
    add_table(lines, TopTable("class", "class", class_columns, rates, screen), rates.classes(chosen_));
    add_table(lines, TopTable("queue", "queue", queue_columns, rates, screen), rates.queues(chosen_));
    return lines;
}

std::vector<TopLine> TopView::lines(const TopRates& rates, const TopScreen& screen) {
    if (screen.width < narrowest || screen.height < lowest) {
        Lines small;
        for (std::string& line :
             broken_lines(fmt::format("too small a terminal; {} by {} at least; q quits", narrowest, lowest),
                          std::max<std::size_t>(screen.width, 1)))
            if (small.size() < screen.height) small.push_back({std::move(line)});
        return small;
    }
    Lines body;
    std::string about;
    std::size_t fixed = 0;  // lines that do not move
    if (page_ == Page::ports) {
        body = ports_page(rates, screen);
        about = fmt::format("{} ports, by {}", rates.ports().size(), top_orders[order_].word);
        fixed = 1;
    } else if (page_ == Page::port) {
        body = port_page(rates, screen);
        about = fmt::format("port {}: its classes, and its queues", chosen_);
    } else {
        about = page_ == Page::why ? fmt::format("why {}", chosen_) : "help";
        const std::string_view text = page_ == Page::why ? std::string_view(why_) : help_of_top;
        for (std::string& line : broken_lines(text, screen.width)) body.push_back({std::move(line)});
    }
    Lines shown{{cut_to(shown_text(head(rates)), screen.width), TopStyle::title}};
    shown.push_back({cut_to(shown_text(warning_.empty() ? about : warning_), screen.width),
                     warning_.empty() ? TopStyle::plain : TopStyle::alarm});
    shown.insert(shown.end(), body.begin(), body.begin() + static_cast<std::ptrdiff_t>(fixed));
    room_ = screen.height - shown.size() - 1;
    const std::size_t rows = body.size() - fixed;
    const std::size_t most = rows > room_ ? rows - room_ : 0;
    if (page_ == Page::ports) {  // the chosen one is in sight
        for (std::size_t n = 0; n < rows; ++n)
            if (body[fixed + n].style == TopStyle::chosen)
                scroll_ = std::clamp(scroll_, n + 1 > room_ ? n + 1 - room_ : 0, n);
    }
    scroll_ = std::min(scroll_, most);
    for (std::size_t n = scroll_; n < rows && n < scroll_ + room_; ++n) shown.push_back(body[fixed + n]);
    while (shown.size() + 1 < screen.height) shown.push_back({});
    std::string keys(page_ == Page::ports ? keys_of_ports : keys_of_pages);
    if (rows > room_) keys = fmt::format("{}-{} of {}  ", scroll_ + 1, scroll_ + room_, rows) + keys;
    shown.push_back({cut_to(std::move(keys), screen.width), TopStyle::title});
    return shown;
}

}  // namespace sluice::ctl

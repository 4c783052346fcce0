// The pages of `top` as lines of text, and what its keys do: no terminal, so that the same looks and keys
// always give the same lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/sluicectl/top_rates.hh"

namespace sluice::ctl {

enum class TopKey { up, down, page_up, page_down, enter, back, why, sort, help, quit };
enum class TopAsk { nothing, why, quit };

struct TopLine {
    enum class Style { plain, title, chosen, warning, alarm };
    std::string text;  // no wider than the screen: printable ASCII, but for a sparkline at its end
    Style style = Style::plain;
};
struct TopScreen {
    std::size_t width = 80, height = 24;
    bool blocks = true;  // sparklines of Unicode's block elements; otherwise of ASCII
};

// The last `width` values, `full` and more as the highest mark, 0 as a blank; the newest is at the right.
std::string sparkline(const std::vector<double>& values, std::size_t width, double full, bool blocks);
// A '?' for each character that is not printable ASCII: what a switch says never commands a terminal.
std::string shown_text(std::string_view text);
// Lines of at most `width` characters, broken at blanks where there are some, indented as their first.
std::vector<std::string> broken_lines(std::string_view text, std::size_t width);

class TopView {
  public:
    explicit TopView(std::string socket) : socket_(std::move(socket)) {}

    TopAsk press(TopKey key, const TopRates& rates);
    // The port that is chosen; empty: there is none.
    std::string chosen(const TopRates& rates) const;
    // What `why` said of a port.
    void show_why(const std::string& port, std::string text);
    // Said below the title until it is empty again.
    void set_warning(std::string warning) { warning_ = std::move(warning); }

    // At most screen.height lines.
    std::vector<TopLine> lines(const TopRates& rates, const TopScreen& screen);

  private:
    enum class Page { ports, port, why, help };
    using Lines = std::vector<TopLine>;
    std::vector<const TopRow*> sorted(const TopRates& rates) const;
    void move(const TopRates& rates, long by);
    void go(Page page);
    std::string head(const TopRates& rates) const;
    Lines ports_page(const TopRates& rates, const TopScreen& screen) const;
    Lines port_page(const TopRates& rates, const TopScreen& screen) const;

    std::string socket_, warning_, chosen_, why_;
    Page page_ = Page::ports, below_ = Page::ports;  // below: of `why` and of the help
    std::size_t order_ = 0, scroll_ = 0, room_ = 1;  // room: rows that the last screen had
};

}  // namespace sluice::ctl

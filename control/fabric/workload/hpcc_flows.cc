// The flow list of HPCC's simulator and its descendants. ns-3 reads as many flows as the first line says.
#include <fmt/format.h>

#include <algorithm>

#include "control/fabric/workload/list_maker.hh"

namespace sluice::fabric {
namespace {

constexpr std::uint64_t ps_a_second = 1'000'000'000'000;  // in picoseconds
constexpr std::size_t least_values = 5, usual_values = 6;

bool is_flow(const LineWords& line) {
    return line.count >= least_values &&
           std::all_of(line.words.begin(), line.words.begin() + 3,
                       [](auto& word) { return parse_integer(word.text).has_value(); });
}

class HpccReader {
  public:
    HpccReader(TextLines& lines, ListMaker& maker) : lines_(lines), maker_(maker) {}

    void read() {
        if (!read_count()) return;
        std::uint64_t read = 0;
        while (read < count_ && !maker_.is_full() && lines_.next())
            if (!is_blank(trimmed(lines_.text()))) {
                read_flow(words_of(lines_.text(), lines_.number()));
                ++read;
            }
        if (maker_.is_full() || !lines_.wrong().wrong.empty()) return;
        if (read < count_)
            return maker_.refuse(
                count_place_,
                fmt::format("the first line says {} flows, and the file lists {}", count_, read),
                fmt::format("write {}, or add those that are missing", read));
        note_rest();
    }

  private:
    bool read_count() {
        const LineWords first = words_of(lines_.text(), lines_.number());
        const ListMaker::Cell& cell = first.words[0];
        const auto count = parse_integer(cell.text);
        count_place_ = cell.place;
        if (first.count == 1 && count) {
            count_ = *count;
            return true;
        }
        maker_.refuse(count_place_, "the first line is not the number of flows",
                      "write how many flows follow, or format = \"csv\"");
        return false;
    }

    // src dst pg [dport] size start
    void read_flow(const LineWords& line) {
        ListedFlow flow = maker_.begin(lines_.number());
        if (line.count < least_values)
            return maker_.refuse({lines_.number(), 1},
                                 fmt::format("a flow has 6 values, and this line {}", line.count),
                                 "write: source destination class port bytes seconds");
        if (values_ == 0) {
            values_ = line.count;
            if (values_ > usual_values) maker_.note("values behind a flow's start are left out");
            if (values_ == least_values)
                maker_.note("5 values a flow: source, destination, class, bytes, start");
        }
        if (line.count != values_)
            return maker_.refuse(
                {lines_.number(), 1},
                fmt::format("the line has {} values, and the first flow {}", line.count, values_),
                "write the same values in each line");
        const auto& words = line.words;
        const std::size_t size = values_ == least_values ? 3 : 4;
        const bool has_ends = maker_.read_ends(words[0], words[1], flow);
        const bool has_class = maker_.read_class(words[2], flow);
        const bool has_size = maker_.read_bytes(words[size], 1, flow);
        const bool has_start = maker_.read_start(words[size + 1], ps_a_second, flow);
        if (has_ends && has_class && has_size && has_start) maker_.add(flow, false);
    }

    // Text of any kind may follow.
    void note_rest() {
        std::uint64_t more = 0;
        while (lines_.next())
            if (is_flow(words_of(lines_.text(), lines_.number()))) ++more;
        if (more == 0) return;
        maker_.note(
            fmt::format("the file lists {} flows, and its first line says {}: {} {} read, as ns-3 does",
                        count_ + more, count_, count_, print_was(count_)));
    }

    TextLines& lines_;
    ListMaker& maker_;
    SourcePlace count_place_;
    std::uint64_t count_ = 0;
    std::size_t values_ = 0;  // of a flow
};

}  // namespace

void read_hpcc(TextLines& lines, ListMaker& maker) {
    maker.set_format(WorkloadFormat::hpcc);
    HpccReader(lines, maker).read();
}

}  // namespace sluice::fabric

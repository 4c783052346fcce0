// The connection matrix of htsim: connections, and triggers by which the end of some starts others.
//
// A trigger of htsim tells a flow at once that another has ended at its sender, or at its receiver. Here a
// flow starts when its own sender knows (lib/roce/transfers.hh), and each flow of a multishot trigger waits
// for a flow that the file settles, where htsim takes the first that ends. Notes count both.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "control/fabric/workload/list_maker.hh"

namespace sluice::fabric {
namespace htsim {
namespace {

using Cell = ListMaker::Cell;

enum Count : std::uint8_t { nodes, connections, triggers, failures, counts };
constexpr std::array<std::string_view, counts> count_words{"Nodes", "Connections", "Triggers", "Failures"};

enum Key : std::uint8_t { start, size, id, trigger, send_done, recv_done, prio, keys };
constexpr std::array<std::string_view, keys> key_words{
    "start", "size", "id", "trigger", "send_done_trigger", "recv_done_trigger", "prio"};

enum class Shots : std::uint8_t { unknown, oneshot, multishot, barrier };
constexpr std::array<std::string_view, 4> shot_words{"", "oneshot", "multishot", "barrier"};

constexpr std::uint64_t max_id = 0xFFFF'FFFF;

// The place of a word among others; nothing: it is none of them.
template <std::size_t N>
std::optional<std::size_t> place_of(std::string_view word, const std::array<std::string_view, N>& words) {
    const auto found = std::ranges::find(words, word);
    if (word.empty() || found == words.end()) return {};
    return static_cast<std::size_t>(found - words.begin());
}

class MatrixReader {
  public:
    MatrixReader(TextLines& lines, ListMaker& maker) : lines_(lines), maker_(maker) {}

    void read() {
        do read_line(words_of(lines_.text(), lines_.number()));
        while (!maker_.is_full() && lines_.next());
        if (maker_.is_full() || !lines_.wrong().wrong.empty()) return;
        check_counts();
        for (const auto& [number, each] : triggers_) join(number, each);
        note_rest();
    }

  private:
    struct End {
        std::uint32_t flow;  // index
        bool at_receiver;
        SourcePlace place;
    };
    struct Trigger {
        Shots shots = Shots::unknown;
        std::uint64_t count = 0;  // of a barrier
        SourcePlace place;
        std::vector<End> ends;   // that activate it
        std::vector<End> flows;  // that it starts
    };

    void read_line(const LineWords& line) {
        if (line.count == 0) return;
        const Cell& first = line.words[0];
        if (line.count == line.words.size())
            maker_.refuse(first.place, fmt::format("the line has more than {} words", line.count - 1),
                          "write one connection or trigger a line");
        else if (const auto count = place_of(first.text, count_words))
            read_count(static_cast<Count>(*count), line);
        else if (const std::size_t arrow = first.text.find("->"); arrow != first.text.npos)
            read_connection(line, arrow);
        else if (first.text == "trigger")
            read_trigger(line);
        else if (first.text == "failure")
            ++found_[failures];
        else
            maker_.refuse(first.place,
                          fmt::format("{} begins no line of a matrix", in_quotes(first.text, 32)),
                          "write SOURCE->DESTINATION, trigger or failure, behind Nodes and Connections");
    }

    void read_count(Count which, const LineWords& line) {
        const auto number = parse_integer(line.words[1].text);
        if (line.count != 2 || !number)
            return maker_.refuse(line.words[0].place,
                                 fmt::format("{} stands before one number", count_words[which]),
                                 fmt::format("write {} 16", count_words[which]));
        if (said_[which])
            return maker_.refuse(line.words[0].place, fmt::format("{} is there twice", count_words[which]),
                                 "leave one out");
        said_[which] = *number;
        places_[which] = line.words[0].place;
    }

    void read_connection(const LineWords& line, std::size_t arrow) {
        ++found_[connections];
        std::array<std::optional<Cell>, keys> values;
        if (!read_values(line, values)) return;
        const Cell& ends = line.words[0];
        const Cell from{ends.text.substr(0, arrow), ends.place};
        const Cell to{ends.text.substr(arrow + 2),
                      {ends.place.line, ends.place.column + static_cast<unsigned>(arrow + 2)}};
        ListedFlow flow = maker_.begin(lines_.number());
        bool good = is_node(from) && is_node(to) && maker_.read_ends(from, to, flow);
        const bool waits = values[trigger].has_value();
        if (!values[size] || values[size]->text == "0") {
            maker_.refuse(values[size] ? values[size]->place : ends.place,
                          "without a size the connection would never end, as in htsim",
                          "write how many bytes it sends: size 2000000");
            good = false;
        } else {
            good = maker_.read_bytes(*values[size], 1, flow) && good;
        }
        if (waits == values[start].has_value()) {
            maker_.refuse(ends.place,
                          waits ? "the connection has both a start and a trigger"
                                : "the connection has neither a start nor a trigger",
                          waits ? "leave one out" : "write start 0");
            good = false;
        } else if (!waits) {
            good = maker_.read_start(*values[start], 1, flow) && good;
        }
        std::array<std::uint64_t, keys> numbers{};
        for (const Key key : {id, trigger, send_done, recv_done})
            if (values[key]) good = read_id(*values[key], key_words[key], numbers[key]) && good;
        if (values[id] && good) good = maker_.read_name(*values[id], flow);
        if (!good) return;
        const auto index = static_cast<std::uint32_t>(maker_.flows().size());
        maker_.add(flow, waits);
        for (const Key key : {trigger, send_done, recv_done}) {
            if (!values[key]) continue;
            Trigger& used = triggers_[numbers[key]];
            if (used.place.line == 0) used.place = values[key]->place;
            (key == trigger ? used.flows : used.ends)
                .push_back({index, key == recv_done, values[key]->place});
        }
        if (values[prio]) ++with_prio_;
    }

    bool is_node(const Cell& cell) {
        const auto number = parse_integer(cell.text);
        if (!number || !said_[nodes] || *number < *said_[nodes]) return true;
        maker_.refuse(cell.place,
                      fmt::format("there is no node {}: the header says Nodes {}", *number, *said_[nodes]),
                      fmt::format("write Nodes {}", *number + 1));
        return false;
    }

    // Keys and their values behind the first word.
    bool read_values(const LineWords& line, std::array<std::optional<Cell>, keys>& values) {
        for (std::size_t n = 1; n < line.count; ++n) {
            const Cell& word = line.words[n];
            if (word.text == "addon") {
                ++with_addon_;
                continue;
            }
            const auto key = place_of(word.text, key_words);
            if (!key || n + 1 == line.count || values[*key]) {
                maker_.refuse(word.place,
                              fmt::format("{} {}", in_quotes(word.text, 32),
                                          !key           ? "is not a key of a connection"
                                          : values[*key] ? "is there twice"
                                                         : "has no value"),
                              !key ? fmt::format("write one of {}", fmt::join(key_words, ", "))
                                   : "write it once, with a value");
                return false;
            }
            values[*key] = line.words[++n];
        }
        return true;
    }

    bool read_id(const Cell& cell, std::string_view what, std::uint64_t& number) {
        const auto value = parse_whole(cell.text, 1, max_id);
        if (value)
            number = *value;
        else
            maker_.refuse(cell, what, value.error());
        return value.has_value();
    }

    void read_trigger(const LineWords& line) {
        ++found_[triggers];
        Trigger made;
        std::uint64_t number = 0;
        const Cell& first = line.words[0];
        for (std::size_t n = 1; n < line.count; ++n) {
            const Cell& word = line.words[n];
            const auto shots = place_of(word.text, shot_words);
            if (shots && made.shots == Shots::unknown) {
                made.shots = static_cast<Shots>(*shots);
            } else if ((word.text == "id" || word.text == "count") && n + 1 < line.count) {
                if (!read_id(line.words[++n], word.text, word.text == "id" ? number : made.count)) return;
            } else {
                return maker_.refuse(word.place,
                                     fmt::format("{} does not belong here", in_quotes(word.text, 32)),
                                     "write: trigger id 3 oneshot; or multishot; or barrier count 4");
            }
        }
        if (number == 0 || made.shots == Shots::unknown)
            return maker_.refuse(first.place,
                                 number == 0 ? "the trigger has no id" : "the trigger has no kind",
                                 "write: trigger id 3 oneshot; or multishot; or barrier count 4");
        Trigger& there = triggers_[number];
        if (there.shots != Shots::unknown)
            return maker_.refuse(first.place, fmt::format("trigger {} is there twice", number),
                                 "leave one out");
        there.shots = made.shots;
        there.count = made.count;
        there.place = first.place;
    }

    void check_counts() {
        for (const Count each : {connections, triggers, failures}) {
            const std::uint64_t said = said_[each].value_or(0);
            if (said == found_[each]) continue;
            maker_.refuse(places_[each].line == 0 ? SourcePlace{1, 1} : places_[each],
                          fmt::format("the header says {} {}, and the file has {}", count_words[each], said,
                                      found_[each]),
                          fmt::format("write {} {}", count_words[each], found_[each]));
        }
    }

    void join(std::uint64_t number, const Trigger& of) {
        if (of.shots == Shots::unknown)
            return maker_.refuse(of.place, fmt::format("no line says of which kind trigger {} is", number),
                                 fmt::format("write: trigger id {} oneshot", number));
        if (of.flows.empty()) {
            ++idle_;
            return;
        }
        if (of.ends.empty())
            return maker_.refuse(of.flows.front().place, fmt::format("no flow activates trigger {}", number),
                                 fmt::format("write send_done_trigger {} for one, or a start here", number));
        if (of.shots == Shots::multishot) return join_in_turn(number, of);
        if (of.shots == Shots::oneshot && of.ends.size() != 1)
            return maker_.refuse(
                of.ends[1].place,
                fmt::format("trigger {} is a oneshot, and another flow activates it", number),
                fmt::format("make it multishot, or barrier count {}", of.ends.size()));
        if (of.shots == Shots::barrier && of.ends.size() != of.count)
            return maker_.refuse(
                of.place,
                fmt::format("barrier {} counts {}, and {} it", number, print_count(of.count, "flow"),
                            of.ends.size() == 1 ? "1 activates" : fmt::format("{} activate", of.ends.size())),
                fmt::format("write count {}", of.ends.size()));
        for (const End& flow : of.flows)
            for (const End& end : of.ends)
                if (!maker_.is_full()) wait_for(flow, end);
    }

    // Each activation starts one flow. Those that need no activation of this trigger come first.
    void join_in_turn(std::uint64_t number, const Trigger& of) {
        std::vector<End> ends = of.ends;
        std::ranges::stable_partition(ends, [&](const End& end) {
            return !std::ranges::binary_search(of.flows, end.flow, {}, &End::flow);
        });
        if (of.flows.size() > ends.size())
            return maker_.refuse(of.flows[ends.size()].place,
                                 fmt::format("trigger {} is activated {}, and starts {}", number,
                                             ends.size() == 1 ? "once" : fmt::format("{} times", ends.size()),
                                             print_count(of.flows.size(), "flow")),
                                 "add as many send_done_trigger, or write a start here");
        for (std::size_t n = 0; n < of.flows.size(); ++n) wait_for(of.flows[n], ends[n]);
        if (ends.size() > 1) in_turn_ += of.flows.size();
    }

    void wait_for(const End& flow, const End& end) {
        const ListedFlow &own = maker_.flows()[flow.flow], &before = maker_.flows()[end.flow];
        ++waits_;
        if (own.from != (end.at_receiver ? before.to : before.from)) ++elsewhere_;
        maker_.wait_for(flow.flow, end.flow, flow.place);
    }

    void note_rest() {
        if (said_[nodes] && *said_[nodes] != maker_.hosts())
            maker_.note(fmt::format("the matrix has {}, the fabric {}", print_count(*said_[nodes], "node"),
                                    print_count(maker_.hosts(), "host")));
        if (elsewhere_ != 0)
            maker_.note(
                fmt::format("{} of {}: the flow starts when its own sender knows of the end, where htsim "
                            "tells it at once",
                            elsewhere_, print_count(waits_, "wait")));
        if (in_turn_ != 0)
            maker_.note(fmt::format("{} of multishot triggers: each waits for one flow, in the file's order",
                                    print_count(in_turn_, "flow")));
        if (idle_ != 0) maker_.note(fmt::format("{} without a flow to start", print_count(idle_, "trigger")));
        if (with_prio_ != 0) maker_.note(fmt::format("prio of {} left out", print_count(with_prio_, "flow")));
        if (with_addon_ != 0)
            maker_.note(fmt::format("addon of {} left out", print_count(with_addon_, "flow")));
        if (found_[failures] != 0)
            maker_.note(
                fmt::format("{} left out: [[event]] cuts links", print_count(found_[failures], "failure")));
    }

    TextLines& lines_;
    ListMaker& maker_;
    std::array<std::optional<std::uint64_t>, counts> said_;
    std::array<SourcePlace, counts> places_;
    std::array<std::uint64_t, counts> found_{};
    std::map<std::uint64_t, Trigger> triggers_;  // by id
    std::uint64_t waits_ = 0, elsewhere_ = 0, in_turn_ = 0, idle_ = 0, with_prio_ = 0, with_addon_ = 0;
};

}  // namespace
}  // namespace htsim

bool is_htsim_header(std::string_view line) {
    const LineWords words = words_of(line, 1);
    return htsim::place_of(words.words[0].text, htsim::count_words).has_value();
}

void read_htsim(TextLines& lines, ListMaker& maker) {
    maker.set_format(WorkloadFormat::htsim);
    htsim::MatrixReader(lines, maker).read();
}

}  // namespace sluice::fabric

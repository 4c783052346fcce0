// GOAL as text: num_ranks 16, then rank 0 { ... } for each rank with operations and what they wait for.
//
// As txt2bin of LogGOPSim reads it, and more: a comment or another statement may follow in the same line, a
// rank may stand in several lines, and a label may be used before its operation. What txt2bin folds without a
// word (tags of 32 bits, cpu and nic of 8) is refused here, or noted.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>

#include "control/config/schema/values.hh"
#include "control/fabric/schedule/goal_labels.hh"
#include "control/fabric/schedule/goal_tokens.hh"
#include "control/fabric/schedule/schedule_readers.hh"
#include "control/fabric/schedule/unmatched_messages.hh"
#include "control/fabric/workload/flow_values.hh"

namespace sluice::fabric {
namespace goal {
namespace {

using Operation = roce::Program::Operation;
using Kind = Operation::Kind;

constexpr std::string_view rank_form = "write rank 0 { behind num_ranks, and } behind its operations";
constexpr std::string_view operation_form =
    "write l1: send 10b to 3 tag 5, recv 10b from 3 tag 5, or calc 1000";
constexpr std::string_view wait_form = "write l2 requires l1, or l2 irequires l1";
enum Option : std::uint8_t { tag, cpu, nic };
constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t max_waits = 1'000'000'000;  // of all ranks
constexpr std::uint64_t max_nic = 255;              // as txt2bin's
// Larger tags get the numbers from here on, in their order in the file.
constexpr std::uint32_t first_new_tag = 1U << 31;

std::optional<Kind> kind_of(std::string_view word) {
    if (word == "calc") return Kind::compute;
    if (word == "send") return Kind::send;
    if (word == "recv") return Kind::receive;
    return {};
}

class Reader {
  public:
    Reader(TextLines::Source source, const std::string& file, const ScheduleSettings& settings)
        : tokens_(std::move(source)), settings_(settings), errors_(file) {}

    ScheduleResult read() {
        while (!stopped() && tokens_.next_line()) read_line();
        if (!tokens_.wrong().wrong.empty()) {
            refuse({tokens_.line(), 1}, tokens_.wrong().wrong, tokens_.wrong().remedy);
        } else if (!stopped()) {
            if (tokens_.open_comment())
                refuse(*tokens_.open_comment(), "the comment does not end", "write */ behind it");
            if (is_open_) refuse_open();
            if (!ranks_) refuse({}, "the file has no num_ranks", "begin it with num_ranks 16");
        }
        if (!errors_.any()) finish();
        if (errors_.any()) return tl::unexpected(errors_.take());
        return std::move(schedule_);
    }

  private:
    bool stopped() const { return is_stopped_ || errors_.is_full(); }

    // False: the rest of the line is not read.
    bool refuse(SourcePlace place, std::string wrong, std::string_view remedy) {
        errors_.refuse(place, std::move(wrong), std::string(remedy));
        return false;
    }
    bool refuse_instead(const Token& token, std::string_view wanted, std::string_view remedy) {
        return refuse(token.place,
                      token.kind == Token::Kind::end
                          ? fmt::format("the line ends before {}", wanted)
                          : fmt::format("{} stands where {} is due", in_quotes(token.text, 32), wanted),
                      remedy);
    }
    bool stop(SourcePlace place, std::string wrong, std::string_view remedy) {
        is_stopped_ = true;
        return refuse(place, std::move(wrong), remedy);
    }

    // Takes a number in [0, high].
    std::optional<std::uint64_t> take_number(std::string_view what, std::uint64_t high,
                                             std::string_view remedy) {
        const Token token = tokens_.peek();
        if (token.kind != Token::Kind::number) {
            refuse_instead(token, what, remedy);
            return {};
        }
        tokens_.take();
        const auto number = parse_whole(token.text, 0, high);
        if (number) return *number;
        refuse(token.place, fmt::format("{} {} {}", what, in_quotes(token.text, 32), number.error().wrong),
               remedy);
        return {};
    }

    void read_line() {
        bool goes_on = true;
        while (goes_on && !stopped() && tokens_.peek().kind != Token::Kind::end)
            goes_on = waits_for_brace_ ? open_rank() : read_statement(tokens_.take());
    }

    bool read_statement(const Token& first) {
        if (first.is("}")) return close_rank(first);
        if (first.kind != Token::Kind::word) return refuse_instead(first, "a statement", operation_form);
        if (first.is("num_ranks")) return read_ranks(first);
        if (first.is("rank")) return read_rank(first);
        if (!is_open_)
            return refuse(first.place, fmt::format("{} stands in no rank", in_quotes(first.text, 32)),
                          rank_form);
        if (const auto kind = kind_of(first.text)) return add_operation(*kind, first, nullptr);
        return read_label(first);
    }

    bool read_ranks(const Token& first) {
        if (ranks_)
            return refuse(first.place, "num_ranks is there twice, or in a rank",
                          "write it once, as the first line");
        const SourcePlace place = tokens_.peek().place;
        const auto ranks = take_number("the number of ranks", most, "write num_ranks 16");
        is_stopped_ = !ranks;
        if (!ranks) return false;
        if (*ranks == 0) return stop(place, "the schedule has no rank", "write num_ranks 16");
        if (*ranks > max_schedule_ranks)
            return stop(place,
                        fmt::format("the schedule has {} ranks, more than {}", *ranks, max_schedule_ranks),
                        "generate it for fewer");
        if (*ranks > settings_.ranks)
            return stop(place,
                        fmt::format("the schedule has {}, there are {}", print_count(*ranks, "rank"),
                                    print_count(settings_.ranks, "host")),
                        "name more hosts, or generate it for fewer ranks");
        ranks_ = static_cast<std::uint32_t>(*ranks);
        schedule_.programs.resize(*ranks);
        rank_places_.resize(*ranks);
        return true;
    }

    bool read_rank(const Token& first) {
        if (!ranks_) return stop(first.place, "the rank stands before num_ranks", "begin with num_ranks 16");
        if (is_open_) refuse_open();
        is_open_ = waits_for_brace_ = true;
        place_ = first.place;
        rank_.reset();
        const SourcePlace place = tokens_.peek().place;
        const auto rank = take_number("the number of the rank", most, "write rank 0 {");
        if (!rank) {
            while (!tokens_.peek().is("{") && tokens_.peek().kind != Token::Kind::end) tokens_.take();
            return true;
        }
        if (*rank >= *ranks_)
            return !refuse(place, fmt::format("there is no rank {}: num_ranks is {}", *rank, *ranks_),
                           "write a larger num_ranks, or leave the rank out");
        rank_ = static_cast<std::uint32_t>(*rank);
        SourcePlace& there = rank_places_[*rank];
        if (there.line != 0)
            refuse(place, fmt::format("rank {} is there already, in line {}", *rank, there.line),
                   "write all its operations into one");
        else
            there = first.place;
        return true;
    }

    bool open_rank() {
        waits_for_brace_ = false;
        if (tokens_.peek().is("{")) {
            tokens_.take();
            return true;
        }
        refuse_instead(tokens_.peek(), "{", "write rank 0 {");
        return tokens_.peek().kind == Token::Kind::word;  // perhaps the first operation
    }

    void refuse_open() {
        refuse(place_, rank_ ? fmt::format("rank {} is not closed", *rank_) : "the rank is not closed",
               "write } behind its last operation");
        end_rank();
    }

    bool close_rank(const Token& brace) {
        if (!is_open_) return refuse(brace.place, "} closes no rank", "leave it out");
        end_rank();
        return true;
    }

    bool read_label(const Token& first) {
        const Token next = tokens_.take();
        if (!next.is(":") && !next.is("requires") && !next.is("irequires"))
            return refuse_instead(next, ":, requires or irequires", operation_form);
        Label& label = labels_.of(first);
        if (next.is(":")) {
            if (label.operation)
                return refuse(first.place,
                              fmt::format("label {} is there already, in line {}", in_quotes(first.text, 32),
                                          label.place.line),
                              "give each operation of a rank a label of its own");
            label.place = first.place;
            const Token word = tokens_.take();
            if (const auto kind = kind_of(word.text)) return add_operation(*kind, word, &label);
            label.operation = maker_.add({});  // so that those that wait for it are good
            return refuse_instead(word, "send, recv or calc", operation_form);
        }
        const Token other = tokens_.take();
        if (other.kind != Token::Kind::word) return refuse_instead(other, "a label", wait_form);
        if (++waits_ > max_waits)
            return stop(first.place, fmt::format("operations wait for more than {} others", max_waits),
                        "generate a shorter schedule");
        labels_.wait(maker_, label, labels_.of(other), next.is("irequires"));
        return true;
    }

    bool add_operation(Kind kind, const Token& first, Label* label) {
        Operation operation{.place = tokens_.line(), .kind = kind};
        const bool good = kind == Kind::compute ? read_computation(operation) : read_message(operation);
        if (++operations_ > max_operations)
            return stop(first.place, fmt::format("the schedule has more than {} operations", max_operations),
                        "generate a shorter one");
        const std::uint32_t number = maker_.add(operation);
        if (label != nullptr) label->operation = number;
        return good;
    }

    bool read_computation(Operation& operation) {
        constexpr double picoseconds = 1000;  // of a nanosecond
        const SourcePlace place = tokens_.peek().place;
        const auto time = take_number("the time in nanoseconds", most, operation_form);
        if (!time) return false;
        const auto scaled = scaled_time(static_cast<double>(*time) * picoseconds, settings_.scale_time);
        if (!scaled)
            return refuse(place, fmt::format("the time is longer than {}", print_time(max_computation)),
                          "write nanoseconds, or another scale_time");
        operation.amount = *scaled;
        return read_options(operation);
    }

    bool read_message(Operation& operation) {
        const bool is_send = operation.kind == Kind::send;
        const SourcePlace place = tokens_.peek().place;
        const auto bytes = take_number("the number of bytes", most, operation_form);
        if (!bytes) return false;
        const auto scaled = scaled_bytes(*bytes, settings_.scale_bytes, max_operation_bytes);
        if (!scaled)
            return refuse(place,
                          fmt::format("the message is larger than {}", print_size(max_operation_bytes)),
                          "divide it, or write another scale_bytes");
        operation.amount = *scaled;
        if (const Token unit = tokens_.take(); !unit.is("b"))
            return refuse_instead(unit, "b", operation_form);
        const std::string_view verb = is_send ? "to" : "from";
        if (const Token word = tokens_.take(); !word.is(verb))
            return refuse_instead(word, verb, operation_form);
        if (!read_peer(operation) || !read_options(operation)) return false;
        ++messages_;
        empty_ += *bytes == 0 ? 1 : 0;
        return true;
    }

    bool read_peer(Operation& operation) {
        const Token token = tokens_.peek();
        if (operation.kind == Kind::receive && token.is("-1")) {
            operation.peer = Operation::any;
            tokens_.take();
            return true;
        }
        const auto peer = take_number("the rank", most, operation_form);
        if (!peer) return false;
        if (*peer >= *ranks_)
            return refuse(token.place, fmt::format("there is no rank {}: num_ranks is {}", *peer, *ranks_),
                          "write a rank that is there");
        operation.peer = static_cast<std::uint32_t>(*peer);
        return true;
    }

    // Those of the same line.
    bool read_options(Operation& operation) {
        constexpr std::array<std::string_view, 3> words{"tag", "cpu", "nic"};
        constexpr std::string_view remedy = "write tag 5 cpu 0 nic 0, behind calc only cpu 0";
        std::array<bool, 3> seen{};
        while (true) {
            const Token word = tokens_.peek();
            const auto which = static_cast<std::size_t>(std::ranges::find(words, word.text) - words.begin());
            if (which == words.size()) return true;
            tokens_.take();
            if (seen[which])
                return refuse(word.place, fmt::format("{} is there twice", word.text), "leave one out");
            seen[which] = true;
            if (operation.kind == Kind::compute && which != cpu)
                return refuse(word.place, fmt::format("a computation has no {}", word.text), remedy);
            if (which == tag && !read_tag(operation, remedy)) return false;
            if (which == tag) continue;
            const auto value = take_number(words[which], which == cpu ? max_streams - 1 : max_nic, remedy);
            if (!value) return false;
            if (which == cpu) operation.stream = static_cast<std::uint16_t>(*value);
            if (which == nic && *value != 0) ++other_nics_;
        }
    }

    // Any tag is -1; as programs print it, in 32 or 64 bits without a sign, too.
    bool read_tag(Operation& operation, std::string_view remedy) {
        const Token token = tokens_.peek();
        std::optional<std::uint64_t> number = most;
        if (token.is("-1"))
            tokens_.take();
        else
            number = take_number("tag", most, remedy);
        if (!number) return false;
        const bool is_any = *number == most || *number == Operation::any;
        if (is_any && operation.kind == Kind::send)
            return refuse(token.place, fmt::format("tag {} is any tag, and a send has one", token.text),
                          "write its tag, from 0");
        operation.tag = is_any                    ? Operation::any
                        : *number < first_new_tag ? static_cast<std::uint32_t>(*number)
                                                  : new_tag(*number);
        return true;
    }

    std::uint32_t new_tag(std::uint64_t tag) {
        const auto next = static_cast<std::uint32_t>(first_new_tag + new_tags_.size());
        return new_tags_.try_emplace(tag, next).first->second;
    }

    void end_rank() {
        is_open_ = waits_for_brace_ = false;
        for (const Label* each : labels_.finish(maker_)) {
            if (errors_.is_full()) break;
            refuse(each->place,
                   fmt::format("no operation of this rank has the label {}", in_quotes(each->name, 32)),
                   "write the label before an operation, or leave this out");
        }
        if (rank_) {
            std::uint32_t circle = 0;
            auto& program = schedule_.programs[*rank_];
            program = maker_.finish(circle);
            if (!program)
                refuse({maker_[circle].place, 1},
                       fmt::format("this operation of rank {} waits for itself, over others or directly",
                                   *rank_),
                       "leave out one requires of the circle");
        }
        maker_ = {};
        labels_.clear();
    }

    void finish() {
        if (messages_ == 0)
            return void(refuse({}, "the schedule has no message", "write send and recv into its ranks"));
        std::uint32_t circle = 0;
        const auto empty = ProgramMaker().finish(circle);
        std::uint32_t absent = 0;
        for (auto& program : schedule_.programs) {
            if (program) continue;
            program = empty;
            ++absent;
        }
        check_schedule(schedule_, "line", errors_);
        if (errors_.any()) return;
        const auto note = [&](std::uint64_t count, const std::string& text) {
            if (count != 0) schedule_.notes.push_back(text);
        };
        note(absent, fmt::format("{} of {} not in the file, and {} nothing", absent,
                                 print_count(*ranks_, "rank") + (absent == 1 ? " is" : " are"),
                                 absent == 1 ? "does" : "do"));
        note(empty_, fmt::format("{} of 0 bytes {} 1 byte", print_count(empty_, "operation"),
                                 empty_ == 1 ? "has" : "have"));
        note(other_nics_,
             fmt::format("nic of {} left out: a host has one NIC", print_count(other_nics_, "message")));
        note(new_tags_.size(),
             fmt::format("{} above {} {} numbered anew", print_count(new_tags_.size(), "tag"),
                         first_new_tag - 1, new_tags_.size() == 1 ? "is" : "are"));
        note_unmatched(schedule_, "line");
    }

    Tokens tokens_;
    const ScheduleSettings& settings_;
    ScheduleErrors errors_;
    Schedule schedule_;
    std::optional<std::uint32_t> ranks_;
    std::vector<SourcePlace> rank_places_;  // line 0: not there yet
    std::map<std::uint64_t, std::uint32_t> new_tags_;
    std::uint64_t operations_ = 0, waits_ = 0, messages_ = 0, empty_ = 0, other_nics_ = 0;
    bool is_stopped_ = false;

    // The state of the rank that is read now.
    bool is_open_ = false, waits_for_brace_ = false;
    std::optional<std::uint32_t> rank_;  // nothing: it has no right number
    SourcePlace place_;
    ProgramMaker maker_;
    Labels labels_;
};

}  // namespace
}  // namespace goal

bool is_goal_header(std::string_view line) {
    const std::string_view text = trimmed(line);
    if (goal::is_comment(text)) return true;
    goal::Tokens tokens(TextLines::source_of(text));
    return tokens.next_line() && tokens.take().is("num_ranks") &&
           tokens.take().kind == goal::Token::Kind::number;
}

ScheduleResult read_goal(TextLines::Source source, const std::string& file,
                         const ScheduleSettings& settings) {
    return goal::Reader(std::move(source), file, settings).read();
}

}  // namespace sluice::fabric

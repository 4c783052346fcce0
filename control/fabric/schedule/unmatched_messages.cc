#include "control/fabric/schedule/unmatched_messages.hh"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "control/config/schema/values.hh"

namespace sluice::fabric {
namespace unmatched {
namespace {

using Operation = roce::Program::Operation;

struct Message {
    std::uint32_t to, from, tag, place;
    bool is_send;
    bool operator<(const Message& other) const {
        return std::tie(to, from, tag) < std::tie(other.to, other.from, other.tag);
    }
};

// All messages to a rank with one source and tag; those of any source, and of any tag, come last.
struct Run {
    std::uint32_t from, tag;
    std::uint64_t sends = 0, receives = 0;
    std::uint32_t send_place = 0, receive_place = 0;  // of the last one
};

// What is found, of all ranks.
struct Found {
    std::uint64_t count = 0;
    std::string named;
    unsigned names = 0;
};

class Matching {
  public:
    explicit Matching(std::string_view place_word) : place_word_(place_word) {}

    // The runs of one destination, sorted.
    void match(std::uint32_t to, std::span<Run> runs) {
        to_ = to;
        left_ = wild_ = wild_missing_ = sends_missing_ = 0;
        last_left_ = last_wild_ = nullptr;
        const auto tail = std::ranges::lower_bound(runs, Operation::any, {}, &Run::from);
        of_any_ = {tail, runs.end()};
        for (auto begin = runs.begin(); begin != tail;) {
            const auto end = std::ranges::upper_bound(begin, tail, begin->from, {}, &Run::from);
            match_source({begin, end});
            begin = end;
        }
        for (const Run& run : of_any_) {
            if (run.tag != Operation::any && run.receives > run.sends)
                miss_wild(run, run.receives - run.sends);
            take_wild(run);
        }
        // No run alone proves these, all together do.
        if (left_ > wild_ + sends_missing_) miss_send(*last_left_, left_ - wild_ - sends_missing_);
        if (wild_ > left_ + wild_missing_) miss_wild(*last_wild_, wild_ - left_ - wild_missing_);
        is_exact_ &= wild_ == 0;
    }

    void note(std::vector<std::string>& notes) const {
        const std::string_view least = is_exact_ ? "" : "at least ";
        if (receives_.count != 0)
            notes.push_back(fmt::format(
                "{}{} no send, so {} for ever: {}", least,
                print_count(receives_.count, "receive") + (receives_.count == 1 ? " has" : " have"),
                receives_.count == 1 ? "its rank waits" : "their ranks wait", receives_.named));
        if (sends_.count != 0)
            notes.push_back(fmt::format(
                "{}{} no receive: {}", least,
                print_count(sends_.count, "send") + (sends_.count == 1 ? " has" : " have"), sends_.named));
    }

  private:
    void match_source(std::span<Run> runs) {
        const bool has_wild = runs.back().tag == Operation::any;
        const std::uint64_t wild = has_wild ? runs.back().receives : 0;
        const std::uint64_t wild_of_all =
            !of_any_.empty() && of_any_.back().tag == Operation::any ? of_any_.back().receives : 0;
        std::uint64_t left = 0;
        for (const Run& run : runs.first(runs.size() - (has_wild ? 1 : 0))) {
            if (run.receives > run.sends) miss(receives_, run, run.receives - run.sends, false);
            if (run.receives >= run.sends) continue;
            const std::uint64_t own = run.sends - run.receives;
            std::uint64_t room = wild + wild_of_all;
            const auto of_tag = std::ranges::lower_bound(of_any_, run.tag, {}, &Run::tag);
            if (of_tag != of_any_.end() && of_tag->tag == run.tag) {
                room += of_tag->receives;
                of_tag->sends += own;
            }
            left += own;
            last_left_ = &run;
            if (own > room) miss_send(run, own - room);
        }
        left_ += left;
        if (!has_wild) return;
        if (wild > left) miss_wild(runs.back(), wild - left);
        take_wild(runs.back());
    }

    void take_wild(const Run& run) {
        wild_ += run.receives;
        last_wild_ = &run;
    }
    void miss_wild(const Run& run, std::uint64_t count) {
        wild_missing_ += count;
        miss(receives_, run, count, false);
    }
    void miss_send(const Run& run, std::uint64_t count) {
        sends_missing_ += count;
        miss(sends_, run, count, true);
    }

    void miss(Found& found, const Run& run, std::uint64_t count, bool is_send) {
        constexpr unsigned most_names = 3;
        found.count += count;
        if (++found.names > most_names + 1) return;
        if (found.names > most_names) return append_item(found.named, ", ", "...");
        const std::string of = is_send ? fmt::format("rank {} to rank {}", run.from, to_)
                               : run.from == Operation::any
                                   ? fmt::format("rank {} from any rank", to_)
                                   : fmt::format("rank {} from rank {}", to_, run.from);
        append_item(found.named, ", ",
                    fmt::format("{} of {} ({} {})", count, of, place_word_,
                                is_send ? run.send_place : run.receive_place));
    }

    std::string_view place_word_;
    Found sends_, receives_;
    bool is_exact_ = true;

    std::uint32_t to_ = 0;
    std::span<Run> of_any_;  // source; `sends` are those that other receives leave
    std::uint64_t left_ = 0, wild_ = 0, sends_missing_ = 0, wild_missing_ = 0;
    const Run *last_left_ = nullptr, *last_wild_ = nullptr;
};

std::vector<Message> messages_of(const Schedule& schedule) {
    std::vector<Message> messages;
    for (std::uint32_t rank = 0; rank < schedule.programs.size(); ++rank)
        for (const Operation& each : schedule.programs[rank]->operations) {
            if (each.kind == Operation::Kind::send)
                messages.push_back({each.peer, rank, each.tag, each.place, true});
            else if (each.kind == Operation::Kind::receive)
                messages.push_back({rank, each.peer, each.tag, each.place, false});
        }
    std::ranges::sort(messages, std::less<>());
    return messages;
}

}  // namespace
}  // namespace unmatched

void note_unmatched(Schedule& schedule, std::string_view place_word) {
    using namespace unmatched;
    const std::vector<Message> messages = messages_of(schedule);
    Matching matching(place_word);
    std::vector<Run> runs;  // of one destination
    for (std::size_t n = 0; n < messages.size(); ++n) {
        const Message& each = messages[n];
        const bool is_new_rank = n == 0 || messages[n - 1].to != each.to;
        if (is_new_rank && n != 0) {
            matching.match(messages[n - 1].to, runs);
            runs.clear();
        }
        if (is_new_rank || messages[n - 1] < each) runs.push_back({each.from, each.tag});
        Run& run = runs.back();
        ++(each.is_send ? run.sends : run.receives);
        std::uint32_t& place = each.is_send ? run.send_place : run.receive_place;
        place = std::max(place, each.place);
    }
    if (!messages.empty()) matching.match(messages.back().to, runs);
    matching.note(schedule.notes);
}

}  // namespace sluice::fabric

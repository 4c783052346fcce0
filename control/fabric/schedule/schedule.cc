#include "control/fabric/schedule/schedule.hh"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <queue>
#include <set>

#include "lib/values/rng.hh"

namespace sluice::fabric {
namespace {

using Operation = roce::Program::Operation;

// The programs that differ from those of all ranks before.
template <class Visit>
void for_each_program(const Schedule& schedule, Visit visit) {
    std::set<const roce::Program*> seen;
    for (const auto& program : schedule.programs)
        if (seen.insert(program.get()).second) visit(*program);
}

bool is_message(const Operation& operation) {
    return operation.kind == Operation::Kind::send || operation.kind == Operation::Kind::receive;
}

// The groups of ranks, sorted by rank; ranks in none are not there.
using GroupOfRank = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

GroupOfRank groups_of(const Communication& communication) {
    GroupOfRank of;
    for (std::uint32_t group = 0; group < communication.groups.size(); ++group)
        for (const std::uint32_t rank : communication.groups[group]) of.emplace_back(rank, group);
    std::ranges::sort(of);
    return of;
}

}  // namespace

std::uint64_t Schedule::operations() const {
    std::uint64_t sum = 0;
    for (const auto& program : programs) sum += program->size();
    return sum;
}

std::uint64_t Schedule::bytes() const {
    std::uint64_t sum = 0;
    for (const auto& program : programs)
        for (const Operation& each : program->operations)
            if (each.kind == Operation::Kind::send || each.kind == Operation::Kind::collective)
                sum += each.amount;
    return sum;
}

std::uint64_t Schedule::memory_bytes() const {
    std::uint64_t sum = programs.size() * sizeof(programs[0]);
    for_each_program(*this, [&](const roce::Program& program) {
        sum += program.operations.capacity() * sizeof(Operation) +
               (program.waits.capacity() + program.first.capacity() + program.next.capacity()) *
                   sizeof(std::uint32_t);
    });
    return sum;
}

std::uint64_t Schedule::digest() const {
    std::uint64_t sum = programs.size();
    const auto add = [&](std::uint64_t part) { sum = scramble(sum ^ part); };
    std::map<const roce::Program*, std::uint64_t> known;
    for (const auto& program : programs) {
        const auto [at, is_new] = known.try_emplace(program.get(), known.size());
        add(at->second);
        if (!is_new) continue;
        for (const Operation& each : program->operations) {
            add(each.amount);
            add(std::uint64_t{each.peer} << 32 | each.tag);
            add(std::uint64_t{each.stream} << 8 | static_cast<std::uint8_t>(each.kind));
        }
        for (const std::uint32_t first : program->first) add(first);
        for (const roce::Program::Next& next : program->next)
            add(std::uint64_t{next.operation} << 1 | next.on_begin);
    }
    for (const Communication& each : communications) {
        add(static_cast<std::uint64_t>(each.kind));
        for (const auto& group : each.groups) {
            add(group.size());
            for (const std::uint32_t rank : group) add(rank);
        }
    }
    return sum;
}

void ScheduleErrors::refuse(SourcePlace place, std::string wrong, std::string remedy) {
    if (!is_full()) errors_.push_back({file_, place, {}, std::move(wrong), {}, std::move(remedy)});
}

std::uint32_t ProgramMaker::add(const roce::Program::Operation& operation) {
    operations_.push_back(operation);
    return size() - 1;
}

void ProgramMaker::wait(std::uint32_t operation, std::uint32_t before, bool until_begun) {
    waits_.push_back({operation, before, until_begun});
}

std::shared_ptr<const roce::Program> ProgramMaker::finish(std::uint32_t& circle) {
    std::ranges::sort(waits_);
    // A wait for the end of another includes that for its begin.
    waits_.erase(std::unique(waits_.begin(), waits_.end(),
                             [](const Wait& a, const Wait& b) {
                                 return a.operation == b.operation && a.before == b.before;
                             }),
                 waits_.end());
    const std::uint32_t count = size();
    std::vector<std::uint32_t> waits(count), first(count + 1);
    for (const Wait& each : waits_) {
        ++waits[each.operation];
        ++first[each.before + 1];
    }
    for (std::uint32_t n = 0; n < count; ++n) first[n + 1] += first[n];
    std::vector<std::uint32_t> then(waits_.size()), at(first.begin(), first.end() - 1);
    for (std::uint32_t n = 0; n < waits_.size(); ++n) then[at[waits_[n].before]++] = n;

    // The lowest number first among those that wait for none any more.
    std::vector<std::uint32_t> left = waits, order, now_at(count);
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> free;
    for (std::uint32_t n = 0; n < count; ++n)
        if (left[n] == 0) free.push(n);
    for (; !free.empty();) {
        const std::uint32_t next = free.top();
        free.pop();
        now_at[next] = static_cast<std::uint32_t>(order.size());
        order.push_back(next);
        for (std::uint32_t n = first[next]; n < first[next + 1]; ++n)
            if (--left[waits_[then[n]].operation] == 0) free.push(waits_[then[n]].operation);
    }
    if (order.size() != count) {
        // From one that waits back to those it waits for, until one comes again.
        const auto waiting =
            std::ranges::find_if(left, [](std::uint32_t n) { return n != 0; }) - left.begin();
        std::vector<bool> seen(count);
        for (circle = static_cast<std::uint32_t>(waiting); !seen[circle];) {
            seen[circle] = true;
            circle =
                std::ranges::find_if(std::ranges::lower_bound(waits_, circle, {}, &Wait::operation),
                                     waits_.end(), [&](const Wait& each) { return left[each.before] != 0; })
                    ->before;
        }
        return nullptr;
    }

    auto program = std::make_shared<roce::Program>();
    program->operations.reserve(count);
    program->waits.reserve(count);
    program->first.reserve(count + 1);
    program->next.reserve(waits_.size());
    for (const std::uint32_t old : order) {
        program->operations.push_back(operations_[old]);
        program->streams = std::max(program->streams, operations_[old].stream + 1U);
        program->waits.push_back(waits[old]);
        program->first.push_back(static_cast<std::uint32_t>(program->next.size()));
        for (std::uint32_t n = first[old]; n < first[old + 1]; ++n) {
            const Wait& each = waits_[then[n]];
            program->next.push_back({now_at[each.operation], each.until_begun});
        }
    }
    program->first.push_back(static_cast<std::uint32_t>(program->next.size()));
    *this = {};
    return program;
}

std::optional<std::uint64_t> scaled_time(double picoseconds, double factor) {
    const double scaled = std::round(picoseconds * factor);
    if (!(scaled >= 0 && scaled <= static_cast<double>(max_computation.ps))) return {};  // a NaN is neither
    return static_cast<std::uint64_t>(scaled);
}

std::optional<std::uint64_t> scaled_bytes(std::uint64_t bytes, double factor, std::uint64_t most) {
    if (factor != 1) {
        const double scaled = std::round(static_cast<double>(bytes) * factor);
        if (!(scaled <= static_cast<double>(most))) return {};
        bytes = static_cast<std::uint64_t>(scaled);
    }
    if (bytes > most) return {};
    return std::max<std::uint64_t>(bytes, 1);
}

namespace {

// The collectives of a rank in its order.
using Collectives = std::vector<const Operation*>;

class ScheduleCheck {
  public:
    ScheduleCheck(const Schedule& schedule, std::string_view place_word, ScheduleErrors& errors)
        : schedule_(schedule), place_word_(place_word), errors_(errors) {}

    void check() {
        const std::size_t ranks = schedule_.programs.size();
        for (const Communication& each : schedule_.communications) {
            groups_.push_back(groups_of(each));
            first_of_.emplace_back(each.groups.size());
        }
        for (std::uint32_t rank = 0; rank < ranks && !errors_.is_full(); ++rank) check_rank(rank);
    }

  private:
    void check_rank(std::uint32_t rank) {
        std::vector<Collectives> own(schedule_.communications.size());
        for (const Operation& each : schedule_.programs[rank]->operations) {
            if (errors_.is_full()) return;
            if (is_message(each)) check_message(rank, each);
            if (each.kind != Operation::Kind::collective) continue;
            if (group_of(each.peer, rank) == Operation::any)
                refuse(rank, each,
                       fmt::format("takes part in {}, which has no group with it",
                                   schedule_.communications[each.peer].name),
                       "add the rank to a group, or leave the operation out");
            else
                own[each.peer].push_back(&each);
        }
        for (std::size_t n = 0; n < own.size(); ++n) {
            const std::uint32_t group = group_of(n, rank);
            if (group == Operation::any) continue;
            auto& known = first_of_[n][group];
            if (!known)
                known.emplace(rank, std::move(own[n]));
            else
                compare(schedule_.communications[n].name, known->first, known->second, rank, own[n]);
        }
    }

    // `any`: the rank is in none.
    std::uint32_t group_of(std::size_t communication, std::uint32_t rank) const {
        const GroupOfRank& of = groups_[communication];
        const auto found = std::ranges::lower_bound(of, std::pair(rank, 0U));
        return found == of.end() || found->first != rank ? Operation::any : found->second;
    }

    void check_message(std::uint32_t rank, const Operation& each) {
        const std::string_view verb = each.kind == Operation::Kind::send ? "sends to" : "receives from";
        if (each.peer >= schedule_.programs.size() &&
            (each.kind == Operation::Kind::send || each.peer != Operation::any))
            refuse(rank, each,
                   fmt::format("{} rank {}, and there are {}", verb, each.peer, schedule_.programs.size()),
                   "write a rank that is there");
    }

    void compare(const std::string& name, std::uint32_t first_rank, const Collectives& first,
                 std::uint32_t rank, const Collectives& own) {
        for (std::size_t n = 0; n < std::min(first.size(), own.size()); ++n)
            if (first[n]->amount != own[n]->amount)
                return refuse(
                    rank, *own[n],
                    fmt::format("is number {} of {} with {} bytes, and that of rank {} ({} {}) has {}", n + 1,
                                name, own[n]->amount, first_rank, place_word_, first[n]->place,
                                first[n]->amount),
                    "give all ranks of a group the same collectives in the same order");
        if (first.size() == own.size()) return;
        const bool is_short = own.size() < first.size();
        const Operation& extra = is_short ? *first[own.size()] : *own[first.size()];
        refuse(
            is_short ? first_rank : rank, extra,
            fmt::format("is number {} of {}, and rank {} has only {}", std::min(first.size(), own.size()) + 1,
                        name, is_short ? rank : first_rank, std::min(first.size(), own.size())),
            "give all ranks of a group the same collectives in the same order");
    }

    void refuse(std::uint32_t rank, const Operation& operation, const std::string& wrong,
                std::string remedy) {
        const bool is_line = place_word_ == "line";
        errors_.refuse(is_line ? SourcePlace{operation.place, 1} : SourcePlace{},
                       is_line
                           ? fmt::format("rank {} {}", rank, wrong)
                           : fmt::format("{} {} of rank {} {}", place_word_, operation.place, rank, wrong),
                       std::move(remedy));
    }

    const Schedule& schedule_;
    std::string_view place_word_;
    ScheduleErrors& errors_;
    std::vector<GroupOfRank> groups_;  // by communication
    // By communication and group: its first rank, with its collectives.
    std::vector<std::vector<std::optional<std::pair<std::uint32_t, Collectives>>>> first_of_;
};

}  // namespace

void check_schedule(const Schedule& schedule, std::string_view place_word, ScheduleErrors& errors) {
    ScheduleCheck(schedule, place_word, errors).check();
}

}  // namespace sluice::fabric

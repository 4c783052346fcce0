#include "lib/roce/receive_window.hh"

#include <algorithm>
#include <bit>
#include <cassert>

namespace sluice::roce {

ReceiveWindow::ReceiveWindow(const RecoverySettings& settings) : rest_(std::make_unique<Rest>()) {
    const std::uint32_t window = settings.receive_window;
    assert(std::has_single_bit(window) && window >= min_receive_window && window <= max_receive_window);
    rest_->bits.resize(window / 64);
    rest_->window = window;
    if (settings.kind != Recovery::selective) return;
    rest_->tolerance = settings.reorder_window;
    if (settings.naks_trimmed) rest_->asked.resize(window / 64);
}

std::uint64_t ReceiveWindow::run_end(std::uint64_t sequence) const {
    while (holds(sequence)) ++sequence;
    return sequence;
}

std::optional<std::uint64_t> ReceiveWindow::next_held(std::uint64_t sequence) const {
    while (sequence < end_ && !bit(sequence)) ++sequence;
    return sequence < end_ ? std::optional(sequence) : std::nullopt;
}

ReceiveWindow::Came ReceiveWindow::add(std::uint64_t sequence, std::uint32_t count, std::uint64_t expected,
                                       Time now) {
    if (sequence + count > expected + rest_->window) return Came::beyond;
    if (holds(sequence)) {
        ++rest_->counters.repeated;
        return Came::again;
    }
    if (sequence < end_) count_inversion(sequence);
    put(sequence, count, expected, now);
    return Came::first;
}

void ReceiveWindow::mark(std::uint64_t sequence, std::uint64_t expected, Time now) {
    if (sequence < expected + rest_->window) put(sequence, 1, expected, now);
}

void ReceiveWindow::put(std::uint64_t sequence, std::uint32_t count, std::uint64_t expected, Time now) {
    for (std::uint64_t each = sequence; each != sequence + count; ++each) put_in(rest_->bits, each);
    came_to(sequence + count, expected, now);
}

bool ReceiveWindow::ask(std::uint64_t sequence, std::uint64_t expected, Time now) {
    if (rest_->asked.empty() || sequence < expected || sequence >= expected + rest_->window ||
        holds(sequence))
        return false;
    put_in(rest_->asked, sequence);
    came_to(sequence + 1, expected, now);
    return true;
}

void ReceiveWindow::came_to(std::uint64_t end, std::uint64_t expected, Time now) {
    end_ = std::max(end_, end);
    if (!rest_->tolerance) return;
    if (!rest_->mark && end_ > rest_->lost) rest_->mark = {now, end_};
    expire(expected, now);
}

// Unless the highest that came is this one, trimmed.
void ReceiveWindow::count_inversion(std::uint64_t sequence) {
    if (sequence + 1 >= end_) return;
    ++rest_->counters.inversions;
    rest_->counters.max_depth = std::max(rest_->counters.max_depth, end_ - 1 - sequence);
}

void ReceiveWindow::measure_expected(std::uint64_t expected) {
    if (holds(expected))
        ++rest_->counters.repeated;
    else
        count_inversion(expected);
}

void ReceiveWindow::advance(std::uint64_t from, std::uint64_t to, Time now) {
    for (std::uint64_t each = from; each < std::min(to, end_); ++each) {
        const std::uint64_t place = each & (rest_->window - 1);
        const std::uint64_t others = ~(std::uint64_t{1} << place % 64);
        rest_->bits[place / 64] &= others;
        if (!rest_->asked.empty()) rest_->asked[place / 64] &= others;
    }
    if (rest_->mark && to >= rest_->mark->end) rest_->mark.reset();
    if (rest_->tolerance && !rest_->mark && end_ > std::max(to, rest_->lost)) rest_->mark = {now, end_};
    settle(to);
}

void ReceiveWindow::settle(std::uint64_t expected) {
    rest_->told = std::max(rest_->told, expected);
    while (has_hole() && is_told(rest_->told)) ++rest_->told;
}

ReceiveWindow::Hole ReceiveWindow::next_hole() {
    Hole hole{rest_->told, rest_->told + 1};
    while (!is_told(hole.end)) ++hole.end;
    settle(hole.end);
    return hole;
}

std::optional<Time> ReceiveWindow::next_timer() const {
    if (!rest_->mark) return std::nullopt;
    return rest_->mark->at + *rest_->tolerance;
}

void ReceiveWindow::expire(std::uint64_t expected, Time now) {
    if (rest_->mark && now >= rest_->mark->at + *rest_->tolerance) {
        rest_->lost = rest_->mark->end;
        rest_->mark.reset();
        if (end_ > rest_->lost) rest_->mark = {now, end_};
    }
    settle(expected);
}

}  // namespace sluice::roce

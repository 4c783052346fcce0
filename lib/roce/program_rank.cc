#include "lib/roce/program_rank.hh"

#include <algorithm>
#include <cassert>

#include "lib/roce/requester.hh"

namespace sluice::roce {

namespace {

using OperationKind = Program::Operation::Kind;

unsigned turn_of(OperationKind kind) {
    switch (kind) {
        case OperationKind::send:
            return 0;
        case OperationKind::receive:
            return 1;
        case OperationKind::compute:
            return 2;
        case OperationKind::collective:
            break;
    }
    return 3;
}

}  // namespace

ProgramRank::ProgramRank(ProgramSettings settings)
    : settings_(std::move(settings)),
      program_(settings_.programs->at(settings_.rank).get()),
      waits_(program_->waits),
      streams_(program_->streams),
      lines_(settings_.lines.size()),
      collectives_(settings_.collectives.size()),
      accounted_(settings_.start) {
    for (std::uint32_t n = 0; n < lines_.size(); ++n)
        if (settings_.lines[n].sends) line_to_.emplace(settings_.lines[n].peer, n);
    for (std::uint32_t n = 0; n < program_->size(); ++n)
        if (operation(n).kind == Kind::collective)
            collectives_[place_of(operation(n).peer)].operations.push_back(n);
    for (std::uint32_t n = 0; n < collectives_.size(); ++n)
        place_of_rank_.emplace(settings_.collectives[n].rank, n);
    figures_.begun = settings_.start;
    due_.push({settings_.start, order_++, at_start});
}

void ProgramRank::expire(Time now) {
    if (state_ == State::failed) due_ = {};
    while (!due_.empty() && due_.top().at <= now) {
        const Due due = due_.top();
        due_.pop();
        account(now);
        if (due.what == at_start) {
            for (std::uint32_t n = 0; n < program_->size(); ++n)
                if (program_->waits[n] == 0) ready_.push(n);
        } else if (due.what == nic_sends || due.what == nic_receives) {
            resume(due.what == nic_sends ? nic_sends_ : nic_receives_, now);
        } else {
            finish(*std::exchange(streams_[due.what].current, {}), now);
            serve(due.what, now);
        }
        settle(now);
    }
}

void ProgramRank::add(Figures& figures, Duration span) const {
    if (computing_ != 0) figures.compute = figures.compute + span;
    if (begun_.empty()) return;
    Duration& sum = computing_ != 0 ? figures.hidden : figures.exposed;
    sum = sum + span;
}

// Up to `now`, before anything changes; a failed rank counts no more.
void ProgramRank::account(Time now) {
    if (now <= accounted_ || state_ == State::failed) return;
    add(figures_, now - accounted_);
    accounted_ = now;
}

ProgramRank::Figures ProgramRank::figures(Time now) const {
    Figures made = figures_;
    if (state_ == State::running && accounted_ < now) add(made, now - accounted_);
    return made;
}

std::vector<std::uint32_t> ProgramRank::waiting() const {
    std::vector<std::uint32_t> found;
    for (const auto& [operation, begun] : begun_) found.push_back(operation);
    std::ranges::sort(found);
    return found;
}

void ProgramRank::release(std::uint32_t operation) {
    if (--waits_[operation] == 0) ready_.push(operation);
}

void ProgramRank::settle(Time now) {
    // Sends go before receives that are ready with them, and these before computations, as in LogGOPSim.
    while (!ready_.empty()) {
        while (!ready_.empty()) together_.push_back(ready_.take());
        std::ranges::stable_sort(together_, {},
                                 [this](std::uint32_t n) { return turn_of(operation(n).kind); });
        for (const std::uint32_t n : together_) start(n, now);
        together_.clear();
    }
    check_done(now);
}

void ProgramRank::check_done(Time now) {
    if (state_ != State::running || figures_.operations != program_->size()) return;
    if (!figures_.ended) figures_.ended = now;
    if (pending_ == 0) state_ = State::done;
}

void ProgramRank::start(std::uint32_t n, Time now) {
    const Operation& own = operation(n);
    if (own.kind == Kind::collective) return begin_collective(place_of(own.peer), now);
    if (own.kind != Kind::receive) return add_work(own.stream, {false, n}, now);
    begin(n, now);
    post_receive(n, now);
}

void ProgramRank::begin(std::uint32_t n, Time now) {
    if (operation(n).kind == Kind::compute)
        ++computing_;
    else
        begun_.emplace(n, Begun{now, figures_.exposed});
    for (std::uint32_t at = program_->first[n]; at < program_->first[n + 1]; ++at)
        if (program_->next[at].on_begin != 0) release(program_->next[at].operation);
}

void ProgramRank::end(std::uint32_t n, Time now) {
    account(now);
    ++figures_.operations;
    if (operation(n).kind == Kind::compute)
        --computing_;
    else
        note_wait(n, now);
    for (std::uint32_t at = program_->first[n]; at < program_->first[n + 1]; ++at)
        if (program_->next[at].on_begin == 0) release(program_->next[at].operation);
}

void ProgramRank::note_wait(std::uint32_t n, Time now) {
    const auto found = begun_.find(n);
    const Duration since = std::max(found->second.exposed, std::exchange(exposed_, figures_.exposed));
    const Wait wait{n, found->second.at, now, figures_.exposed - since};
    begun_.erase(found);
    if (wait.waited == Duration{}) return;
    const auto longer = [](const Wait& a, const Wait& b) { return b.waited < a.waited; };
    if (slowest_.size() == max_slow_operations && !longer(wait, slowest_.back())) return;
    slowest_.insert(std::ranges::upper_bound(slowest_, wait, longer), wait);
    if (slowest_.size() > max_slow_operations) slowest_.pop_back();
}

// ---- Streams

void ProgramRank::add_work(std::uint32_t stream, Work work, Time now) {
    streams_[stream].queue.push(work);
    serve(stream, now);
}

// Begins what may begin; what a zero time ends may add more to the stream meanwhile.
void ProgramRank::serve(std::uint32_t stream, Time now) {
    Stream& own = streams_[stream];
    if (std::exchange(own.is_served, true)) return;
    while (!own.current && !(own.queue.empty() && own.resumed.empty())) {
        const Work work = own.resumed.empty() ? own.queue.take() : own.resumed.take();
        if (NicTurn* nic = nic_of(work); nic != nullptr && now < nic->free) {
            nic->waiting.push({stream, work});
            wait_for_nic(*nic, now);
            continue;
        }
        const Duration takes = take_up(work, now);
        if (takes == Duration{}) {
            finish(work, now);
            continue;
        }
        own.current = work;
        due_.push({now + takes, order_++, stream});
    }
    own.is_served = false;
}

// Null: it takes none.
ProgramRank::NicTurn* ProgramRank::nic_of(const Work& work) {
    if (work.is_arrival) return &nic_receives_;
    return operation(work.index).kind == Kind::send ? &nic_sends_ : nullptr;
}

void ProgramRank::wait_for_nic(NicTurn& nic, Time now) {
    if (nic.waiting.empty() || std::exchange(nic.is_due, true)) return;
    due_.push({max(nic.free, now), order_++, &nic == &nic_sends_ ? nic_sends : nic_receives});
}

// The first that waits for it goes on, when its stream does.
void ProgramRank::resume(NicTurn& nic, Time now) {
    nic.is_due = false;
    if (now < nic.free) return wait_for_nic(nic, now);
    const NicTurn::Waiting next = nic.waiting.take();
    streams_[next.stream].resumed.push(next.work);
    serve(next.stream, now);
    wait_for_nic(nic, now);
}

// Returns how long it holds its stream.
Duration ProgramRank::take_up(const Work& work, Time now) {
    const HostCosts& costs = settings_.costs;
    const auto free_after = [&](std::uint64_t bytes) {
        return now + costs.gap + costs.per_byte * static_cast<std::int64_t>(bytes - 1);
    };
    if (work.is_arrival) {
        const Arrival& arrival = arrivals_[work.index];
        nic_receives_.free =
            free_after(settings_.programs->at(arrival.source)->operations[arrival.operation].amount);
        return costs.overhead;
    }
    const Operation& own = operation(work.index);
    begin(work.index, now);
    if (own.kind == Kind::compute) return {static_cast<std::int64_t>(own.amount)};
    nic_sends_.free = free_after(own.amount);
    return costs.overhead;
}

void ProgramRank::finish(const Work& work, Time now) {
    if (work.is_arrival) {
        Arrival& arrival = arrivals_[work.index];
        arrival.handled = true;
        if (arrival.receive == none) return;
        end(arrival.receive, now);
        vacant_.push_back(work.index);
        return;
    }
    const Operation& own = operation(work.index);
    if (own.kind == Kind::compute) return end(work.index, now);
    if (!is_eager(own, settings_.rank)) return send(work.index, Part::request, own.peer);
    if (own.peer == settings_.rank)
        arrive(own.peer, work.index, false, now);
    else
        send(work.index, Part::data, own.peer);
    end(work.index, now);
}

// ---- Messages

// `to`: the rank that gets it.
void ProgramRank::send(std::uint32_t n, Part part, std::uint32_t to) {
    const std::uint32_t line = line_to_.at(to);
    const auto add = [&](std::uint64_t bytes, Part what) {
        lines_[line].waiting.push({bytes, static_cast<std::uint32_t>(what) << part_shift | n});
        ++pending_;
        postable_.push(line);
    };
    if (part != Part::data) return add(handshake_bytes, part);
    std::uint64_t left = operation(n).amount;
    for (; left > max_message_bytes; left -= max_message_bytes) add(max_message_bytes, Part::more);
    add(left, Part::data);
}

std::optional<ProgramRank::Post> ProgramRank::next_post() {
    while (!postable_.empty() && state_ != State::failed) {
        const std::uint32_t n = postable_.take();
        LineState& line = lines_[n];
        if (line.waiting.empty() || line.pending == max_ahead) continue;
        const Posting next = line.waiting.take();
        ++line.pending;
        line.sent.push(next.key);
        return Post{settings_.first_qp + n, static_cast<std::uint32_t>(next.bytes), next.key};
    }
    return std::nullopt;
}

void ProgramRank::completed(QpIndex qp, bool failed, Time now) {
    account(now);
    const std::uint32_t n = qp - settings_.first_qp;
    LineState& line = lines_[n];
    const std::uint32_t key = line.sent.take();
    --line.pending;
    --pending_;
    const std::uint32_t index = key & ((1U << part_shift) - 1);
    if (failed) {
        state_ = State::failed;
        if (!failed_operation_ && key >> part_shift != static_cast<std::uint32_t>(Part::clearance))
            failed_operation_ = index;
    }
    if (state_ == State::failed) return;
    if (!line.waiting.empty()) postable_.push(n);
    if (key >> part_shift == static_cast<std::uint32_t>(Part::data) &&
        !is_eager(operation(index), settings_.rank))
        end(index, now);
    settle(now);
}

void ProgramRank::delivered(QpIndex qp, std::uint32_t key, Time now) {
    if (state_ == State::failed) return;
    account(now);
    const std::uint32_t source = settings_.lines[qp - settings_.first_qp].peer;
    const std::uint32_t index = key & ((1U << part_shift) - 1);
    switch (static_cast<Part>(key >> part_shift)) {
        case Part::more:
            return;
        case Part::clearance:  // for an operation of this rank
            send(index, Part::data, source);
            break;
        case Part::request:
            arrive(source, index, true, now);
            break;
        case Part::data:
            arrive(source, index, false, now);
            break;
    }
    settle(now);
}

void ProgramRank::arrive(std::uint32_t source, std::uint32_t n, bool is_request, Time now) {
    const Operation& message = settings_.programs->at(source)->operations[n];
    const std::uint32_t arrival = keep({source, n, none, is_request, is_request});
    const bool was_asked = !is_request && !is_eager(message, source);
    if (was_asked) {
        const auto found = awaited_.find(std::uint64_t{source} << 32 | n);
        arrivals_[arrival].receive = found->second;
        awaited_.erase(found);
    } else if (const std::uint32_t receive = take_receive({source, message.tag}); receive != none) {
        match(receive, arrival, now);
    } else {
        unexpected_[{source, message.tag}].push({order_++, arrival});
    }
    if (is_request) return;
    const std::uint32_t receive = arrivals_[arrival].receive;
    const std::uint32_t stream = receive == none ? message.stream : operation(receive).stream;
    add_work(stream < streams_.size() ? stream : 0, {true, arrival}, now);
}

// A receive has its message, or the request for it.
void ProgramRank::match(std::uint32_t receive, std::uint32_t n, Time now) {
    Arrival& arrival = arrivals_[n];
    arrival.receive = receive;
    if (arrival.is_request) {
        awaited_.emplace(std::uint64_t{arrival.source} << 32 | arrival.operation, receive);
        send(arrival.operation, Part::clearance, arrival.source);
        vacant_.push_back(n);
    } else if (arrival.handled) {
        end(receive, now);
        vacant_.push_back(n);
    }
}

void ProgramRank::post_receive(std::uint32_t n, Time now) {
    if (const std::uint32_t arrival = take_arrival(n); arrival != none) return match(n, arrival, now);
    receives_[{operation(n).peer, operation(n).tag}].push({order_++, n});
}

namespace {

template <class Matching>
std::uint32_t take_from(Matching& from, typename Matching::iterator found) {
    const std::uint32_t index = found->second.take().index;
    if (found->second.empty()) from.erase(found);
    return index;
}

}  // namespace

// The oldest message that has come for a receive.
std::uint32_t ProgramRank::take_arrival(std::uint32_t receive) {
    const auto [source, tag] = SourceAndTag(operation(receive).peer, operation(receive).tag);
    auto best = unexpected_.end();
    if (source != Operation::any && tag != Operation::any) {
        best = unexpected_.find({source, tag});
    } else {
        const auto from =
            source == Operation::any ? unexpected_.begin() : unexpected_.lower_bound({source, 0});
        for (auto at = from; at != unexpected_.end(); ++at) {
            if (source != Operation::any && at->first.first != source) break;
            if (tag != Operation::any && at->first.second != tag) continue;
            if (best == unexpected_.end() || at->second.front().order < best->second.front().order) best = at;
        }
    }
    return best == unexpected_.end() ? none : take_from(unexpected_, best);
}

// The receive that was posted first among those for a message.
std::uint32_t ProgramRank::take_receive(SourceAndTag message) {
    auto best = receives_.end();
    for (const std::uint32_t source : {message.first, Operation::any})
        for (const std::uint32_t tag : {message.second, Operation::any})
            if (const auto at = receives_.find({source, tag});
                at != receives_.end() &&
                (best == receives_.end() || at->second.front().order < best->second.front().order))
                best = at;
    return best == receives_.end() ? none : take_from(receives_, best);
}

std::uint32_t ProgramRank::keep(const Arrival& arrival) {
    if (vacant_.empty()) {
        arrivals_.push_back(arrival);
        return static_cast<std::uint32_t>(arrivals_.size() - 1);
    }
    const std::uint32_t place = vacant_.back();
    vacant_.pop_back();
    arrivals_[place] = arrival;
    return place;
}

// ---- Collectives

std::uint32_t ProgramRank::place_of(std::uint32_t collective) const {
    const auto found =
        std::ranges::lower_bound(settings_.collectives, collective, {}, &ProgramSettings::Part::collective);
    return static_cast<std::uint32_t>(found - settings_.collectives.begin());
}

// The next of them, if it is ready and the one before is over.
void ProgramRank::begin_collective(std::uint32_t n, Time now) {
    Collective& own = collectives_[n];
    if (own.runs || own.next == own.operations.size() || waits_[own.operations[own.next]] != 0) return;
    own.runs = true;
    begin(own.operations[own.next], now);
    commands_.push(settings_.collectives[n].rank);
}

std::optional<std::uint32_t> ProgramRank::next_collective() {
    if (commands_.empty()) return std::nullopt;
    return commands_.take();
}

void ProgramRank::collective_ended(std::uint32_t rank, bool failed, Time now) {
    account(now);
    const std::uint32_t n = place_of_rank_.at(rank);
    Collective& own = collectives_[n];
    if (failed) {
        state_ = State::failed;
        if (!failed_operation_) failed_operation_ = own.operations[own.next];
    }
    if (state_ == State::failed) return;
    own.runs = false;
    end(own.operations[own.next++], now);
    begin_collective(n, now);
    settle(now);
}

}  // namespace sluice::roce

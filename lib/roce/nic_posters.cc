// Collectives and programs of a host: what they hear of their queue pairs, and what they post.
#include "lib/roce/nic.hh"

namespace sluice::roce {

std::optional<Time> Nic::next_of_posters() {
    if (posters_timer_) return *posters_timer_;
    std::optional<Time> next;
    for (const CollectiveRank& rank : ranks_) take_earlier(next, rank.next_timer());
    for (const ProgramRank& program : programs_) take_earlier(next, program.next_timer());
    posters_timer_ = next;
    return next;
}

void Nic::expire_posters(Time now) {
    if (const auto next = next_of_posters(); !next || now < *next) return;
    posters_timer_.reset();
    for (std::uint32_t n = 0; n < ranks_.size(); ++n) {
        ranks_[n].expire(now);
        follow_rank(n, now);
    }
    for (ProgramRank& program : programs_) {
        program.expire(now);
        run_program(program, now);
    }
}

// `before`: what the queue pair had counted.
void Nic::tell_rank(QpIndex index, const QpStatistics& before, Time now) {
    const QpStatistics& figures = queue_pairs_[index].statistics;
    const std::uint32_t number = queue_pairs_[index].settings().poster->index;
    CollectiveRank& rank = ranks_[number];
    for (std::uint64_t n = before.completed; n != figures.completed; ++n) rank.completed(index, false, now);
    for (std::uint64_t n = before.failed; n != figures.failed; ++n) rank.completed(index, true, now);
    for (std::uint64_t n = before.delivered; n != figures.delivered; ++n) rank.delivered(index, now);
    follow_rank(number, now);
    if (rank.settings().program) run_program(programs_[*rank.settings().program], now);
}

void Nic::tell_program(QpIndex index, const QpStatistics& before, Time now) {
    QueuePair& qp = queue_pairs_[index];
    ProgramRank& program = programs_[qp.settings().poster->index];
    for (std::uint64_t n = before.completed; n != qp.statistics.completed; ++n)
        program.completed(index, false, now);
    for (std::uint64_t n = before.failed; n != qp.statistics.failed; ++n) program.completed(index, true, now);
    if (before.delivered != qp.statistics.delivered)
        for (const std::uint32_t key : qp.take_keys()) program.delivered(index, key, now);
    run_program(program, now);
}

// After an event of a rank: what it posts; its program hears of the end of a step.
void Nic::follow_rank(std::uint32_t number, Time now) {
    CollectiveRank& rank = ranks_[number];
    posters_timer_.reset();
    while (const auto post = rank.next_post(now)) {
        if (queue_pairs_[post->qp].post(post->bytes, now))
            note(post->qp, now);
        else
            rank.completed(post->qp, true, now);
    }
    if (rank.has_arrivals()) met_.push_back(number);
    if (rank.settings().program && rank.take_end())
        programs_[*rank.settings().program].collective_ended(
            number, rank.state() == CollectiveRank::State::failed, now);
}

void Nic::run_program(ProgramRank& program, Time now) {
    posters_timer_.reset();
    for (;;) {
        if (const auto number = program.next_collective()) {
            ranks_[*number].command(now);
            follow_rank(*number, now);
        } else if (const auto post = program.next_post()) {
            if (queue_pairs_[post->qp].post(post->bytes, now, post->key))
                note(post->qp, now);
            else
                program.completed(post->qp, true, now);
        } else {
            return;
        }
    }
}

void Nic::join_server(std::uint32_t id, const CollectiveRank::Arrival& arrival, Time now) {
    catch_up(now);
    posters_timer_.reset();
    for (CollectiveRank& rank : ranks_)
        if (rank.settings().id == id) rank.join(arrival, now);
    settle(now);
}

}  // namespace sluice::roce

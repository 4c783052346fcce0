// Endless queue pairs, each behind a link of its own, into one FIFO: the smallest thing in which DCQCN shows.
//
// Every frame has 1000 B (1024 on the wire), every link one speed and 1 us. The queue holds whole frames,
// those on the wire not among them, and marks by WredQueue; a switch receives a frame whole before it queues
// it. A marked frame's CNP (98 B on the wire) goes back over two links and waits nowhere. Rates pace wire
// bytes.
#pragma once

#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

#include "lib/queue/wred.hh"
#include "lib/roce/dcqcn.hh"
#include "lib/roce/send_schedule.hh"
#include "lib/values/rng.hh"

namespace sluice::roce {

struct BottleneckSettings {
    unsigned queue_pairs = 2;
    std::uint64_t seed = 1;
    ReactionParameters reaction = ReactionParameters::of(CongestionControl::dcqcn_paper, gigabits(40));
    MarkAt mark_at = MarkAt::dequeue;
    Duration cnp_interval = microseconds(50);
    Duration spread = microseconds(100);    // starts are drawn from it
    Duration transient = milliseconds(20);  // not measured
    Duration measured = milliseconds(40);
};

struct BottleneckResult {
    double queue_bytes = 0;      // mean over time
    double queue_deviation = 0;  // standard deviation over time, bytes
    double utilization = 0;
    double jain = 0;  // of what each queue pair got through
    std::uint64_t cnps = 0;
};

class Bottleneck {
  public:
    explicit Bottleneck(const BottleneckSettings& settings)
        : settings_(settings),
          notification_(CnpScope::queue_pair, settings.cnp_interval, settings.queue_pairs, 1),
          calendar_(std::vector<ClassId>(settings.queue_pairs, 0)),
          reaction_(settings.queue_pairs, ReactionPoint(settings_.reaction)),
          delivered_(settings.queue_pairs) {
        const WredCurve red(5'000, 200'000, certainty / 100);
        profile_.color.fill(red);
        profile_.mark_at = settings.mark_at;
        for (QpIndex qp = 0; qp < settings.queue_pairs; ++qp)
            calendar_.set_ready(qp, Time{draw({settings.seed, 2, qp, 0}) %
                                         (static_cast<std::uint64_t>(settings.spread.ps) + 1)});
    }
    Bottleneck(const Bottleneck&) = delete;
    Bottleneck& operator=(const Bottleneck&) = delete;

    BottleneckResult run() {
        run_until(Time{} + settings_.transient);
        weigh_queue(Time{} + settings_.transient);
        area_ = square_ = 0;
        delivered_.assign(delivered_.size(), 0);
        cnp_count_ = 0;
        run_until(Time{} + settings_.transient + settings_.measured);
        weigh_queue(Time{} + settings_.transient + settings_.measured);
        return result();
    }
    const ReactionPoint& reaction(QpIndex qp) const { return reaction_[qp]; }

  private:
    struct Frame {
        Time at;  // it is in the switch, or its CNP at the sender
        QpIndex qp;
        Ecn ecn = Ecn::ect0;
    };
    static constexpr std::uint32_t frame_bytes = 1000;
    static constexpr Duration cable = microseconds(1);

    Duration on_wire(std::uint32_t bytes) const {
        return settings_.reaction.line_rate.byte_time() * wire_bytes(bytes);
    }

    void run_until(Time end) {
        while (true) {
            Time next = *calendar_.next_time(1);
            if (!flying_.empty()) next = min(next, flying_.front().at);
            if (!cnps_.empty()) next = min(next, cnps_.front().at);
            if (!queue_.empty()) next = min(next, max(wire_free_, queue_.front().at));
            if (next >= end) return;
            step(next);
        }
    }

    void step(Time now) {
        if (!cnps_.empty() && cnps_.front().at == now) {
            reaction_[cnps_.front().qp].on_cnp(now);
            cnps_.pop_front();
        } else if (!queue_.empty() && max(wire_free_, queue_.front().at) == now) {
            depart(now);
        } else if (!flying_.empty() && flying_.front().at == now) {
            arrive(now);
        } else {
            const QpIndex qp = *calendar_.next(now, 1);
            ReactionPoint& reaction = reaction_[qp];
            reaction.on_sent(wire_bytes(frame_bytes), now);
            flying_.push_back({now + on_wire(frame_bytes) + cable, qp});
            calendar_.set_ready(qp, now + pace(wire_bytes(frame_bytes), reaction.rate()));
        }
    }

    void arrive(Time now) {
        weigh_queue(now);
        Frame frame = flying_.front();
        flying_.pop_front();
        mark(frame, red_.arrival(profile_, EcnBits::of(frame.ecn, Color::green, false), true, length(), now,
                                 {}, [&] { return random(); }));
        queue_.push_back(frame);
    }

    void depart(Time now) {
        weigh_queue(now);
        Frame frame = queue_.front();
        queue_.pop_front();
        mark(frame, red_.departure(profile_, EcnBits::of(frame.ecn, Color::green, false), length(),
                                   now - frame.at, [&] { return random(); }));
        wire_free_ = now + on_wire(frame_bytes);
        delivered_[frame.qp] += wire_bytes(frame_bytes);
        const Time received = wire_free_ + cable;
        if (frame.ecn == Ecn::ce && notification_.on_marked(frame.qp, 0, received)) {
            cnps_.push_back({received + cable * 2 + on_wire(74) * 2, frame.qp});
            ++cnp_count_;
        }
    }

    static void mark(Frame& frame, const WredDecision& decision) {
        if (decision.verdict == WredVerdict::mark) frame.ecn = Ecn::ce;
    }
    std::uint32_t random() {
        return static_cast<std::uint32_t>(draw({settings_.seed, 1, 0, draws_++}) >> 32);
    }
    std::uint64_t length() const { return queue_.size() * frame_bytes; }

    void weigh_queue(Time now) {
        const double span = static_cast<double>((now - weighed_).ps);
        const double bytes = static_cast<double>(length());
        area_ += span * bytes;
        square_ += span * bytes * bytes;
        weighed_ = now;
    }

    BottleneckResult result() const {
        const auto span = static_cast<double>(settings_.measured.ps);
        double sum = 0;
        double squares = 0;
        for (const std::uint64_t bytes : delivered_) {
            sum += static_cast<double>(bytes);
            squares += static_cast<double>(bytes) * static_cast<double>(bytes);
        }
        const double mean = area_ / span;
        return {mean, std::sqrt(square_ / span - mean * mean),
                sum * static_cast<double>(settings_.reaction.line_rate.byte_time().ps) / span,
                sum * sum / (squares * settings_.queue_pairs), cnp_count_};
    }

    BottleneckSettings settings_;
    WredProfile profile_;
    WredQueue red_;
    NotificationPoint notification_;
    SendSchedule calendar_;
    std::vector<ReactionPoint> reaction_;
    std::vector<std::uint64_t> delivered_;  // wire bytes
    std::deque<Frame> flying_;
    std::deque<Frame> queue_;
    std::deque<Frame> cnps_;
    Time wire_free_{};
    Time weighed_{};
    double area_ = 0;
    double square_ = 0;
    std::uint64_t cnp_count_ = 0;
    std::uint64_t draws_ = 0;
};

}  // namespace sluice::roce

// A host's NIC: orders the frames of its queue pairs on one wire, and dispatches arriving frames.
//
// Data goes by its queue pair's rate into the transmit ring of its class (send_schedule.hh: round robin), and
// from there, first come first served among the classes that may send, to the wire; CNPs go before ACKs,
// those before data. A frame in a ring stays until the class may send, even when its queue pair ends. The
// caller, a source behind a port or a tool, sends a frame of a class from `ready` on (`next_frame`, then
// `write`), calls `expire` at `next_timer`, and `receive` for arriving frames, in order of time. Wire and
// pauses are the caller's. Nothing allocates after construction, but what opens a queue pair for a transfer
// (transfers.hh), whose place the next one takes when it has ended.
#pragma once

#include <array>
#include <boost/circular_buffer.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lib/roce/collective.hh"
#include "lib/roce/nic_settings.hh"
#include "lib/roce/nic_statistics.hh"
#include "lib/roce/program_rank.hh"
#include "lib/roce/queue_pair.hh"
#include "lib/roce/send_schedule.hh"
#include "lib/roce/transfers.hh"

namespace sluice::roce {

// A frame to send now.
struct NicFrame {
    QpIndex qp;
    FrameKind kind;
    ClassId priority;
    std::uint32_t bytes;
    Outgoing packet;
};

class Nic {
  public:
    // Queue pairs and transfers name the flows by their index, and flows the ranks and programs.
    Nic(const NicSettings& settings, std::vector<FlowSettings> flows, std::span<const QpSettings> queue_pairs,
        std::span<const RankSettings> ranks = {}, std::shared_ptr<const TransferList> transfers = nullptr,
        std::span<const ProgramSettings> programs = {});
    Nic(const Nic&) = delete;
    Nic& operator=(const Nic&) = delete;

    // Classes that have a frame, and from when on without another event; may lie in the past.
    struct Ready {
        ClassId priority;
        Time at;
    };
    std::span<const Ready> ready() const { return std::span(ready_).first(ready_count_); }
    std::optional<NicFrame> next_frame(Time now, unsigned allowed);
    // `out` has frame.bytes.
    void write(const NicFrame& frame, std::span<std::uint8_t> out) {
        queue_pairs_[frame.qp].writer(frame.kind).write(frame.packet, out);
    }
    // Writes the head of a described data frame.
    FrameTail write_head(const NicFrame& frame, std::span<std::uint8_t> head) {
        return queue_pairs_[frame.qp].writer(frame.kind).write_head(frame.packet, head);
    }

    std::optional<Time> next_timer() const { return next_timer_; }
    // When data next goes into a ring by itself.
    std::optional<Time> next_fill() const { return next_fill_; }
    // Prefetches for `receive` of any `frame` that comes soon.
    void foretell(std::span<const std::uint8_t> frame) const;
    void expire(Time now);  // timers, and rings
    void receive(std::span<const std::uint8_t> frame, Time now) { receive_packet(read_packet(frame), now); }
    void receive(const DescribedFrame& frame, Time now) { receive_packet(read_packet(frame), now); }

    // Keeps the results of messages from now on, before any has come; `wire` is the host's, and outlives it.
    void keep_log(const PauseSender& wire);
    MessageLog* log() { return log_.get(); }  // null: none is kept

    // No new message comes, as by FlowSettings::stop.
    void stop(Time now);
    // Rates start anew. The line rate stays.
    void set_reaction(const ReactionParameters& parameters);
    void set_notification(bool echo_ce, bool ignore_cnp) {
        if (echo_ce && !settings_.echo_ce) statistics_.unanswered_since.reset();
        settings_.echo_ce = echo_ce;
        settings_.ignore_cnp = ignore_cnp;
    }

    const NicSettings& settings() const { return settings_; }
    const NicStatistics& statistics() const { return statistics_; }
    // Some may be vacant.
    std::span<const QueuePair> queue_pairs() const { return queue_pairs_; }
    std::size_t open_queue_pairs() const;
    // Figures of queue pairs that have gone, by flow.
    std::span<const QpTotals> gone() const { return gone_; }
    // By its number; null: it is not there now.
    const QueuePair* find_queue_pair(std::uint32_t number) const;
    Transfers& transfers() { return transfers_; }
    const Transfers& transfers() const { return transfers_; }
    // The transfer of a queue pair, there or gone; nothing: it has none.
    const ListedTransfer* transfer_of(std::uint32_t number) const {
        const std::uint32_t transfer = number - first_transfer_;  // wraps beyond all
        return transfer < transfers_.count() ? &transfers_[transfer] : nullptr;
    }
    // A transfer here waits for one less, which has ended elsewhere.
    void release(std::uint32_t transfer, Time now);
    // Ranks that came to meetings of their servers and were not told of: `tell(rank, arrival)`.
    template <class Tell>
    void tell_arrivals(Tell tell) {
        for (const std::uint32_t number : std::exchange(met_, {}))
            for (const CollectiveRank::Arrival& arrival : ranks_[number].take_arrivals())
                tell(ranks_[number].settings(), arrival);
    }
    // Another rank of a server, in the collective `id`, came to a meeting.
    void join_server(std::uint32_t id, const CollectiveRank::Arrival& arrival, Time now);
    std::span<const FlowSettings> flows() const { return flows_; }
    std::span<const CollectiveRank> ranks() const { return ranks_; }
    std::span<const ProgramRank> programs() const { return programs_; }
    const FlowStatistics& flow_statistics(std::size_t flow) const { return flow_statistics_[flow]; }

  private:
    struct InRing {
        QpIndex qp;
        Outgoing packet;
        std::uint64_t order;  // among all rings
    };
    using Ring = boost::circular_buffer<InRing>;
    // Queue pairs in turn, each at most once.
    struct Turns {
        boost::circular_buffer<QpIndex> queue;
        std::vector<bool> waits;

        explicit Turns(std::size_t size) : queue(size), waits(size) {}
        void resize(std::size_t size) {
            queue.set_capacity(size);
            waits.resize(size);
        }
        bool any() const { return !queue.empty(); }
        void add(QpIndex qp) {
            if (waits[qp]) return;
            waits[qp] = true;
            queue.push_back(qp);
        }
        QpIndex take() {
            const QpIndex qp = queue.front();
            queue.pop_front();
            waits[qp] = false;
            return qp;
        }
    };

    QpIndex open(std::uint32_t transfer);
    QpIndex take_place();
    QpIndex place_for(std::uint32_t transfer, const Incoming& packet);
    bool receive_known(const Incoming& packet, Time now);
    bool receive_late(std::uint32_t transfer, const Incoming& packet);
    void start_transfers(Time now);
    void note_transfer(QpIndex index, Time now);
    void close_ended();
    bool may_close(QpIndex index) const;
    void catch_up(Time now);
    void fill_rings(Time now);
    void settle(Time now);
    void note(QpIndex qp, Time now);
    void note_others(QpIndex qp);
    NicFrame frame_of(QpIndex qp, FrameKind kind, ClassId priority, const Outgoing& packet);
    Ring* oldest(unsigned allowed);
    void receive_packet(const Incoming& packet, Time now);
    void receive_of(QpIndex index, const Incoming& packet, Time now);
    void receive_trimmed(const Incoming& packet, Time now);
    template <class Event>
    void on_queue_pair(QpIndex index, Time now, Event event);
    void tell_rank(QpIndex index, const QpStatistics& before, Time now);
    void tell_program(QpIndex index, const QpStatistics& before, Time now);
    void follow_rank(std::uint32_t rank, Time now);
    void run_program(ProgramRank& program, Time now);
    void expire_posters(Time now);
    std::optional<Time> next_of_posters();
    void notify(QpIndex index, Time now);

    NicSettings settings_;
    std::vector<FlowSettings> flows_;
    std::vector<FlowStatistics> flow_statistics_;
    std::unique_ptr<MessageLog> log_;
    std::vector<QueuePair> queue_pairs_;
    SendSchedule schedule_;  // of data
    Calendar timers_;        // not later than what is due
    std::vector<CollectiveRank> ranks_;
    std::vector<ProgramRank> programs_;
    std::vector<std::uint32_t> met_;  // ranks that came to meetings
    // The earliest timer of both; nothing at all: it is not known since something happened to them.
    std::optional<std::optional<Time>> posters_timer_;
    Transfers transfers_;
    std::uint32_t first_transfer_;               // its number
    std::vector<std::uint32_t> transfer_peers_;  // by peer of the list: the host's
    std::vector<QpIndex> vacant_;
    std::vector<QpIndex> closing_;  // of transfers that have ended
    std::vector<QpTotals> gone_;    // by flow
    NotificationPoint notification_;
    std::array<Ring, classes> rings_;
    Turns replies_;
    Turns cnps_;
    QpIndex fetched_ = Calendar::nobody;  // sends next
    unsigned in_use_ = 0;
    unsigned room_ = 0;  // classes whose ring is not full
    Time moment_{};      // the last event
    // As of it:
    std::array<Ready, classes> ready_{};
    unsigned ready_count_ = 0;
    std::optional<Time> next_timer_;
    std::optional<Time> next_fill_;
    std::uint64_t pushed_ = 0;
    std::uint64_t sends_seen_ = 0;
    NicStatistics statistics_;
};

}  // namespace sluice::roce

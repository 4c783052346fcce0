#include "tools/traffic/host_watch.hh"

#include <fmt/format.h>

#include <algorithm>

#include "lib/values/class_mask.hh"

namespace sluice::traffic {
namespace {

std::uint64_t retransmissions(const roce::QueuePair& qp) {
    return qp.requester() != nullptr ? qp.requester()->counters().retransmissions : 0;
}

bool is_failed(const roce::QueuePair& qp) {
    return qp.requester() != nullptr ? qp.requester()->state() == roce::Requester::State::failed
                                     : qp.responder()->state() == roce::RcResponder::State::failed;
}

template <class... What>
void tell(std::FILE* out, fmt::format_string<What...> format, What&&... what) {
    const std::string line = fmt::format(format, std::forward<What>(what)...);
    static_cast<void>(std::fwrite(line.data(), 1, line.size(), out));  // its reader may have gone
}

}  // namespace

HostWatch::HostWatch(const HostOptions& options, const roce::Nic& nic, std::FILE* out)
    : options_(options),
      nic_(nic),
      out_(out),
      seen_(nic.queue_pairs().size()),
      lowest_(options.rate.bits_per_second) {
    for (Seen& seen : seen_) seen.rate = options.rate.bits_per_second;
    tell(out_,
         "{{\"event\": \"start\", \"scale\": {0}, \"rate\": {1}, \"note\": \"times are scaled: those of "
         "DCQCN, CNPs and time-outs are {0} times those of a NIC of {2} Gb/s\"}}\n",
         options_.scale, options_.rate.bits_per_second,
         static_cast<double>(options_.nic_rate().bits_per_second) / 1e9);
}

void HostWatch::tell_changes(std::uint64_t at_ns) {
    for (std::size_t n = 0; n < seen_.size() && options_.answers; ++n) look_at(n, at_ns);
}

void HostWatch::tell_count(const char* event, std::size_t index, std::uint64_t now, std::uint64_t before,
                           std::uint64_t at_ns) {
    if (now == before) return;
    tell(out_, "{{\"at_ns\": {}, \"event\": \"{}\", \"qp\": {}, \"count\": {}, \"total\": {}}}\n", at_ns,
         event, first_host_qp + index, now - before, now);
}

void HostWatch::look_at(std::size_t index, std::uint64_t at_ns) {
    const roce::QueuePair& qp = nic_.queue_pairs()[index];
    const roce::QpStatistics& now = qp.statistics;
    Seen& seen = seen_[index];
    roce::QpStatistics& before = seen.statistics;
    // In the order in which one event may cause another.
    if (now.ce_received != before.ce_received && !seen.is_marked) {
        tell_count("marked", index, now.ce_received, before.ce_received, at_ns);
        seen.is_marked = true;
    }
    if (now.cnps_sent != before.cnps_sent) seen.is_marked = false;
    tell_count("cnp_sent", index, now.cnps_sent, before.cnps_sent, at_ns);
    tell_count("cnp", index, now.cnps_received, before.cnps_received, at_ns);
    const std::uint64_t rate = wire_rate(qp.reaction().rate());
    if (rate != seen.rate) {
        const bool falls = rate < seen.rate;
        ++(falls ? falls_ : rises_);
        lowest_ = std::min(lowest_, rate);
        tell(out_, "{{\"at_ns\": {}, \"event\": \"{}\", \"qp\": {}, \"from\": {}, \"to\": {}}}\n", at_ns,
             falls ? "rate_falls" : "rate_rises", first_host_qp + index, seen.rate, rate);
        if (qp.reaction().phase() == roce::ReactionPoint::Phase::line_rate) {
            ++recovered_;
            tell_count("recovered", index, recovered_, recovered_ - 1, at_ns);
        }
        seen.rate = rate;
    }
    tell_count("retransmitted", index, retransmissions(qp), seen.retransmissions, at_ns);
    seen.retransmissions = retransmissions(qp);
    tell_count("completed", index, now.completed, before.completed, at_ns);
    tell_count("delivered", index, now.delivered, before.delivered, at_ns);
    if (is_failed(qp) && !seen.failed) tell_count("failed", index, 1, 0, at_ns);
    seen.failed = is_failed(qp);
    before = now;
}

void HostWatch::look_at_pauses(unsigned paused, std::uint64_t at_ns) {
    for_each_class(paused ^ paused_, [&](ClassId n) {
        tell(out_, "{{\"at_ns\": {}, \"event\": \"{}\", \"class\": {}}}\n", at_ns,
             (paused >> n & 1U) != 0 ? "paused" : "resumed", n);
    });
    paused_ = paused;
}

bool HostWatch::sending() const {
    return std::ranges::any_of(nic_.queue_pairs(), [](const roce::QueuePair& qp) {
        return qp.settings().flow == 0 && (qp.requester()->posted() != 0 || qp.next_timer());
    });
}

std::string HostWatch::account(const std::string& more) const {
    using Qp = roce::QpStatistics;
    Qp sum;
    std::uint64_t again = 0, timeouts = 0, failed_qps = 0, rate = 0;
    for (const roce::QueuePair& qp : nic_.queue_pairs()) {
        for (const auto counter :
             {&Qp::completed, &Qp::failed, &Qp::completed_bytes, &Qp::delivered, &Qp::delivered_bytes,
              &Qp::wrong_payload, &Qp::ce_received, &Qp::cnps_sent, &Qp::cnps_received, &Qp::data_packets})
            sum.*counter += qp.statistics.*counter;
        again += retransmissions(qp);
        failed_qps += is_failed(qp) ? 1 : 0;
        if (qp.requester() == nullptr || qp.settings().flow != 0) continue;
        timeouts += qp.requester()->counters().timeouts;
        rate += wire_rate(qp.reaction().rate());
    }
    const roce::NicStatistics& nic = nic_.statistics();
    return fmt::format(
        "{{\"event\": \"account\", \"scale\": {}, \"sending\": {}, \"rate\": {}, \"lowest_rate\": {}, "
        "\"rate_falls\": {}, \"rate_rises\": {}, \"recovered\": {}, \"completed\": {}, \"completed_bytes\": "
        "{}, \"failed\": {}, \"failed_qps\": {}, \"delivered\": {}, \"delivered_bytes\": {}, "
        "\"wrong_payload\": {}, \"marked\": {}, \"cnps_sent\": {}, \"cnps\": {}, \"sent\": {}, "
        "\"retransmitted\": {}, \"timeouts\": {}, \"frames_sent\": {}, \"frames_received\": {}, \"refused\": "
        "{}, \"strangers\": {}, {}}}\n",
        options_.scale, sending(), rate, lowest_, falls_, rises_, recovered_, sum.completed,
        sum.completed_bytes, sum.failed, failed_qps, sum.delivered, sum.delivered_bytes, sum.wrong_payload,
        sum.ce_received, sum.cnps_sent, sum.cnps_received, sum.data_packets, again, timeouts, nic.frames_sent,
        nic.frames_received, nic.refused, nic.strangers, more);
}

}  // namespace sluice::traffic

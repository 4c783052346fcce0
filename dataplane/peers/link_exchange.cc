#include "dataplane/peers/link_exchange.hh"

#include "dataplane/peers/link_port.hh"

namespace sluice {

LinkExchange::LinkExchange(unsigned threads) : threads_(threads), outboxes_(std::size_t{threads} * threads) {
    for (Outbox& outbox : outboxes_) outbox.filled_ = &filled_;
}

LinkExchange::~LinkExchange() {
    for (const Outbox& outbox : outboxes_)
        for (const Outbox::List& list : outbox.lists_)
            for (const Frame& frame : list.frames) rte_pktmbuf_free(frame.packet);
}

std::optional<Time> LinkExchange::earliest() const {
    std::optional<Time> best;
    for (const Outbox& outbox : outboxes_)
        if (const Outbox::List& list = outbox.lists_[filled_]; !list.frames.empty())
            take_earlier(best, list.earliest);
    return best;
}

void LinkExchange::deliver_to(unsigned to) {
    for (unsigned from = 0; from < threads_; ++from) {
        auto& frames = outbox(from, to).lists_[filled_ ^ 1U].frames;
        for (const Frame& frame : frames) frame.to->arrive(frame.at, frame.packet, frame.is_pause);
        frames.clear();
    }
}

void LinkExchange::take_all() {
    turn_over();
    for (unsigned to = 0; to < threads_; ++to) deliver_to(to);
}

}  // namespace sluice

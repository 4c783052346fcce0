#include "lib/roce/transfers.hh"

#include <algorithm>

namespace sluice::roce {
namespace {

constexpr std::uint32_t max_waits = 0x7FFF'FFFF;

}  // namespace

const std::size_t Transfers::bytes_each =
    2 * (sizeof(ListedTransfer) + sizeof(State)) + sizeof(decltype(timed_)::value_type);

Transfers::Transfers(std::shared_ptr<const TransferList> list) : list_(std::move(list)) {
    if (!list_) return;
    states_.resize(list_->transfers.size());
    for (std::uint32_t n = 0; n < states_.size(); ++n) {
        states_[n].waits = (*this)[n].waits & max_waits;
        if ((*this)[n].requests && (*this)[n].waits == 0) timed_.push_back(n);
    }
    std::ranges::stable_sort(timed_, {}, [this](std::uint32_t n) { return (*this)[n].start.ps; });
}

std::optional<Transfers::Start> Transfers::next_start() const {
    std::optional<Start> next;
    if (next_ < timed_.size()) next = {(*this)[timed_[next_]].start, timed_[next_]};
    if (!released_.empty() && (!next || *next > released_.top())) next = released_.top();
    return next;
}

void Transfers::start(const Start& next) {
    if (next_ < timed_.size() && next.transfer == timed_[next_])
        ++next_;
    else
        released_.pop();
}

void Transfers::end(std::uint32_t transfer, Time now) {
    states_[transfer].ended = 1;
    const auto& order = list_->order;
    for (auto at = std::lower_bound(order.begin(), order.end(), std::pair(transfer, 0U));
         at != order.end() && at->first == transfer; ++at)
        release(at->second, now);
    const auto& elsewhere = list_->elsewhere;
    for (auto at =
             std::lower_bound(elsewhere.begin(), elsewhere.end(), TransferList::Elsewhere{transfer, 0, 0});
         at != elsewhere.end() && at->first == transfer; ++at)
        told_.push_back({now, *at});
}

void Transfers::release(std::uint32_t transfer, Time now) {
    if (--states_[transfer].waits == 0) released_.push({now + ((*this)[transfer].start - Time{}), transfer});
}

void Transfers::stop() {
    next_ = timed_.size();
    released_ = {};
    for (State& state : states_) state.waits = max_waits;
}

}  // namespace sluice::roce

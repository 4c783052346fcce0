#include "control/switch/running/publication.hh"

#include <fmt/format.h>

#include <thread>
#include <utility>

#include "dataplane/run/switch.hh"

namespace sluice {

void Publication::publish(std::unique_ptr<const Policy> policy) {
    under_way_ = is_taken_up() ? 1 : under_way_ + 1;
    const Lateness waited{Clock::now(), turns()};
    const std::uint64_t generation = device_.publish(std::move(policy));
    if (workers_stand_still_) device_.take_up();
    while (!device_.acknowledged(generation)) {
        if (late_) return;
        if (Clock::now() - waited.since >= patience)
            late_ = waited;
        else
            std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
}

bool Publication::is_taken_up() const { return device_.acknowledged(device_.generation()); }

std::string Publication::late() const {
    if (!late_ || is_taken_up()) return {};
    const auto now = turns();
    unsigned worker = 0;
    while (worker + 1 < device_.worker_count() && now[worker] != late_->turns[worker]) ++worker;
    const auto since = std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - late_->since);
    return fmt::format("worker {} has not taken it up for {} s", worker, since.count());
}

Publication::Notice Publication::notice() {
    if (!late_) return Notice::none;
    if (!std::exchange(late_->told, true)) return Notice::late;
    if (!is_taken_up()) return Notice::none;
    late_.reset();
    return Notice::back;
}

std::array<std::uint64_t, max_workers> Publication::turns() const {
    std::array<std::uint64_t, max_workers> all{};
    for (unsigned w = 0; w < device_.worker_count(); ++w)
        all[w] = device_.turns(static_cast<WorkerId>(w)).turns.get();
    return all;
}

}  // namespace sluice

#include "lib/roce/empty_path.hh"

#include <algorithm>
#include <boost/container/small_vector.hpp>

namespace sluice::roce {
namespace {

// `link` gives link n of `links`, from the sender on. Once each link takes the equal frames at the pace of
// the slowest so far, all do to the last of them.
template <class Link>
Duration time_over(std::size_t links, Link link, const Train& train) {
    boost::container::small_vector<Duration, 16> free(links);  // when each link has sent the frame before
    boost::container::small_vector<Duration, 16> pace(links);  // of equal frames, in the end
    for (std::size_t at = 0; at < links; ++at)
        pace[at] =
            std::max(at == 0 ? Duration{} : pace[at - 1], link(at).byte_time * std::int64_t{train.middle});
    Duration came{};
    for (std::uint64_t n = 0; n < train.count; ++n) {
        const bool is_last = n + 1 == train.count;
        const std::int64_t bytes = is_last ? train.last : n == 0 ? train.first : train.middle;
        bool keeps_pace = n > 1 && !is_last;
        came = {};
        for (std::size_t at = 0; at < links; ++at) {
            const Duration begins = std::max(came, free[at]);
            const Duration sent = begins + link(at).byte_time * bytes;
            keeps_pace = keeps_pace && sent - free[at] == pace[at];
            free[at] = sent;
            came = (at == 0 && links > 1 ? begins : free[at]) + link(at).propagation;
        }
        if (!keeps_pace) continue;
        const std::uint64_t others = train.count - n - 2;  // equal frames that follow
        for (std::size_t at = 0; at < links; ++at)
            free[at] = free[at] + pace[at] * static_cast<std::int64_t>(others);
        n += others;
    }
    return came;
}

}  // namespace

Duration time_through(std::span<const PathLink> links, const Train& train) {
    return time_over(
        links.size(), [&](std::size_t at) -> const PathLink& { return links[at]; }, train);
}

Duration time_back(std::span<const PathLink> links, const Train& train) {
    return time_over(
        links.size(), [&](std::size_t at) -> const PathLink& { return links[links.size() - 1 - at]; }, train);
}

}  // namespace sluice::roce

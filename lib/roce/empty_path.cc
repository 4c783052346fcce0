#include "lib/roce/empty_path.hh"

#include <algorithm>
#include <boost/container/small_vector.hpp>

namespace sluice::roce {
namespace {

// `link` gives link n of `links`, from the sender on.
template <class Link>
Duration time_over(std::size_t links, Link link, const Train& train) {
    boost::container::small_vector<Duration, 16> free(links);  // when each link has sent the frame before
    Duration came{};
    for (std::uint64_t n = 0; n < train.count; ++n) {
        const std::int64_t bytes = n + 1 == train.count ? train.last : n == 0 ? train.first : train.middle;
        came = {};
        for (std::size_t at = 0; at < links; ++at) {
            const Duration begins = std::max(came, free[at]);
            free[at] = begins + link(at).byte_time * bytes;
            came = (at == 0 && links > 1 ? begins : free[at]) + link(at).propagation;
        }
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

// Writes the frames of every host of a recipe, one nanosecond pcap a host. The frames of one host share its
// link: none starts before the one ahead has ended, MAC control goes ahead of data that waits, and of two
// that wait the one that has waited longer goes first, then the one that stands first in the recipe. A
// timestamp is the moment at which the frame starts on the wire, rounded down.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "tools/traffic/frame.hh"
#include "tools/traffic/recipe.hh"

namespace sluice::traffic {

struct HostSummary {
    std::string host;
    std::uint64_t frames = 0;
    std::uint64_t bytes = 0;
    Duration end;  // when the last frame has left
};

// Calls `take` for every frame that `host` sends, in order, with its start. Throws Failure beyond 100 days.
HostSummary send_all(const Recipe& recipe, std::size_t host,
                     const std::function<void(Duration, const Frame&)>& take);

// FOLDER/<host>.pcap for every host, all or none. `inputs`: files that the recipe came from, none of which is
// replaced. Throws Failure.
std::vector<HostSummary> generate(const Recipe& recipe, const std::filesystem::path& folder,
                                  const std::vector<std::string>& inputs = {});

}  // namespace sluice::traffic

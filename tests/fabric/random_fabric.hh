// The text of a fabric drawn from a seed: its shape, buffers, classes, hosts and flows, and, when it is to go
// wrong, faults, cables and switches that come and go. At its end everything is whole again, and flows end,
// so that the fabric drains.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::fabric {

struct RandomFabric {
    std::string text;
    bool whole = true;     // nothing goes wrong in it: no lossless packet may be lost
    bool ordered = false;  // flowlets with a gap that is longer than any path takes: no packet overtakes
};

RandomFabric random_fabric(std::uint64_t seed);

}  // namespace sluice::fabric

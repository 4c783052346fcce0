#include "tests/sim/outcomes.hh"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>

#include "dataplane/path/worker_context.hh"
#include "tests/tries.hh"

namespace sluice::sim {

void choose_pools(Switch& device) {
    if (is_set("SLUICE_SHARED_POOLS")) device.shared().set_exclusive(false);
}

bool notes_outcomes() { return std::getenv("SLUICE_OUTCOMES") != nullptr; }

void note_outcome(const std::string& label, Switch& device, std::uint64_t digest) {
    static std::ofstream out(std::getenv("SLUICE_OUTCOMES"));
    out << fmt::format("{:016x} {} pools", digest, label);
    for (const auto* uses : {&device.shared().ingress_use, &device.shared().egress_use})
        for (const PoolUse& use : *uses)
            out << fmt::format(" {}/{}/{}/{}", use.shared.get(), use.shared_watermark.persistent(),
                               use.headroom.get(), use.headroom_watermark.persistent());
    out << std::endl;  // a line is whole where a later test fails
}

}  // namespace sluice::sim

#include "control/config/compile/equal_ports.hh"

#include <fmt/format.h>

#include <utility>

#include "control/config/compile/qos.hh"

namespace sluice {

Config with_equal_ports(Config config, unsigned ports) {
    config.ports.clear();
    for (unsigned n = 0; n < ports; ++n) config.ports[fmt::format("p{}", n)] = config.port_defaults;
    return config;
}

unsigned equal_ports_that_fit(const Config& config) {
    unsigned fitting = 0, too_many = max_ports + 1;
    while (too_many - fitting > 1) {
        const unsigned middle = fitting + (too_many - fitting) / 2;
        (effective_qos(with_equal_ports(config, middle)).problems.empty() ? fitting : too_many) = middle;
    }
    return fitting;
}

std::vector<ClassId> lossless_classes(unsigned count) {
    constexpr unsigned first = 3;  // class and group, as in the preset
    std::vector<ClassId> made;
    for (unsigned n = 0; n < count; ++n) made.push_back(static_cast<ClassId>((first + n) % classes));
    return made;
}

}  // namespace sluice

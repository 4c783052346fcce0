// A switch whose ports are all alike: questions about a buffer that come without a configuration's ports.
#pragma once

#include <vector>

#include "control/config/schema/config.hh"

namespace sluice {

// `config` with `ports` ports, in [0, max_ports], named p0, p1, ...; each is as [default] has it.
Config with_equal_ports(Config config, unsigned ports);
// The most of such ports that the buffer has room for, in [0, max_ports]. 0: it takes none, or the
// configuration is wrong in itself (effective_qos names the problem).
unsigned equal_ports_that_fit(const Config& config);
// So many lossless classes, in [1, classes]: the preset's first, then those after it.
std::vector<ClassId> lossless_classes(unsigned count);

}  // namespace sluice

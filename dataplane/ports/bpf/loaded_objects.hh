// The BPF objects that net_af_xdp loads of our steering program. v22.11 forgets each at once, so that libbpf
// would keep its memory (16 KB) for every time that an interface comes back. This program therefore has
// bpf_object__load and bpf_object__close in front of libbpf's, and remembers; see `link_args` in meson.build.
// Called by control, as drivers are.
#pragma once

#include <set>

namespace sluice {

// Closes those that one of these descriptors is of, and with them descriptors.
void close_loaded_objects(const std::set<int>& descriptors);

}  // namespace sluice

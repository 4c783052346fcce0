#include "dataplane/peers/host_port.hh"

namespace sluice {

template class PeerPort<HostSource>;

}  // namespace sluice

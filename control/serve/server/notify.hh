// Tells a service manager how the switch is (sd_notify(3)): one datagram to the socket that NOTIFY_SOCKET
// names, nothing where there is none.
#pragma once

#include <string_view>

namespace sluice {

void notify_service_manager(std::string_view state);  // "READY=1", "STATUS=...": lines

}  // namespace sluice

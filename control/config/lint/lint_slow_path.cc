// The part that answers at a port for the switch itself: the responder, a kernel, or none.
#include "control/config/lint/lint_parts.hh"

namespace sluice::lint {

void check_slow_path(const Config& config, Findings& findings) {
    for (const auto& [name, port] : config.ports) {
        if (port.proxy_arp && !port.responder)
            findings.warn("proxy-arp-alone", port_path(name, "proxy_arp"),
                          "no effect: it is the responder that would answer", "write responder = true",
                          port.place);
        if (port.responder && port.device.starts_with("xdp:") && !config.kernel.routes)
            findings.warn("responder-kernel", port_path(name, "responder"),
                          "of use for what is too long alone: the kernel gets the rest at this port's "
                          "interface, and answers for the addresses that the interface has, for no other",
                          "leave it out, and give the interface the port's address", port.place);
        if (port.responder && port.address.empty())
            findings.note("responder-address", port_path(name, "responder"),
                          "the port has no address to answer for, or to send errors from",
                          "give it one with address", port.place);
    }
}

}  // namespace sluice::lint

#include "control/switch/running/broken_promises.hh"

#include <utility>

#include "control/config/compile/compile.hh"
#include "control/switch/running/running_switch.hh"
#include "control/switch/running/surroundings.hh"

namespace sluice {

std::vector<std::string> broken_promises(const RunningSwitch& running) {
    std::vector<std::string> broken;
    for (const QosProblem& problem : running.qos().tolerated)
        broken.push_back(problem.path() + ": " + problem.wrong);
    for (const std::string& reason : running.forced()) broken.push_back(reason + ": forced");
    for (const auto& [name, port] : running.config().ports)
        if (has_our_sender(running.config(), port) && port.peer == PeerKind::ignore &&
            running.qos().ports.at(name).lossless != 0)
            broken.push_back("not promised by the peer of " + name);
    for (std::string& promise : running.surroundings().broken_promises())
        broken.push_back(std::move(promise));
    for (PortId id = 0; id < running.port_names().size(); ++id)
        if (running.watch().deaf_peers().was_deaf(id) != 0)
            broken.push_back("not obeyed by the peer of " + running.port_names()[id]);
    for (std::string& promise : running.faults().broken_promises()) broken.push_back(std::move(promise));
    return broken;
}

}  // namespace sluice

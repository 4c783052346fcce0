#include "tools/fabric/run/sockets.hh"

#include <algorithm>
#include <filesystem>

#include "control/server/rpc.hh"
#include "control/server/spare_memory.hh"

namespace sluice::fabric {

tl::expected<std::unique_ptr<FabricSockets>, std::string> FabricSockets::open(Fabric& fabric,
                                                                              const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return tl::unexpected(folder + ": " + error.message());
    std::unique_ptr<FabricSockets> made(new FabricSockets(fabric));
    for (FabricSwitch& each : fabric.switches()) {
        auto server = ControlServer::open(made->io_, folder + "/" + each.plan->name + ".sock", *each.api, {});
        if (!server) return tl::unexpected(server.error());
        made->servers_.push_back(std::move(*server));
        made->spare_bytes_ = std::max(made->spare_bytes_, most_memory(each.plan->config, 0));
    }
    return made;
}

void FabricSockets::serve(std::chrono::microseconds patience) {
    budget_.serve(io_, patience);
    SpareMemory::hold(spare_bytes_);
    for (FabricSwitch& each : fabric_.switches()) each.api->tick();
    for (const auto& server : servers_) server->tick();
    fabric_.follow_ports();
}

void FabricSockets::let_clients_advance(const std::function<bool()>& goes_on) {
    for (FabricSwitch& each : fabric_.switches())
        each.api->advance = [this, goes_on](std::optional<Duration> duration) { advance(duration, goes_on); };
}

// A change that is not confirmed is taken back at its time.
void FabricSockets::advance(std::optional<Duration> duration, const std::function<bool()>& goes_on) {
    VirtualLoop& loop = fabric_.loop();
    fabric_.follow_ports();
    const auto end = duration ? std::optional(loop.now() + *duration) : std::nullopt;
    for (bool more = true; more;) {
        std::optional<Time> deadline;
        for (const FabricSwitch& each : fabric_.switches())
            if (const auto own = each.api->confirm_by()) take_earlier(deadline, *own);
        more = deadline && (!end || *deadline <= *end);
        if (!loop.run(more ? deadline : end, goes_on) || !loop.gave_up().empty()) return;
        for (FabricSwitch& each : fabric_.switches()) each.api->tick();
    }
}

}  // namespace sluice::fabric

#include "control/fabric/run/sockets.hh"

#include <algorithm>
#include <filesystem>

#include "control/serve/server/rpc.hh"
#include "control/serve/server/spare_memory.hh"

namespace sluice::fabric {

tl::expected<std::unique_ptr<FabricSockets>, std::string> FabricSockets::open(Fabric& fabric,
                                                                              const Places& places) {
    std::unique_ptr<FabricSockets> made(new FabricSockets(fabric));
    if (std::string error = made->open_page(places); !error.empty()) return tl::unexpected(std::move(error));
    if (std::string error = made->open_sockets(places.folder); !error.empty())
        return tl::unexpected(std::move(error));
    for (const FabricSwitch& each : fabric.switches())
        made->spare_bytes_ = std::max(made->spare_bytes_, max_memory(each.plan->config, 0));
    return made;
}

// Error texts, or empty.
std::string FabricSockets::open_page(const Places& places) {
    if (places.page.empty()) return {};
    PageSource source{{}, places.title, fabric_.plan().file.file, places.overview};
    for (FabricSwitch& each : fabric_.switches())
        source.switches.push_back({each.plan->name, each.api.get()});
    auto page = LivePage::open(io_, places.page, std::move(source));
    if (!page) return page.error();
    page_ = std::move(*page);
    return {};
}

std::string FabricSockets::open_sockets(const std::string& folder) {
    if (folder.empty()) return {};
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return folder + ": " + error.message();
    for (FabricSwitch& each : fabric_.switches()) {
        auto server = ControlServer::open(io_, folder + "/" + each.plan->name + ".sock", *each.api, {});
        if (!server) return server.error();
        servers_.push_back(std::move(*server));
    }
    return {};
}

void FabricSockets::serve(std::chrono::microseconds patience) {
    budget_.serve(io_, patience);
    SpareMemory::hold(spare_bytes_);
    for (FabricSwitch& each : fabric_.switches()) each.api->changes().tick();
    if (page_) page_->tick(LivePage::Clock::now());
    for (const auto& server : servers_) server->tick();
    fabric_.follow_ports();
}

void FabricSockets::finish() {
    if (page_) page_->finish([this] { budget_.serve(io_, std::chrono::milliseconds(5)); });
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
            if (const auto own = each.api->changes().confirm_by()) take_earlier(deadline, *own);
        more = deadline && (!end || *deadline <= *end);
        if (!loop.run(more ? deadline : end, goes_on) || !loop.gave_up().empty()) return;
        for (FabricSwitch& each : fabric_.switches()) each.api->changes().tick();
    }
}

}  // namespace sluice::fabric

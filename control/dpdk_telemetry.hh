// DPDK's telemetry: the report's figures under /sluice, for dpdk-telemetry.py and whoever else speaks its
// protocol. EAL must have been started with telemetry.
//
// DPDK calls back on threads of its own, without a pointer of ours, and a command cannot be taken back. So
// there is one process-wide slot, which lives as long as the process: a callback asks there for a report and
// waits; the control thread makes it and hands it over under a mutex. Callbacks read nothing of a worker.
// Without a client nothing is made.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <tl/expected.hpp>

namespace sluice {

class DpdkTelemetry {
  public:
    using Report = std::function<nlohmann::ordered_json()>;  // called by `serve` only

    // One at a time in the process. An error's text when DPDK refuses a command.
    static tl::expected<std::unique_ptr<DpdkTelemetry>, std::string> open(Report report);
    // Clients that wait, and later ones, are told that there is nothing.
    ~DpdkTelemetry();
    DpdkTelemetry(const DpdkTelemetry&) = delete;
    DpdkTelemetry& operator=(const DpdkTelemetry&) = delete;

    // Control thread: somebody waits. Then `serve` answers all who do.
    bool is_asked() const;
    void serve();

  private:
    explicit DpdkTelemetry(Report report);
    Report report_;
};

}  // namespace sluice

// A control socket for every switch of a fabric, DIR/NAME.sock, all served by the thread that runs the clock.
#pragma once

#include <utility>  // before Boost.Asio

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/server/budget.hh"
#include "control/server/socket.hh"
#include "tools/fabric/run/fabric.hh"

namespace sluice::fabric {

class FabricSockets {
  public:
    // An error's text names the path. The fabric outlives it.
    static tl::expected<std::unique_ptr<FabricSockets>, std::string> open(Fabric& fabric,
                                                                          const std::string& folder);
    // One round: as much of what has come in as a round's budget allows; waits for it, for at most
    // `patience`.
    void serve(std::chrono::microseconds patience);
    // Interactive: a client of any switch moves the one clock; `goes_on` is asked after each instant.
    void let_clients_advance(const std::function<bool()>& goes_on);

  private:
    explicit FabricSockets(Fabric& fabric) : fabric_(fabric) {}
    void advance(std::optional<Duration> duration, const std::function<bool()>& goes_on);

    Fabric& fabric_;
    boost::asio::io_context io_;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{io_.get_executor()};
    Budget budget_{{}};
    std::vector<std::unique_ptr<ControlServer>> servers_;
    std::size_t spare_bytes_ = 0;  // what one request of the largest switch may need
};

}  // namespace sluice::fabric

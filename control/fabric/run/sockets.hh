// The servers of a fabric that runs: a control socket for every switch, DIR/NAME.sock, and a page for
// browsers, all on the thread that runs the clock, between two of its windows.
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

#include "control/fabric/run/fabric.hh"
#include "control/serve/server/budget.hh"
#include "control/serve/server/live_page.hh"
#include "control/serve/server/socket.hh"

namespace sluice::fabric {

class FabricSockets {
  public:
    struct Places {
        std::string folder;                                // of the control sockets; empty: none
        std::string page;                                  // [ADDRESS:]PORT; empty: none
        std::string title;                                 // of the page
        std::function<nlohmann::ordered_json()> overview;  // of the page: live_page.hh
    };
    // An error's text names the path. The fabric outlives it.
    static tl::expected<std::unique_ptr<FabricSockets>, std::string> open(Fabric& fabric,
                                                                          const Places& places);
    // The page's address for a browser; empty: there is none.
    std::string page_address() const { return page_ ? page_->address() : std::string(); }
    // Serves a round: requests within the budget of a round; waits for them for at most `patience`.
    void serve(std::chrono::microseconds patience);
    // Interactive: a client of any switch moves the one clock; `goes_on` is asked after each instant.
    void let_clients_advance(const std::function<bool()>& goes_on);
    // A run that nobody could change has ended: the page tells its last figures.
    void finish();

  private:
    explicit FabricSockets(Fabric& fabric) : fabric_(fabric) {}
    std::string open_page(const Places& places);
    std::string open_sockets(const std::string& folder);
    void advance(std::optional<Duration> duration, const std::function<bool()>& goes_on);

    Fabric& fabric_;
    boost::asio::io_context io_;
    boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{io_.get_executor()};
    Budget budget_{{}};
    std::vector<std::unique_ptr<ControlServer>> servers_;
    std::unique_ptr<LivePage> page_;
    std::size_t spare_bytes_ = 0;  // what one request of the largest switch may need
};

}  // namespace sluice::fabric

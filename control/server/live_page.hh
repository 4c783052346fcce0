// The page of a running switch, for a browser: the report, live, over server-sent events. It only reads.
//
// On a loopback address it answers who names it so (a name that resolves to it could be anybody's page); on
// any other one the data want a token, which is new each time and is told once, at the start.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "control/server/api.hh"
#include "control/server/http.hh"

namespace sluice {

class LivePage {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds period{1000};

    // `where`: as http.hh has it.
    static tl::expected<std::unique_ptr<LivePage>, std::string> open(boost::asio::io_context& io,
                                                                     const std::string& where, Api& api);
    // Once a round: tells the news each `period`.
    void tick(Clock::time_point now);
    // What a browser is given: "http://127.0.0.1:8080/", with the token where there is one.
    const std::string& address() const { return address_; }

  private:
    LivePage(Api& api, const std::string& where) : api_(api), where_(where) {}
    HttpReply answer(const HttpRequest& request);
    bool is_for_us(const std::string& host) const;
    HttpServer::Text news();
    std::string why(const std::string& query);

    Api& api_;
    std::string where_, address_;
    std::string token_;  // empty: none is wanted
    std::unique_ptr<HttpServer> server_;
    Clock::time_point next_{};
};

// The figures of the page: the report, with the last events only, and the thresholds of marks by port and
// queue.
Json page_figures(RunningSwitch& running);

}  // namespace sluice

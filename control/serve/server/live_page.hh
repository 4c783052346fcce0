// The page of what runs, for a browser: the report, live, over server-sent events. It only reads.
//
// On a loopback address it answers who names it so (a name that resolves to it could be anybody's page); on
// any other one the data want a token, which is new each time and is told once, at the start. It takes no
// more than a tenth of the time of the thread that calls it: while a report takes long there are fewer.
#pragma once

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/serve/server/api.hh"
#include "control/serve/server/http.hh"

namespace sluice {

// What there is to see: one switch without a name, or those of a fabric, by their names and together.
struct PageSource {
    struct Named {
        std::string name;
        Api* api;
    };
    std::vector<Named> switches;       // at least one; they outlive the page
    std::string title{};               // the name of the switch or the fabric
    std::string file{};                // its configuration
    std::function<Json()> overview{};  // of a fabric: its report, with the verdicts of its switches alone
};

class LivePage {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds period{1000};

    // `where`: as http.hh has it.
    static tl::expected<std::unique_ptr<LivePage>, std::string> open(boost::asio::io_context& io,
                                                                     const std::string& where,
                                                                     PageSource source);
    // Once a round: tells the news each `period`.
    void tick(Clock::time_point now);
    // The run has ended: tells its last figures, and that. `serve` carries out what `io` has to do for a few
    // milliseconds at most; clients that take nothing are not waited for.
    void finish(const std::function<void()>& serve);
    // What a browser is given: "http://127.0.0.1:8080/", with the token where there is one.
    const std::string& address() const { return address_; }

  private:
    explicit LivePage(PageSource source) : source_(std::move(source)) {}
    HttpReply answer(const HttpRequest& request);
    // Null: there is no such switch.
    Api* find(const std::string& name) const;
    HttpServer::Text news(const std::string& name);
    void tell();
    std::string why(Api& api, const std::string& query);
    std::string switches() const;

    PageSource source_;
    std::string address_;
    std::string token_;  // empty: none is wanted
    HttpServer::Text script_;
    std::unique_ptr<HttpServer> server_;
    Clock::time_point next_{};
    bool has_ended_ = false;
};

// The figures of the page: the report, with the last events only, and the thresholds of marks by port and
// queue.
Json page_figures(RunningSwitch& running);

}  // namespace sluice

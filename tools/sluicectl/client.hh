// A connection to a switch's control socket: one request at a time, and its notifications.
#pragma once

#include <chrono>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "control/config/text/json_text.hh"

namespace sluice::ctl {

using Json = nlohmann::ordered_json;

class Client {
  public:
    // Waits for as long as `patience` for a switch that only starts. Throws Failure: no switch listens there
    // (exit_no_daemon), or it may not be asked (exit_not_permitted).
    explicit Client(const std::string& path, std::chrono::nanoseconds patience = {});
    ~Client();
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    // The result; throws Failure with the switch's own words when it refuses.
    Json call(std::string_view method, const Json& parameters = Json::object());
    // No more can be asked: the switch hung up, or Ctrl-C came before its answer.
    bool is_lost() const { return is_lost_; }
    // Waits for the next notification, and returns its parameters.
    Json next_notification();

  private:
    std::string read_line();
    [[noreturn]] void lost(const std::string& why);

    int fd_ = -1;
    bool is_lost_ = false;
    std::string path_;
    std::string in_;
    unsigned next_id_ = 1;
    std::deque<Json> notifications_;
};

}  // namespace sluice::ctl

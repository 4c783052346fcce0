// HTTP of one request a connection, on a loopback address unless told otherwise: the metrics, and the page.
// Only reading: GET and HEAD, and a body is not read. Boost.Beast speaks the protocol; a request that is none
// is answered with 400, one of another method with 405, one with too large a header with 431.
//
// A request has a few KB, and ten seconds with its answer. There are at most `max_sessions`; one more takes
// the place of the one that has waited longest to send its request or, when all have, of the one that has
// gone longest without reading. So no client keeps others out by doing nothing. An answer may stay open for
// server-sent events; a client that has not taken all before misses the next.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/serve/server/accepting.hh"

namespace sluice {

struct HttpRequest {
    std::string path;   // "/why"
    std::string query;  // "at=h1"
    std::string host;   // as the client names the server, without a port: "localhost", "[::1]"
};

struct HttpReply {
    unsigned status = 200;
    std::string_view type = "text/plain; charset=utf-8";  // lives as long as the program
    std::shared_ptr<const std::string> text;
    bool stays = false;     // open for what is published; `text` is the first of it
    std::string channel{};  // of that
};

// A sentence, as a line of plain text.
HttpReply http_refusal(unsigned status, std::string_view sentence);

// Reads a request's target, "/why?at=h1" or "http://localhost/why?at=h1", and its Host; nothing: HTTP has no
// such target or host.
std::optional<HttpRequest> http_request(std::string_view target, std::string_view host);

class HttpServer {
  public:
    static constexpr std::size_t max_sessions = 64;
    using Text = std::shared_ptr<const std::string>;
    using Answer = std::function<HttpReply(const HttpRequest&)>;

    // `where`: "9464", "127.0.0.1:9464", "[::1]:9464". An error's text names it and the option.
    static tl::expected<std::unique_ptr<HttpServer>, std::string> open(boost::asio::io_context& io,
                                                                       std::string_view option,
                                                                       const std::string& where,
                                                                       Answer answer);
    // Once a round.
    void tick();
    // To clients whose answer stays open for this channel; `heard`: the channels of all of them.
    void publish(std::string_view channel, const Text& text);
    std::set<std::string, std::less<>> heard() const;
    // A client has not taken all of what was published.
    bool is_publishing() const;
    bool is_loopback() const { return is_loopback_; }
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;

  private:
    class Session;
    HttpServer(boost::asio::io_context& io, Answer answer);
    void admit(boost::asio::ip::tcp::socket socket);
    void make_room();

    Answer answer_;
    bool is_loopback_ = true;
    std::vector<std::weak_ptr<Session>> sessions_;  // in order of their connection
    std::uint64_t steps_ = 0;                       // of all sessions: an order in time
    Accepting<boost::asio::ip::tcp> clients_;
};

}  // namespace sluice

#include "control/http.hh"

#include <fmt/format.h>

#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "control/values.hh"

namespace sluice {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

constexpr unsigned max_sessions = 16;
constexpr std::chrono::seconds time_limit{10};
constexpr std::uint32_t max_header_bytes = 8192;

tl::expected<tcp::endpoint, std::string> endpoint_of(const std::string& where) {
    const std::size_t colon = where.rfind(':');
    std::string address = colon == std::string::npos ? "127.0.0.1" : where.substr(0, colon);
    if (address.size() > 2 && address.front() == '[' && address.back() == ']')
        address = address.substr(1, address.size() - 2);
    const auto port = parse_integer(colon == std::string::npos ? where : where.substr(colon + 1));
    boost::system::error_code error;
    const auto ip = asio::ip::make_address(address, error);
    if (error || !port || *port == 0 || *port > 65'535)
        return tl::unexpected(fmt::format("{} is no address to listen on; do: write 9464 or 127.0.0.1:9464",
                                          sluice::in_quotes(where)));
    return tcp::endpoint(ip, static_cast<std::uint16_t>(*port));
}

}  // namespace

// One request, one answer.
class MetricsServer::Session : public std::enable_shared_from_this<Session> {
  public:
    Session(tcp::socket socket, std::function<std::string()> text, std::shared_ptr<unsigned> sessions)
        : stream_(std::move(socket)), text_(std::move(text)), sessions_(std::move(sessions)) {
        ++*sessions_;
    }
    ~Session() { --*sessions_; }
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    void start() {
        stream_.expires_after(time_limit);
        parser_.header_limit(max_header_bytes);
        parser_.body_limit(0);
        http::async_read(stream_, buffer_, parser_,
                         [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                             if (!error) self->answer();
                         });
    }

  private:
    void answer() {
        const auto& request = parser_.get();
        answer_.version(request.version());
        answer_.keep_alive(false);
        answer_.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
        const bool asks = request.method() == http::verb::get || request.method() == http::verb::head;
        if (!asks) {
            answer_.result(http::status::method_not_allowed);
        } else if (request.target() != "/metrics") {
            answer_.result(http::status::not_found);
            answer_.body() = "there is /metrics\n";
        } else {
            answer_.body() = text_();
        }
        answer_.prepare_payload();
        if (request.method() == http::verb::head) answer_.body().clear();
        http::async_write(stream_, answer_,
                          [self = shared_from_this()](const beast::error_code&, std::size_t) {
                              beast::error_code ignored;
                              self->stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
                          });
    }

    beast::tcp_stream stream_;
    beast::flat_buffer buffer_{max_header_bytes};
    http::request_parser<http::string_body> parser_;
    http::response<http::string_body> answer_;
    std::function<std::string()> text_;
    std::shared_ptr<unsigned> sessions_;
};

tl::expected<std::unique_ptr<MetricsServer>, std::string> MetricsServer::open(
    asio::io_context& io, const std::string& where, std::function<std::string()> text) {
    const auto endpoint = endpoint_of(where);
    if (!endpoint) return tl::unexpected("--metrics " + endpoint.error());
    std::unique_ptr<MetricsServer> server(new MetricsServer(io, std::move(text)));
    boost::system::error_code error;
    server->acceptor_.open(endpoint->protocol(), error);
    if (!error) server->acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) server->acceptor_.bind(*endpoint, error);
    if (!error) server->acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error) return tl::unexpected(fmt::format("--metrics {}: {}", where, error.message()));
    server->accept();
    return server;
}

void MetricsServer::accept() {
    acceptor_.async_accept([this](const boost::system::error_code& error, tcp::socket socket) {
        if (error == asio::error::operation_aborted) return;
        if (!error && *sessions_ < max_sessions)
            std::make_shared<Session>(std::move(socket), text_, sessions_)->start();
        accept();
    });
}

}  // namespace sluice

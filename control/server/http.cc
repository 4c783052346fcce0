#include "control/server/http.hh"

#include <fmt/format.h>

#include <algorithm>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include "control/config/values.hh"
#include "control/server/boundary.hh"

namespace sluice {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

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

// One request, one answer. Every write is a handler of its own.
class MetricsServer::Session : public std::enable_shared_from_this<Session> {
  public:
    Session(tcp::socket socket, MetricsServer& server) : stream_(std::move(socket)), server_(server) {}

    void start() {
        step();
        stream_.expires_after(time_limit);
        parser_.header_limit(max_header_bytes);
        parser_.body_limit(0);
        http::async_read(stream_, buffer_, parser_,
                         [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                             if (!error && self->is_open()) self->guarded([&] { self->answer(); });
                         });
    }
    bool is_open() const { return stream_.socket().is_open(); }
    void cut() { stream_.close(); }
    // Whether it goes before another, where one has to.
    bool is_worse_than(const Session& other) const {
        if (has_asked_ != other.has_asked_) return !has_asked_;
        return last_step_ < other.last_step_;
    }

  private:
    template <class Work>
    void guarded(Work&& work) {
        boundary(work, [this](const char*) { cut(); });
    }
    void step() { last_step_ = ++server_.steps_; }
    void answer() {
        has_asked_ = true;
        const auto& request = parser_.get();
        answer_.version(request.version());
        answer_.keep_alive(false);
        answer_.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
        const bool asks = request.method() == http::verb::get || request.method() == http::verb::head;
        if (!asks) {
            answer_.result(http::status::method_not_allowed);
        } else if (request.target() != "/metrics") {
            static const auto there_is = std::make_shared<const std::string>("there is /metrics\n");
            answer_.result(http::status::not_found);
            text_ = there_is;
        } else {
            text_ = server_.text_();
        }
        if (text_) answer_.body() = {text_->data(), text_->size()};
        answer_.prepare_payload();
        if (request.method() == http::verb::head) answer_.body() = {};
        write();
    }
    void write() {
        step();
        http::async_write_some(stream_, serializer_,
                               [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                                   if (!error && self->is_open()) self->guarded([&] { self->on_written(); });
                               });
    }
    void on_written() {
        if (!serializer_.is_done()) return write();
        beast::error_code ignored;
        stream_.socket().shutdown(tcp::socket::shutdown_both, ignored);
    }

    using Body = http::span_body<const char>;

    beast::tcp_stream stream_;
    MetricsServer& server_;
    beast::flat_buffer buffer_{max_header_bytes};
    http::request_parser<http::string_body> parser_;
    std::shared_ptr<const std::string> text_;
    http::response<Body> answer_;
    http::response_serializer<Body> serializer_{answer_};
    bool has_asked_ = false;
    std::uint64_t last_step_ = 0;
};

tl::expected<std::unique_ptr<MetricsServer>, std::string> MetricsServer::open(asio::io_context& io,
                                                                              const std::string& where,
                                                                              Text text) {
    const auto endpoint = endpoint_of(where);
    if (!endpoint) return tl::unexpected("--metrics " + endpoint.error());
    std::unique_ptr<MetricsServer> server(new MetricsServer(io, std::move(text)));
    boost::system::error_code error;
    tcp::acceptor& acceptor = server->clients_.acceptor();
    acceptor.open(endpoint->protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor.bind(*endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) return tl::unexpected(fmt::format("--metrics {}: {}", where, error.message()));
    server->tick();
    return server;
}

MetricsServer::MetricsServer(asio::io_context& io, Text text)
    : text_(std::move(text)), clients_(io, [this](tcp::socket socket) { admit(std::move(socket)); }) {}

void MetricsServer::tick() { clients_.tick(std::chrono::steady_clock::now()); }

void MetricsServer::admit(tcp::socket socket) {
    make_room();
    const auto session = std::make_shared<Session>(std::move(socket), *this);
    sessions_.push_back(session);
    session->start();
}

void MetricsServer::make_room() {
    std::erase_if(sessions_, [](const auto& each) {
        const auto session = each.lock();
        return !session || !session->is_open();
    });
    if (sessions_.size() < max_sessions) return;
    const auto worst = std::min_element(sessions_.begin(), sessions_.end(), [](const auto& a, const auto& b) {
        return a.lock()->is_worse_than(*b.lock());
    });
    worst->lock()->cut();
    sessions_.erase(worst);
}

}  // namespace sluice

#include "control/serve/server/http.hh"

#include <fmt/format.h>

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <limits>

#include "control/config/schema/values.hh"
#include "control/serve/server/boundary.hh"

namespace sluice {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;

constexpr std::chrono::seconds time_limit{10};
constexpr std::chrono::seconds closing_limit{1};
constexpr std::uint32_t max_header_bytes = 8192;
// Scripts and styles of its own alone; charts set the styles of their elements.
constexpr const char* policy =
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

tl::expected<tcp::endpoint, std::string> endpoint_of(const std::string& where) {
    const std::size_t colon = where.rfind(':');
    std::string address = colon == std::string::npos ? "127.0.0.1" : where.substr(0, colon);
    if (address.size() > 2 && address.front() == '[' && address.back() == ']')
        address = address.substr(1, address.size() - 2);
    const auto port = parse_integer(colon == std::string::npos ? where : where.substr(colon + 1));
    boost::system::error_code error;
    const auto ip = asio::ip::make_address(address, error);
    if (error || !port || *port == 0 || *port > 65'535)
        return tl::unexpected(fmt::format(
            "{} is not an address to listen on; do: write 9464 or 127.0.0.1:9464", sluice::in_quotes(where)));
    return tcp::endpoint(ip, static_cast<std::uint16_t>(*port));
}

// "localhost:8080" without its port; nothing: it is none.
std::optional<std::string> host_name(std::string_view authority) {
    constexpr auto npos = std::string_view::npos;
    const bool has_brackets = authority.starts_with('[');
    const std::size_t end =
        has_brackets ? authority.find(']') : std::min(authority.find(':'), authority.size());
    if (end == npos) return std::nullopt;
    const std::string_view name = authority.substr(0, end + (has_brackets ? 1 : 0));
    std::string_view port = authority.substr(name.size());
    if (port.starts_with(':'))
        port.remove_prefix(1);
    else if (!port.empty())
        return std::nullopt;
    if (port.find_first_not_of("0123456789") != npos || name.find_first_of("/?#@ ") != npos)
        return std::nullopt;
    return std::string(name);
}

// The status that answers an unreadable request; 0: none came.
unsigned status_of(const beast::error_code& error) {
    using Error = http::error;
    if (error.category() != make_error_code(Error::bad_target).category()) return 0;
    if (error == Error::end_of_stream || error == Error::partial_message) return 0;
    const bool is_large = error == Error::header_limit || error == Error::buffer_overflow;
    return is_large ? 431 : 400;
}

}  // namespace

HttpReply http_refusal(unsigned status, std::string_view sentence) {
    return {status, "text/plain; charset=utf-8",
            std::make_shared<const std::string>(fmt::format("{}\n", sentence))};
}

std::optional<HttpRequest> http_request(std::string_view target, std::string_view host) {
    constexpr std::string_view scheme = "http://";
    if (boost::algorithm::istarts_with(target, scheme)) {  // RFC 9112 3.2.2: its host goes before the header
        target.remove_prefix(scheme.size());
        host = target.substr(0, target.find_first_of("/?"));
        target.remove_prefix(host.size());
        if (host.empty()) return std::nullopt;
    } else if (!target.starts_with('/')) {
        return std::nullopt;
    }
    auto name = host_name(host);
    if (!name) return std::nullopt;
    const std::size_t mark = std::min(target.find('?'), target.size());
    std::string path(target.substr(0, mark));
    return HttpRequest{path.empty() ? "/" : std::move(path),
                       std::string(target.substr(std::min(mark + 1, target.size()))), std::move(*name)};
}

// A session has one request and one answer. Every write is a handler of its own.
class HttpServer::Session : public std::enable_shared_from_this<Session> {
  public:
    Session(tcp::socket socket, HttpServer& server) : stream_(std::move(socket)), server_(server) {}

    void start() {
        step();
        stream_.expires_after(time_limit);
        parser_.header_limit(max_header_bytes);
        parser_.body_limit(std::numeric_limits<std::uint64_t>::max());
        http::async_read_header(stream_, buffer_, parser_,
                                [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                                    if (!self->is_open()) return;
                                    if (!error) return self->guarded([&] { self->answer(self->reply()); });
                                    if (const unsigned status = status_of(error))
                                        self->guarded([&] { self->answer(no_request(status)); });
                                });
    }
    bool is_open() const { return stream_.socket().is_open(); }
    void cut() { stream_.close(); }
    // Null: it hears nothing.
    const std::string* channel() const { return listens_ && is_open() ? &channel_ : nullptr; }
    bool is_told() const { return stays_ && is_open() && (!listens_ || !left_.empty()); }
    void tell(const Text& text) {
        if (!left_.empty()) return;
        text_ = text;
        left_ = *text_;
        guarded([&] { write_news(); });
    }
    // True when it is closed before `other`, where one has to be.
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
    static HttpReply no_request(unsigned status) {
        if (status != 431) return http_refusal(status, "this is not a request of HTTP/1.1");
        return http_refusal(
            status, fmt::format("a request's line and header have at most {} bytes", max_header_bytes));
    }
    HttpReply reply() {
        const auto& request = parser_.get();
        if (request.method() != http::verb::get && request.method() != http::verb::head)
            return http_refusal(405, "it only reads: GET and HEAD");
        const std::size_t hosts = request.count(http::field::host);
        if (hosts > 1 || (hosts == 0 && request.version() > 10))
            return http_refusal(400, "a request has one Host");
        const auto target = request.target(), host = request[http::field::host];
        const auto asked = http_request({target.data(), target.size()}, {host.data(), host.size()});
        if (!asked) return http_refusal(400, "HTTP has no such address, or no such Host");
        return server_.answer_(*asked);
    }
    void answer(HttpReply reply) {
        has_asked_ = true;
        const auto& request = parser_.get();
        stays_ = reply.stays && request.method() == http::verb::get;
        channel_ = std::move(reply.channel);
        answer_.version(request.version() == 10 ? 10 : 11);
        answer_.keep_alive(false);
        answer_.result(reply.status);
        if (reply.status == 405) answer_.set(http::field::allow, "GET, HEAD");
        answer_.set(http::field::content_type, beast::string_view(reply.type.data(), reply.type.size()));
        answer_.set(http::field::cache_control, "no-store");
        answer_.set("X-Content-Type-Options", "nosniff");
        answer_.set("Content-Security-Policy", policy);
        answer_.set("Referrer-Policy", "no-referrer");
        text_ = std::move(reply.text);
        if (text_) answer_.body() = {text_->data(), text_->size()};
        if (!stays_) answer_.prepare_payload();  // else its end is the connection's
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
        if (stays_) return listen();
        beast::error_code ignored;
        stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
        stream_.expires_after(closing_limit);
        read_the_rest();
    }
    // Until the client closes, or for the limit: to close with bytes unread would take the answer from it.
    void read_the_rest() {
        buffer_.clear();
        stream_.async_read_some(buffer_.prepare(max_header_bytes),
                                [self = shared_from_this()](const beast::error_code& error, std::size_t) {
                                    if (error || !self->is_open()) return self->cut();
                                    self->guarded([&] { self->read_the_rest(); });
                                });
    }
    // From here on it is written to when there is news. What it sends, and its end, end it.
    void listen() {
        listens_ = true;
        left_ = {};
        stream_.expires_never();
        stream_.async_read_some(
            buffer_.prepare(1),
            [self = shared_from_this()](const beast::error_code&, std::size_t) { self->cut(); });
    }
    void write_news() {
        step();
        stream_.expires_after(time_limit);
        stream_.async_write_some(
            asio::buffer(left_.data(), left_.size()),
            [self = shared_from_this()](const beast::error_code& error, std::size_t written) {
                if (error || !self->is_open()) return self->cut();
                self->left_.remove_prefix(written);
                if (!self->left_.empty()) return self->guarded([&] { self->write_news(); });
                self->stream_.expires_never();
            });
    }

    using Body = http::span_body<const char>;

    beast::tcp_stream stream_;
    HttpServer& server_;
    beast::flat_buffer buffer_{max_header_bytes};
    http::request_parser<http::empty_body> parser_;
    std::shared_ptr<const std::string> text_;
    http::response<Body> answer_;
    http::response_serializer<Body> serializer_{answer_};
    std::string_view left_;  // of text_, published and not yet written
    bool stays_ = false, listens_ = false;
    std::string channel_;
    bool has_asked_ = false;
    std::uint64_t last_step_ = 0;
};

tl::expected<std::unique_ptr<HttpServer>, std::string> HttpServer::open(asio::io_context& io,
                                                                        std::string_view option,
                                                                        const std::string& where,
                                                                        Answer answer) {
    const auto endpoint = endpoint_of(where);
    if (!endpoint) return tl::unexpected(fmt::format("{} {}", option, endpoint.error()));
    std::unique_ptr<HttpServer> server(new HttpServer(io, std::move(answer)));
    server->is_loopback_ = endpoint->address().is_loopback();
    boost::system::error_code error;
    tcp::acceptor& acceptor = server->clients_.acceptor();
    acceptor.open(endpoint->protocol(), error);
    if (!error) acceptor.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor.bind(*endpoint, error);
    if (!error) acceptor.listen(asio::socket_base::max_listen_connections, error);
    if (error) return tl::unexpected(fmt::format("{} {}: {}", option, where, error.message()));
    server->tick();
    return server;
}

HttpServer::HttpServer(asio::io_context& io, Answer answer)
    : answer_(std::move(answer)), clients_(io, [this](tcp::socket socket) { admit(std::move(socket)); }) {}

void HttpServer::tick() { clients_.tick(std::chrono::steady_clock::now()); }

void HttpServer::publish(std::string_view channel, const Text& text) {
    for (const auto& each : sessions_)
        if (const auto session = each.lock())
            if (const std::string* own = session->channel(); own != nullptr && *own == channel)
                session->tell(text);
}

std::set<std::string, std::less<>> HttpServer::heard() const {
    std::set<std::string, std::less<>> channels;
    for (const auto& each : sessions_)
        if (const auto session = each.lock())
            if (const std::string* own = session->channel()) channels.insert(*own);
    return channels;
}

bool HttpServer::is_publishing() const {
    return std::any_of(sessions_.begin(), sessions_.end(), [](const auto& each) {
        const auto session = each.lock();
        return session && session->is_told();
    });
}

void HttpServer::admit(tcp::socket socket) {
    make_room();
    const auto session = std::make_shared<Session>(std::move(socket), *this);
    sessions_.push_back(session);
    session->start();
}

void HttpServer::make_room() {
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

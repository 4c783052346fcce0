#include "control/serve/server/live_page.hh"

#include <fmt/format.h>
#include <sys/random.h>

#include <algorithm>
#include <array>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/host_name.hpp>
#include <charconv>
#include <string_view>

#include "control/config/compile/qos.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/json_text.hh"
#include "control/report/figures/report.hh"
#include "control/report/page/report_page.hh"
#include "control/serve/server/rpc.hh"

namespace sluice {
namespace {

constexpr std::size_t max_page_events = 100;
constexpr std::size_t max_query_bytes = 512;

HttpServer::Text shared_text(std::string text) {
    return std::make_shared<const std::string>(std::move(text));
}

tl::expected<std::string, std::string> new_token() {
    std::array<unsigned char, 16> random{};
    if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
        return tl::unexpected<std::string>("--page: there is no token: the kernel gives no random bytes");
    std::string token;
    for (const unsigned char byte : random) token += fmt::format("{:02x}", byte);
    return token;
}

// In a time that says nothing of the place where they differ.
bool is_equal(std::string_view a, std::string_view b) {
    unsigned differing = a.size() == b.size() ? 0 : 1;
    for (std::size_t n = 0; n < a.size() && n < b.size(); ++n)
        differing |= static_cast<unsigned char>(a[n]) ^ static_cast<unsigned char>(b[n]);
    return differing == 0;
}

// The value of a name in "a=1&b=2", with %XX decoded; empty: not there.
std::string parameter(std::string_view query, std::string_view name) {
    while (!query.empty()) {
        const std::string_view part = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(part.size() + 1, query.size()));
        const std::size_t equals = part.find('=');
        if (part.substr(0, equals) != name || equals == part.npos) continue;
        std::string value;
        const std::string_view coded = part.substr(equals + 1);
        for (std::size_t n = 0; n < coded.size(); ++n) {
            unsigned char byte = 0;
            const char* const digits = coded.data() + n + 1;
            const bool is_coded = coded[n] == '%' && n + 2 < coded.size() &&
                                  std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2;
            value += is_coded ? static_cast<char>(byte) : coded[n];
            if (is_coded) n += 2;
        }
        return value;
    }
    return {};
}

// What names this machine to itself, and no name server gives to anybody else.
bool is_local(std::string name) {
    if (name.ends_with('.')) name.pop_back();
    boost::system::error_code error;
    const auto address =
        boost::asio::ip::make_address(name.starts_with('[') ? name.substr(1, name.size() - 2) : name, error);
    return boost::algorithm::iequals(name, "localhost") || (!error && address.is_loopback());
}

Json curve_json(const WredCurve& curve) { return {{"min_bytes", curve.min()}, {"max_bytes", curve.max()}}; }

// By port and queue, of queues that mark.
Json thresholds(const Config& config) {
    Json ports = Json::object();
    for (const auto& [name, port] : effective_qos(config).ports) {
        Json queues = Json::object();
        for (unsigned n = 0; n < classes; ++n)
            if (port.wred_profile[n] && port.wred_profile[n]->mark_at != MarkAt::sojourn)
                queues[std::to_string(n)] = curve_json(port.wred_profile[n]->color[0]);
        if (!queues.empty()) ports[name] = std::move(queues);
    }
    return ports;
}

}  // namespace

Json page_figures(RunningSwitch& running) {
    Json report = make_report(running);
    if (Json& events = report["events"]; events.size() > max_page_events)
        events.erase(events.begin(), events.end() - max_page_events);
    return {{"report", std::move(report)}, {"thresholds", thresholds(running.config())}};
}

tl::expected<std::unique_ptr<LivePage>, std::string> LivePage::open(boost::asio::io_context& io,
                                                                    const std::string& where,
                                                                    PageSource source) {
    auto charts = read_charts();
    if (!charts) return tl::unexpected("--page: " + charts.error());
    std::unique_ptr<LivePage> page(new LivePage(std::move(source)));
    page->script_ = shared_text(std::move(*charts) + page_scripts());
    auto server = HttpServer::open(io, "--page", where, [page = page.get()](const HttpRequest& request) {
        return page->answer(request);
    });
    if (!server) return tl::unexpected(server.error());
    page->server_ = std::move(*server);
    const bool has_address = where.find(':') != where.npos;
    page->address_ = fmt::format("http://{}{}/", has_address ? "" : "127.0.0.1:", where);
    if (page->server_->is_loopback()) return page;
    auto token = new_token();
    if (!token) return tl::unexpected(token.error());
    page->token_ = std::move(*token);
    page->address_ += "?token=" + page->token_;
    return page;
}

void LivePage::tick(Clock::time_point now) {
    server_->tick();
    if (now < next_) return;
    tell();
    next_ = now + std::max<Clock::duration>(period, 10 * (Clock::now() - now));
}

void LivePage::tell() {
    for (const std::string& name : server_->heard()) server_->publish(name, news(name));
}

void LivePage::finish(const std::function<void()>& serve) {
    constexpr std::chrono::milliseconds patience{500};
    const auto let_them_read = [&] {
        const auto end = Clock::now() + patience;
        while (server_->is_publishing() && Clock::now() < end) serve();
    };
    has_ended_ = true;
    let_them_read();
    tell();
    let_them_read();
}

Api* LivePage::find(const std::string& name) const {
    for (const PageSource::Named& each : source_.switches)
        if (each.name == name) return each.api;
    return nullptr;
}

// The empty name is a whole fabric.
HttpServer::Text LivePage::news(const std::string& name) {
    Api* api = find(name);
    Json told = api != nullptr ? page_figures(api->running()) : Json{{"fabric", source_.overview()}};
    if (has_ended_) told["ended"] = true;
    return shared_text("data: " + json_text(told) + "\n\n");
}

std::string LivePage::switches() const {
    boost::system::error_code error;  // a machine without a name has the empty one
    Json names = Json::array();
    for (const PageSource::Named& each : source_.switches)
        if (!each.name.empty()) names.push_back(each.name);
    return json_text(Json{{"title", source_.title},
                          {"file", source_.file},
                          {"host", boost::asio::ip::host_name(error)},
                          {"switches", names}}) +
           "\n";
}

std::string LivePage::why(Api& api, const std::string& query) {
    Json request = {{"jsonrpc", "2.0"}, {"id", 1}, {"method", "why.show"}, {"params", Json::object()}};
    if (const std::string at = parameter(query, "at"); !at.empty()) request["params"]["at"] = at;
    RpcClient client;
    client.author.name = "the page";
    return answer_line(api, client, json_text(request)) + "\n";
}

HttpReply LivePage::answer(const HttpRequest& request) {
    const auto& [path, query, host] = request;
    if (query.size() > max_query_bytes) return http_refusal(414, "the address is too long");
    if (token_.empty() && !is_local(host))
        return http_refusal(421, "this page is called 127.0.0.1 or localhost");
    static const auto html = shared_text(std::string(page_file("live.html")));
    static const auto style = shared_text(std::string(page_file("page.css")));
    if (path == "/") return {200, "text/html; charset=utf-8", html, false};
    if (path == "/page.css") return {200, "text/css; charset=utf-8", style, false};
    if (path == "/page.js") return {200, "text/javascript; charset=utf-8", script_, false};
    if (path != "/live" && path != "/why" && path != "/switches")
        return http_refusal(404, "there are /, /switches, /live and /why");
    if (const std::string token = token_.empty() ? "" : parameter(query, "token"); !is_equal(token, token_))
        return http_refusal(403,
                            fmt::format("{}; do: open the address that was said at the start of this run",
                                        token.empty() ? "the address has no token"
                                                      : "the token is wrong, it is new with each start"));
    if (path == "/switches") return {200, "application/json", shared_text(switches()), false};
    const std::string name = parameter(query, "switch");
    Api* api = find(name);
    if (api == nullptr && (!name.empty() || path == "/why"))
        return http_refusal(404, "there is no switch " + in_quotes(name) + "; /switches names them");
    if (path == "/live") return {200, "text/event-stream", news(name), true, name};
    return {200, "application/json", shared_text(why(*api, query)), false};
}

}  // namespace sluice

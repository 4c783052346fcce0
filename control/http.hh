// The metrics over HTTP: GET /metrics, on a loopback address unless told otherwise. Boost.Beast speaks the
// protocol; a client has a time limit and small requests, and there are few of them.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <string>
#include <tl/expected.hpp>

namespace sluice {

class MetricsServer {
  public:
    // `where`: "9464", "127.0.0.1:9464", "[::1]:9464". An error's text names it.
    static tl::expected<std::unique_ptr<MetricsServer>, std::string> open(boost::asio::io_context& io,
                                                                          const std::string& where,
                                                                          std::function<std::string()> text);
    MetricsServer(const MetricsServer&) = delete;
    MetricsServer& operator=(const MetricsServer&) = delete;

  private:
    class Session;
    MetricsServer(boost::asio::io_context& io, std::function<std::string()> text)
        : acceptor_(io), text_(std::move(text)) {}
    void accept();

    boost::asio::ip::tcp::acceptor acceptor_;
    std::function<std::string()> text_;
    std::shared_ptr<unsigned> sessions_ = std::make_shared<unsigned>(0);
};

}  // namespace sluice

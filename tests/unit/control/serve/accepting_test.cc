#include "control/serve/server/accepting.hh"

#include <sys/resource.h>
#include <unistd.h>

#include <boost/asio/local/stream_protocol.hpp>
#include <cstdio>
#include <list>
#include <string>

#include "CppUTest/TestHarness.h"

namespace sluice::accepting_test {

using Protocol = boost::asio::local::stream_protocol;

namespace {

void allow_no_more_descriptors() {
    const int next = dup(STDIN_FILENO);
    close(next);
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = static_cast<rlim_t>(next);
    setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace

TEST_GROUP(Accepting) {
    boost::asio::io_context io;
    const std::string path = "accepting_test." + std::to_string(getpid());
    std::list<Protocol::socket> admitted;
    bool refuse = false;
    Accepting<Protocol> accepting{io, [this](Protocol::socket socket) {
                                      if (refuse) throw std::bad_alloc();
                                      admitted.push_back(std::move(socket));
                                  }};
    Accepting<Protocol>::Clock::time_point now = Accepting<Protocol>::Clock::now();
    rlimit before{};

    void setup() override {
        getrlimit(RLIMIT_NOFILE, &before);
        accepting.acceptor().open();
        accepting.acceptor().bind(Protocol::endpoint(path));
        accepting.acceptor().listen();
        accepting.tick(now);
    }
    void teardown() override {
        setrlimit(RLIMIT_NOFILE, &before);
        std::remove(path.c_str());
    }
    // Rounds of control at one moment; what was called.
    std::size_t rounds(unsigned count) {
        std::size_t called = 0;
        for (unsigned n = 0; n < count; ++n) {
            io.restart();
            for (unsigned handlers = 0; handlers < 1000 && io.poll_one() != 0; ++handlers) ++called;
            accepting.tick(now);
        }
        return called;
    }
    void later() { now += 2 * Accepting<Protocol>::pause; }
};

TEST(Accepting, TakesClientsOneAfterTheOther) {
    std::list<Protocol::socket> clients;
    for (unsigned n = 0; n < 5; ++n) clients.emplace_back(io).connect(Protocol::endpoint(path));
    rounds(10);
    LONGS_EQUAL(5, admitted.size());
}

TEST(Accepting, WithoutDescriptorsItTriesOnceAndRests) {
    Protocol::socket first(io), second(io);
    first.connect(Protocol::endpoint(path));
    second.connect(Protocol::endpoint(path));
    // Checked afterwards: what checks needs descriptors under a sanitizer.
    allow_no_more_descriptors();
    const std::size_t at_once = rounds(1000);
    later();
    const std::size_t after_pause = rounds(1000);
    setrlimit(RLIMIT_NOFILE, &before);
    LONGS_EQUAL(1, at_once);
    LONGS_EQUAL(1, after_pause);
    LONGS_EQUAL(0, admitted.size());
    LONGS_EQUAL(0, rounds(1000));
    later();
    rounds(1);
    LONGS_EQUAL(0, admitted.size());
    rounds(10);
    LONGS_EQUAL(2, admitted.size());
}

TEST(Accepting, AClientThatCannotBeAdmittedIsClosedAndOthersAreTaken) {
    Protocol::socket first(io), second(io);
    refuse = true;
    first.connect(Protocol::endpoint(path));
    LONGS_EQUAL(1, rounds(1000));
    char byte = 0;
    boost::system::error_code error;
    LONGS_EQUAL(0, first.read_some(boost::asio::buffer(&byte, 1), error));
    CHECK_TRUE(error == boost::asio::error::eof);
    refuse = false;
    second.connect(Protocol::endpoint(path));
    later();
    rounds(10);
    LONGS_EQUAL(1, admitted.size());
}

}  // namespace sluice::accepting_test

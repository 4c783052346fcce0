#include "control/switch/kernel/kernel_mirror.hh"

#include <array>
#include <thread>

namespace sluice {
namespace {

// Links and addresses first: they are asked for also without routes.
constexpr std::array questions{Netlink::Ask::links, Netlink::Ask::addresses, Netlink::Ask::neighbors,
                               Netlink::Ask::rules, Netlink::Ask::routes};
constexpr std::size_t questions_without_routes = 2;
constexpr std::chrono::seconds reading_patience{5};
constexpr std::chrono::seconds now_and_then{30};
constexpr std::chrono::milliseconds between_asks{100};  // a link that flaps is not asked about each time
constexpr unsigned datagrams_a_poll = 2048;             // notices of a route are a datagram each
constexpr std::size_t resolved_a_poll = 64;

}  // namespace

tl::expected<std::unique_ptr<KernelMirror>, std::string> KernelMirror::open(KernelTables::Ports ports,
                                                                            const Netlink::Options& options) {
    auto netlink = Netlink::open(options);
    if (!netlink) return tl::unexpected(netlink.error());
    std::unique_ptr<KernelMirror> made(
        new KernelMirror(std::move(*netlink), std::move(ports), options.routes));
    for (const auto end = Clock::now() + reading_patience; made->resyncs_ == 0;) {
        made->poll();
        if (Clock::now() > end)
            return tl::unexpected(std::string("netlink: the kernel does not tell its tables"));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return made;
}

KernelMirror::~KernelMirror() {
    for (const auto& gateway : tables_.gateways())
        netlink_.resolve(gateway.interface, gateway.address, false);
}

void KernelMirror::set_ports(KernelTables::Ports ports) {
    ports_ = std::move(ports);
    fresh_.reset();
    wanted_ = true;
}

void KernelMirror::ask_next() {
    if (netlink_.ask(questions[question_])) return;
    fresh_.reset();
    wanted_ = true;
}

void KernelMirror::ask_again() {
    const auto now = Clock::now();
    if (now - last_asked_ > now_and_then) wanted_ = true;
    if (!wanted_ || fresh_ || now - last_asked_ < between_asks) return;
    wanted_ = false;
    last_asked_ = now;
    fresh_ = std::make_unique<KernelTables>(ports_);
    question_ = 0;
    ask_next();
}

void KernelMirror::learn(const KernelMessages& answer) {
    for (const KernelMessage& message : answer.messages) (fresh_ ? *fresh_ : tables_).apply(message);
    if (!fresh_) return;
    if (answer.interrupted) wanted_ = true;
    // A kernel may have been built without policy rules.
    const bool none = answer.failed && questions[question_] == Netlink::Ask::rules;
    if (answer.failed && !none) {
        fresh_.reset();
        wanted_ = true;
    } else if ((answer.done || none) &&
               ++question_ < (routes_ ? questions.size() : questions_without_routes)) {
        ask_next();
    } else if (answer.done) {
        tables_.replace(std::move(*fresh_));
        fresh_.reset();
        ++resyncs_;
    }
}

void KernelMirror::read() {
    for (unsigned left = datagrams_a_poll; left > 0; --left) {
        const auto read = netlink_.read();
        if (!read) break;
        if (read->overrun) {
            ++overruns_;
            fresh_.reset();
            wanted_ = true;
        } else {
            learn(read->parsed);
        }
    }
    if (tables_.take_asks_again()) wanted_ = true;
}

bool KernelMirror::poll() {
    read();
    ask_again();
    if (fresh_) return false;
    for (const auto& wanted : tables_.take_wanted(resolved_a_poll))
        netlink_.resolve(wanted.interface, wanted.address, wanted.keep);
    return true;
}

}  // namespace sluice

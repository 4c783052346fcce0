#include "control/switch/running/kernel_control.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <thread>

#include "control/config/schema/values.hh"
#include "control/switch/mirror/mirrors.hh"
#include "control/switch/running/running_switch.hh"
#include "dataplane/run/switch.hh"

namespace sluice {
namespace {

// Links and addresses first: control needs them also without routes.
constexpr std::array questions{Netlink::Ask::links, Netlink::Ask::addresses, Netlink::Ask::neighbors,
                               Netlink::Ask::rules, Netlink::Ask::routes};
constexpr std::size_t questions_without_routes = 2;
constexpr std::chrono::seconds reading_patience{5};
constexpr std::chrono::seconds now_and_then{30};
constexpr std::chrono::milliseconds between_asks{100};  // a link that flaps is not asked about each time
constexpr unsigned datagrams_a_poll = 2048;             // notices of a route are a datagram each
constexpr std::size_t resolved_a_poll = 64;
constexpr std::chrono::seconds between_questions{1};  // for one destination
constexpr std::size_t max_asked = 4096;               // destinations at once: as many as most kernels resolve

}  // namespace

tl::expected<std::unique_ptr<KernelControl>, std::string> KernelControl::open(const KernelConfig& config,
                                                                              KernelTables::Ports ports) {
    auto netlink = Netlink::open({config.routes, config.receive_buffer_bytes});
    if (!netlink) return tl::unexpected(netlink.error());
    std::unique_ptr<KernelControl> made(
        new KernelControl(std::move(*netlink), std::move(ports), config.routes));
    for (const auto end = Clock::now() + reading_patience; made->resyncs_ == 0;) {
        made->keep_up();
        if (Clock::now() > end)
            return tl::unexpected(std::string("netlink: the kernel does not tell its tables"));
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return made;
}

KernelControl::~KernelControl() {
    for (const auto& gateway : tables_.gateways())
        netlink_.resolve(gateway.interface, gateway.address, false);
}

void KernelControl::set_ports(KernelTables::Ports ports) {
    ports_ = std::move(ports);
    ask_anew();
}

void KernelControl::ask_anew() {
    fresh_.reset();
    wanted_ = true;
}

void KernelControl::ask_next() {
    if (!netlink_.ask(questions[question_])) ask_anew();
}

void KernelControl::ask_again() {
    const auto now = Clock::now();
    if (now - last_asked_ > now_and_then) wanted_ = true;
    if (!wanted_ || fresh_ || now - last_asked_ < between_asks) return;
    wanted_ = false;
    last_asked_ = now;
    fresh_ = std::make_unique<KernelTables>(ports_);
    question_ = 0;
    ask_next();
}

void KernelControl::learn(const KernelMessages& answer) {
    for (const KernelMessage& message : answer.messages) (fresh_ ? *fresh_ : tables_).apply(message);
    if (!fresh_) return;
    if (answer.interrupted) wanted_ = true;
    // A kernel may lack policy rules.
    const bool none = answer.failed && questions[question_] == Netlink::Ask::rules;
    if (answer.failed && !none) {
        ask_anew();
    } else if ((answer.done || none) &&
               ++question_ < (routes_ ? questions.size() : questions_without_routes)) {
        ask_next();
    } else if (answer.done) {
        tables_.replace(std::move(*fresh_));
        fresh_.reset();
        ++resyncs_;
    }
}

void KernelControl::read() {
    for (unsigned left = datagrams_a_poll; left > 0; --left) {
        const auto read = netlink_.read();
        if (!read) break;
        if (read->overrun) {
            ++overruns_;
            ask_anew();
        } else {
            learn(read->parsed);
        }
    }
    if (tables_.take_asks_again()) wanted_ = true;
}

bool KernelControl::keep_up() {
    read();
    ask_again();
    if (fresh_) return false;
    for (const auto& wanted : tables_.take_wanted(resolved_a_poll))
        netlink_.resolve(wanted.interface, wanted.address, wanted.keep);
    return true;
}

void KernelControl::want_neighbors(RunningSwitch& running) {
    const auto now = Clock::now();
    if (asked_.size() == max_asked)
        std::erase_if(asked_, [&](const auto& asked) { return now - asked.second > between_questions; });
    const auto want = [&](const IpAddress& destination) {
        if (asked_.size() == max_asked && !asked_.contains(destination)) return;
        const auto [asked, is_new] = asked_.try_emplace(destination, now);
        if (!is_new && now - asked->second < between_questions) return;
        asked->second = now;
        ++asks_;
        tables_.want(destination);
    };
    for (unsigned w = 0; w < running.device().worker_count(); ++w)
        running.device().unresolved(static_cast<WorkerId>(w))->drain(want);
    for (const IpAddress& destination : running.mirrors().unresolved()) want(destination);
}

void KernelControl::note_links(RunningSwitch& running) {
    for (const auto& [port, before, now] : tables_.take_link_notices()) {
        if (!now.there) {
            // port_watch reports a port's own device or TAP that has gone.
            const auto id = running.find_port(port);
            const Tap* tap = id ? running.slow_path().tap(*id) : nullptr;
            if (tap != nullptr && tap->index() == now.index && tap->is_there())
                running.events().note(
                    "interface_gone",
                    fmt::format("port {}: its TAP {} is in another network namespace now, whose "
                                "addresses, routes and neighbors are not ours",
                                port, before.name));
            continue;
        }
        if (now.name != before.name)
            running.events().note(
                "interface_renamed",
                fmt::format("port {}: its interface {} is called {} now", port, before.name, now.name));
        if (now.mtu != before.mtu) note_mtu(running, port, now);
    }
}

void KernelControl::note_mtu(RunningSwitch& running, const std::string& port, const KernelLink& link) {
    const auto ours = running.config().ports.find(port);
    if (ours == running.config().ports.end()) return;
    const std::uint32_t mtu = ours->second.mtu;
    std::string text = fmt::format("port {}: the MTU of its interface {} is {} now, the port's is {}", port,
                                   link.name, link.mtu, mtu);
    if (link.mtu < mtu)
        text += fmt::format("; the port loses longer frames, and counts them; do: ip link set {} mtu {}",
                            link.name, mtu);
    running.events().note("interface_mtu", text);
}

void KernelControl::note_overruns(RunningSwitch& running) {
    if (std::exchange(told_overruns_, overruns_) == overruns_) return;
    if (!overrun_at_)
        running.events().note(
            "kernel_overrun",
            "the kernel had more notice than kernel.receive_buffer holds: everything is asked for anew");
    overrun_at_ = resyncs_;
}

// At most once a second, however many there are.
void KernelControl::note_not_mirrored(RunningSwitch& running) {
    for (std::string& name : tables_.take_not_mirrored()) not_mirrored_.push_back(std::move(name));
    const auto now = Clock::now();
    if (not_mirrored_.empty() || now - told_not_mirrored_ < between_questions) return;
    told_not_mirrored_ = now;
    constexpr std::size_t max_named = 4;
    std::string names;
    for (std::size_t n = 0; n < std::min(max_named, not_mirrored_.size()); ++n)
        append_item(names, ", ", not_mirrored_[n]);
    if (not_mirrored_.size() > max_named)
        names += fmt::format(" and {} more", not_mirrored_.size() - max_named);
    not_mirrored_.clear();
    running.events().note(
        "kernel_not_mirrored",
        fmt::format(
            "routes and rules of the kernel that the switch does not follow as the kernel does: {}; a "
            "route by TOS (tos) or source (from) is left out: its packets go by the prefix's other "
            "routes; those of a throw are dropped as no_route; no policy rule (ip rule) is followed: "
            "all packets go by the tables local and main; kernel.throws, kernel.routes_by_tos, "
            "kernel.routes_by_source and kernel.rules count them",
            names));
}

void KernelControl::poll(RunningSwitch& running, const std::function<void()>& own_changed) {
    if (routes_) want_neighbors(running);
    const bool whole = keep_up();
    note_overruns(running);
    if (!whole) return;
    note_links(running);
    if (routes_) note_not_mirrored(running);
    if (tables_.take_own_changed()) own_changed();
    if (routes_ && running.limit_change().publication().late().empty())
        give_changes(running);  // else they wait with the tables
    if (overrun_at_ && resyncs_ > *overrun_at_) {
        overrun_at_.reset();
        running.events().note("kernel_resynced", fmt::format("{} routes and {} neighbors of the kernel",
                                                             tables_.routes(), tables_.neighbors()));
    }
}

void KernelControl::give_changes(RunningSwitch& running) {
    if (refused_at_ && resyncs_ > *refused_at_) {
        refused_at_.reset();
        tables_.repeat();
    }
    const RouteChanges changes = tables_.take_changes();
    if (changes.empty()) return;
    std::string refusal = running.change_routes(changes);
    const Routes::LeftOut left_out = running.routes().left_out();
    refused_ += left_out.count;
    if (refusal.empty()) refusal = left_out.first;
    if (refusal.empty()) return;
    refused_at_ = resyncs_;
    if (refusal != std::exchange(noted_refusal_, refusal)) running.events().note("kernel_refused", refusal);
}

}  // namespace sluice

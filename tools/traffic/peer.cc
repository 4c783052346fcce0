// sluice-peer: a RoCE host in real time, a NIC of lib/roce on an interface of the kernel, which obeys PFC of
// its port. Exit codes: 0 done, 1 failed, 2 usage.
//
// Standard input: `start` (for one that waits), `stop` (no more messages), `show` (the account as a line);
// its end ends all, with the account once more. The NIC's time is the clock's divided by the scale; the line,
// pauses and `at_ns` are by the clock itself. A NIC that is asked late acts with the times at which it was
// due, so a busy machine costs rate only.
#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "control/config/text/say.hh"
#include "control/serve/server/program.hh"
#include "dataplane/base/file_descriptor.hh"
#include "lib/roce/nic.hh"
#include "tools/traffic/failure.hh"
#include "tools/traffic/host_options.hh"
#include "tools/traffic/host_watch.hh"
#include "tools/traffic/port_accounts.hh"

namespace sluice::traffic {
namespace {

constexpr unsigned burst = 32;  // frames, before other work
constexpr std::uint64_t second_ns = 1'000'000'000;

[[noreturn]] void fail(const std::string& what) {
    throw Failure(fmt::format("{}: {}", what, std::strerror(errno)));
}

// CLOCK_MONOTONIC, which all processes of a machine share.
std::uint64_t now_ns() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * second_ns + static_cast<std::uint64_t>(time.tv_nsec);
}

// A packet socket on an interface of the kernel.
class Interface {
  public:
    explicit Interface(const std::string& name) : socket_(socket(AF_PACKET, SOCK_RAW, 0)) {
        if (!socket_) fail("no packet socket");
        ifreq request{};
        name.copy(request.ifr_name, sizeof request.ifr_name - 1);
        if (ioctl(socket_.get(), SIOCGIFHWADDR, &request) != 0) fail(name);
        std::copy_n(reinterpret_cast<const std::uint8_t*>(request.ifr_hwaddr.sa_data), mac_.bytes.size(),
                    mac_.bytes.begin());
        sockaddr_ll address{};
        address.sll_family = AF_PACKET;
        address.sll_protocol = htons(ETH_P_ALL);
        address.sll_ifindex = static_cast<int>(if_nametoindex(name.c_str()));
        const int yes = 1;
        const int room = 1 << 26;  // for frames that arrive while this process waits for a CPU
        setsockopt(socket_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &room, sizeof room);
        if (setsockopt(socket_.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes) != 0 ||
            bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
            fail(name);
    }

    int descriptor() const { return socket_.get(); }
    const MacAddress& mac() const { return mac_; }

    // False where the interface has no room for it now.
    bool send(std::span<const std::uint8_t> frame) {
        if (::send(socket_.get(), frame.data(), frame.size(), MSG_DONTWAIT) >= 0) return true;
        if (errno != ENOBUFS && errno != EAGAIN && errno != ENETDOWN) fail("a frame is not sent");
        return false;
    }

    // An empty one when there is none.
    std::span<const std::uint8_t> receive() {
        const ssize_t got = recv(socket_.get(), buffer_.data(), buffer_.size(), MSG_DONTWAIT);
        if (got < 0 && errno != EAGAIN && errno != ENETDOWN) fail("nothing can be received");
        return std::span{buffer_}.first(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    }

    // Frames for which the socket had no room.
    std::uint64_t missed() {
        tpacket_stats counted{};
        socklen_t length = sizeof counted;
        getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &counted, &length);
        return missed_ += counted.tp_drops;  // reading them sets them to zero
    }

  private:
    FileDescriptor socket_;
    MacAddress mac_;
    std::array<std::uint8_t, 16384> buffer_{};
    std::uint64_t missed_ = 0;
};

// The kernel would answer that nobody listens.
FileDescriptor occupy_roce_port() {
    FileDescriptor made(socket(AF_INET6, SOCK_DGRAM, 0));
    sockaddr_in6 address{};
    address.sin6_family = AF_INET6;
    address.sin6_port = htons(4791);
    const int least = 1;
    setsockopt(made.get(), SOL_SOCKET, SO_RCVBUF, &least, sizeof least);
    setsockopt(made.get(), SOL_SOCKET, SO_REUSEPORT, &least, sizeof least);
    if (!made || bind(made.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        fail("UDP port 4791");
    return made;
}

// Waits for a frame, for standard input, or for `until_ns` where it is given; true if there is input.
bool wait_for_frame_or_input(const Interface& interface, std::optional<std::uint64_t> until_ns) {
    std::array<pollfd, 2> wait{{{interface.descriptor(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
    const std::uint64_t now = now_ns();
    const std::uint64_t left = until_ns && *until_ns > now ? *until_ns - now : 0;
    const timespec time{static_cast<time_t>(left / second_ns), static_cast<long>(left % second_ns)};
    if (ppoll(wait.data(), wait.size(), until_ns ? &time : nullptr, nullptr) < 0 && errno != EINTR)
        fail("nothing to wait for");
    return wait[1].revents != 0;
}

class HostPeer {
  public:
    // All of them outlive it. `events`: its lines.
    HostPeer(const HostOptions& options, const HostNic& nic, Interface& interface, std::FILE* events)
        : options_(options),
          interface_(interface),
          origin_ns_(now_ns()),
          nic_(nic.settings, nic.flows, nic.queue_pairs),
          events_(events),
          watch_(options, nic_, events),
          pauses_(options.speed.bits_per_second,
                  static_cast<std::uint64_t>(options.reaction.ps) * options.scale / 1000),
          waits_(options.waits) {}

    void run() {
        while (listen()) {
            receive();
            if (const auto timer = next_timer(); timer && *timer <= nic_time(now_ns())) {
                const std::uint64_t now = now_ns();
                nic_.expire(nic_time(now));
                watch_.tell_changes(now);
            }
            // As late as can be: a pause that is there counts.
            for (unsigned n = 0; n < burst && send(); ++n) receive();
            std::fflush(events_);
        }
        show();
    }

  private:
    std::optional<Time> next_timer() const { return waits_ ? std::nullopt : nic_.next_timer(); }

    Time nic_time(std::uint64_t at_ns) const { return {(at_ns - origin_ns_) * 1000 / options_.scale}; }

    // Rounded up.
    std::uint64_t clock_ns(Time at) const { return origin_ns_ + (at.ps * options_.scale + 999) / 1000; }

    // Waits for the first event; false when the input has ended.
    bool listen() {
        if (!wait_for_frame_or_input(interface_, next_ns())) return true;
        std::array<char, 256> some;
        const ssize_t got = ::read(STDIN_FILENO, some.data(), some.size());
        for (ssize_t n = 0; n < got; ++n) {
            if (some[static_cast<std::size_t>(n)] != '\n') {
                line_ += some[static_cast<std::size_t>(n)];
                continue;
            }
            if (line_ == "start") waits_ = false;
            if (line_ == "stop") nic_.stop(nic_time(now_ns()));
            if (line_ == "show") show();
            line_.clear();
        }
        return got > 0;
    }

    // Mask of the classes that may not send.
    unsigned paused(std::uint64_t at_ns) {
        const unsigned paused = pauses_.paused(at_ns);
        return options_.obeys_pfc ? paused : 0;
    }

    std::optional<std::uint64_t> next_ns() {
        const unsigned paused = this->paused(now_ns());
        std::optional<std::uint64_t> best = pauses_.next_heard_ns();
        const auto consider = [&](std::uint64_t at) { best = std::min(best.value_or(at), at); };
        const auto consider_frame = [&](ClassId priority, std::uint64_t at) {
            consider(std::max(
                {at, wire_free_ns_, (paused >> priority & 1U) != 0 ? pauses_.until_ns(priority) : 0}));
        };
        if (const auto timer = next_timer()) consider(clock_ns(*timer));
        if (unsent_) {
            consider_frame(unsent_->priority, 0);
            return best;
        }
        // Rings fill while nothing is sent.
        if (const auto fill = paused != 0 ? nic_.next_fill() : std::nullopt)
            consider(std::max(clock_ns(*fill), wire_free_ns_));
        for (const auto& ready : nic_.ready()) consider_frame(ready.priority, clock_ns(ready.at));
        return best;
    }

    void receive() {
        for (unsigned n = 0; n < burst; ++n) {
            const auto frame = interface_.receive();
            if (frame.empty()) return;
            const std::uint64_t now = now_ns();
            if (pauses_.receive(frame, now)) continue;
            if (!options_.answers) {
                arrived_.receive(frame);
                continue;
            }
            nic_.receive(frame, nic_time(now));
            watch_.tell_changes(now);
        }
    }

    bool send() {
        const std::uint64_t now = now_ns();
        const unsigned paused = this->paused(now);
        watch_.look_at_pauses(paused, now);
        if (now < wire_free_ns_) return false;
        if (!unsent_) {
            unsent_ = nic_.next_frame(nic_time(now), ~paused);
            watch_.tell_changes(now);
            if (!unsent_) return false;
            nic_.write(*unsent_, std::span(frame_).first(unsent_->bytes));
        } else if ((paused >> unsent_->priority & 1U) != 0) {
            return false;
        }
        std::uint64_t takes_ns = wire_bytes(unsent_->bytes) * second_ns * 8 / options_.rate.bits_per_second;
        if (options_.per_second != 0) takes_ns = std::max(takes_ns, second_ns / options_.per_second);
        if (!interface_.send(std::span(frame_).first(unsent_->bytes))) {
            ++refused_by_interface_;
            wire_free_ns_ = now + takes_ns;
            return false;
        }
        if (!options_.answers) acknowledge(*unsent_, nic_time(now));
        unsent_.reset();
        // A few frames of the time that it missed are made up for.
        wire_free_ns_ = std::max(wire_free_ns_, now - 8 * takes_ns) + takes_ns;
        return true;
    }

    // Tells the NIC what a host that got the frame would answer: its message goes on.
    void acknowledge(const roce::NicFrame& sent, Time now) {
        roce::Route route;
        route.source = nic_.queue_pairs()[sent.qp].settings().peer;
        route.destination = nic_.settings().address;
        roce::Outgoing packet;
        packet.opcode = roce::Opcode::acknowledge;
        packet.psn = sent.packet.psn;
        packet.aeth.syndrome = roce::syndrome_ack;
        roce::PacketWriter writer(route, nic_.settings().first_qp + sent.qp);
        std::array<std::uint8_t, 128> bytes;
        nic_.receive(std::span(bytes).first(writer.write(packet, bytes)), now);
    }

    void show() {
        const auto& pauses = pauses_.counters();
        const std::string port = fmt::format(
            "\"not_sent_yet\": {}, \"missed\": {}, \"xoff\": {}, \"xon\": {}, \"expired\": {}, \"held_ns\": "
            "{}",
            refused_by_interface_, interface_.missed(), pauses.xoff, pauses.xon, pauses.expired,
            pauses.paused_ns);
        const auto arrived = arrived_.total();
        if (options_.answers)
            say("{}", watch_.account(port));
        else
            say("{{\"event\": \"account\", \"sending\": {}, \"sent\": {}, \"received\": {}, \"flows\": {}, "
                "\"lost\": {}, \"late\": {}, \"marked\": {}, \"bad_icrc\": {}, {}}}\n",
                watch_.sending(), nic_.statistics().frames_sent - (unsent_ ? 1 : 0), arrived.received,
                arrived_.count(), arrived.lost, arrived.late, arrived.marked, arrived_.bad_icrc(), port);
        std::fflush(stdout);
    }

    const HostOptions& options_;
    Interface& interface_;
    std::uint64_t origin_ns_;
    roce::Nic nic_;
    std::FILE* events_;
    HostWatch watch_;
    ClassPauses pauses_;
    ArrivedFlows arrived_;  // without answers
    std::string line_;      // of the input, not whole yet
    bool waits_;
    std::array<std::uint8_t, roce::max_packet_bytes> frame_{};
    std::optional<roce::NicFrame> unsent_;  // in frame_: the interface had no room
    std::uint64_t wire_free_ns_ = 0;
    std::uint64_t refused_by_interface_ = 0;
};

struct CloseFile {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};

int run_host(const HostOptions& options) {
    try {
        std::unique_ptr<std::FILE, CloseFile> file;
        if (!options.events.empty()) file.reset(std::fopen(options.events.c_str(), "w"));
        if (!file && !options.events.empty()) fail(options.events);
        Interface interface(options.interface);
        const auto port = occupy_roce_port();
        HostPeer(options, make_host_nic(options, interface.mac()), interface, file ? file.get() : stdout)
            .run();
        return 0;
    } catch (const Failure& failure) {
        complain("sluice-peer: {}\n", failure.what());
        return 1;
    }
}

}  // namespace
}  // namespace sluice::traffic

int main(int argc, char** argv) {
    using namespace sluice;
    return run_program("sluice-peer", 1, [&] {
        traffic::HostOptions options;
        return run(traffic::peer_program(options, traffic::run_host), argc, argv);
    });
}

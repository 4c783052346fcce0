// sluice-peer: a RoCEv2 host on an interface of the kernel, in real time. It sends flows, obeys PFC, and
// keeps account of the flows that come to it; or it is a host with all of lib/roce (host_peer.hh). Exit
// codes: 0 done, 1 failed, 2 usage.
#include <fmt/format.h>
#include <getopt.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>

#include "control/config/text/say.hh"
#include "control/serve/server/program.hh"
#include "tools/traffic/failure.hh"
#include "tools/traffic/host_options.hh"
#include "tools/traffic/host_peer.hh"
#include "tools/traffic/interface.hh"
#include "tools/traffic/peer_flows.hh"
#include "tools/traffic/text.hh"

namespace sluice::traffic {
namespace {

constexpr std::string_view usage = R"(usage: sluice-peer --interface NAME [OPTION...]
       sluice-peer host --interface NAME --hosts IP,... --address IP --gateway MAC [OPTION...]

Sends RoCEv2 when told where to, holds it while PFC says so, and counts what comes to the interface.

  --to IP            where to; without it only counts
  --from IP          own address
  --gateway MAC      where frames go
  --flows N          queue pairs that take turns (1)          --qp N       the first of them (256)
  --size BYTES       of a frame without FCS (1082)            --dscp N     (26)
  --pps N            frames a second (1000)                   --count N    so many, else until told to stop
  --priority N       the class of PFC that it obeys (3)       --deaf       obeys none
  --speed BITS       a second, by which pauses are timed (1000000000)
  --wait             to be told `start` before it sends

Standard input: `start`, `stop` (sending), `show` (prints an account as a line of JSON); its end ends all.

With the word `host` it is a RoCE host: queue pairs with messages, retransmission, DCQCN and CNPs. Its times are
scaled: a line of 100M, a thousand times slower, is one of 100G to the NIC, with the times of one. Lines of JSON say
what happens; standard input takes `stop` and `show`, and prints the account once more when it ends.

{}
Queue pairs have numbers by one rule: with --qps Q, queue pair k for the host in place p of --hosts (both from 0) is
0x100 + 2pQ + k where it requests, and 0x100 + (2p + 1)Q + k where it responds. So --hosts and --qps are the same at
all hosts. The class of a DSCP is that of the switch's preset `lossless`: 26 and 3 have class 3, 48 has 6.
)";

struct Options {
    std::string interface;
    std::optional<IpAddress> to;
    SentFlows::Shape shape;
    std::uint64_t per_second = 1000;
    std::uint64_t count = UINT64_MAX;
    unsigned priority = 3;
    std::uint64_t speed = 1'000'000'000;
    bool deaf = false;
    bool wait = false;
};

class Peer {
  public:
    Peer(const Options& options, Interface& interface)
        : options_(options),
          interface_(interface),
          sent_(options.shape),
          pause_(options.priority, options.speed),
          sending_(options.to && !options.wait) {}

    void run() {
        due_ns_ = now_ns();
        while (listen()) {
            while (receive_one()) {
            }
            send_due();
        }
    }

  private:
    // Waits for the first event; false when the input has ended.
    bool listen() {
        const bool paused = pause_.paused(now_ns()) && !options_.deaf;
        const std::uint64_t next = paused ? std::max(due_ns_, pause_.until_ns()) : due_ns_;
        if (!wait_for_frame_or_input(interface_, sending_ ? &next : nullptr)) return true;
        return input_.read([this](std::string_view word) {
            if (word == "start") sending_ = options_.to.has_value();
            if (word == "stop") sending_ = false;
            if (word == "show") show();
        });
    }

    bool receive_one() {
        const auto frame = interface_.receive();
        if (frame.empty()) return false;
        if (!pause_.receive(frame, now_ns())) arrived_.receive(frame);
        return true;
    }

    // Frames that could not be sent in time are left out, not made up for in a burst.
    void send_due() {
        const std::uint64_t gap = 1'000'000'000U / options_.per_second;
        for (std::uint64_t now = now_ns(); sending_ && due_ns_ <= now; now = now_ns()) {
            // As late as can be: a pause that is there counts.
            while (receive_one()) {
            }
            if (pause_.paused(now) && !options_.deaf) return;
            sent_.build(frame_);
            if (!interface_.send(frame_.all())) {
                ++refused_;
                due_ns_ = now + gap;
                return;
            }
            sent_.sent();
            sending_ = sent_.count() < options_.count;
            due_ns_ = std::max(due_ns_ + gap, now > 8 * gap ? now - 8 * gap : 0);
        }
    }

    void show() {
        const auto total = arrived_.total();
        const auto& pauses = pause_.counters();
        say("{{\"sending\": {}, \"sent\": {}, \"refused\": {}, \"received\": {}, \"lost\": {}, \"late\": {}, "
            "\"marked\": {}, \"bad_icrc\": {}, \"missed\": {}, \"flows\": {}, \"xoff\": {}, \"xon\": {}, "
            "\"expired\": {}, \"held_ns\": {}}}\n",
            sending_, sent_.count(), refused_, total.received, total.lost, total.late, total.marked,
            arrived_.bad_icrc(), interface_.missed(), arrived_.count(), pauses.xoff, pauses.xon,
            pauses.expired, pauses.paused_ns);
        std::fflush(stdout);
    }

    const Options& options_;
    Interface& interface_;
    SentFlows sent_;
    ArrivedFlows arrived_;
    PauseClock pause_;
    Frame frame_{};
    bool sending_;
    std::uint64_t due_ns_ = 0;
    std::uint64_t refused_ = 0;
    InputLines input_;
};

std::uint64_t number(std::string_view text, std::uint64_t low, std::uint64_t high) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high)
        throw Failure(fmt::format("{}: not a number from {} to {}", text, low, high));
    return value;
}

template <class Value>
Value parsed(const std::optional<Value>& value, std::string_view text, std::string_view what) {
    if (!value) throw Failure(fmt::format("{}: {}", text, what));
    return *value;
}

enum Option {
    interface_name,
    to,
    from,
    gateway,
    flows,
    qp,
    size,
    dscp,
    pps,
    count,
    priority,
    deaf,
    wait_for_start,
    speed,
    help
};

void take(Options& options, int option, std::string_view text) {
    constexpr std::uint64_t most = 1'000'000;
    SentFlows::Shape& shape = options.shape;
    const auto small = [text](std::uint64_t low, std::uint64_t high) {
        return static_cast<std::uint32_t>(number(text, low, high));
    };
    switch (option) {
        case interface_name:
            options.interface = text;
            break;
        case to:
            options.to = shape.destination = parsed(parse_ip(text), text, "not an IP address");
            break;
        case from:
            shape.source = parsed(parse_ip(text), text, "not an IP address");
            break;
        case gateway:
            shape.destination_mac = parsed(parse_mac(text), text, "not a MAC address");
            break;
        case flows:
            shape.flows = small(1, most);
            break;
        case qp:
            shape.first_qp = small(2, 0xFF'FFFF - most);
            break;
        case size:
            shape.frame_bytes = small(74, 9216);
            break;
        case dscp:
            shape.dscp = static_cast<std::uint8_t>(number(text, 0, 63));
            break;
        case pps:
            options.per_second = number(text, 1, most);
            break;
        case count:
            options.count = number(text, 1, UINT64_MAX);
            break;
        case priority:
            options.priority = small(0, 7);
            break;
        case wait_for_start:
            options.wait = true;
            break;
        case deaf:
            options.deaf = true;
            break;
        case speed:
            options.speed = number(text, 1'000'000, 1'000'000'000'000);
            break;
        default:
            throw Failure("see --help");
    }
}

Options parse(int argc, char** argv) {
    constexpr int value = required_argument;
    static const std::array<option, 16> known{{{"interface", value, nullptr, interface_name},
                                               {"to", value, nullptr, to},
                                               {"from", value, nullptr, from},
                                               {"gateway", value, nullptr, gateway},
                                               {"flows", value, nullptr, flows},
                                               {"qp", value, nullptr, qp},
                                               {"size", value, nullptr, size},
                                               {"dscp", value, nullptr, dscp},
                                               {"pps", value, nullptr, pps},
                                               {"count", value, nullptr, count},
                                               {"priority", value, nullptr, priority},
                                               {"deaf", no_argument, nullptr, deaf},
                                               {"wait", no_argument, nullptr, wait_for_start},
                                               {"speed", value, nullptr, speed},
                                               {"help", no_argument, nullptr, help},
                                               {}}};
    Options options;
    for (int found; (found = getopt_long(argc, argv, "", known.data(), nullptr)) != -1;) {
        if (found == help) {
            say(usage, host_usage());
            std::exit(0);
        }
        take(options, found, optarg != nullptr ? optarg : "");
    }
    if (options.interface.empty() || optind != argc) throw Failure("needs --interface; see --help");
    if (options.to && options.shape.source.is_v6 != options.to->is_v6)
        throw Failure("--from and --to are not of one family");
    return options;
}

struct CloseFile {
    void operator()(std::FILE* file) const { static_cast<void>(std::fclose(file)); }
};

void run_host(const HostOptions& options) {
    std::unique_ptr<std::FILE, CloseFile> file;
    if (!options.events.empty()) file.reset(std::fopen(options.events.c_str(), "w"));
    if (!file && !options.events.empty()) fail(options.events);
    Interface interface(options.interface);
    const auto port = occupy_roce_port();
    HostPeer(options, make_host_nic(options, interface.mac()), interface, file ? file.get() : stdout).run();
}

}  // namespace
}  // namespace sluice::traffic

int main(int argc, char** argv) {
    using namespace sluice::traffic;
    return sluice::run_program("sluice-peer", 1, [&] {
        bool running = false;
        try {
            const std::span words(argv, static_cast<std::size_t>(argc));
            if (argc > 1 && words[1] == std::string_view("host") &&
                !(argc > 2 && words[2] == std::string_view("--help"))) {
                const HostOptions options = parse_host_options(words.subspan(2));
                running = true;
                run_host(options);
                return 0;
            }
            Options options = parse(argc, argv);
            running = true;
            Interface interface(options.interface);
            options.shape.source_mac = interface.mac();
            const auto port = occupy_roce_port();
            Peer(options, interface).run();
            return 0;
        } catch (const Failure& failure) {
            sluice::complain("sluice-peer: {}\n", failure.what());
            return running ? 1 : 2;
        }
    });
}

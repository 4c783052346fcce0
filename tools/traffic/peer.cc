// sluice-peer: a RoCEv2 host on an interface of the kernel, in real time. It sends flows, obeys PFC, and
// keeps account of the flows that come to it; or it is a host with all of lib/roce (host_peer.hh). Exit
// codes: 0 done, 1 failed, 2 usage.
#include <fmt/format.h>

#include <algorithm>
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
#include "tools/traffic/peer_options.hh"
#include "tools/traffic/text.hh"

namespace sluice::traffic {
namespace {

using Options = PeerOptions;

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
            if (argc > 1 && words[1] == std::string_view("--man"))
                return sluice::say("{}", peer_man_page(SLUICE_VERSION)), 0;
            if (argc > 1 && words[1] == std::string_view("--version"))
                return sluice::say("sluice-peer {}\n", SLUICE_VERSION), 0;
            if (argc > 1 && (words[1] == std::string_view("--help") || words[1] == std::string_view("host")))
                return sluice::say("{}", peer_usage()), 0;
            PeerOptions options = parse_peer_options(words.subspan(1));
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

// sluice-probe: sends the frames of a capture into one port of a program and takes the frames that come out
// of another, at a steady rate; says how long frames were under way. It polls. Each frame carries the TSC at
// which its burst was sent, behind its headers. Exit codes: 0 done, 1 failed, 2 usage.
//
// It stays connected until its input ends: v22.11's net_memif takes the memory of a client that goes from
// under a server that polls.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/text/say.hh"
#include "dataplane/base/eal.hh"
#include "dataplane/base/packet_pool.hh"
#include "dataplane/peers/capture_file.hh"
#include "dataplane/ports/device_port.hh"
#include "dataplane/run/real_runner.hh"
#include "lib/threads/histogram.hh"

namespace sluice::probe {
namespace {

constexpr std::string_view usage =
    "usage: sluice-probe OUT IN CAPTURE\n\n"
    "Sends by the DPDK device OUT and receives by IN. Of each line of input, PPS SECONDS BURST (PPS 0: as\n"
    "many as it can; BURST: so many at once), it prints a line of JSON: sent, received, seconds,\n"
    "ns {p50, p99, p999, max}.\n";

constexpr unsigned stamp_at = 52;  // the last bytes of the smallest frame of RoCEv2: PSN and ICRC
constexpr unsigned packets = 16384;
constexpr std::uint16_t mtu = 9100, ethernet_mtu = 1500;
constexpr Duration patience = seconds(20);  // for the program to be there
constexpr Duration on_the_way = milliseconds(50);
constexpr Duration warm_up = milliseconds(300);

struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

std::vector<std::vector<std::uint8_t>> read(const std::string& capture) {
    auto reader = CaptureReader::open(capture);
    if (!reader) throw Failure(reader.error());
    std::vector<std::vector<std::uint8_t>> frames;
    for (CaptureReader::Frame frame; reader->read(frame);) {
        if (frame.bytes.size() < stamp_at + sizeof(std::uint64_t) || frame.bytes.size() > mtu)
            throw Failure(fmt::format("{}: frames of {} to {} bytes are taken", capture, stamp_at + 8, mtu));
        frames.emplace_back(frame.bytes.begin(), frame.bytes.end());
    }
    if (frames.empty()) throw Failure(capture + ": no frame");
    return frames;
}

std::unique_ptr<DevicePort> connect(const std::string& device, rte_mempool* pool) {
    const bool takes_long_frames = !device.starts_with("net_memif");
    auto port = DevicePort::start({device, {takes_long_frames ? mtu : ethernet_mtu, pool}});
    if (!port) throw Failure(port.error());
    return std::move(*port);
}

struct Account {
    std::uint64_t sent = 0, received = 0;
    Histogram under_way;
};

class Probe {
  public:
    Probe(const std::string& capture, rte_mempool* pool, DevicePort& out, DevicePort& in)
        : frames_(read(capture)), pool_(pool), out_(out), in_(in) {}

    void wait_for_links() {
        for (const Time end = clock_.now() + patience; !out_.link_up() || !in_.link_up();) {
            out_.poll_link(), in_.poll_link();
            if (end < clock_.now()) throw Failure("nobody is at the other end of the devices");
        }
    }

    // Frames that could not be sent in time are left out, not made up for in a longer burst than the largest.
    void run(std::uint64_t per_second, unsigned burst, Duration length, Account& account) {
        const Time begin = clock_.now();
        const double per_ps = static_cast<double>(per_second) * 1e-12;
        double done = 0;
        for (Time now = begin; now < begin + length; now = clock_.now()) {
            double due = per_second == 0 ? burst_size : static_cast<double>((now - begin).ps) * per_ps - done;
            done += std::max(0.0, due - burst_size);
            due = std::min<double>(due, burst_size);
            if (due >= burst) {
                const auto count = static_cast<unsigned>(due);
                send(count, account);
                done += count;
            }
            receive(account);
            discard();
        }
    }
    void drain(Account& account) {
        for (const Time end = clock_.now() + on_the_way; clock_.now() < end;) receive(account);
    }

  private:
    void send(unsigned count, Account& account) {
        std::array<Packet*, burst_size> burst{};
        for (unsigned i = 0; i < count; ++i) {
            const auto& frame = frames_[next_];
            next_ = next_ + 1 == frames_.size() ? 0 : next_ + 1;
            burst[i] = make_packet(pool_, frame, false);
            if (burst[i] == nullptr) return rte_pktmbuf_free_bulk(burst.data(), i);
        }
        const std::uint64_t stamp = clock_.now().ps;
        for (unsigned i = 0; i < count; ++i)
            std::memcpy(frame_bytes(burst[i]) + stamp_at, &stamp, sizeof stamp);
        const unsigned sent = out_.transmit(std::span(burst).first(count));
        for (unsigned i = sent; i < count; ++i) rte_pktmbuf_free(burst[i]);
        account.sent += sent;
    }
    void receive(Account& account) {
        std::array<Packet*, burst_size> burst{};
        const unsigned count = in_.receive(burst, {});
        if (count == 0) return;
        const Time now = clock_.now();
        for (unsigned i = 0; i < count; ++i) {
            Time stamp{};
            if (burst[i]->data_len >= stamp_at + sizeof stamp.ps) {
                std::memcpy(&stamp.ps, frame_bytes(burst[i]) + stamp_at, sizeof stamp.ps);
                if (stamp <= now) account.under_way.record(now - stamp);
                ++account.received;
            }
            rte_pktmbuf_free(burst[i]);
        }
    }

    // The frames that the program sends to the source of frames: pauses.
    void discard() {
        std::array<Packet*, burst_size> burst{};
        for (unsigned n = out_.receive(burst, {}); n != 0;) rte_pktmbuf_free(burst[--n]);
    }

    std::vector<std::vector<std::uint8_t>> frames_;
    rte_mempool* pool_;
    DevicePort& out_;
    DevicePort& in_;
    TscClock clock_;
    std::size_t next_ = 0;
};

void print(const Account& account, double seconds) {
    const auto ns = [&](unsigned per_mille) { return account.under_way.quantile(per_mille).ps / 1000; };
    say("{{\"sent\": {}, \"received\": {}, \"seconds\": {}, "
        "\"ns\": {{\"p50\": {}, \"p99\": {}, \"p999\": {}, \"max\": {}}}}}\n",
        account.sent, account.received, seconds, ns(500), ns(990), ns(999),
        account.under_way.max().ps / 1000);
    std::fflush(stdout);
}

void serve(Probe& probe) {
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        std::uint64_t per_second = 0;
        double seconds = 0;
        unsigned burst = 0;
        if (!(words >> per_second >> seconds >> burst) || seconds <= 0 || burst == 0 || burst > burst_size)
            throw Failure(
                fmt::format("\"{}\": wants PPS SECONDS BURST, the latter up to {}", line, burst_size));
        const auto before = std::make_unique<Account>();
        const auto account = std::make_unique<Account>();
        probe.run(per_second, burst, warm_up, *before);
        probe.drain(*before);
        probe.run(per_second, burst, {static_cast<std::int64_t>(seconds * 1e12)}, *account);
        probe.drain(*account);
        print(*account, seconds);
    }
}

void run(const std::string& out_device, const std::string& in_device, const std::string& capture) {
    EalOptions eal_options;
    eal_options.memory_bytes = packets * PacketPool::eal_bytes_each;
    eal_options.allow_hugepages = false;
    const auto eal = Eal::start(eal_options);
    if (!eal) throw Failure(eal.error());
    const bool registered = rte_thread_register() == 0;  // with a cache of the pool
    const PacketPool pool("probe", packets, 256);
    if (pool.pool() == nullptr) throw Failure("no memory for packets");
    {
        const auto out = connect(out_device, pool.pool());
        const auto in = connect(in_device, pool.pool());
        Probe probe(capture, pool.pool(), *out, *in);
        probe.wait_for_links();
        serve(probe);
    }
    if (registered) rte_thread_unregister();
}

}  // namespace
}  // namespace sluice::probe

int main(int argc, char** argv) {
    using sluice::complain;
    using namespace sluice::probe;
    if (argc != 4) {
        complain("{}", usage);
        return 2;
    }
    try {
        run(argv[1], argv[2], argv[3]);
        return 0;
    } catch (const Failure& failure) {
        complain("sluice-probe: {}\n", failure.what());
        return 1;
    }
}

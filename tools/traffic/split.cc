#include "tools/traffic/split.hh"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "control/config/schema/values.hh"
#include "lib/frame/ip_address.hh"
#include "lib/values/endian.hh"
#include "tools/traffic/capture.hh"
#include "tools/traffic/dissect.hh"
#include "tools/traffic/failure.hh"
#include "tools/traffic/staging.hh"

namespace sluice::traffic {
namespace {

constexpr std::size_t addresses_bytes = 12;  // both MACs
// A capture of the loopback interface has zero MACs, which no configuration takes for a neighbor's.
constexpr MacAddress stand_in_mac{{0x02, 0, 0, 0, 0, 0}};
constexpr ClassId lossless_class = 3;  // of the preset "lossless"

// The source that names the station of an IP address.
struct Claim {
    bool as_source = false;
    std::uint64_t at_ns = 0;
    MacAddress mac;
};

constexpr std::size_t max_seen = 1'000'000;
constexpr std::size_t max_named = 8;
constexpr std::size_t v4_ttl = 8, v6_hops = 7;

MacAddress mac_at(std::span<const std::uint8_t> frame, std::size_t offset) {
    MacAddress mac;
    std::ranges::copy(frame.subspan(offset, mac.bytes.size()), mac.bytes.begin());
    return mac;
}

// Without what a router changes: class and ECN, TTL, the checksum over them.
std::uint64_t hash_of(std::span<const std::uint8_t> packet, bool v6) {
    std::vector<std::uint8_t> bytes(packet.begin(), packet.end());
    if (v6) {
        bytes[0] = bytes[1] = bytes[v6_hops] = 0;
    } else {
        bytes[1] = bytes[v4_ttl] = bytes[10] = bytes[11] = 0;
    }
    std::uint64_t hash = 0xCBF2'9CE4'8422'2325;  // FNV-1a
    for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100'0000'01B3;
    return hash;
}

// Finds out whether captures have both sides of a router: an IP packet that comes twice, from another MAC
// address and with another TTL or hop limit, and is otherwise the same. Of the first million packets.
class RouterSides {
  public:
    void see(std::span<const std::uint8_t> frame, const Dissection& d) {
        if (d.ip_version == 0 || d.ip_end <= d.network) return;
        const bool v6 = d.ip_version == 6;
        const auto packet = frame.subspan(d.network, std::min(d.ip_end, frame.size()) - d.network);
        const Seen now{packet[v6 ? v6_hops : v4_ttl], mac_at(frame, 6)};
        const std::uint64_t hash = hash_of(packet, v6);
        const auto before = seen_.find(hash);
        if (before == seen_.end()) {
            if (seen_.size() < max_seen) seen_.emplace(hash, now);
            return;
        }
        if (before->second.ttl == now.ttl || before->second.source == now.source) return;
        ++twice_;
        const MacAddress& behind = now.ttl < before->second.ttl ? now.source : before->second.source;
        if (senders_.size() < max_named) senders_.insert(behind);
    }

    // Empty: they have one side alone.
    std::string note() const {
        if (twice_ == 0) return {};
        std::string filter;
        for (const MacAddress& mac : senders_) append_item(filter, " or ", "ether src " + print_mac(mac));
        return fmt::format(
            "{} came twice, with another TTL from another MAC: the capture has both sides of a router, and "
            "such packets are switched twice; do: tcpdump -r CAPTURE -w ONE-SIDE 'not ({})'",
            print_count(twice_, "packet"), filter);
    }

  private:
    struct Seen {
        std::uint8_t ttl = 0;
        MacAddress source;
    };
    std::unordered_map<std::uint64_t, Seen> seen_;  // by a hash of what a router leaves as it is
    std::set<MacAddress> senders_;                  // of the copies with the lower TTL
    std::uint64_t twice_ = 0;
};

// RoCEv2 data or ACK that the preset's map does not take to the lossless class.
bool is_unclassed_roce(std::span<const std::uint8_t> frame, const Dissection& d) {
    const std::size_t bth = d.transport + sizeof(UdpHeader);
    if (d.transport == 0 || d.protocol != ip_protocol::udp || bth >= frame.size()) return false;
    if (load_be<std::uint16_t>(frame.data() + d.transport + 2) != roce_udp_port) return false;
    return frame[bth] != cnp_opcode && MapConfig{}.dscp_to_tc[d.tos >> 2] != lossless_class;
}

class Splitter {
  public:
    explicit Splitter(std::filesystem::path folder) : folder_{std::move(folder)} {}

    void add(const CapturedFrame& frame) {
        const Dissection d = dissect(frame.bytes);
        const std::size_t port = place(frame, d);
        if (is_unclassed_roce(frame.bytes, d)) ++unclassed_roce_;
        sides_.see(frame.bytes, d);
        writers_[port].write(frame);
        ++ports_[port].frames;
        ports_[port].bytes += frame.wire_length;
    }

    void close() {
        for (CaptureWriter& writer : writers_) writer.close();
        for (const auto& [address, claim] : claims_)
            ports_[port_of_.at(claim.mac)].addresses.push_back(address);
    }

    SplitSummary summary() const {
        SplitSummary summary{ports_, {}};
        const auto note = [&summary](std::uint64_t count, std::string_view what) {
            if (count == 0) return;
            summary.notes.push_back(fmt::format("{} {}; entered at h0", print_count(count, "frame"), what));
        };
        note(unusual_.group, "with a group address as source MAC");
        note(unusual_.zero_control, "of MAC control with a zero source MAC");
        note(unusual_.cut, "too short to have a source MAC");
        if (ports_.back().more_macs != 0) {
            summary.notes.push_back(fmt::format("{} MAC addresses beyond the limit of {} ports share {}",
                                                ports_.back().more_macs, max_split_ports,
                                                ports_.back().name));
        }
        const auto zero = [](const auto& entry) { return entry.second.mac == MacAddress{}; };
        if (std::ranges::any_of(claims_, zero)) {
            summary.notes.push_back(
                fmt::format("stations with MAC address zero are neighbors with {}", print_mac(stand_in_mac)));
        }
        if (unclassed_roce_ != 0)
            summary.notes.push_back(
                fmt::format("{} came with a DSCP of no lossless class: roce_tc = {} makes them "
                            "lossless whatever their DSCP",
                            print_count(unclassed_roce_, "RoCEv2 packet"), lossless_class));
        if (std::string both = sides_.note(); !both.empty()) summary.notes.push_back(std::move(both));
        if (claims_.empty()) summary.notes.emplace_back("no routable IP address: nothing will be forwarded");
        return summary;
    }

    const std::map<IpAddress, Claim>& claims() const { return claims_; }
    // RoCE data came whose DSCP is in no lossless class of the preset.
    bool needs_roce_class() const { return unclassed_roce_ != 0; }
    const std::string& port_name(const MacAddress& mac) const { return ports_[port_of_.at(mac)].name; }

  private:
    struct Unusual {
        std::uint64_t group = 0;
        std::uint64_t cut = 0;
        std::uint64_t zero_control = 0;
    };

    std::size_t port_for(const MacAddress& mac) {
        if (const auto found = port_of_.find(mac); found != port_of_.end()) return found->second;
        if (ports_.empty() || (ports_.back().mac && ports_.size() < max_split_ports)) open_port();
        SplitPort& port = ports_.back();
        if (port.mac)
            ++port.more_macs;
        else
            port.mac = mac;
        port_of_.emplace(mac, ports_.size() - 1);
        return ports_.size() - 1;
    }

    // Frames may need the first port before a MAC has claimed it; the first MAC then takes it over.
    std::size_t first_port() {
        if (ports_.empty()) open_port();
        return 0;
    }

    void open_port() {
        ports_.push_back({fmt::format("h{}", ports_.size()), {}, 0, 0, 0, {}});
        writers_.emplace_back((folder_ / (ports_.back().name + ".pcap")).string());
    }

    std::size_t place(const CapturedFrame& frame, const Dissection& d) {
        if (frame.bytes.size() < addresses_bytes) {
            ++unusual_.cut;
            return first_port();
        }
        const MacAddress destination = mac_at(frame.bytes, 0);
        const MacAddress source = mac_at(frame.bytes, 6);
        std::size_t port = 0;
        const bool zero_control = d.ether_type == ether_type::mac_control && source == MacAddress{};
        if (source.is_group() || zero_control) {
            ++(zero_control ? unusual_.zero_control : unusual_.group);
            port = first_port();
        } else {
            port = port_for(source);
        }
        if (!destination.is_group()) port_for(destination);
        if (d.ip_version == 0) return port;
        if (!source.is_group()) claim(d.source, {true, frame.timestamp_ns, source});
        if (!destination.is_group()) claim(d.destination, {false, frame.timestamp_ns, destination});
        return port;
    }

    void claim(const IpAddress& address, const Claim& claim) {
        if (!is_routable(address)) return;
        const auto [found, added] = claims_.emplace(address, claim);
        if (added && claims_.size() > max_split_addresses) {
            throw Failure{fmt::format("more than {} IP addresses", max_split_addresses)};
        }
        Claim& old = found->second;
        const bool better = claim.as_source != old.as_source ? claim.as_source : claim.at_ns < old.at_ns;
        if (!added && better) old = claim;
    }

    std::filesystem::path folder_;
    std::vector<SplitPort> ports_;
    std::vector<CaptureWriter> writers_;
    std::map<MacAddress, std::size_t> port_of_;
    std::map<IpAddress, Claim> claims_;
    Unusual unusual_;
    std::uint64_t unclassed_roce_ = 0;
    RouterSides sides_;
};

// A configuration quotes the folder in a DPDK device string inside a TOML string; neither has an escape that
// both understand.
void check_folder(const std::filesystem::path& folder) {
    const std::string text = folder.string();
    const auto unfit = [](unsigned char c) {
        return c < 0x20 || c == 0x7F || c == ',' || c == '=' || c == '"' || c == '\\' || c == '[' || c == ']';
    };
    if (text.empty() || std::ranges::any_of(text, unfit)) {
        throw Failure{fmt::format(
            "--out '{}': a device string cannot hold this folder's name (no , = \" \\ [ ] or control "
            "characters)",
            text)};
    }
}

// The buffer that ports of this speed need. A port reserves, with its headroom, 110 KB at 1G, 320 KB at 100G
// and 1350 KB at 800G; this gives more than that at every speed.
std::uint64_t buffer_kilobytes(std::size_t ports, std::string_view speed) {
    constexpr std::uint64_t per_port = 150;
    constexpr std::uint64_t per_gigabit = 2;
    const std::uint64_t gigabits_per_second = parse_rate(speed).value().bits_per_second / 1'000'000'000;
    return ports * (per_port + per_gigabit * gigabits_per_second);
}

void write_config(const std::filesystem::path& file, const Splitter& splitter, const SplitOptions& options) {
    std::ofstream out{file};
    out << "# Made by sluice-traffic split: every MAC address of the capture is a port, every IP address a "
           "neighbor.\n"
        << fmt::format("clock = \"virtual\"\nseed = {}\n", options.seed);
    if (splitter.needs_roce_class())
        out << fmt::format("\n[map.default]  # RoCE of the capture comes in other classes\nroce_tc = {}\n",
                           lossless_class);
    const SplitSummary summary = splitter.summary();
    constexpr std::uint64_t default_kilobytes = 16'000;
    const std::uint64_t wanted = buffer_kilobytes(summary.ports.size(), options.speed);
    if (wanted > default_kilobytes)
        out << fmt::format("\n[buffer]  # room for the headroom of {} ports\nsize = \"{}KB\"\n",
                           summary.ports.size(), wanted);
    for (std::size_t i = 0; i < summary.ports.size(); ++i) {
        const SplitPort& port = summary.ports[i];
        out << fmt::format("\n[port.{}]  # {}, {}\n", port.name, port.mac ? print_mac(*port.mac) : "no MAC",
                           print_count(port.frames, "frame"))
            << fmt::format("device = \"net_pcap{0},rx_pcap={1}/in/{2}.pcap,tx_pcap={1}/{2}.pcap\"\n", i,
                           options.folder.string(), port.name)
            << fmt::format("speed = \"{}\"\nmtu = 9216\npromiscuous = true\npeer = \"obey\"\n",
                           options.speed);
    }
    for (const auto& [address, claim] : splitter.claims()) {
        out << fmt::format("\n[[neighbor]]\naddress = \"{}\"\nport = \"{}\"\nmac = \"{}\"\n",
                           print_address(address), splitter.port_name(claim.mac),
                           print_mac(claim.mac == MacAddress{} ? stand_in_mac : claim.mac));
    }
    out.close();
    if (!out) throw Failure{fmt::format("{}: cannot be written", file.string())};
}

struct Input {
    CaptureReader reader;
    CapturedFrame frame;
    bool at_end = false;

    void advance() { at_end = !reader.next(frame); }
};

std::uint64_t merge(std::vector<Input>& inputs, Splitter& splitter) {
    std::uint64_t frames = 0;
    for (Input& input : inputs) input.advance();
    while (true) {
        const auto earliest = std::ranges::min_element(
            inputs, {}, [](const Input& input) { return std::pair(input.at_end, input.frame.timestamp_ns); });
        if (earliest->at_end) return frames;
        splitter.add(earliest->frame);
        earliest->advance();
        if (++frames % frames_between_checks == 0) stop_if_interrupted();
    }
}

}  // namespace

bool is_routable(const IpAddress& address) {
    const auto& b = address.bytes;
    if (!address.is_v6) {
        const std::uint32_t v4 = load_be<std::uint32_t>(b.data());
        return judge_ipv4(v4, v4) == DropReason::none;
    }
    // ::/96: unspecified, loopback, IPv4-compatible; and IPv4-mapped ::ffff:0:0/96.
    const bool embedded = std::all_of(b.begin(), b.begin() + 10, [](std::uint8_t x) { return x == 0; }) &&
                          ((b[10] == 0 && b[11] == 0) || (b[10] == 0xFF && b[11] == 0xFF));
    return judge_ipv6(b, b) == DropReason::none && !embedded;
}

SplitSummary split(const std::vector<std::string>& captures, const SplitOptions& options) {
    check_folder(options.folder);
    std::vector<Input> inputs;
    for (const std::string& capture : captures) inputs.push_back({CaptureReader(capture), {}, false});
    StagedFolder staged{options.folder, captures};
    const std::filesystem::path in = staged.path() / "in";
    std::filesystem::create_directory(in);
    Splitter splitter{in};
    if (merge(inputs, splitter) == 0) throw Failure{fmt::format("{}: no packets at all", captures[0])};
    splitter.close();
    write_config(staged.path() / "sluice.toml", splitter, options);
    SplitSummary summary = splitter.summary();
    std::vector<std::string> names{"sluice.toml"};
    for (const SplitPort& port : summary.ports) names.push_back("in/" + port.name + ".pcap");
    staged.publish(names);
    for (const Input& input : inputs)
        for (const std::string& note : input.reader.notes())
            summary.notes.push_back(fmt::format("{}: {}", input.reader.file(), note));
    return summary;
}

}  // namespace sluice::traffic

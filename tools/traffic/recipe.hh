// A recipe: the hosts and the flows of each, as a value with every default filled in. README.md describes its
// text. `load_recipe` judges it completely; generators need not check again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/config/schema/config.hh"
#include "lib/frame/headers.hh"
#include "lib/roce/opcode.hh"
#include "lib/values/units.hh"
#include "tools/traffic/malformation.hh"

namespace sluice::traffic {

using roce::Operation;
using roce::Transport;

constexpr std::uint32_t min_recipe_frame_bytes = 60;  // Ethernet's 64, less the FCS
constexpr std::uint32_t max_recipe_frame_bytes = 16'000;

struct Tag {
    std::uint16_t type = ether_type::vlan;
    std::uint16_t tci = 0;
    bool operator==(const Tag&) const = default;
};

struct Host {
    std::string name;  // also of its file
    MacAddress mac;
    std::optional<MacAddress> gateway_mac;
    std::vector<IpAddress> addresses;
    Rate speed = gigabits(100);
    std::vector<Tag> tags;  // outermost first
};

enum class Kind : std::uint8_t { roce, cnp, pfc, pause, udp, tcp, malformed };
constexpr bool is_mac_control(Kind kind) { return kind == Kind::pfc || kind == Kind::pause; }
constexpr bool is_roce_data(Kind kind) { return kind == Kind::roce || kind == Kind::malformed; }

// Bytes of frame n: of a list in turn, or drawn from [low, high] when the list is empty.
struct SizeRule {
    std::vector<std::uint32_t> list;
    std::uint32_t low = 0;
    std::uint32_t high = 0;
};

// UDP or TCP ports first .. first + count - 1.
struct PortRange {
    std::uint16_t first = 0;
    std::uint32_t count = 1;
};

struct Pacing {
    // Neither: as fast as the link takes them.
    std::optional<Rate> rate;        // on the wire
    std::optional<Duration> gap;     // from start to start
    std::uint32_t burst_frames = 0;  // 0: no bursts; else the above holds within a burst
    Duration burst_every;            // from start to start of bursts
};

struct Flow {
    Kind kind = Kind::roce;
    std::size_t host = 0;  // the sender, in Recipe::hosts

    std::uint64_t count = UINT64_MAX;
    std::optional<Duration> duration;
    Duration start;
    Pacing pacing;

    MacAddress destination_mac;
    MacAddress source_mac;
    std::vector<Tag> tags;
    IpAddress source;
    IpAddress destination;
    std::uint8_t tos = 0;
    std::uint8_t ttl = 64;
    std::uint16_t id = 0;  // IPv4 identification of the first frame

    SizeRule size;                 // of the frame
    bool size_is_payload = false;  // RoCE: of the payload instead; the pad comes on top
    std::uint32_t flows = 1;       // connections that take turns
    PortRange source_ports;
    bool source_port_from_qp = false;
    PortRange destination_ports;

    Transport transport = Transport::rc;
    std::vector<const Operation*> operations;  // of one connection, cycled
    std::uint32_t qp = 0;
    std::uint32_t qps = 1;
    std::uint32_t psn = 0;

    std::array<std::optional<std::uint16_t>, 8> pfc_quanta{};  // absent: class not enabled
    std::uint16_t pause_quanta = 0;

    std::vector<Malformation> malformations;  // cycled
};

struct Recipe {
    std::uint64_t origin_ns = 0;  // timestamp of the first moment
    std::uint64_t seed = 1;
    std::vector<Host> hosts;  // by name
    std::vector<Flow> flows;
};

struct LoadedRecipe {
    Recipe recipe;  // of use only without errors
    std::vector<std::string>
        errors;  // "file:line:column: path: what is wrong and what is allowed", all of them
};

LoadedRecipe load_recipe(std::string_view text, std::string_view file_name);
LoadedRecipe load_recipe_file(const std::string& file);  // throws Failure if it cannot be read

}  // namespace sluice::traffic

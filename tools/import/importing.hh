// A file of another switch as a configuration of Sluice, which is read, taken table by table and completed;
// with the account of its source, and the readers of single values that every importer needs. A value that
// cannot be read is told as wrong, with what is allowed, and then absent.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/schema/config.hh"
#include "tools/import/account.hh"

namespace sluice {
struct Machine;
}

namespace sluice::import {

// What the command line says.
struct Wishes {
    std::string device;  // "xdp:{port}", "net_pcap{n},rx_pcap={port}.pcap"; empty: a simulated host each
    std::optional<std::uint32_t> cable_m;       // of all ports, instead of the file's
    std::optional<std::uint64_t> buffer_bytes;  // where the file does not say the size of a pool
    std::optional<std::uint32_t> cell_bytes;
    std::optional<std::uint32_t> segment_bytes;  // of thresholds in segments, a chip's own unit
};

// Parts of a port that the two ends of a link must agree on, or that ports alike have alike.
enum class Aspect : unsigned char { speed, mtu, pfc, map, headroom, watchdog, marking, scheduler };
inline constexpr std::size_t aspect_count = 8;

// What a comparison of switches (fleet.hh) asks of a port beyond its configuration.
struct PortNotes {
    SourcePlace place{};                                          // of the port
    std::array<std::optional<SourcePlace>, aspect_count> said{};  // where the file says it
    bool says_cable = false;
    // The other end, as the file names it; empty: it does not.
    std::string neighbor, neighbor_port;
    std::string description;
    SourcePlace neighbor_place{}, description_place{};
};

// Names that a file of EOS or NX-OS has for what its ports share; a patch is written in them.
struct SharedNames {
    std::string queue_word = "tx-queue";  // EOS: or uc-tx-queue, by the chip
    // By the words of the reference ("service-profile", "service-policy type queuing output"), and by port.
    std::map<std::string, std::map<std::string, std::string>, std::less<>> references;
    std::map<std::string, std::set<std::string>> own_keys;  // what a port says itself, over its profile
    // NX-OS: the classes of a policy of type queuing, by number; empty: it has none.
    std::map<std::string, std::array<std::string, classes>, std::less<>> class_names;
    std::set<std::string> taken;  // policies and class-maps

    std::map<std::string, std::string> of(std::string_view words) const {
        const auto found = references.find(words);
        return found == references.end() ? std::map<std::string, std::string>{} : found->second;
    }
};

struct Importing {
    Wishes wishes;
    Source source = Source::sonic;
    Config config;
    Account account;
    // Pools whose `size_bytes` is the shared part alone: reserves and headrooms are added at the end.
    std::set<std::string> shared_only;
    std::uint64_t usual_buffer_bytes = 16'000'000;  // of such a switch, where the file has no pools
    // Next hops of routes, with the port that the file names for each; empty: none.
    std::set<NeighborKey> next_hops;
    std::set<std::string, std::less<>> ports_left_out;
    std::shared_ptr<const Item> document;  // the file, in the shape of its format
    std::map<std::string, PortNotes, std::less<>> notes;
    SharedNames names;
    std::string role;  // of the switch, as the file names it; empty: it does not

    void note(const PortConfig& port, Aspect aspect, const Item& item);
    PortNotes* notes_of(const PortConfig& port);  // null: the configuration does not have it

    std::optional<std::uint64_t> number(const Item& node, std::uint64_t low, std::uint64_t high);
    // A number that is told as taken, as `what`; nothing where there is no node.
    std::optional<std::uint64_t> take_number(const Item* node, std::uint64_t low, std::uint64_t high,
                                             std::string what);
    // `most`: the highest number that a switch may have.
    std::optional<ClassId> class_of(const Item& node, std::string_view word, unsigned most = classes - 1);
    // "3", "3-4", "0,3": classes as a list, lowest first; empty: wrong, and told. `most`: the highest number
    // that a switch may have; those above seven are not classes of Sluice's, and told.
    std::vector<ClassId> classes_of(const Item& node, std::string_view text, unsigned most = classes - 1);
    std::optional<IpPrefix> interface_address(const Item& node, std::string_view text);
    // A name that Sluice can have: at most 32 of letters, digits, _ . and -.
    bool check_name(const Item& node, std::string_view name);
    // Null: Sluice has no more ports; it is left out, and told.
    PortConfig* add_port(const Item& node, const std::string& name);
    void leave_out_port(const Item& node, const std::string& name, const std::string& why);
    void set_speed(const Item& node, PortConfig& port, std::string_view name, std::uint64_t megabits);
};

std::string key_of_port(std::string_view port, std::string_view key);  // "port.Ethernet0.speed"

// Devices or hosts, sizes of pools and buffer, neighbors of next hops, and [default] from what most ports
// have. The configuration is complete then.
void finish(Importing& in);

// The configuration and the account of `text`, by `said` or by what it is; a ReadError when it is not JSON or
// YAML, another maker's, or beyond a bound.
tl::expected<Importing, ReadError> import_text(const std::string& text, std::optional<Source> said,
                                               const Wishes& wishes);

// The configuration as a file, with a head that says where it comes from and how it is run.
std::string to_file(const Importing& imported, std::string_view from);

// What lint says of an imported configuration: the findings, and first the answer that people look for, which
// ports would lose packets and by how much.
struct Verdict {
    bool lossless = true;  // no port lacks headroom, and no other error says that packets would be lost
    std::string text;      // several lines
    std::string refusal;   // empty, or what `sluiced --check` refuses it for, a line each
};

// `lossless` is of the switch that the configuration came from: by the link's terms alone. `refusal` is by
// the judge of `sluiced --check`, on `machine`.
Verdict judge_import(const Config& config, const Machine& machine, const std::string& file);

// As the production switch has it: hardware reacts at once, and has no ring of ours.
Config as_hardware(const Config& config);

}  // namespace sluice::import

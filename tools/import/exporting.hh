// A configuration as another switch has it: what the writers of all makers share.
//
// A writer says of each key of ports, buffer, queues, maps and watchdog what becomes of it: said, rounded, or
// not to be said. It rounds so that a headroom is never smaller there, nor a threshold of marking larger.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/compile/qos.hh"
#include "control/config/schema/config.hh"
#include "tools/import/importing.hh"

namespace sluice::import {

enum class Unit : std::uint8_t { bytes, bits_a_second, picoseconds, chance };  // chance: parts per billion

// A configuration on its way out: what is in force, and the account.
struct Exporting {
    explicit Exporting(const Config& of) : config(of), qos(effective_qos(of)) {}

    const Config& config;
    EffectiveQos qos;
    Account account;

    void said(std::string path, std::string what) {
        account.tell(Fate::said, std::move(path), std::move(what));
    }
    void unsaid(std::string path, std::string instead) {
        account.tell(Fate::unsaid, std::move(path), std::move(instead));
    }
    // `there` stands in the export instead of `wanted`; nothing is told of equal ones. `does`: the
    // consequence.
    void rounded(std::string path, std::uint64_t wanted, std::uint64_t there, Unit unit,
                 std::string_view does);
    // The bytes that the file gives, or those of the cells in force.
    std::uint64_t bytes(const std::optional<std::uint64_t>& configured, std::uint64_t cells) const {
        return configured.value_or(cells * config.cell_bytes);
    }
};

// The parts of an account that a patch has beside its own lines: what cannot be said, or is rounded, and was
// not before.
Account new_limits(Account wanted, const Account& today);
// A patch of a configuration that no such switch has in its own words.
void tell_base(Account& account, std::string_view maker);
// How ports are called there, by our name.
using PortNames = std::map<std::string, std::string>;
// A name that `fits` stays; where one does not, ports are STEM1, STEM2 ... in order, and each is told.
PortNames name_ports(Exporting& out, std::string_view stem, bool (*fits)(std::string_view name));
// Names whose numbers follow each other as one: "swp1-4", "swp7".
std::vector<std::string> name_ranges(const std::vector<std::string>& names);
// The size of the buffer, which no switch is told.
void tell_buffer(Exporting& out);
// What the static routes of other switches have not.
void tell_route(Exporting& out, const RouteConfig& route, std::string what);
// True when the port is down from the start.
bool is_down(const Config& config, std::string_view port);
// From the end of a storm to the end of the watchdog's action.
Duration restoration_of(const WatchdogConfig& watchdog);
// An address that sluice-import made up for a port without one (finish.cc).
bool is_made_address(const IpPrefix& address);
// What classifies and marks in Sluice alone.
void tell_classes(Exporting& out, const std::string& port, const PortConfig& config,
                  const EffectivePort& effective);
// `has_weight`: the switch can be told the weight of the average.
void tell_marking(Exporting& out, const std::string& wred, const WredProfile& profile,
                  bool has_weight = false);
void tell_bursts(Exporting& out, const std::string& port, const PortConfig& config);
// Limits and reserves that the configuration says, and the chip has its own of. `path`: of the group.
void tell_limit(Exporting& out, const std::string& path, const ThresholdConfig& said, std::string_view own);
void tell_queue_limit(Exporting& out, const std::string& port, unsigned queue, const QueueConfig& said,
                      std::string_view limit, std::string_view reserve);
// Switches for which the priority of PFC is the class: lossless classes of another group.
void tell_priorities(Exporting& out, const PortConfig& port, const EffectivePort& effective);
// The shares of queues that packets go to and that share, of 100; told where they are rounded.
std::array<std::uint64_t, classes> shares_of_queues(Exporting& out, const std::string& port,
                                                    const EffectivePort& effective);
// The chance just below the curve's max in whole per cents, at least one where there is any; told when
// rounded. `key`: of [wred.NAME].
std::uint64_t percent_of_curve(Exporting& out, const std::string& wred, std::string_view key,
                               const WredCurve& curve);
// Weights as per cents of their sum, which have the sum 100; none is 0 whose weight is not.
std::array<std::uint64_t, classes> whole_percents(const std::array<std::uint64_t, classes>& weights);

// What is trimmed, for the writers that have no words for packet trimming.
void tell_trimming(Exporting& out);
// Keys of Sluice that no switch has: hosts, faults, events, load balancing and the like.
void tell_own_keys(Exporting& out);
// True when a class of the port's packets leaves by the queue: by DSCP, PCP, roce_tc or cnp_tc.
std::array<bool, classes> used_queues(const MapConfig& map);

// TODAY, what it becomes, and the file that TODAY was, where that is of the maker's own format.
struct ExportTask {
    const Config& today;
    const Config& wanted;
    const Item* document = nullptr;
    bool patch = false;                  // only what changes
    const SharedNames* names = nullptr;  // of `document`
};

struct Exported {
    std::string text;
    std::string beside;  // what `text` cannot have, for a second file; empty: there is none
    Account account;
    bool changes = true;  // false: `text` changes nothing
};

Exported export_sonic(const ExportTask& task);
Exported export_nvue(const ExportTask& task);
Exported export_eos(const ExportTask& task);
Exported export_nxos(const ExportTask& task);

// The makers that are written, by the word of --to.
struct ExportFormat {
    std::string_view word, name, help;
    Exported (*write)(const ExportTask& task);
    std::optional<Source> source;  // of a file in this format
    std::string_view beside_end;   // ends the name of the second file: FILE.json becomes FILE.tables.json
    std::string_view beside_use;   // and what a person does with it
};
std::span<const ExportFormat> export_formats();

// The keys of a file of sluiced's, such as `sluice-fabric advise` writes as switch.toml, over a
// configuration.
struct AppliedKey {
    std::string path, value;         // as a file has them
    std::vector<std::string> ports;  // that say the key of [default] themselves, and have it now, too
    SourcePlace place;
};
struct Applied {
    Config config;
    std::vector<AppliedKey> keys;
};
constexpr std::size_t max_applied_keys = 256;

// Errors are a line each, with the place in `file`.
tl::expected<Applied, std::vector<std::string>> apply_keys(const Config& config, std::string_view text,
                                                           const std::string& file);
// The configuration without one of the keys.
tl::expected<Config, std::string> applied_without(const Config& config, std::span<const AppliedKey> keys,
                                                  std::size_t left_out);

}  // namespace sluice::import

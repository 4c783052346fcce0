// A fabric's file as a value, with nothing resolved but defaults.
//
// [switch.NAME] has sluiced's own keys, each switch starting from [switch.default]; [host.NAME] and [[flow]]
// are those of sluiced's file, but for port, address and MAC, which the fabric makes. Keys that the topology
// decides (a port's speed, cable, device and address) are refused in a switch.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/config/schema/config_paths.hh"
#include "control/config/schema/schema.hh"
#include "control/fabric/plan/topology.hh"
#include "control/fabric/schedule/workload_file.hh"
#include "control/fabric/workload/flow_list.hh"
#include "lib/roce/collective.hh"
#include "lib/values/units.hh"

namespace sluice::fabric {

// Sections [[node]] and [[link]] of a file; a fabric has fewer hosts and switches (topology.cc).
constexpr std::size_t max_nodes = 20'000;
constexpr std::size_t max_links = 65'536;

// Another simulator, with whose results those of the fabric compare (like.hh).
enum class Like : std::uint8_t { none, ns3 };

enum class Weights : std::uint8_t { capacity, equal };

// How a fabric finds its paths, and how they follow a failure.
struct RoutingConfig {
    enum class Policy : std::uint8_t { automatic, shortest, up_down, clockwise, by_hand };
    Policy policy = Policy::automatic;
    Weights weights = Weights::capacity;
    Duration detection = milliseconds(1);     // from a cut until both ends have seen it
    Duration convergence = milliseconds(10);  // from there until all routes are computed anew
    std::optional<Duration> remote_quality;   // how often switches tell neighbors of the ways behind them
    bool circles_allowed = false;             // of pauses: a scenario about deadlock wants one
};

inline constexpr std::uint32_t max_collective_qps = 64;

// [[collective]]: the steps that the hosts of a job take together, each host with one rank.
struct CollectiveConfig : roce::CollectiveSettings {
    std::string name;                      // empty: its kind
    std::uint32_t groups = 1;              // of one size, where group_size says nothing
    std::optional<ClassId> control_class;  // of control messages; nothing: by the sender's dscp
    std::vector<std::string> hosts;        // as flows name them; the plan has them in the order of ranks
    std::vector<std::string> rank_order{"topology"};  // or "random", or the hosts
    SourcePlace place;
};

// [[workload]]: the flows, or the schedule, of a file that others wrote, as data.
struct WorkloadConfig : FlowListSettings, ScheduleKeys {
    std::string name;  // empty: the file's, without its folder and ending
    std::string file;  // relative to the fabric's
    std::string text;  // in the place of a file
    SourcePlace place;

    std::string usual_name() const;
};

// The hosts that a job takes: those named, or so many; neither: all that are free.
struct JobHosts {
    std::uint32_t count = 0;
    std::vector<std::string> names;
    bool operator==(const JobHosts&) const = default;
};

// [[job]]: collectives and workloads that do a job together, and where it lies.
struct JobConfig {
    std::string name;
    std::vector<std::string> work;  // names of collectives and workloads
    JobHosts hosts;
    std::vector<std::string> placement{"packed"};  // or "spread", "random", or the hosts
    Duration start{};                              // added to theirs
    std::optional<std::uint64_t> seed;             // of a random placement; nothing: the file's
    bool share = false;                            // its hosts may have other jobs
    SourcePlace place;
};

// From `from` to `to` of the run; nothing: to its end. Phases do not overlap.
struct PhaseConfig {
    std::string name;
    Duration from{};
    std::optional<Duration> to;
    SourcePlace place;
};

// An expression over the report (control/report/figures/expression.hh), or over a phase of it.
struct AssertConfig {
    std::string that;
    std::string phase;  // empty: the whole run
    std::string why;
    SourcePlace place;
    const char* key = "assert.that";  // of the file
    std::string variant = {};         // the one for which it must hold; empty: whatever runs
};

// [[variant]]: values that the file has under a name, for `--variant` and the axis `variant` of a sweep.
struct VariantConfig {
    static constexpr std::size_t max_variants = 64, max_sets = 256;

    struct Set {
        std::string path, value;  // the value as --set takes it
        SourcePlace place;

        std::string text() const { return path + "=" + value; }
        bool operator==(const Set& other) const { return path == other.path && value == other.value; }
    };
    std::string name;
    std::vector<Set> sets;  // in the file's order
    SourcePlace place;
};

// [goal]: what must hold in every run of a point, and what should be small.
struct GoalConfig {
    static constexpr std::size_t max_keep = 64, max_least = 4;

    // An expression, of which two are the same wherever they stand.
    struct Entry : AssertConfig {
        bool operator==(const Entry& other) const { return that == other.that && phase == other.phase; }
    };
    std::vector<Entry> keep;                // each has a truth
    std::vector<Entry> least;               // each is one number; the first decides; at least one
    Chance tolerance = Chance::percent(2);  // values so much apart, of the smaller one, are not told apart
    SourcePlace place;
};

// The points of a sweep: the cross product of all axes, or `sample` points of it.
struct VaryConfig {
    struct Axis {
        std::string path;
        std::vector<std::string> values;  // the text of each, as --set takes it
        bool operator==(const Axis&) const = default;
    };
    std::vector<Axis> axes;  // in the file's order
    std::optional<std::uint64_t> sample;
    std::uint64_t seeds = 1;  // of each point: the file's seed and those after it
    SourcePlace place;
};

// The least or the most value of `path` for which `such_that` holds.
struct FindConfig {
    std::string least, most;  // the path; one of them
    std::string within;       // "100KB..1600KB"
    std::string such_that;    // an expression; empty: every assertion is met
    std::string precision;    // how far apart the runs beside the answer are at most; empty: 1 % of the range
    SourcePlace place;

    const std::string& path() const { return least.empty() ? most : least; }
};

// [advise]: what `sluice-fabric advise` may change, and how much it may run.
struct AdviseConfig {
    static constexpr std::size_t max_keys = 8;     // of groups and ranges
    static constexpr std::size_t max_values = 64;  // of one key

    // Keys that go together: thresholds of marks, alpha of lossless priority groups, constants of hosts.
    enum class Group : std::uint8_t { wred, alpha, dcqcn };
    // The values of one key: a range as ValueRange reads it, or a list.
    struct Range {
        std::string path;
        std::string range;                // "LOW..HIGH", perhaps with "xN" and "log"; empty: a list
        std::vector<std::string> values;  // of a list, each as --set takes it
        SourcePlace place;
    };
    std::optional<std::vector<Group>> groups;  // nothing: those that the file has; none beside ranges
    std::uint32_t seeds = 5;                   // of a point at most, in [5, 50]
    std::uint64_t runs = 200;                  // in all, in [1, 100'000]
    std::vector<Range> ranges;                 // in the file's order
    SourcePlace place;
};
std::string_view to_string(AdviseConfig::Group group);

// The keys of a scenario: its question, phases and assertions, the axes of a sweep or a search, and the goal
// by which a sweep names its best point.
struct ScenarioConfig {
    std::string name, question;
    std::vector<PhaseConfig> phases;  // in order of time
    std::vector<AssertConfig> asserts;
    std::vector<VariantConfig> variants;
    std::string variant;  // the one whose values the file has; empty: none
    VaryConfig vary;
    std::optional<FindConfig> find;
    std::optional<GoalConfig> goal;
    std::optional<AdviseConfig> advise;
};

// [results]: what a run tells beyond its usual report.
struct ResultsConfig {
    bool messages = false;  // messages.csv
    bool depths = false;    // of queues over time
    bool alone = false;     // what other jobs cost each job
};

struct FabricConfig {
    std::string file;
    std::uint64_t seed = 1;
    Like like = Like::none;
    std::optional<TopologySettings> topology;  // nothing: nodes and links are given by name
    std::vector<NodeConfig> nodes;
    std::vector<LinkConfig> links;
    RoutingConfig routing;
    Config switch_default;
    std::map<std::string, Config, NaturalOrder> switches;   // those that the file names
    HostConfig host_default;                                // it describes its payload
    std::map<std::string, HostConfig, NaturalOrder> hosts;  // likewise
    std::vector<FlowConfig> flows;
    std::vector<CollectiveConfig> collectives;
    std::vector<WorkloadConfig> workloads;
    std::vector<JobConfig> jobs;
    std::vector<EventConfig> events;  // in order of time
    ResultsConfig results;
    ScenarioConfig scenario;
    std::vector<std::string> expected_findings;  // warnings that it is about

    // [switch.NAME] or what all start from.
    const Config& switch_config(const std::string& name) const {
        const auto found = switches.find(name);
        return found == switches.end() ? switch_default : found->second;
    }
};

using FabricResult = tl::expected<FabricConfig, std::vector<ConfigError>>;

// The fabric in `text`, or everything that is wrong with it. `sets`: "switch.leaf1.seed=3", over what the
// file says; an element of a list goes by its name or its index, as in "flow.incast.message=1MB", and
// "switch.leaf*.seed=3" sets it of each switch that matches (set_paths.hh). "variant=NAME" puts the values of
// that [[variant]] before all others (variants.hh).
FabricResult parse_fabric(std::string_view text, const std::string& file,
                          const std::vector<std::string>& sets = {});
FabricResult load_fabric(const std::string& file, const std::vector<std::string>& sets = {});

// The keys that differ from their defaults, as sluiced's keys_asked, and the variant that was chosen; without
// [vary], [find], [goal], [advise], [[variant]] and [[assert]].
std::vector<ConfigChange> keys_asked(const FabricConfig& fabric);

// The keys that sluiced's file lacks; the help of [vary]; both as Markdown.
std::vector<SchemaSection> fabric_sections();
std::string_view vary_help();
std::string fabric_reference();

std::string_view to_string(roce::CollectiveKind kind);
// Rings and trees have them.
bool has_channels(roce::CollectiveKind kind);
// Puts hosts into the order of ranks, and those into groups. An error's text with what to do, or empty.
std::string order_ranks(CollectiveConfig& collective, std::uint64_t seed);
// The flow of its name that its queue pairs belong to: it names no hosts, and ends with the collective.
FlowConfig flow_of(const CollectiveConfig& collective);
// The flow of its control messages, likewise; its name ends with "-control".
FlowConfig control_flow_of(const CollectiveConfig& collective);
// The flow that stands for a whole list, likewise; its messages have the sizes of the list's flows.
FlowConfig flow_of(const WorkloadConfig& workload, const FlowList& list);

}  // namespace sluice::fabric

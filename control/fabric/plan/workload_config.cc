#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "control/config/schema/schema.hh"
#include "control/config/schema/schema_sections.hh"
#include "control/config/text/controls.hh"
#include "control/fabric/plan/fabric_rows.hh"

namespace sluice::fabric {
namespace {

using HostNames = std::map<std::string, std::string>;

// A factor for all times or sizes.
schema::Type<double> factor() {
    static constexpr double least = 1e-9, most = 1e9;
    return schema::whole<double>(
        "number", fmt::format("a number from {} to {}", least, most), "0.1",
        [](const toml::node& node) -> ParsedValue<double> {
            const auto number = schema::number_in(node);
            if (!number) return bad_value("is not a number");
            if (!(*number >= least && *number <= most))  // a NaN is neither
                return bad_value(fmt::format("is not from {} to {}", least, most));
            return *number;
        },
        [](const double& number) { return fmt::format("{}", number); });
}

// Lines of it, with tabs.
schema::Type<std::string> lines_of_text() {
    static constexpr std::size_t most = 65'536;
    return schema::whole<std::string>(
        "a text", fmt::format("up to {} bytes of lines", most), R"("src,dst,size\n0,1,1MB")",
        [](const toml::node& node) -> ParsedValue<std::string> {
            const auto* string = node.as_string();
            if (string == nullptr) return bad_value("is not a string");
            std::string flat = string->get();
            if (flat.size() > most) return bad_value("is too long");
            std::ranges::replace_if(
                flat, [](char each) { return each == '\n' || each == '\t'; }, ' ');
            if (has_controls(flat)) return bad_value("has a control character in it");
            return string->get();
        },
        [](const std::string& value) { return toml_string(value); });
}

// {"their name" = "our host"}
schema::Type<HostNames> names_for_hosts() {
    schema::Type<HostNames> type{
        "table (name = host)", "a table from the list's names to hosts", R"({"node 7" = "h8"})", {}, {}};
    type.read = [self = type, host = schema::name("a host's name")](
                    const toml::node& node, schema::Context& context, HostNames& names) {
        const toml::table* table = node.as_table();
        if (table == nullptr) return self.refuse(node, context, "is not a table");
        bool good = true;
        names.clear();
        for (const auto& [key, value] : *table) {
            const schema::Context::Inside inside(context, key.str());
            good = host.read(value, context, names[std::string(key.str())]) && good;
        }
        return good;
    };
    type.print = [](const HostNames& names, const HostNames*) {
        std::string out;
        for (const auto& [theirs, ours] : names)
            append_item(out, ", ", fmt::format("{} = {}", toml_string(theirs), toml_string(ours)));
        return fmt::format("{{{}}}", out);
    };
    return type;
}

// The keys of schedules.
schema::Rows<WorkloadConfig> schedule_rows(schema::Rows<WorkloadConfig> rows) {
    using W = WorkloadConfig;
    using Kind = roce::CollectiveKind;
    rows.key("rendezvous", &W::rendezvous_bytes,
             schema::optional_or(schema::size(1, roce::max_transfer_bytes, "64KB"), "none"),
             "In a schedule: a message of more bytes asks its receiver first, and leaves when a receive is "
             "there; both of these messages have 64 bytes.");
    rows.key("groups", &W::groups, schema::text("a file's name", 0, 4096, "groups.json"),
             "Of Chakra's traces: JSON with the ranks of each group, as for astra-sim; empty: those that the "
             "traces name, or all ranks.");
    rows.key("allreduce", &W::allreduce,
             schema::word<Kind>({{"ring", Kind::ring_allreduce},
                                 {"tree", Kind::tree_allreduce},
                                 {"double-tree", Kind::double_tree_allreduce},
                                 {"halving-doubling", Kind::halving_doubling}}),
             "How all-reduces of a schedule run.");
    rows.key("channels", &W::channels, schema::integer<std::uint32_t>(1, 32),
             "Of its rings and trees: so many side by side.");
    rows.key("chunk", &W::chunk_bytes,
             schema::optional_or(schema::size(4096, roce::max_message_bytes, "256KB"), "auto"),
             "Of its rings and trees, as of a [[collective]].");
    rows.key("server", &W::server, schema::integer<std::uint32_t>(1, 1024),
             "Ranks (NICs) of a server, in their order. A collective within a server takes no network, and "
             "an all-reduce over servers of several ranks is hierarchical.");
    rows.key("server_bandwidth", &W::server_bandwidth, schema::rate(1'000'000'000, 100'000'000'000'000),
             "From a rank of a server to another.");
    rows.key("server_latency", &W::server_latency, schema::time(microseconds(1), seconds(1), "1us"),
             "Likewise, of each step of a ring within it.");
    return rows;
}

}  // namespace

schema::Rows<FlowConfig> drawn_rows(schema::Rows<FlowConfig> rows) {
    using F = FlowConfig;
    rows.key("incast", &F::incast, schema::optional_or(schema::integer<std::uint32_t>(1, max_nodes), "none"),
             "Hosts of from that the seed draws each time: all send a message to one host together, that "
             "of to, or with to = \"random\" a drawn one. `messages` counts incasts.");
    rows.key("every", &F::every, schema::optional_or(schema::time(nanoseconds(1), max_time, "1ms"), "none"),
             "From the start of one incast to that of the next.");
    return rows;
}

schema::Rows<WorkloadConfig> workload_rows() {
    using W = WorkloadConfig;
    schema::Rows<W> rows;
    rows.key("file", &W::file, schema::text("a file's name", 0, 4096, "trace.csv"),
             "File beside the fabric's. A list of flows: CSV with a header (src, dst, size, start and "
             "perhaps class, qps, name, after), the list of HPCC's simulator, or a connection matrix of "
             "htsim. Or a schedule of ranks: GOAL as text, a table of SimAI, or traces of Chakra, with %d "
             "for the rank, or one that all hosts run.");
    rows.key("text", &W::text, lines_of_text(), "What would stand in such a file, in its place.");
    rows.key("name", &W::name, schema::text("a name", 0, 64, "trace"),
             "Its name in reports; empty: the file's, without its ending, or \"workload\".");
    rows.key("format", &W::format,
             schema::word_of<WorkloadFormat>(
                 {WorkloadFormat::automatic, WorkloadFormat::csv, WorkloadFormat::hpcc, WorkloadFormat::htsim,
                  WorkloadFormat::goal, WorkloadFormat::chakra, WorkloadFormat::simai}),
             "Format of the file; \"auto\": by how it begins.");
    rows.key("scale_time", &W::scale_time, factor(), "Factor for all times of the file.");
    rows.key("scale_bytes", &W::scale_bytes, factor(),
             "Factor for all sizes; no flow gets less than 1 byte.");
    rows.key("start", &W::start, schema::time({}, max_time, "1ms"),
             "Added to the start of every flow that does not wait for another.");
    rows.key("class", &W::traffic_class, schema::optional_or(schema::class_id(), "host"),
             "Traffic class of flows that the file gives none; \"host\": by the sender's dscp.");
    rows.key("qps", &W::qps, schema::integer<std::uint16_t>(1, max_pair_qps),
             "Queue pairs that share a flow's bytes, where the list says nothing else; in a schedule those "
             "of a collective's messages, while other messages have one queue pair from rank to rank.");
    rows.key(
        "hosts", &W::hosts, names_for_hosts(),
        "Hosts by the file's names for them. Other names are those of the fabric's hosts, and a number N "
        "is the N-th host, from 0; ranks are such numbers.");
    return schedule_rows(std::move(rows));
}

std::string WorkloadConfig::usual_name() const {
    if (!name.empty()) return name;
    return file.empty() ? "workload" : std::filesystem::path(file).stem().string();
}

FlowConfig flow_of(const WorkloadConfig& workload, const FlowList& list) {
    const auto [least, most] = std::ranges::minmax(list.flows, {}, &ListedFlow::bytes);
    FlowConfig flow;
    flow.name = workload.name;
    flow.message.min_bytes = static_cast<std::uint32_t>(std::min(least.bytes, max_message_bytes));
    flow.message.max_bytes = static_cast<std::uint32_t>(std::min(most.bytes, max_message_bytes));
    flow.messages = 1;
    flow.start = list.timed == 0 ? workload.start : list.flows.front().start;
    flow.place = workload.place;
    return flow;
}

}  // namespace sluice::fabric

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "control/config/schema/schema.hh"
#include "control/config/schema/schema_sections.hh"
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
    rows.required("file", &W::file, schema::text("a file's name", 1, 4096, "trace.csv"),
                  "List of flows, beside the fabric's file: CSV with a header (src, dst, size, start and "
                  "perhaps class, qps, name, after), the list of HPCC's simulator, or a connection matrix of "
                  "htsim.");
    rows.key("name", &W::name, schema::text("a name", 0, 64, "trace"),
             "Its name in reports; empty: the file's, without its ending.");
    rows.key("format", &W::format,
             schema::word_of<ListFormat>(
                 {ListFormat::automatic, ListFormat::csv, ListFormat::hpcc, ListFormat::htsim}),
             "Format of the list; \"auto\": by its first line.");
    rows.key("scale_time", &W::scale_time, factor(), "Factor for all times of the list.");
    rows.key("scale_bytes", &W::scale_bytes, factor(),
             "Factor for all sizes; no flow gets less than 1 byte.");
    rows.key("start", &W::start, schema::time({}, max_time, "1ms"),
             "Added to the start of every flow that does not wait for another.");
    rows.key("class", &W::traffic_class, schema::optional_or(schema::class_id(), "host"),
             "Traffic class of flows that the list gives none; \"host\": by the sender's dscp.");
    rows.key("qps", &W::qps, schema::integer<std::uint16_t>(1, max_pair_qps),
             "Queue pairs that share a flow's bytes, where the list says nothing else.");
    rows.key(
        "hosts", &W::hosts, names_for_hosts(),
        "Hosts by the list's names for them. Other names are those of the fabric's hosts, and a number N "
        "is the N-th host, from 0.");
    return rows;
}

std::string WorkloadConfig::usual_name() const {
    return name.empty() ? std::filesystem::path(file).stem().string() : name;
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

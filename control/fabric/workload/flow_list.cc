#include "control/fabric/workload/flow_list.hh"

#include <algorithm>
#include <numeric>

#include "control/fabric/workload/list_maker.hh"
#include "lib/values/rng.hh"

namespace sluice::fabric {
namespace {

// Goes to the first line that says something. A header of CSV may stand in a comment.
bool find_first(TextLines& lines) {
    while (lines.next()) {
        const std::string_view line = trimmed(lines.text());
        if (!is_blank(line) || is_csv_header(line)) return true;
    }
    return false;
}

FlowListResult read_lines(TextLines& lines, ListMaker& maker) {
    if (!find_first(lines)) return maker.finish(lines);
    WorkloadFormat format = maker.settings().format;
    if (format == WorkloadFormat::automatic) format = list_format(trimmed(lines.text()));
    if (format == WorkloadFormat::csv)
        read_csv(lines, maker);
    else if (format == WorkloadFormat::hpcc)
        read_hpcc(lines, maker);
    else if (format == WorkloadFormat::htsim)
        read_htsim(lines, maker);
    else
        maker.refuse(
            {lines.number(), 1},
            "the first line is neither a header with columns for source, destination and size (csv) nor "
            "the number of flows (hpcc), nor Nodes or Connections with a number (htsim), nor num_ranks "
            "(goal) or a policy of SimAI, and this is not a trace of Chakra",
            "write a first line such as: src,dst,size,start");
    return maker.finish(lines);
}

bool starts_before(const ListedFlow& a, const ListedFlow& b) {
    const bool a_waits = a.after != ListedFlow::none, b_waits = b.after != ListedFlow::none;
    return a_waits != b_waits ? b_waits : !a_waits && a.start < b.start;
}

}  // namespace

WorkloadFormat list_format(std::string_view line) {
    if (is_csv_header(line)) return WorkloadFormat::csv;
    const std::string_view first = trimmed(line.substr(0, line.find('#')));
    if (is_htsim_header(first)) return WorkloadFormat::htsim;
    return parse_integer(first) ? WorkloadFormat::hpcc : WorkloadFormat::automatic;
}

std::string_view to_string(WorkloadFormat format) {
    switch (format) {
        case WorkloadFormat::csv:
            return "csv";
        case WorkloadFormat::hpcc:
            return "hpcc";
        case WorkloadFormat::htsim:
            return "htsim";
        case WorkloadFormat::goal:
            return "goal";
        case WorkloadFormat::chakra:
            return "chakra";
        case WorkloadFormat::simai:
            return "simai";
        case WorkloadFormat::automatic:
            break;
    }
    return "auto";
}

std::string_view FlowList::name_of(const ListedFlow& flow) const {
    return flow.name == ListedFlow::none ? std::string_view{} : std::string_view(names.c_str() + flow.name);
}

std::uint64_t FlowList::bytes() const {
    return std::accumulate(flows.begin(), flows.end(), std::uint64_t{},
                           [](std::uint64_t sum, const ListedFlow& flow) { return sum + flow.bytes; });
}

std::uint64_t FlowList::digest() const {
    std::uint64_t sum = flows.size();
    for (const ListedFlow& flow : flows)
        for (const std::uint64_t part :
             {flow.bytes, static_cast<std::uint64_t>(flow.start.ps), std::uint64_t{flow.from} << 32 | flow.to,
              std::uint64_t{flow.after} << 32 | flow.number, std::uint64_t{flow.qps} << 8 | flow.tc})
            sum = scramble(sum ^ part);
    for (const auto& [flow, before] : joins) sum = scramble(sum ^ (std::uint64_t{flow} << 32 | before));
    for (const char each : names) sum = scramble(sum ^ static_cast<std::uint8_t>(each));
    return sum;
}

bool sort_flows(FlowList& list) {
    auto& flows = list.flows;
    const bool moves = !std::ranges::is_sorted(flows, starts_before);
    if (moves) std::ranges::stable_sort(flows, starts_before);
    const auto waiting =
        std::ranges::find_if(flows, [](const ListedFlow& flow) { return flow.after != ListedFlow::none; });
    list.timed = static_cast<std::size_t>(waiting - flows.begin());
    if (!moves || waiting == flows.end()) return moves;
    std::vector<std::uint32_t> now_at(flows.size());  // by the place before
    for (std::uint32_t n = 0; n < now_at.size(); ++n) now_at[flows[n].number - 1] = n;
    for (auto each = waiting; each != flows.end(); ++each) each->after = now_at[each->after];
    for (auto& [flow, before] : list.joins) {
        flow = now_at[flow];
        before = now_at[before];
    }
    std::ranges::sort(list.joins);
    return moves;
}

std::uint64_t FlowList::memory_bytes() const {
    return flows.capacity() * sizeof(ListedFlow) + names.capacity() +
           joins.capacity() * sizeof(decltype(joins)::value_type);
}

FlowListResult read_flow_list(TextLines::Source source, const std::string& file,
                              std::span<const std::string> hosts, const FlowListSettings& settings) {
    TextLines lines(std::move(source));
    ListMaker maker(file, hosts, settings);
    return read_lines(lines, maker);
}

FlowListResult parse_flow_list(std::string_view text, const std::string& file,
                               std::span<const std::string> hosts, const FlowListSettings& settings) {
    return read_flow_list(TextLines::source_of(text), file, hosts, settings);
}

}  // namespace sluice::fabric

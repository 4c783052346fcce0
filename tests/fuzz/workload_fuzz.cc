// Any text as a list of flows: it is refused with a reason, or every flow is within its ranges, flows are
// sorted, and none waits for itself. The first byte says in which format, and how times and sizes are scaled.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "control/fabric/workload/flow_list.hh"
#include "tests/fuzz/require.hh"

namespace {

void check_flow(const sluice::fabric::FlowList& list, std::size_t n, std::size_t hosts) {
    using namespace sluice;
    const ListedFlow& flow = list.flows[n];
    require(flow.bytes >= 1 && flow.bytes <= fabric::max_flow_bytes, "its bytes are in range");
    require(flow.start >= Duration{} && flow.start <= fabric::max_flow_start, "its start is in range");
    require(flow.from < hosts && flow.to < hosts && flow.from != flow.to, "its ends are two hosts");
    require(flow.qps >= 1 && flow.qps <= max_pair_qps && flow.qps <= flow.bytes,
            "its queue pairs are in range");
    require(flow.tc < classes || flow.tc == ListedFlow::by_default, "its class is in range");
    require(flow.number >= 1 && flow.number <= list.flows.size(), "its number is in range");
    require(list.name_of(flow).size() <= 64, "its name is short");
    require((flow.after == ListedFlow::none) == (n < list.timed), "those that wait are the last");
    if (n != 0 && n < list.timed) require(list.flows[n - 1].start <= flow.start, "they are sorted");
    require(flow.after == ListedFlow::none || flow.after < list.flows.size(), "it waits for a flow");
}

// Takes away flows that wait for none that is left, until there is none.
void check_order(const sluice::fabric::FlowList& list) {
    using sluice::ListedFlow;
    std::vector<std::vector<std::uint32_t>> then(list.flows.size());
    std::vector<std::size_t> waits(list.flows.size());
    const auto add = [&](std::uint32_t flow, std::uint32_t before) {
        require(flow < then.size() && before < then.size(), "a join is of two flows");
        then[before].push_back(flow);
        ++waits[flow];
    };
    for (std::uint32_t n = 0; n < list.flows.size(); ++n)
        if (list.flows[n].after != ListedFlow::none) add(n, list.flows[n].after);
    for (const auto& [flow, before] : list.joins) {
        add(flow, before);
        require(list.flows[flow].after != ListedFlow::none, "a join is of a flow that waits");
    }
    require(std::ranges::is_sorted(list.joins), "joins are sorted");
    std::vector<std::uint32_t> free;
    for (std::uint32_t n = 0; n < waits.size(); ++n)
        if (waits[n] == 0) free.push_back(n);
    std::size_t taken = 0;
    for (; !free.empty(); ++taken) {
        const std::uint32_t flow = free.back();
        free.pop_back();
        for (const std::uint32_t next : then[flow])
            if (--waits[next] == 0) free.push_back(next);
    }
    require(taken == waits.size(), "flows wait for no circle");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    if (size == 0) return 0;
    const std::array<std::string, 4> hosts{"h1", "h2", "h3", "h4"};
    constexpr std::array formats{fabric::WorkloadFormat::automatic, fabric::WorkloadFormat::csv,
                                 fabric::WorkloadFormat::hpcc, fabric::WorkloadFormat::htsim};
    fabric::FlowListSettings settings;
    settings.format = formats[data[0] % formats.size()];
    if ((data[0] & 0x10) != 0) settings.scale_time = settings.scale_bytes = 1e-3;
    if ((data[0] & 0x20) != 0) settings.hosts = {{"a", "h1"}, {"b", "h2"}};
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const auto list = fabric::parse_flow_list(text, "fuzz", hosts, settings);
    if (!list) {
        require(!list.error().empty() && list.error().size() <= 11, "a refusal has a few reasons");
        for (const ConfigError& error : list.error())
            require(is_one_line(error.text()), "an error is one line", error.text());
        return 0;
    }
    require(!list->flows.empty(), "it has a flow");
    for (const std::string& note : list->notes) require(is_one_line(note), "a note is one line", note);
    for (std::size_t n = 0; n < list->flows.size(); ++n) check_flow(*list, n, hosts.size());
    check_order(*list);
    return 0;
}

#include "control/fabric/workload/flow_list.hh"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <numeric>

#include "control/fabric/workload/list_maker.hh"
#include "control/fabric/workload/text_lines.hh"
#include "dataplane/base/file_descriptor.hh"
#include "lib/values/rng.hh"

namespace sluice::fabric {
namespace {

tl::unexpected<std::vector<ConfigError>> refused(const std::string& file, std::string wrong,
                                                 std::string remedy) {
    return tl::unexpected(std::vector{ConfigError{file, {}, {}, std::move(wrong), {}, std::move(remedy)}});
}

// Goes to the first line that says something. A header of CSV may stand in a comment.
bool find_first(TextLines& lines) {
    while (lines.next()) {
        const std::string_view line = trimmed(lines.text());
        if (!is_blank(line) || is_csv_header(line)) return true;
    }
    return false;
}

ListFormat format_of(std::string_view line) {
    if (is_csv_header(line)) return ListFormat::csv;
    const std::string_view first = trimmed(line.substr(0, line.find('#')));
    if (is_htsim_header(first)) return ListFormat::htsim;
    return parse_integer(first) ? ListFormat::hpcc : ListFormat::automatic;
}

FlowListResult read_lines(TextLines& lines, ListMaker& maker) {
    if (!find_first(lines)) return maker.finish(lines);
    ListFormat format = maker.settings().format;
    if (format == ListFormat::automatic) format = format_of(trimmed(lines.text()));
    if (format == ListFormat::csv)
        read_csv(lines, maker);
    else if (format == ListFormat::hpcc)
        read_hpcc(lines, maker);
    else if (format == ListFormat::htsim)
        read_htsim(lines, maker);
    else
        maker.refuse(
            {lines.number(), 1},
            "the first line is neither a header with columns for source, destination and size (csv) nor "
            "the number of flows (hpcc), nor Nodes or Connections with a number (htsim)",
            "write a first line such as: src,dst,size,start");
    return maker.finish(lines);
}

bool starts_before(const ListedFlow& a, const ListedFlow& b) {
    const bool a_waits = a.after != ListedFlow::none, b_waits = b.after != ListedFlow::none;
    return a_waits != b_waits ? b_waits : !a_waits && a.start < b.start;
}

bool is_regular(const FileDescriptor& file) {
    struct stat status {};
    return fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
}

std::ptrdiff_t read_block(const FileDescriptor& file, std::span<char> block) {
    std::ptrdiff_t got = 0;
    do got = ::read(file.get(), block.data(), block.size());
    while (got < 0 && errno == EINTR);
    return got;
}

FlowListResult read_from(TextLines::Source source, const std::string& file,
                         std::span<const std::string> hosts, const FlowListSettings& settings) try {
    TextLines lines(std::move(source));
    ListMaker maker(file, hosts, settings);
    return read_lines(lines, maker);
} catch (const std::bad_alloc&) {
    return refused(file, "there is not enough memory for its flows", "divide it");
}

}  // namespace

std::string_view to_string(ListFormat format) {
    switch (format) {
        case ListFormat::csv:
            return "csv";
        case ListFormat::hpcc:
            return "hpcc";
        case ListFormat::htsim:
            return "htsim";
        case ListFormat::automatic:
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

FlowListResult read_flow_list(const std::string& file, std::span<const std::string> hosts,
                              const FlowListSettings& settings) {
    // A FIFO must not block.
    const FileDescriptor open(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!open)
        return refused(file, std::string("the file cannot be read: ") + std::strerror(errno),
                       "name a file that exists and may be read");
    if (!is_regular(open)) return refused(file, "it is not a regular file", "name a regular file");
    return read_from([&](std::span<char> block) { return read_block(open, block); }, file, hosts, settings);
}

FlowListResult parse_flow_list(std::string_view text, const std::string& file,
                               std::span<const std::string> hosts, const FlowListSettings& settings) {
    return read_from(TextLines::source_of(text), file, hosts, settings);
}

}  // namespace sluice::fabric

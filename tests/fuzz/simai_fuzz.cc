// Any text as a table of SimAI: it is refused with a reason, or all ranks run one program, in which no
// operation waits for a later one, and groups are disjoint. The first byte says how many hosts there are, and
// the scale.
#include <algorithm>
#include <string>
#include <vector>

#include "control/fabric/schedule/schedule_readers.hh"
#include "tests/fuzz/require.hh"

namespace {

using namespace sluice;
using Operation = roce::Program::Operation;

void check_operation(const fabric::Schedule& schedule, const Operation& each) {
    require(each.stream < schedule.programs[0]->streams, "its stream is there");
    require(each.place >= 3, "its place is the line of a layer");
    if (each.kind == Operation::Kind::compute) {
        require(each.amount <= static_cast<std::uint64_t>(fabric::max_computation.ps),
                "its time is in range");
        return;
    }
    require(each.kind == Operation::Kind::collective, "tables have no messages");
    require(each.peer < schedule.communications.size(), "its collective is there");
    require(each.amount >= 1 && each.amount <= fabric::max_collective_bytes, "its bytes are in range");
}

void check_program(const fabric::Schedule& schedule) {
    const roce::Program& program = *schedule.programs[0];
    require(program.size() != 0 && schedule.operations() <= fabric::max_operations,
            "operations are in range");
    require(program.waits.size() == program.size() &&
                program.first.size() == program.size() + std::size_t{1} && program.first.front() == 0 &&
                program.first.back() == program.next.size(),
            "edges are of operations");
    std::vector<std::uint32_t> waits(program.size());
    for (std::uint32_t n = 0; n < program.size(); ++n) {
        check_operation(schedule, program.operations[n]);
        for (std::uint32_t at = program.first[n]; at < program.first[n + 1]; ++at) {
            require(program.next[at].operation > n && program.next[at].operation < program.size(),
                    "none waits for a later one");
            ++waits[program.next[at].operation];
        }
    }
    require(waits == program.waits, "as many edges as waits");
    // A collective that waits for many would make the reading of a long table slow.
    require(std::ranges::max(waits) <= 4, "an operation waits for few");
}

void check_groups(const fabric::Schedule& schedule) {
    for (const fabric::Communication& each : schedule.communications) {
        require(is_one_line(each.name), "a collective has a name");
        std::vector<bool> seen(schedule.programs.size());
        std::size_t ranks = 0;
        for (const auto& group : each.groups) {
            require(group.size() >= 2 && group.size() == each.groups[0].size(), "groups have one size");
            require(std::ranges::is_sorted(group), "ranks are in order");
            for (const std::uint32_t rank : group) {
                require(rank < seen.size() && !seen[rank], "groups are disjoint");
                seen[rank] = true;
                ++ranks;
            }
        }
        require(ranks == seen.size(), "each rank is in a group");
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    fabric::ScheduleSettings settings;
    settings.ranks = 2 + (data[0] & 0x3F);
    if ((data[0] & 0x40) != 0) settings.scale_time = settings.scale_bytes = 1e-3;
    if ((data[0] & 0x80) != 0) settings.scale_time = settings.scale_bytes = 1e3;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const auto schedule = fabric::read_simai(fabric::TextLines::source_of(text), "fuzz", settings);
    if (!schedule) {
        require(!schedule.error().empty() && schedule.error().size() <= 10, "a refusal has a few reasons");
        for (const ConfigError& error : schedule.error())
            require(is_one_line(error.text()) && !error.remedy.empty(), "an error is one line", error.text());
        return 0;
    }
    require(schedule->programs.size() >= 2 && schedule->programs.size() <= settings.ranks, "ranks are hosts");
    for (const auto& program : schedule->programs)
        require(program == schedule->programs[0], "all ranks run one program");
    for (const std::string& note : schedule->notes) require(is_one_line(note), "a note is one line", note);
    check_program(*schedule);
    check_groups(*schedule);
    return 0;
}

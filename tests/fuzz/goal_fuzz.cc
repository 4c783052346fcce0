// Any text as a schedule of GOAL: it is refused with a reason, or its programs can be run: no operation waits
// for a later one, each knows for how many it waits, and values are within their ranges. The first byte says
// how many hosts there are, and how times and sizes are scaled.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "control/fabric/schedule/schedule_readers.hh"
#include "tests/fuzz/require.hh"

namespace {

using namespace sluice;
using Operation = roce::Program::Operation;
using Kind = Operation::Kind;

void check_operation(const Operation& each, std::size_t ranks, std::size_t lines) {
    const bool is_receive = each.kind == Kind::receive;
    require(each.kind != Kind::collective, "GOAL has no collectives");
    require(each.place >= 1 && each.place <= lines, "its line is there");
    if (each.kind == Kind::compute)
        return require(each.amount <= static_cast<std::uint64_t>(fabric::max_computation.ps),
                       "its time is in range");
    require(each.amount >= 1 && each.amount <= fabric::max_operation_bytes, "its bytes are in range");
    require(each.peer < ranks || (is_receive && each.peer == Operation::any), "its peer is in range");
    require(each.tag != Operation::any || is_receive, "a send has a tag");
}

void check_program(const roce::Program& program) {
    const std::uint32_t count = program.size();
    require(program.waits.size() == count && program.first.size() == count + 1 && program.first[0] == 0 &&
                program.first[count] == program.next.size(),
            "its tables fit");
    std::vector<std::uint32_t> waits(count);
    for (std::uint32_t n = 0; n < count; ++n) {
        require(program.operations[n].stream < program.streams && program.streams <= fabric::max_streams,
                "its stream is in range");
        require(program.first[n] <= program.first[n + 1], "its entries are in order");
        std::vector<std::uint32_t> then;
        for (std::uint32_t at = program.first[n]; at < program.first[n + 1]; ++at)
            then.push_back(program.next[at].operation);
        for (const std::uint32_t each : then) {
            require(each > n && each < count, "none waits for a later one");
            ++waits[each];
        }
        std::ranges::sort(then);
        require(std::ranges::adjacent_find(then) == then.end(), "none waits twice for another");
    }
    require(waits == program.waits, "each knows for how many it waits");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    fabric::ScheduleSettings settings;
    settings.ranks = 1U << (data[0] & 0xF);
    if ((data[0] & 0x10) != 0) settings.scale_time = settings.scale_bytes = 1e-3;
    if ((data[0] & 0x20) != 0) settings.scale_time = settings.scale_bytes = 1e6;
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    fabric::is_goal_header(text.substr(0, text.find('\n')));
    const auto schedule = fabric::read_goal(fabric::TextLines::source_of(text), "fuzz", settings);
    if (!schedule) {
        require(!schedule.error().empty() && schedule.error().size() <= 10, "a refusal has a few reasons");
        for (const ConfigError& error : schedule.error())
            require(is_one_line(error.text()), "an error is one line", error.text());
        return 0;
    }
    for (const std::string& note : schedule->notes) require(is_one_line(note), "a note is one line", note);
    const std::size_t ranks = schedule->programs.size();
    const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1;
    require(ranks >= 1 && ranks <= settings.ranks, "its ranks are in range");
    require(schedule->communications.empty(), "GOAL has no collectives");
    std::size_t messages = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        require(schedule->programs[rank] != nullptr, "each rank has a program");
        check_program(*schedule->programs[rank]);
        for (const Operation& each : schedule->programs[rank]->operations) {
            check_operation(each, ranks, lines);
            messages += each.kind == Kind::compute ? 0 : 1;
        }
    }
    require(messages != 0, "it has a message");
    require(schedule->operations() <= text.size() / 6, "it has no more operations than the text");
    return 0;
}

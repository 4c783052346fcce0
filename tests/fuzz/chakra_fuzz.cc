// Any bytes as traces of Chakra: they are refused with a reason, or programs are in order, their values
// within their ranges, and collectives agree. The first byte says in which form, for how many ranks, and
// whether there is a file of groups; 0xFE ends a file in the rest.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control/fabric/schedule/schedule_readers.hh"
#include "tests/fuzz/require.hh"

namespace {

using namespace sluice;
using Operation = roce::Program::Operation;

void check_operation(const fabric::Schedule& schedule, const Operation& each) {
    const std::size_t ranks = schedule.programs.size();
    switch (each.kind) {
        case Operation::Kind::compute:
            require(each.amount <= static_cast<std::uint64_t>(fabric::max_computation.ps),
                    "a time is in range");
            break;
        case Operation::Kind::send:
        case Operation::Kind::receive:
            require(each.amount >= 1 && each.amount <= fabric::max_operation_bytes, "a message is in range");
            require(each.peer < ranks && each.tag != Operation::any, "a message has a peer and a tag");
            break;
        case Operation::Kind::collective:
            require(each.amount >= 1 && each.amount <= fabric::max_collective_bytes,
                    "a collective is in range");
            require(each.peer < schedule.communications.size(), "a collective has its communication");
    }
}

void check_program(const fabric::Schedule& schedule, const roce::Program& program) {
    const std::uint32_t count = program.size();
    require(program.waits.size() == count && program.first.size() == count + 1 &&
                program.first.back() == program.next.size(),
            "a program has all its lists");
    std::vector<std::uint32_t> waits(count);
    for (std::uint32_t n = 0; n < count; ++n) {
        check_operation(schedule, program.operations[n]);
        require(program.operations[n].stream < program.streams && program.streams <= 5, "a stream is there");
        for (std::uint32_t k = program.first[n]; k < program.first[n + 1]; ++k) {
            require(program.next[k].operation > n && program.next[k].operation < count,
                    "a wait is for earlier ones");
            ++waits[program.next[k].operation];
        }
    }
    require(waits == program.waits, "waits are counted");
}

void check(const fabric::Schedule& schedule) {
    require(schedule.operations() != 0, "it has an operation");
    for (const std::string& note : schedule.notes) require(is_one_line(note), "a note is one line", note);
    for (const auto& program : schedule.programs) {
        require(program != nullptr, "each rank has a program");
        check_program(schedule, *program);
    }
    for (const fabric::Communication& each : schedule.communications) {
        require(is_one_line(each.name), "a name is one line", each.name);
        std::vector<bool> has(schedule.programs.size());
        for (const auto& group : each.groups) {
            require(group.size() >= 2, "a group has two ranks");
            for (const std::uint32_t rank : group) {
                require(rank < has.size() && !has[rank], "a rank is in one group");
                has[rank] = true;
            }
        }
    }
    fabric::ScheduleErrors errors("fuzz");
    fabric::check_schedule(schedule, "node", errors);
    require(!errors.any(), "it has been checked");
}

// The length of a message before it, so that inputs need not have it right: after 0xFD each.
std::string with_lengths(std::string_view text) {
    std::string bytes{
        "\x07\x0A\x05"
        "1.0.0"};
    while (!text.empty()) {
        const std::string_view message = text.substr(0, text.find('\xFD'));
        text.remove_prefix(std::min(text.size(), message.size() + 1));
        std::size_t size = message.size();
        for (; size >= 0x80; size >>= 7U) bytes += static_cast<char>(0x80 | (size & 0x7F));
        bytes += static_cast<char>(size);
        bytes += message;
    }
    return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    enum class Form : std::uint8_t { as_it_is, messages, nodes, mixed };
    const auto form = static_cast<Form>(data[0] & 3U);
    std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
    std::vector<std::string> texts;
    for (unsigned n = 0; n < 1U + ((data[0] >> 2U) & 3U) + (data[0] >> 7U); ++n) {
        const std::string_view part = rest.substr(0, rest.find('\xFE'));
        rest.remove_prefix(std::min(rest.size(), part.size() + 1));
        const bool is_json = form == Form::nodes || (form == Form::mixed && n % 2 == 1);
        texts.push_back(is_json                  ? R"({"workload_graph": [)" + std::string(part) + "]}"
                        : form == Form::as_it_is ? std::string(part)
                                                 : with_lengths(part));
    }
    std::optional<fabric::ChakraFile> groups;
    std::string group_text;
    if ((data[0] >> 7U) != 0) {
        group_text =
            form == Form::as_it_is ? texts.back() : R"({"1": [0, 1], "2": [2, 3], "3": [1, 0], "4": [2]})";
        texts.pop_back();
        groups = fabric::ChakraFile{"groups", fabric::TextLines::source_of(group_text)};
    }
    std::vector<fabric::ChakraFile> files;
    for (const std::string& each : texts) {
        files.push_back({"fuzz", fabric::TextLines::source_of(each)});
        (void)fabric::is_chakra_start(std::string_view(each).substr(0, 100));
    }
    fabric::ScheduleSettings settings;
    settings.ranks = 4;
    if ((data[0] & 0x20U) != 0) settings.scale_time = settings.scale_bytes = 1e-3;
    const auto schedule = fabric::read_chakra(files, std::move(groups), settings);
    if (schedule) {
        check(*schedule);
        return 0;
    }
    require(!schedule.error().empty() && schedule.error().size() <= 10, "a refusal has a few reasons");
    for (const ConfigError& error : schedule.error())
        require(is_one_line(error.text()), "an error is one line", error.text());
    return 0;
}

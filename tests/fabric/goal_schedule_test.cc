// GOAL as text: what is refused, with its place, then what programs it becomes.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "control/fabric/schedule/schedule_readers.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::goal_schedule_test {
namespace {

using namespace sluice::fabric;
using Operation = roce::Program::Operation;
using Kind = Operation::Kind;

ScheduleResult parse(std::string_view text, ScheduleSettings settings = {.ranks = 64}) {
    return read_goal(TextLines::source_of(text), "f", settings);
}

std::string errors_of(const ScheduleResult& schedule) {
    if (schedule) return "good";
    std::string text;
    for (const ConfigError& error : schedule.error()) text += error.text() + "\n";
    return text;
}

Schedule schedule_of(const std::string& text, const ScheduleSettings& settings = {.ranks = 64}) {
    auto schedule = parse(text, settings);
    if (!schedule) FAIL((errors_of(schedule) + text).c_str());
    return std::move(*schedule);
}

std::string number_or_any(std::uint32_t number) {
    return number == Operation::any ? "any" : fmt::format("{}", number);
}

// "calc 5000", "send 10>3 t5", "recv 10<any t0 c2".
std::string shown(const Operation& each) {
    std::string text;
    if (each.kind == Kind::compute)
        text = fmt::format("calc {}", each.amount);
    else
        text = fmt::format("{} {}{}{} t{}", each.kind == Kind::send ? "send" : "recv", each.amount,
                           each.kind == Kind::send ? '>' : '<', number_or_any(each.peer),
                           number_or_any(each.tag));
    return text + (each.stream == 0 ? "" : fmt::format(" c{}", each.stream));
}

// The operations of a rank by their numbers, each with those that wait for it; b: only until it has begun.
std::string shown(const roce::Program& program) {
    std::string text;
    for (std::uint32_t n = 0; n < program.size(); ++n) {
        text += fmt::format("{}{}", n == 0 ? "" : ", ", shown(program.operations[n]));
        for (std::uint32_t at = program.first[n]; at < program.first[n + 1]; ++at)
            text += fmt::format("{}{}{}", at == program.first[n] ? " ->" : "+",
                                std::uint32_t{program.next[at].operation},
                                program.next[at].on_begin != 0 ? "b" : "");
    }
    return text;
}

// Two ranks, of which the second receives from the first; the lines begin in the fourth line.
std::string in_rank(std::initializer_list<std::string_view> lines) {
    return fmt::format("num_ranks 2\nrank 1 {{ recv 1b from 0 }}\nrank 0 {{\n{}\n}}\n",
                       fmt::join(lines, "\n"));
}

struct Case {
    std::string text, wanted;
};

void check_errors(const std::vector<Case>& cases) {
    std::string wrong;
    for (const auto& [text, wanted] : cases) {
        const auto schedule = parse(text);
        if (const std::string error = errors_of(schedule); error != wanted + "\n")
            wrong += fmt::format("{}wanted: {}\n{}\n", error, wanted, text);
    }
    STRCMP_EQUAL("", wrong.c_str());
}

}  // namespace

TEST_GROUP(GoalSchedule){};

TEST(GoalSchedule, AWrongFrameOfRanksIsRefusedWithItsPlace) {
    check_errors(
        {{"", "f: the file has no num_ranks; do: begin it with num_ranks 16"},
         {"// nothing\n/* at\nall */\n", "f: the file has no num_ranks; do: begin it with num_ranks 16"},
         {"num_ranks 2\n", "f: the schedule has no message; do: write send and recv into its ranks"},
         {"num_ranks 2\nrank 0 {\ncalc 5\n}\nrank 1 {\n}\n",
          "f: the schedule has no message; do: write send and recv into its ranks"},
         {"num_ranks\n", "f:1:10: the line ends before the number of ranks; do: write num_ranks 16"},
         {"num_ranks many\n",
          "f:1:11: \"many\" stands where the number of ranks is due; do: write num_ranks 16"},
         {"num_ranks 0\n", "f:1:11: the schedule has no rank; do: write num_ranks 16"},
         {"num_ranks -3\n", "f:1:11: the number of ranks \"-3\" is negative; do: write num_ranks 16"},
         {"num_ranks 65\n",
          "f:1:11: the schedule has 65 ranks, there are 64 hosts; do: name more hosts, or generate it for "
          "fewer ranks"},
         {"num_ranks 99999999999999999999\n",
          "f:1:11: the number of ranks \"99999999999999999999\" is too large; do: write num_ranks 16"},
         {"num_ranks 65537\n",
          "f:1:11: the schedule has 65537 ranks, more than 65536; do: generate it for fewer"},
         {"num_ranks 2\nnum_ranks 2\nrank 0 {\nsend 1b to 1\n}\n",
          "f:2:1: num_ranks is there twice, or in a rank; do: write it once, as the first line"},
         {"rank 0 {\nsend 1b to 1\n}\n",
          "f:1:1: the rank stands before num_ranks; do: begin with num_ranks 16"},
         {"num_ranks 2\nsend 1b to 1\n",
          "f:2:1: \"send\" stands in no rank; do: write rank 0 { behind num_ranks, and } behind its "
          "operations"},
         {"num_ranks 2\nrank 2 {\nsend 1b to 1\n}\n",
          "f:2:6: there is no rank 2: num_ranks is 2; do: write a larger num_ranks, or leave the rank out"},
         {"num_ranks 2\nrank {\nsend 1b to 1\n}\n",
          "f:2:6: \"{\" stands where the number of the rank is due; do: write rank 0 {"},
         {"num_ranks 2\nrank one two {\nsend 1b to 1\n}\n",
          "f:2:6: \"one\" stands where the number of the rank is due; do: write rank 0 {"},
         {"num_ranks 2\nrank 0\nsend 1b to 1\n}\n",
          "f:3:1: \"send\" stands where { is due; do: write rank 0 {"},
         {"num_ranks 2\nrank 0 {\nsend 1b to 1\n}\n rank 0 {\n}\n",
          "f:5:7: rank 0 is there already, in line 2; do: write all its operations into one"},
         {"num_ranks 2\nrank 1 {\n}\n rank 0 {\nsend 1b to 1\n",
          "f:4:2: rank 0 is not closed; do: write } behind its last operation"},
         {"num_ranks 2\nrank 0 {\nsend 1b to 1\nrank 1 {\nrecv 1b from 0\n}\n",
          "f:2:1: rank 0 is not closed; do: write } behind its last operation"},
         {"num_ranks 2\nrank 0 {\nsend 1b to 1\n}\n}\n", "f:5:1: } closes no rank; do: leave it out"},
         {"num_ranks 2\nrank 0 {\nsend 1b to 1 /* }\n*\n/\n",
          "f:3:14: the comment does not end; do: write */ behind it\n"
          "f:2:1: rank 0 is not closed; do: write } behind its last operation"},
         {std::string("num_ranks 2\nrank 0 {\n\0", 22),
          "f:3:1: the line has a NUL byte, so this is not a text; do: unpack the file, or save it as text in "
          "UTF-8"}});
}

TEST(GoalSchedule, AWrongOperationIsRefusedWithItsPlace) {
    const std::string form = "do: write l1: send 10b to 3 tag 5, recv 10b from 3 tag 5, or calc 1000";
    const std::string options = "do: write tag 5 cpu 0 nic 0, behind calc only cpu 0";
    check_errors(
        {{in_rank({"send"}), "f:4:5: the line ends before the number of bytes; " + form},
         {in_rank({"send b to 1"}), "f:4:6: \"b\" stands where the number of bytes is due; " + form},
         {in_rank({"send -1b to 1"}), "f:4:6: the number of bytes \"-1\" is negative; " + form},
         {in_rank({"send 1.5b to 1"}), "f:4:7: \".\" stands where b is due; " + form},
         {in_rank({"send 1KB to 1"}), "f:4:7: \"KB\" stands where b is due; " + form},
         {in_rank({"send 1b from 1"}), "f:4:9: \"from\" stands where to is due; " + form},
         {in_rank({"recv 1b to 1"}), "f:4:9: \"to\" stands where from is due; " + form},
         {in_rank({"send 1b to"}), "f:4:11: the line ends before the rank; " + form},
         {in_rank({"send 1b to -1"}), "f:4:12: the rank \"-1\" is negative; " + form},
         {in_rank({"send 1b to 2"}),
          "f:4:12: there is no rank 2: num_ranks is 2; do: write a rank that is there"},
         {in_rank({"recv 1b from 4294967295"}),
          "f:4:14: there is no rank 4294967295: num_ranks is 2; do: write a rank that is there"},
         {in_rank({"send 18446744073709551616b to 1"}),
          "f:4:6: the number of bytes \"18446744073709551616\" is too large; " + form},
         {in_rank({"send 1099511627777b to 1"}),
          "f:4:6: the message is larger than 1TiB; do: divide it, or write another scale_bytes"},
         {in_rank({"send 1b to 1 tag"}), "f:4:17: the line ends before tag; " + options},
         {in_rank({"send 1b to 1 tag -1"}),
          "f:4:18: tag -1 is any tag, and a send has one; do: write its tag, from 0"},
         {in_rank({"send 1b to 1 tag 4294967295"}),
          "f:4:18: tag 4294967295 is any tag, and a send has one; do: write its tag, from 0"},
         {in_rank({"recv 1b from 1 tag -2"}), "f:4:20: tag \"-2\" is negative; " + options},
         {in_rank({"send 1b to 1 tag 99999999999999999999"}),
          "f:4:18: tag \"99999999999999999999\" is too large; " + options},
         {in_rank({"send 1b to 1 tag 1 tag 2"}), "f:4:20: tag is there twice; do: leave one out"},
         {in_rank({"send 1b to 1 cpu 256"}), "f:4:18: cpu \"256\" is not from 0 to 255; " + options},
         {in_rank({"send 1b to 1 nic 256"}), "f:4:18: nic \"256\" is not from 0 to 255; " + options},
         {in_rank({"send 1b to 1 cpu x"}), "f:4:18: \"x\" stands where cpu is due; " + options},
         {in_rank({"calc"}), "f:4:5: the line ends before the time in nanoseconds; " + form},
         {in_rank({"calc -5"}), "f:4:6: the time in nanoseconds \"-5\" is negative; " + form},
         {in_rank({"calc 1000000000000001"}),
          "f:4:6: the time is longer than 1000000s; do: write nanoseconds, or another scale_time"},
         {in_rank({"calc 5 tag 1"}), "f:4:8: a computation has no tag; " + options},
         {in_rank({"calc 5 nic 0"}), "f:4:8: a computation has no nic; " + options},
         {in_rank({"calc 5 ; calc 6"}), "f:4:8: \";\" stands where a statement is due; " + form},
         {in_rank({"\xC3\xA4: calc 5"}), "f:4:1: \"\xC3\xA4\" stands where a statement is due; " + form},
         {in_rank({"5: calc 5"}), "f:4:1: \"5\" stands where a statement is due; " + form},
         {in_rank({"l1 calc 5"}), "f:4:4: \"calc\" stands where :, requires or irequires is due; " + form},
         {in_rank({"l1:", "calc 5"}), "f:4:4: the line ends before send, recv or calc; " + form},
         {in_rank({"l1: l2: calc 5"}), "f:4:5: \"l2\" stands where send, recv or calc is due; " + form}});
}

TEST(GoalSchedule, WrongLabelsAreRefusedWithTheirPlaces) {
    const std::string form = "do: write l2 requires l1, or l2 irequires l1";
    const std::string unknown = "do: write the label before an operation, or leave this out";
    check_errors(
        {{in_rank({"l1: calc 5", " l1: calc 6"}),
          "f:5:2: label \"l1\" is there already, in line 4; do: give each operation of a rank a label of its "
          "own"},
         {in_rank({"l1 requires l2", "l1: calc 5", "l2: calc 5", "l1: calc 6"}),
          "f:7:1: label \"l1\" is there already, in line 5; do: give each operation of a rank a label of its "
          "own"},
         {in_rank({"l1: calc 5", "l1 requires l2"}),
          "f:5:13: no operation of this rank has the label \"l2\"; " + unknown},
         {in_rank({"l3 irequires l2", "l1: calc 5", "l2 requires l3"}),
          "f:4:1: no operation of this rank has the label \"l3\"; " + unknown +
              "\nf:4:14: no operation of this rank has the label \"l2\"; " + unknown},
         // Labels are of a rank, and an operation with an error has one, too.
         {"num_ranks 2\nrank 0 {\nl1: send 1b to 1\n}\nrank 1 {\nl2: recv 1b from 0\nl2 requires l1\n}\n",
          "f:7:13: no operation of this rank has the label \"l1\"; " + unknown},
         {in_rank({"l1: sent 5", "l2: calc -1", "l2 requires l1"}),
          "f:4:5: \"sent\" stands where send, recv or calc is due; do: write l1: send 10b to 3 tag 5, recv "
          "10b "
          "from 3 tag 5, or calc 1000\n"
          "f:5:10: the time in nanoseconds \"-1\" is negative; do: write l1: send 10b to 3 tag 5, recv 10b "
          "from 3 tag 5, or calc 1000"},
         {in_rank({"l1: calc 5", "l1 requires"}), "f:5:12: the line ends before a label; " + form},
         {in_rank({"l1: calc 5", "l1 requires 5"}), "f:5:13: \"5\" stands where a label is due; " + form},
         {in_rank({"l1: calc 5", "l1 requires l1"}),
          "f:4:1: this operation of rank 0 waits for itself, over others or directly; do: leave out one "
          "requires of the circle"},
         {"num_ranks 3\nrank 0 {\nl1: calc 5\nl1 requires l1\n}\nrank 2 {\nsend 1b to 1\n}\nrank 1 {\n}\n",
          "f:3:1: this operation of rank 0 waits for itself, over others or directly; do: leave out one "
          "requires of the circle"},
         {in_rank({"l0: calc 1", "l1: calc 5", "l2: calc 5", "l3: calc 5", "l3 requires l2",
                   "l2 irequires l1", "l1 requires l2", "l1 requires l0"}),
          "f:5:1: this operation of rank 0 waits for itself, over others or directly; do: leave out one "
          "requires of the circle"}});
    std::string many = "num_ranks 2\nrank 0 {\n";
    for (unsigned n = 0; n < 20; ++n) many += fmt::format("l{} requires m{}\n", n, n);
    const auto schedule = parse(many + "}\n");
    CHECK(!schedule);
    CHECK_EQUAL(10, schedule.error().size());
}

TEST(GoalSchedule, ReadsOperationsAndWhatTheyWaitFor) {
    const std::vector<Case> cases{
        {in_rank({"send 1b to 1"}), "send 1>1 t0"},
        {in_rank({"l1: send 10b to 1 tag 7 cpu 2 nic 0"}), "send 10>1 t7 c2"},
        {in_rank({"nic: send 10 b to 1 nic 0 cpu 255 tag 7"}), "send 10>1 t7 c255"},
        {in_rank({"recv 10b from 1 tag 7"}), "recv 10<1 t7"},
        {in_rank({"recv 10b from -1 tag -1 cpu 1"}), "recv 10<any tany c1"},
        {in_rank({"recv 10b from -1"}), "recv 10<any t0"},
        {in_rank({"recv 10b from 1 tag 18446744073709551615"}), "recv 10<1 tany"},
        {in_rank({"recv 10b from 1 tag 4294967295"}), "recv 10<1 tany"},
        {in_rank({"calc 0", "l1: calc 1000000 cpu 3"}), "calc 0, calc 1000000000 c3"},
        {in_rank({"calc 1000000000000000"}), "calc 1000000000000000000"},
        {in_rank({"l1: calc 1", "l2: calc 2", "l2 requires l1"}), "calc 1000 ->1, calc 2000"},
        {in_rank({"l1: calc 1", "l2: calc 2", "l2 irequires l1"}), "calc 1000 ->1b, calc 2000"},
        {in_rank({"l1: calc 1", "l2: calc 2", "l2 irequires l1", "l2 requires l1", "l2 requires l1"}),
         "calc 1000 ->1, calc 2000"},
        // A label that comes later; an operation that waits for one later in the file comes behind it.
        {in_rank({"l2 requires l1", "l2: calc 2", "l1: calc 1", "calc 3"}),
         "calc 1000 ->1, calc 2000, calc 3000"},
        {in_rank({"l1: calc 1", "l3 requires l1", "l2: calc 2", "l2 requires l1", "l3: calc 3",
                  "l3 irequires l2"}),
         "calc 1000 ->1+2, calc 2000 ->2b, calc 3000"},
        // Words of the grammar as labels, where they can be.
        {in_rank(
             {"requires: calc 1", "to: calc 2", "to requires requires", "cpu: calc 3", "cpu requires to"}),
         "calc 1000 ->1, calc 2000 ->2, calc 3000"},
        {in_rank({"L_1a: calc 1", "l_1A: calc 2", "l_1A requires L_1a"}), "calc 1000 ->1, calc 2000"},
        // Comments, blanks, and lines of several statements.
        {in_rank({"l1: calc 1 // l1: calc 2", "/* calc 3 */ l2: calc 4 /* and */ cpu 1 /* l2: calc 5",
                  "// */ l2 requires l1 // l3", "", "\t calc 6\t", "/**/", "/***/calc 7/*/ calc 8 */"}),
         "calc 1000 ->1, calc 4000 c1, calc 6000, calc 7000"},
        {in_rank({"l1: calc 1 l2: calc 2 cpu 1 l2 requires l1 send 1b to 1 calc 3"}),
         "calc 1000 ->1, calc 2000 c1, send 1>1 t0, calc 3000"},
        {"num_ranks 2 rank 0 { send 1b to 1 } rank 1 { recv 1b from 0 }", "send 1>1 t0"},
        {"// by hand\n\nnum_ranks 2\r\nrank 1\r\n{\r\nl1: recv 1b from 0\r\n}\r\n\r\nrank 0\n\n{ // "
         "here\nsend 1b "
         "to 1 }",
         "send 1>1 t0"},
        {"\xEF\xBB\xBFnum_ranks 002\nrank 01 {\nrecv 1b from 0\n}\nrank 00 {\nsend 01b to 01 tag 00\n}\n",
         "send 1>1 t0"}};
    std::string wrong;
    for (const auto& [text, wanted] : cases) {
        const auto schedule = parse(text);
        const std::string got = schedule ? shown(*schedule->programs[0]) : errors_of(schedule);
        if (got != wanted) wrong += fmt::format("{}\nwanted: {}\n{}\n", got, wanted, text);
    }
    STRCMP_EQUAL("", wrong.c_str());
}

TEST(GoalSchedule, OperationsKnowTheirLinesAndRanksTheirPrograms) {
    const Schedule schedule = schedule_of(
        "num_ranks 4\nrank 3 {\nrecv 5b from 0 tag 2\n}\n\nrank 0 {\nl1: calc 1 cpu 4\n\nsend 5b to 3 tag "
        "2\n}\n");
    CHECK_EQUAL(4, schedule.programs.size());
    CHECK_EQUAL(3, schedule.operations());
    CHECK_EQUAL(5, schedule.bytes());
    CHECK_EQUAL(0, schedule.communications.size());
    CHECK_EQUAL(7, schedule.programs[0]->operations[0].place);
    CHECK_EQUAL(9, schedule.programs[0]->operations[1].place);
    CHECK_EQUAL(3, schedule.programs[3]->operations[0].place);
    CHECK_EQUAL(5, schedule.programs[0]->streams);
    CHECK_EQUAL(0, schedule.programs[1]->size());
    CHECK_EQUAL(1, schedule.programs[1]->first.size());
    STRCMP_EQUAL("2 of 4 ranks are not in the file, and do nothing",
                 fmt::format("{}", fmt::join(schedule.notes, "\n")).c_str());
}

TEST(GoalSchedule, NotesCountWhatRunsOtherwise) {
    const auto with = [](std::string_view bytes, std::string_view send, std::string_view receive) {
        return fmt::format(
            "num_ranks 2\nrank 0 {{\nsend {0} to 1 {1}\n}}\nrank 1 {{\nrecv {0} from 0 {2}\n}}\n", bytes,
            send, receive);
    };
    const std::vector<Case> cases{
        {with("1b", "", ""), ""},
        {with("1b", "nic 0", "nic 0"), ""},
        {with("1b", "nic 1", "nic 0"), "nic of 1 message left out: a host has one NIC"},
        {with("1b", "nic 1 cpu 3", "nic 255"), "nic of 2 messages left out: a host has one NIC"},
        {with("0b", "", ""), "2 operations of 0 bytes have 1 byte"},
        {with("1b", "tag 2147483647", "tag 2147483647"), ""},
        {with("1b", "tag 2147483648", "tag 2147483648"), "1 tag above 2147483647 is numbered anew"},
        // LogGOPSim takes them for the same.
        {with("1b", "tag 4294967301", "tag 5"),
         "1 tag above 2147483647 is numbered anew\n"
         "1 receive has no send, so its rank waits for ever: 1 of rank 1 from rank 0 (line 6)\n"
         "1 send has no receive: 1 of rank 0 to rank 1 (line 3)"},
        {"num_ranks 3\nrank 1 {\nrecv 1b from 0\n}\nrank 0 {\nsend 1b to 1\n}\n",
         "1 of 3 ranks is not in the file, and does nothing"}};
    for (const Case& each : cases)
        STRCMP_EQUAL(each.wanted.c_str(),
                     fmt::format("{}", fmt::join(schedule_of(each.text).notes, "\n")).c_str());
}

TEST(GoalSchedule, LargeTagsStayApart) {
    const Schedule schedule = schedule_of(
        "num_ranks 2\nrank 0 {\nsend 1b to 1 tag 51000123407\nsend 1b to 1 tag 4294967296\nsend 1b to 1 tag "
        "0\nsend 1b to 1 tag 18446744073709551614\n}\nrank 1 {\nrecv 1b from 0 tag "
        "18446744073709551614\nrecv 1b "
        "from 0 tag 51000123407\nrecv 1b from 0 tag 4294967296\nrecv 1b from 0 tag 0\n}\n");
    STRCMP_EQUAL("send 1>1 t2147483648, send 1>1 t2147483649, send 1>1 t0, send 1>1 t2147483650",
                 shown(*schedule.programs[0]).c_str());
    STRCMP_EQUAL("recv 1<0 t2147483650, recv 1<0 t2147483648, recv 1<0 t2147483649, recv 1<0 t0",
                 shown(*schedule.programs[1]).c_str());
    STRCMP_EQUAL("3 tags above 2147483647 are numbered anew",
                 fmt::format("{}", fmt::join(schedule.notes, "\n")).c_str());
}

TEST(GoalSchedule, SettingsScaleTimesAndBytes) {
    const std::string text = in_rank({"calc 3", "send 1000b to 1", "send 1b to 1"});
    ScheduleSettings settings{.scale_time = 0.5, .scale_bytes = 0.25, .ranks = 2};
    STRCMP_EQUAL("calc 1500, send 250>1 t0, send 1>1 t0",
                 shown(*schedule_of(text, settings).programs[0]).c_str());
    settings = {.scale_time = 1e15, .scale_bytes = 1e12, .ranks = 2};
    const std::string errors = errors_of(parse(text, settings));
    STRCMP_CONTAINS("f:4:6: the time is longer than", errors.c_str());
    STRCMP_CONTAINS("f:5:6: the message is larger than", errors.c_str());
    settings = {.ranks = 1};
    STRCMP_CONTAINS("f:1:11: the schedule has 2 ranks, there are 1 host; do: ",
                    errors_of(parse(text, settings)).c_str());
}

TEST(GoalSchedule, AHeaderIsKnown) {
    for (const std::string_view good : {"num_ranks 16", "  num_ranks\t16 // ranks", "num_ranks 2 rank 0 {",
                                        "// written by hand", "/* Begin */"})
        CHECK_TEXT(is_goal_header(good), good.data());
    for (const std::string_view bad :
         {"", "num_ranks", "num_ranks x", "num_rank 16", "Nodes 16", "src,dst,size", "rank 0 {", "/ *",
          "{\"num_ranks\": 16}", "num_ranks_16 16", "# 16", "5"})
        CHECK_TEXT(!is_goal_header(bad), bad.data());
}

TEST(GoalSchedule, ALongRankAndManyRanksAreReadInOrder) {
    constexpr unsigned count = 100'000;
    std::string text = "num_ranks 60000\nrank 59999 {\n";
    for (unsigned n = 1; n < count; ++n) text += fmt::format("l{} requires l{}\n", n, n - 1);
    for (unsigned n = count; n-- > 0;) text += fmt::format("l{}: calc {}\n", n, n);
    text += "recv 1b from 0\n}\n";
    for (unsigned rank = 0; rank < 59'999; ++rank)
        text += fmt::format("rank {} {{ {} }}\n", rank, rank == 0 ? "send 1b to 59999" : "l1: calc 1");
    const Schedule schedule = schedule_of(text, {.ranks = 65'536});
    const roce::Program& last = *schedule.programs[59'999];
    CHECK_EQUAL(count + 1, last.size());
    bool same = true;
    for (unsigned n = 0; n < count; ++n)
        same &= last.operations[n].amount == 1000 * n && last.waits[n] == (n == 0 ? 0 : 1);
    CHECK(same);
    CHECK_EQUAL(0, schedule.notes.size());
}

}  // namespace sluice::goal_schedule_test

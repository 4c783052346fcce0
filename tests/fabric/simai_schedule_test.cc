// Tables of SimAI and astra-sim: what is refused, with its place, then what ranks do.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "control/fabric/schedule/schedule_readers.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::simai_schedule_test {
namespace {

using namespace sluice::fabric;
using Operation = roce::Program::Operation;

constexpr std::string_view transformer = "HYBRID_TRANSFORMER_FWD_IN_BCKWD";

ScheduleResult parse(std::string_view text, const ScheduleSettings& settings) {
    return read_simai(TextLines::source_of(text), "f", settings);
}

std::string errors_of(const ScheduleResult& schedule) {
    if (schedule) return "good";
    std::string text;
    for (const ConfigError& error : schedule.error()) text += error.text() + "\n";
    return text;
}

ScheduleSettings hosts(std::uint32_t ranks) { return {1, 1, ranks}; }

Schedule schedule_of(const std::string& text, const ScheduleSettings& settings = hosts(8)) {
    auto schedule = parse(text, settings);
    if (!schedule) FAIL((errors_of(schedule) + text).c_str());
    return std::move(*schedule);
}

std::string table(std::string_view header, const std::vector<std::string_view>& layers) {
    return fmt::format("{}\n{}\n{}\n", header, layers.size(), fmt::join(layers, "\n"));
}

// "0 compute 5, 1 all-reduce of TP 8 <0, 2 update 3 <1": times in ns, and whom each waits for.
std::string shown(const Schedule& schedule) {
    const roce::Program& program = *schedule.programs[0];
    std::vector<std::vector<std::uint32_t>> before(program.size());
    for (std::uint32_t n = 0; n < program.size(); ++n)
        for (std::uint32_t at = program.first[n]; at < program.first[n + 1]; ++at)
            before[program.next[at].operation].push_back(n);
    std::string text;
    for (std::uint32_t n = 0; n < program.size(); ++n) {
        const Operation& each = program.operations[n];
        if (n != 0) text += ", ";
        if (each.kind == Operation::Kind::compute)
            text += fmt::format("{} {} {}", n, each.stream == 0 ? "compute" : "update",
                                static_cast<double>(each.amount) / 1000);
        else
            text += fmt::format("{} {} {}", n, schedule.communications[each.peer].name, each.amount);
        if (!before[n].empty()) text += fmt::format(" <{}", fmt::join(before[n], "+"));
    }
    return text;
}

std::string groups_of(const Schedule& schedule, std::string_view name) {
    for (const Communication& each : schedule.communications)
        if (each.name == name) {
            std::string text;
            for (const auto& group : each.groups)
                text += fmt::format("{}[{}]", text.empty() ? "" : " ", fmt::join(group, ", "));
            return text;
        }
    return "none";
}

std::string notes_of(const Schedule& schedule) { return fmt::format("{}", fmt::join(schedule.notes, "\n")); }

struct Case {
    std::string text, wanted;
};

// Refuses each text with an error that has the wanted part.
void check_errors(const std::vector<Case>& cases, const ScheduleSettings& settings) {
    std::string wrong;
    for (const auto& [text, wanted] : cases) {
        const std::string error = errors_of(parse(text, settings));
        if (error.find(wanted) == error.npos) wrong += fmt::format("{}lacks: {}\n{}\n", error, wanted, text);
    }
    STRCMP_EQUAL("", wrong.c_str());
}

constexpr std::string_view plain = "a -1 1 NONE 0 1 NONE 0 1 NONE 0 1";

}  // namespace

TEST_GROUP(SimaiSchedule){};

TEST(SimaiSchedule, WhatIsWrongInTheFirstLineIsNamedWithItsPlace) {
    const auto with = [](std::string_view header) {
        return table(fmt::format("{} {}", transformer, header), {plain});
    };
    const std::vector<Case> cases{
        {"", "f: the file has no table; do: name another file"},
        {"\n \t\n", "f: the file has no table"},
        {"DATEN\n1\n", R"(f:1:1: "DATEN" is not a policy of a table; do: write one of MICRO, DATA, MODEL)"},
        {with("model_parallel_NPU_group: 0"),
         R"(f:1:59: model_parallel_NPU_group "0" is not a whole number from 1 to 65536)"},
        {with("ep: -1"), R"(f:1:37: ep "-1" is negative)"},
        {with("ep: x"), R"(f:1:37: ep "x" is not a number)"},
        {with("ep: inf"), R"(ep "inf" is not a number)"},
        {with("ep: 1.5"), R"(ep "1.5" is not a whole number from 1 to 65536)"},
        {with("pp:"), R"(f:1:33: "pp" has no value; do: write it, or leave the key out)"},
        {with("pp: 1 pp: 2"), "f:1:43: pp is there twice; do: leave one out"},
        {with("pp_comm: 1e400"), R"(pp_comm "1e400" is out of range)"},
        {with("color 7"), R"(f:1:33: "color" is not a key of a table; do: write keys as all_gpus: 16)"},
        {with("all_gpus: 1"), R"(all_gpus "1" is not a whole number from 2 to 65536)"},
        {with("all_gpus: 128"),
         "f:1:43: the table has 128 ranks (all_gpus), there are 16 hosts; do: name a fabric of 128 hosts, "
         "or"},
        {with("model_parallel_NPU_group: 3 all_gpus: 8"),
         "f:1:71: 8 ranks are not a multiple of 3 (model_parallel_NPU_group) x 1 (pp); do: write all_gpus: "
         "6"},
        {with("model_parallel_NPU_group: 3"), "f:1:1: 16 ranks are not a multiple of 3 (model"},
        {with("model_parallel_NPU_group: 4 pp: 8"),
         "4 (model_parallel_NPU_group) x 8 (pp); do: write all_gpus: 32"},
        {with("model_parallel_NPU_group: 2 ep: 3"),
         "f:1:65: ep 3 does not divide the 8 data-parallel ranks; do: write a divisor of 8"},
        {with("checkpoints: 2 0"), "f:1:46: the list has 1 layer, not 2; do: write 1"},
        {with("checkpoints: 9999999 0"),
         R"(f:1:46: the number of layers "9999999" is not from 0 to 1000000)"},
        {with("checkpoints: 1 x"), R"(f:1:48: layer "x")"},
        {with("checkpoints: 1 1 checkpoint_initiates: 0"),
         "f:1:48: there is no layer 1; do: write one from 0 to 0"},
        {with("checkpoints: 0 checkpoint_initiates: 1 0"),
         "f:1:72: no checkpoint is before layer 0; do: add one, or take the layer out of checkpoint_init"},
        {with("checkpoints: 1 0 checkpoint_initiates: 1 0"),
         "f:1:74: layer 0 has no checkpoint of its own before it"},
        {table("HYBRID_TRANSFORMER_FWD_IN_BCKWD checkpoints: 1 0 checkpoint_initiates: 2 1 2",
               {plain, plain, plain}),
         "f:1:76: layer 2 has no checkpoint of its own before it"},
        {table("HYBRID_DLRM", {plain}),
         "f:1:1: the table does not say which layer is the last bottom one; do: write HYBRID_DLRM 4"},
        {table("HYBRID_DLRM 1", {plain}), "f:1:13: there is no layer 1; do: write one from 0 to 0"}};
    check_errors(cases, hosts(16));
}

TEST(SimaiSchedule, WhatIsWrongInALayerIsNamedWithItsPlace) {
    const auto with = [](std::string_view layer) { return table("DATA", {layer}); };
    const std::vector<Case> cases{
        {"DATA\n", "f:1:1: the table has no number of layers; do: write it in the second line"},
        {"DATA\n0\n", R"(f:2:1: the number of layers "0" is not from 1 to 1000000)"},
        {"DATA\n1e3\n", R"(f:2:1: the number of layers "1e3" is not a whole number)"},
        {"DATA\n4000000000\n", R"(f:2:1: the number of layers "4000000000" is not from 1)"},
        {"DATA\n1 a -1\n", "f:2:3: the second line has more than the number of layers"},
        {"DATA\n2\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
         "f:2:1: the table says 2 layers, and has 1; do: write 1"},
        {"DATA\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n",
         "f:2:1: the table says 1 layer, and has 2; do: write 2"},
        {with("a -1 1 NONE 0"),
         "f:3:13: the layer has 5 values, not 12; do: write name and dependency, time,"},
        {with("a -1 1 NONE 0 1 NONE 0 1 NONE 0 1 DATA"), "f:3:35: the layer has more than 12 values"},
        {table("HYBRID_CUSTOMIZED", {plain}), "f:3:33: the layer has 12 values, not 13"},
        {table("HYBRID_CUSTOMIZED", {"a -1 1 NONE 0 1 NONE 0 1 NONE 0 1 HYBRID_CUSTOMIZED"}),
         R"(f:3:35: policy "HYBRID_CUSTOMIZED" is none of a layer; do: write DATA, MODEL)"},
        {with("a x 1 NONE 0 1 NONE 0 1 NONE 0 1"), R"(f:3:3: dependency "x")"},
        {with("a -1 x NONE 0 1 NONE 0 1 NONE 0 1"), R"(f:3:6: forward time "x" is not a number)"},
        {with("a -1 1 NONE 0 -1 NONE 0 1 NONE 0 1"), R"(f:3:15: input-gradient time "-1" is negative)"},
        {with("a -1 1 NONE 0 1 NONE 0 1 NONE 0 1e30"),
         R"(f:3:33: update time "1e30" (ns) is longer than 1000000s; do: write another scale_time)"},
        {with("a -1 1 NONE -1 1 NONE 0 1 NONE 0 1"), R"(f:3:13: forward size "-1" is negative)"},
        {with("a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE nan 1"),
         R"(f:3:36: weight-gradient size "nan" is not a number)"},
        {with("a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 68719476737 1"),
         R"(f:3:36: weight-gradient size "68719476737" makes more than 64GiB of a rank)"},
        {with("a -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 1e300 1"), R"(size "1e300" makes more than)"},
        {with("a -1 1 ALLREDUCES 0 1 NONE 0 1 NONE 0 1"),
         R"(f:3:8: forward collective "ALLREDUCES" is unknown; do: write NONE, ALLREDUCE, ALLGATHER)"},
        {with("a -1 1 ALLREDUCEALLTOALL 0 1 NONE 0 1 NONE 0 1"), R"("ALLREDUCEALLTOALL" is unknown)"},
        {with("a -1 1 NONE_EP 0 1 NONE 0 1 NONE 0 1"), R"("NONE_EP" is unknown)"},
        {with("a -1 1 NONE 0 1 ALLTOALL_PP 0 1 NONE 0 1"),
         R"(f:3:17: input-gradient collective "ALLTOALL_PP" is unknown)"},
        {with("a -1 0 NONE 0 0 NONE 0 0 NONE 0 9"), "f: no layer computes or exchanges anything"}};
    check_errors(cases, hosts(16));
}

TEST(SimaiSchedule, TellsTenErrorsAtMostAndOneOfEachValue) {
    std::string text = "DATA\n20\n";
    for (int n = 0; n < 20; ++n) text += "a -1 x NONE y 1 BAD 0 1 NONE 0 1\n";
    const auto schedule = parse(text, hosts(4));
    CHECK(!schedule);
    UNSIGNED_LONGS_EQUAL(10, schedule.error().size());
    STRCMP_EQUAL(R"(f:3:6: forward time "x" is not a number; do: correct it)",
                 schedule.error()[0].text().c_str());
    STRCMP_EQUAL(R"(f:3:13: forward size "y" is not a number; do: correct it)",
                 schedule.error()[1].text().c_str());
    UNSIGNED_LONGS_EQUAL(17, schedule.error()[2].place.column);
    UNSIGNED_LONGS_EQUAL(4, schedule.error()[3].place.line);
}

TEST(SimaiSchedule, RefusesMoreOperationsThanAllRanksMayHave) {
    std::string text = "MICRO\n400\n";
    for (int n = 0; n < 400; ++n) text += "a -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 8589934592 1\n";
    STRCMP_EQUAL("f:336:1: a rank has more than 1 666 operations with 60000 ranks; do: write fewer layers\n",
                 errors_of(parse(text, hosts(60'000))).c_str());
    UNSIGNED_LONGS_EQUAL(400 * 5, schedule_of(text, hosts(4)).programs[0]->size());
}

TEST(SimaiSchedule, EachPolicyRunsLayersAsItsSimulatorDoes) {
    const std::vector<std::string_view> two{"a -1 1 ALLREDUCE 8 2 ALLREDUCE 16 3 ALLREDUCE 32 0",
                                            "b -1 4 ALLREDUCE 64 5 ALLREDUCE 128 6 ALLREDUCE 256 0"};
    const std::string in_two = " model_parallel_NPU_group: 2";
    const std::vector<Case> cases{
        {table("MICRO", two), "0 all-reduce of all ranks 32, 1 all-reduce of all ranks 256 <0"},
        // Gradients of weights are exchanged beside what is computed then.
        {table("DATA", two),
         "0 compute 1, 1 compute 4 <0, 2 compute 6 <1, 3 all-reduce of all ranks 256 <2, 4 compute 5 <2, "
         "5 compute 3 <4, 6 all-reduce of all ranks 32 <3+5"},
        // The first layer has no input that wants a gradient.
        {table("MODEL", two),
         "0 compute 1, 1 all-reduce of all ranks 8 <0, 2 compute 4 <1, 3 all-reduce of all ranks 64 <1+2, "
         "4 compute 5 <3, 5 all-reduce of all ranks 128 <3+4, 6 compute 6 <4, 7 compute 2 <5+6, 8 compute 3 "
         "<7"},
        {table("HYBRID_DATA_MODEL" + in_two, two),
         "0 compute 1, 1 all-reduce of TP 8 <0, 2 compute 4 <1, 3 all-reduce of TP 64 <1+2, 4 compute 5 <3, "
         "5 all-reduce of TP 128 <3+4, 6 compute 6 <4, 7 all-reduce of DP 256 <6, 8 compute 2 <5+6, "
         "9 compute 3 <8, 10 all-reduce of DP 32 <7+9"},
        {table("HYBRID_TRANSFORMER" + in_two, two),
         "0 compute 1, 1 all-reduce of TP 8 <0, 2 compute 4 <1, 3 all-reduce of TP 64 <1+2, 4 compute 5 <3, "
         "5 all-reduce of TP 128 <3+4, 6 compute 6 <5, 7 all-reduce of DP 256 <6, 8 compute 2 <6, "
         "9 all-reduce of TP 16 <5+8, 10 compute 3 <9, 11 all-reduce of DP 32 <7+10"},
        {table("DISTRIBUTED_INFERENCE", two),
         "0 compute 1, 1 all-reduce of all ranks 8 <0, 2 compute 4 <1, 3 all-reduce of all ranks 64 <1+2"},
        // Without computations each exchange waits for the one before alone.
        {table("HYBRID_DATA_MODEL expert_parallel_npu_group: 2" + in_two,
               {"a -1 0 NONE 0 0 NONE 0 0 NONE 0 0", "b -1 0 NONE 0 0 ALLREDUCE 8 0 NONE 0 0",
                "c -1 0 ALLTOALL_EP 4 0 ALLTOALL_EP 16 0 ALLREDUCE 32 0"}),
         "0 all-to-all of EP 4, 1 all-to-all of EP 16 <0, 2 all-reduce of DP 32 <0, 3 all-reduce of TP 8 <1"},
        // Each layer has its own groups.
        {table("HYBRID_CUSTOMIZED" + in_two,
               {"a -1 1 ALLREDUCE 8 2 NONE 0 3 ALLREDUCE 32 0 HYBRID_MODEL_DATA",
                "b -1 4 ALLREDUCE 64 5 NONE 0 6 NONE 0 0 MODEL"}),
         "0 compute 1, 1 all-reduce of TP 8 <0, 2 compute 4 <1, 3 all-reduce of all ranks 64 <2, 4 compute 5 "
         "<3, 5 compute 6 <4, 6 compute 2 <5, 7 compute 3 <6, 8 all-reduce of DP 32 <7"}};
    std::string wrong;
    for (const auto& [text, wanted] : cases)
        if (const std::string is = shown(schedule_of(text)); is != wanted)
            wrong += fmt::format("{}\nis not {}\n{}\n", is, wanted, text);
    STRCMP_EQUAL("", wrong.c_str());
}

TEST(SimaiSchedule, EmbeddingsOfDlrmTravelBesideTheBottomLayers) {
    const std::vector<std::string_view> layers{"embedding -1 1 ALLTOALL 8 2 ALLTOALL 16 3 NONE 0 7",
                                               "bottom -1 4 NONE 0 5 NONE 0 6 ALLREDUCE 32 0",
                                               "top -1 8 NONE 0 9 NONE 0 10 ALLREDUCE 64 0"};
    // Layer 1 is the last bottom one: layer 2 waits for the embeddings, too. No layer waits for them to be
    // back but the next pass.
    STRCMP_EQUAL(
        "0 compute 1, 1 all-to-all of all ranks 8 <0, 2 update 7 <1, 3 compute 4 <0, "
        "4 compute 8 <2+3, 5 compute 10 <4, 6 all-reduce of all ranks 64 <1+5, "
        "7 compute 9 <5, 8 all-to-all of all ranks 16 <6+7, 9 update 7 <8, "
        "10 compute 6 <7, 11 all-reduce of all ranks 32 <8+10, 12 compute 5 <10, "
        "13 compute 3 <12",
        shown(schedule_of(table("HYBRID_DLRM 1", layers))).c_str());
    STRCMP_EQUAL(shown(schedule_of(table("HYBRID_DLRM 1", layers))).c_str(),
                 shown(schedule_of(table("HYBRID_DLRM DLRM_LAST_BOTTOM_LAYER: 1", layers))).c_str());
    // Nothing starts the way back of embeddings where the last bottom layer is the last of all.
    STRCMP_EQUAL("1 collective that HYBRID_DLRM_ENHANCED does not run",
                 notes_of(schedule_of(table("HYBRID_DLRM_ENHANCED 2", layers))).c_str());
}

TEST(SimaiSchedule, RunsTheForwardPassAgainFromACheckpoint) {
    const std::string text =
        table(fmt::format("{} checkpoints: 2 0 2 checkpoint_initiates: 1 3", transformer),
              {"a -1 1 NONE 0 0 NONE 0 0 NONE 0 0", "b -1 2 NONE 0 0 NONE 0 0 NONE 0 0",
               "c -1 3 ALLREDUCE 8 0 NONE 0 0 NONE 0 0", "d -1 4 NONE 0 5 NONE 0 0 NONE 0 0"});
    STRCMP_EQUAL(
        "0 compute 1, 1 compute 2 <0, 2 compute 3 <1, 3 all-reduce of TP 8 <2, 4 compute 4 <3, 5 compute 3 "
        "<4, "
        "6 all-reduce of TP 8 <3+5, 7 compute 5 <6",
        shown(schedule_of(text)).c_str());
    // Other policies do not.
    std::string plain_text = text;
    plain_text.replace(0, transformer.size(), "HYBRID_TRANSFORMER");
    const Schedule other = schedule_of(plain_text);
    UNSIGNED_LONGS_EQUAL(6, other.programs[0]->size());
    STRCMP_CONTAINS("checkpoints left out: HYBRID_TRANSFORMER does not run the forward pass again",
                    notes_of(other).c_str());
}

TEST(SimaiSchedule, AnUpdateFollowsEachCollectiveBesideComputations) {
    const std::string text = table(fmt::format("{} model_parallel_NPU_group: 4", transformer),
                                   {"a -1 1 ALLGATHER 8 2 REDUCESCATTER 16 3 ALLREDUCE 32 100"});
    const Schedule schedule = schedule_of(text);
    STRCMP_EQUAL(
        "0 compute 1, 1 all-gather of TP 8 <0, 2 update 100 <1, 3 compute 2 <2, 4 reduce-scatter of TP 16 "
        "<1+3, "
        "5 update 100 <4, 6 compute 3 <5, 7 all-reduce of DP 32 <6, 8 update 100 <7",
        shown(schedule).c_str());
    UNSIGNED_LONGS_EQUAL(2, schedule.programs[0]->streams);
}

TEST(SimaiSchedule, RanksAreGroupedByTensorThenDataThenStage) {
    const Schedule schedule = schedule_of(
        table(
            fmt::format("{} model_parallel_NPU_group: 2 ep: 2 pp: 2 vpp: 1 ga: 1 all_gpus: 16 pp_comm: 12.5",
                        transformer),
            {"a -1 1 ALLREDUCE 8 1 ALLTOALL_EP 8 1 ALLGATHER 8 0",
             "b -1 1 ALLREDUCE_TP 8 1 NONE 0 1 REDUCESCATTER_DP_EP 8 0",
             "c -1 1 BROADCAST_DP 8 1 NONE 0 1 NONE 0 0"}),
        hosts(32));
    UNSIGNED_LONGS_EQUAL(16, schedule.programs.size());
    STRCMP_EQUAL("[0, 1] [2, 3] [4, 5] [6, 7] [8, 9] [10, 11] [12, 13] [14, 15]",
                 groups_of(schedule, "all-reduce of TP").c_str());
    STRCMP_EQUAL("[0, 2, 4, 6] [1, 3, 5, 7] [8, 10, 12, 14] [9, 11, 13, 15]",
                 groups_of(schedule, "all-gather of DP").c_str());
    STRCMP_EQUAL("[0, 2] [1, 3] [4, 6] [5, 7] [8, 10] [9, 11] [12, 14] [13, 15]",
                 groups_of(schedule, "all-to-all of EP").c_str());
    STRCMP_EQUAL("[0, 4] [1, 5] [2, 6] [3, 7] [8, 12] [9, 13] [10, 14] [11, 15]",
                 groups_of(schedule, "reduce-scatter of DP_EP").c_str());
    UNSIGNED_LONGS_EQUAL(5, schedule.communications.size());
    for (const Communication& each : schedule.communications)
        if (each.name == "broadcast of DP") CHECK(each.kind == roce::CollectiveKind::pipeline);
    STRCMP_EQUAL(
        "2 pipeline stages run the same layers side by side: messages between them (pp_comm 12) are left "
        "out, as "
        "in SimAI\n1 broadcast along the ranks of each group: SimAI has no BROADCAST",
        notes_of(schedule).c_str());
}

TEST(SimaiSchedule, OlderTablesAreGroupedByTheirPolicy) {
    const std::string_view layer = "a -1 1 ALLREDUCE 8 1 NONE 0 1 ALLTOALL 8 0";
    Schedule schedule = schedule_of(table("HYBRID_MODEL_DATA model_parallel_NPU_group: 2", {layer}));
    STRCMP_EQUAL("[0, 4] [1, 5] [2, 6] [3, 7]", groups_of(schedule, "all-reduce of TP").c_str());
    STRCMP_EQUAL("[0, 1, 2, 3] [4, 5, 6, 7]", groups_of(schedule, "all-to-all of DP").c_str());
    schedule = schedule_of(table("HYBRID_DATA_MODEL model_parallel_NPU_group: 2", {layer}));
    STRCMP_EQUAL("[0, 1] [2, 3] [4, 5] [6, 7]", groups_of(schedule, "all-reduce of TP").c_str());
    STRCMP_EQUAL("[0, 2, 4, 6] [1, 3, 5, 7]", groups_of(schedule, "all-to-all of DP").c_str());
    // Without a size all ranks are one dimension, the first of the two.
    schedule = schedule_of(table("HYBRID_MODEL_DATA", {layer}));
    STRCMP_EQUAL("none", groups_of(schedule, "all-reduce of TP").c_str());
    STRCMP_EQUAL("[0, 1, 2, 3, 4, 5, 6, 7]", groups_of(schedule, "all-to-all of DP").c_str());
    STRCMP_EQUAL(
        "the table has no model_parallel_NPU_group: all 8 ranks are one dimension, as in SimAI\n"
        "1 collective within groups of one rank: nothing to send",
        notes_of(schedule).c_str());
    schedule = schedule_of(table("HYBRID_DATA_MODEL", {layer}));
    STRCMP_EQUAL("[0, 1, 2, 3, 4, 5, 6, 7]", groups_of(schedule, "all-reduce of TP").c_str());
}

TEST(SimaiSchedule, SizesCountAsInTheSimulatorOfTheTable) {
    const std::string_view layer = "a -1 0 ALLGATHER 8 0 REDUCESCATTER 8 0 NONE 0 0";
    // SimAI counts the whole buffer.
    const std::string_view whole = "0 all-gather of TP 8, 1 reduce-scatter of TP 8 <0";
    STRCMP_EQUAL(whole.data(), shown(schedule_of(table(transformer, {layer}))).c_str());
    STRCMP_EQUAL(whole.data(), shown(schedule_of(table("HYBRID_TRANSFORMER all_gpus: 4", {layer}))).c_str());
    // astra-sim counts what a rank brings to an all-gather.
    const Schedule schedule = schedule_of(table("HYBRID_TRANSFORMER model_parallel_NPU_group: 4", {layer}));
    STRCMP_EQUAL("0 all-gather of TP 32, 1 reduce-scatter of TP 8 <0", shown(schedule).c_str());
    STRCMP_EQUAL("1 all-gather: the size is the part of a rank, as in astra-sim", notes_of(schedule).c_str());
}

TEST(SimaiSchedule, NotesCountWhatIsChangedOrLeftOut) {
    const std::vector<Case> cases{
        {table("MICRO", {"a -1 1 NONE 0 1 NONE 0 0 ALLREDUCE 0 0", "b -1 0 NONE 0 0 NONE 0 0 ALLREDUCE 5 0"}),
         "2 computations left out: MICRO runs only the collectives of weight gradients\n"
         "all 2 layers run, one after the other: SimAI runs the first one only\n"
         "1 collective of 0 bytes: made 1 byte"},
        {table("DATA", {"a 0 1 ALLREDUCE 8 1 ALLGATHER 8 1 ALLREDUCE 6442450944 0"}),
         "1 dependency left out, as in SimAI: layers run in their order\n2 collectives that DATA does not "
         "run\n"
         "1 collective of more than 2GiB: divided into 3 parts, one after the other"},
        {table("MODEL", {"a -1 1 ALLREDUCE 8 1 ALLREDUCE 8 1 ALLREDUCE_DP 8 0"}),
         "2 collectives that MODEL does not run"},
        {table("DATA", {plain, "b 0 1 NONE 0 1 NONE 0 1 NONE 0 0", "c 1 1 NONE 0 1 NONE 0 1 NONE 0 0"}),
         "2 dependencies left out, as in SimAI: layers run in their order"},
        {table("DATA shape: 3 cp:2", {plain}), R"(2 unknown keys left out, "shape" first)"},
        {table("DISTRIBUTED_INFERENCE", {plain}),
         "the backward pass is left out: DISTRIBUTED_INFERENCE has none"},
        {table(fmt::format("{} model_parallel_NPU_group: 8 ep: 1", transformer),
               {"a -1 1 ALLTOALL_EP 8 1 NONE 0 1 ALLREDUCE 8 0"}),
         "2 collectives within groups of one rank: nothing to send"}};
    std::string wrong;
    for (const auto& [text, wanted] : cases)
        if (const std::string is = notes_of(schedule_of(text)); is != wanted)
            wrong += fmt::format("{}\nis not {}\n", is, wanted);
    STRCMP_EQUAL("", wrong.c_str());
}

TEST(SimaiSchedule, ALargeCollectiveRunsInEqualParts) {
    const Schedule schedule = schedule_of(table("DATA", {"a -1 0 NONE 0 0 NONE 0 2 ALLREDUCE 4294967299 3"}));
    STRCMP_EQUAL(
        "0 compute 2, 1 all-reduce of all ranks 1431655766 <0, 2 all-reduce of all ranks 1431655766 <1, "
        "3 all-reduce of all ranks 1431655767 <2, 4 update 3 <3",
        shown(schedule).c_str());
    UNSIGNED_LONGS_EQUAL(8 * 4'294'967'299ULL, schedule.bytes());
}

TEST(SimaiSchedule, ScalesTimesAndSizes) {
    const std::string text = table("DATA", {"a -1 0 NONE 0 0 NONE 0 2000 ALLREDUCE 1000 500.5"});
    STRCMP_EQUAL("0 compute 1000, 1 all-reduce of all ranks 10 <0, 2 update 250.25 <1",
                 shown(schedule_of(text, {0.5, 0.01, 8})).c_str());
    STRCMP_EQUAL("0 all-reduce of all ranks 1", shown(schedule_of(text, {1e-9, 1e-9, 8})).c_str());
    CHECK(!parse(text, {1, 1e9, 8}));
}

TEST(SimaiSchedule, AllRanksShareOneProgramWhosePlacesAreLines) {
    const Schedule schedule = schedule_of(
        "\xEF\xBB\xBF"
        "DATA\t\t\r\n1\t\r\n\r\n  a \t-1 1.0 NONE 0 1 NONE 0 1 ALLREDUCE 8 0  \r\n\r\n",
        hosts(3));
    UNSIGNED_LONGS_EQUAL(3, schedule.programs.size());
    for (const auto& program : schedule.programs) POINTERS_EQUAL(schedule.programs[0].get(), program.get());
    for (const Operation& each : schedule.programs[0]->operations) UNSIGNED_LONGS_EQUAL(4, each.place);
    UNSIGNED_LONGS_EQUAL(9, schedule.operations());
}

TEST(SimaiSchedule, KnowsTheFirstLineOfATable) {
    for (const std::string_view line :
         {"MICRO", "DATA\t\t", "MODEL", "HYBRID_DLRM 4", "HYBRID_CUSTOMIZED", "DISTRIBUTED_INFERENCE\r",
          "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1", " HYBRID_DATA_MODEL"})
        CHECK_TEXT(is_simai_header(line), line.data());
    for (const std::string_view line :
         {"", " ", "micro", "DATAS", "num_ranks 16", "src,dst,size", "Nodes 4", "12", "HYBRID_"})
        CHECK_TEXT(!is_simai_header(line), line.data());
}

}  // namespace sluice::simai_schedule_test

// JSON of Chakra: what is refused, keys as several programs write them, files of groups.
#include "tests/fabric/chakra_traces.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::chakra_json_test {
namespace {

using namespace sluice::chakra_traces;

struct Case {
    std::string text, wanted;
};

std::string graph(std::string_view nodes) { return fmt::format(R"({{"workload_graph": [{}]}})", nodes); }

// Starts of errors, or whole schedules, that are not as they should be.
std::string differences(const std::vector<Case>& cases, bool are_errors) {
    std::string wrong;
    for (const auto& [text, wanted] : cases) {
        const std::string got = are_errors ? errors_of(read({text})) : shown(read({text, graph("")}));
        if (are_errors ? !got.starts_with(wanted) : got != wanted)
            wrong += fmt::format("{}\nis not {}\n{}\n", got, wanted, text.substr(0, 200));
    }
    return wrong;
}

}  // namespace

TEST_GROUP(ChakraJson){};

TEST(ChakraJson, TextsThatAreNoTraceAreRefusedWithTheirPlace) {
    const std::vector<Case> cases{
        {"[1]", "0: it is a text, and no JSON; do: name an execution trace of Chakra"},
        {"{", "0:1:1: the file ends before its last object does; do: name a file that is complete"},
        {"{\"a\" 1}", "0:1:7: the file is not valid JSON from here on; do: correct it"},
        {"{\"a\": 1,}", "0:1:9: the file is not valid JSON from here on"},
        {"{\n \"a\": 01}", "0:2:9: the file is not valid JSON from here on"},
        {"{\"a\": \"\xFF\"}", "0:1:8: the file is not valid JSON from here on"},
        {"{\"a\": 1e999}", "0:1:12: the file is not valid JSON from here on"},
        {"{} x", "0:1:4: the file is not valid JSON from here on"},
        {"{} 7", "0:1:4: the trace is not an object of JSON; do: name an execution trace of Chakra"},
        {"{} []", "0:1:4: the trace is not an object of JSON"},
        {"{}", "0: no trace has a node"},
        {R"({"schema": "1.0.2-chakra.0.0.4", "nodes": [{"id": 2, "name": "a", "ctrl_deps": 1, "attrs": []}]})",
         "0: none of its 1 node has a type, as in a trace of PyTorch's that is not converted; do: run "
         "chakra_trace"},
        {R"({"version": "1"}{"name": "a"})", "0: none of its 1 node has a type"},
        {graph("7"), "0:1:21: a node is not an object"},
        {graph("[]"), "0:1:21: a node is not an object"},
        {graph("{\"Id\": -1}"), "0:1:29: the id of a node is not a whole number from 0"},
        {graph("{\"Id\": 1.5}"), "0:1:30: the id of a node is not a whole number from 0"},
        {graph("{\"Id\": [1]}"), "0: none of its 1 node has a type"},
        {graph("{\"Id\": 1, \"NodeType\": \"COMP\"}"),
         "0:1:21: node 1: its type is \"COMP\", and there are 8"},
        {graph("{\"Id\": 1, \"NodeType\": 4, \"data_deps\": [{}]}"),
         "0:1:60: a dependency is not the number of a node"},
        {graph("{\"Id\": 1, \"NodeType\": 4, \"data_deps\": [[]]}"),
         "0:1:60: a dependency is not the number of a node"},
        {graph("{\"Id\": 1, \"NodeType\": 4, \"data_deps\": [\"x\"]}"),
         "0:1:62: a dependency is not the number of"},
        {graph("\n\n{\"Id\": 1, \"NodeType\": 4, \"runtime\": -5}"),
         "0:3:1: node 1: runtime is -5, not a time in micro"},
        {graph("{\"Id\": 1, \"NodeType\": 4, \"runtime\": \"x\"}"),
         "0:1:21: node 1: runtime is \"x\", not a time in"},
        {graph("{\"Id\": 1, \"NodeType\": 4, \"runtime\": 1e300}"),
         "0:1:21: node 1 takes 1e+300 us, more than"},
        {graph("{\"Id\": 1, \"NodeType\": 7, \"comm_size\": 1.5}"),
         "0:1:21: node 1: comm_size is 1.5, not a whole"},
        {graph("{\"Id\": 1, \"NodeType\": 7, \"is_cpu_op\": \"yes\"}"),
         "0:1:21: node 1: is_cpu_op is \"yes\", not true"},
        {graph("{\"Id\": 1, \"NodeType\": 7, \"attrs\": [{\"name\": \"comm_tag\", \"value\": null}]}"),
         "0:1:21: node 1: comm_tag is a list or nothing, not a whole number from 0"}};
    STRCMP_EQUAL("", differences(cases, true).c_str());
}

TEST(ChakraJson, KeysOfSeveralProgramsAreRead) {
    const std::vector<Case> cases{
        {graph(
             R"({"Id": 1, "Name": "a", "NodeType": 4, "runtime": 3, "is_cpu_op": true, "ctrlDeps": [9], "data_deps": []})"),
         "1 cpu 3us | "},
        {graph(R"({"id": 1, "type": "COMP_NODE", "durationMicros": "3", "isCpuOp": false})"), "1 gpu 3us | "},
        {graph(R"({"id": 1, "node_type": "comp_node", "duration_micros": 0.25})"), "1 gpu 0.25us | "},
        {graph(R"({"id": 1, "type": 4, "runtime": 1}, {"id": 2, "type": 4, "runtime": 1, "ctrl_deps": 1})"),
         "1 gpu 1us; 2 gpu 1us after 1 | "},
        {graph(R"({"id": 1, "type": 5, "comm_dst": 1, "comm_size": 9, "comm_tag": 4})"), "1 send>1 9 #4 | "},
        {graph(R"({"id": 1, "type": 6, "commSrc": "1", "commSize": "9"})"), "1 receive<1 9 #0 | "},
        {graph(
             R"({"id": 1, "type": 6, "attrs": {"comm_src": 1, "comm_size": 9, "tensor": [1, {"comm_size": 5}]}})"),
         "1 receive<1 9 #0 | "},
        {graph(
             R"({"id": 1, "type": 6, "attr": [{"value": 1, "type": "uint64", "name": "comm_src"}, {"name": "comm_size", "uint64_val": 9.0, "doc_string": "bytes"}, {"name": "involved_dim", "boolList": {"values": [true]}}]})"),
         "1 receive<1 9 #0 | "},
        {R"({"nodes": [{"type": 4, "runtime": 1}], "id": 7, "workload_graph": [{"id": 3, "type": 4, "runtime": 2}]})",
         "0 gpu 1us; 3 gpu 2us | "},
        {R"({"type": "COMP_NODE", "durationMicros": "1"}{"id": "2", "type": "COMP_NODE", "durationMicros": "1", "dataDeps": ["0"]})",
         "0 gpu 1us; 2 gpu 1us after 0 | "},
        {"\xEF\xBB\xBF  {\"version\": \"1\", \"attr\": []}\n{\"type\": \"COMP_NODE\", \"durationMicros\": "
         "\"1\"}\n",
         "0 gpu 1us | "},
        {graph(
             R"({"id": 1, "type": 4, "runtime": 1, "more": {"id": 5, "list": [[{"type": 9}]]}, "data_deps": [], "x": [[[]]]})"),
         "1 gpu 1us | "},
        {graph(
             R"({"id": 18446744073709551615, "type": 4, "runtime": 1}, {"id": 7, "type": 4, "runtime": 1, "data_deps": [18446744073709551615]})"),
         "1 gpu 1us; 7 gpu 1us after 1 | "},
        {graph(
             R"({"id": 1, "type": 4, "runtime": 1, "a_key_that_is_much_longer_than_all_that_count": "comm_size"})"),
         "1 gpu 1us | "}};
    STRCMP_EQUAL("", differences(cases, false).c_str());
}

TEST(ChakraJson, CollectivesGoByNumberOrName) {
    for (const std::string type : {"6", "\"6\"", "\"ALL_TO_ALL\"", "\"all_to_all\"", "\"AllToAll\"", "6.0"}) {
        const std::string text =
            graph(fmt::format(R"({{"id": 1, "type": 7, "comm_type": {}, "comm_size": 8}})", type));
        STRCMP_CONTAINS("[all-to-all of all ranks (2) 0,1]", shown(read({text, text})).c_str());
    }
}

TEST(ChakraJson, PyTorchsProcessGroupsAreRead) {
    const std::string groups =
        R"("inputs": {"values": ["[{\"pg_name\": \"3\", \"ranks\": [1, 0]}]"], "shapes": [[]]})";
    const std::string text = graph(fmt::format(
        R"({{"id": 1, "type": 1, {}}}, {{"id": 2, "type": 7, "comm_type": 0, "comm_size": 8, "pg_name": "3"}})",
        groups));
    STRCMP_CONTAINS("[all-reduce of group 3 (0) 1,0]", shown(read({text, text})).c_str());
}

TEST(ChakraJson, AFileOfGroupsIsReadOrRefused) {
    const std::string trace =
        graph(R"({"id": 1, "type": 7, "comm_type": 0, "comm_size": 8, "comm_group": 1})");
    const auto read_with = [&](const std::string& groups) { return read({trace, trace}, groups); };
    STRCMP_CONTAINS("group 1 (0) 1,0]", shown(read_with(R"({"1": [1, 0], "2": [7]})")).c_str());
    STRCMP_CONTAINS("group 1 (0) 0,1]", shown(read_with(R"({"1": []})")).c_str());
    STRCMP_CONTAINS(R"(0: node 1 names group "1", and nothing says which ranks it has; do: name a file of)",
                    errors_of(read_with("{}")).c_str());
    const std::vector<Case> cases{
        {"[]",
         "groups:1:1: this is not a list of ranks by the name of their group; do: write {\"1\": [0, 1], "
         "\"2\""},
        {"{\"1\": {}}", "groups:1:7: this is not a list of ranks by the name of their group"},
        {"{\"1\": 7}", "groups:1:7: this is not a list of ranks"},
        {"{\"1\": [[0]]}", "groups:1:8: this is not a list of ranks"},
        {"{\"1\": [0, -1]}", "groups:1:12: this is not a list of ranks"},
        {"{\"1\": [65536]}", "groups:1:12: this is not a list of ranks"},
        {"{\"1\": [0], \"1\": [0]}", "groups: group \"1\" is there twice; do: leave one out"},
        {"{\"1\": [0", "groups:1:8: the file ends before its last object does"},
        {"{\"1\": [0, 2]}",
         "0: node 1 takes part in group 1, which has rank 2, and there are 2; do: correct the ranks"},
        {"{\"1\": [1, 1]}", "0: node 1 takes part in group 1, which has rank 1 twice"}};
    std::string wrong;
    for (const auto& [text, wanted] : cases)
        if (const std::string error = errors_of(read_with(text)); !error.starts_with(wanted))
            wrong += fmt::format("{}is not {}\n", error, wanted);
    STRCMP_EQUAL("", wrong.c_str());
}

TEST(ChakraJson, AValueOfMoreThan16MiBAndDeepListsTakeNoMemory) {
    const std::string before = R"({"workload_graph": [{"id": 1, "type": 4, "runtime": 1, "x": )";
    STRCMP_EQUAL("0:1:16777275: a value has more than 16777216 bytes; do: leave it out of the file\n",
                 errors_of(read({before + '"' + std::string(17U << 20U, 'a') + "\"}]}"})).c_str());
    const std::string lists = before + std::string(1'000'000, '[') + std::string(1'000'000, ']') + "}]}";
    STRCMP_EQUAL("1 gpu 1us | 1 gpu 1us", shown(read({lists})).c_str());
}

}  // namespace sluice::chakra_json_test

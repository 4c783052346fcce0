// Flow lists in both formats: what is refused, with its place, then what is read.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "control/fabric/schedule/workload_file.hh"
#include "control/fabric/workload/flow_list.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::flow_list_test {

using namespace sluice::fabric;

namespace {

const std::vector<std::string> hosts{"h1", "h2", "h3", "h4"};

std::string errors_of(const FlowListResult& list) {
    if (list) return "good";
    std::string text;
    for (const ConfigError& error : list.error()) text += error.text() + "\n";
    return text;
}

FlowListResult parse(std::string_view text, const FlowListSettings& settings = {}) {
    return parse_flow_list(text, "f", hosts, settings);
}

FlowList list_of(std::string_view text, const FlowListSettings& settings = {}) {
    auto list = parse(text, settings);
    if (!list) FAIL((errors_of(list) + std::string(text)).c_str());
    return std::move(*list);
}

// "h1>h2 1000 @ 5ns", with what is not by default, "; " between two flows.
std::string shown(const FlowList& list) {
    std::string text;
    for (const ListedFlow& flow : list.flows) {
        if (!text.empty()) text += "; ";
        text += fmt::format("{}>{} {} @ {}", hosts[flow.from], hosts[flow.to], flow.bytes, flow.start.ps);
        if (flow.tc != ListedFlow::by_default) text += fmt::format(" tc {}", flow.tc);
        if (flow.qps != 1) text += fmt::format(" qps {}", flow.qps);
        if (flow.name != ListedFlow::none) text += fmt::format(" name {}", list.name_of(flow));
        if (flow.after != ListedFlow::none) text += fmt::format(" after {}", flow.after);
    }
    return text;
}

void check_contains(const std::string& text, const std::string& part, std::string_view of) {
    if (text.find(part) == text.npos)
        FAIL(fmt::format("{}\nlacks: {}\nof: {}", text, part, of.substr(0, 200)).c_str());
}

const std::string head = "src,dst,size,start\n";
const std::string waiting = "name,src,dst,size,after\n";

struct Case {
    std::string text, wanted;
};

}  // namespace

TEST_GROUP(FlowList){};

TEST(FlowList, WhatIsWrongIsNamedWithItsPlaceAndTheRemedy) {
    const std::vector<Case> cases{
        {"", "f: the file lists no flow; do: name another file"},
        {"\n# nothing\n", "f: the file lists no flow"},
        {"hello\n", "f:1:1: the first line is neither a header"},
        {"0 1 3 100 1000 2.0\n", "f:1:1: the first line is neither a header"},
        {head, "f: the file lists no flow"},
        {"src,dst,size\nh1,h2,1\n", "f:1:1: the header has no column for the start; do: call one start"},
        {"src,dst,size,after\n", "f:1:1: the header has no column for the name"},
        {"src,dst,size,bytes,start\n", R"(f:1:14: columns "size" and "bytes" are both the size)"},
        {"src,dst,\"size\n", "f:1:1: the first line is neither"},
        {head + "h1,h9,1,0\n",
         R"(f:2:4: there is no host "h9"; do: write h1, or say in the workload's hosts)"},
        {head + "h1,4,1,0\n", R"(f:2:4: there is no host "4": the fabric has 4, which count from 0)"},
        {head + ",h2,1,0\n", "f:2:1: the source is empty"},
        {head + "h1,h1,1,0\n", "f:2:4: h1 sends to itself"},
        {head + "h1,0,1,0\n", "f:2:4: h1 sends to itself"},
        {head + "h1,h2,0,0\n", R"(f:2:7: size "0" is less than a byte)"},
        {head + "h1,h2,-1,0\n", R"(f:2:7: size "-1" is negative)"},
        {head + "h1,h2,1.5,0\n", R"(f:2:7: size "1.5" is not a whole number of bytes; do: round it)"},
        {head + "h1,h2,1 Mb,0\n", R"(size "1 Mb" has the unknown unit "Mb")"},
        {head + "h1,h2,1099511627777,0\n", R"(size "1099511627777" is more than 1TiB)"},
        {head + "h1,h2,1e400,0\n", R"(size "1e400" is too large)"},
        {head + "h1,h2,1e99999999999999999999,0\n", "has an exponent out of range"},
        {head + "h1,h2,99999999999999999999999999999999999999999999999999,0\n", "is too large"},
        {head + "h1,h2,,0\n", R"(f:2:7: size "" is empty)"},
        {head + "h1,h2,1,\n", R"(f:2:9: start "" is empty)"},
        {head + "h1,h2,1,-2\n", R"(f:2:9: start "-2" is negative)"},
        {head + "h1,h2,1,nan\n", R"(start "nan" does not start with a number)"},
        {head + "h1,h2,1,2x\n", R"(start "2x" has the unknown unit "x")"},
        {head + "h1,h2,1,1.\n", R"(start "1." has no digit after the decimal point)"},
        {head + "h1,h2,1,1700000000\n", "is later than 1000000s; do: count times from the first flow's"},
        {head + "h1,h2,1\n", "f:2:1: the line has 3 values, and the header 4 columns"},
        {head + "h1,h2,1,0,7\n", "f:2:1: the line has 5 values"},
        {head + "h1,h2,1,\"0\n", "f:2:9: the quote is not closed"},
        {"src,dst,size,start,tc\nh1,h2,1,0,8\n", R"(f:2:11: class "8" is not from 0 to 7)"},
        {"src,dst,size,start,qps\nh1,h2,1,0,0\n", R"(f:2:11: qps "0" is not from 1 to 1000)"},
        {"src,dst,size,start,qps\nh1,h2,1,0,1.5\n", R"(qps "1.5" is not a whole number)"},
        {"src,dst,size,start,id\nh1,h2,1,0," + std::string(65, 'a') + "\n", "is longer than 64 bytes"},
        {"src,dst,size,start,id\nh1,h2,1,0,\"a\nb\"\n", "control characters"},
        {waiting + "a,h1,h2,1,b\n", R"(f:2:11: no flow is called "b")"},
        {waiting + "a,h1,h2,1,a\n", R"(f:2:1: flows wait for each other in a circle: "a" after "a")"},
        {waiting + "a,h1,h2,1,c\nb,h1,h2,1,a\nc,h1,h2,1,b\nd,h1,h2,1,a\n",
         R"(flows wait for each other in a circle: "a" after "c" after "b" after "a"; do: leave one)"},
        {waiting + "a,h1,h2,1,\na,h1,h2,1,\nb,h1,h2,1,a\n", R"(f:4:11: several flows are called "a")"},
        {std::string("src,dst\0,size,start\n", 20), "f:1:1: the line has a NUL byte, so this is not a text"},
        {head + std::string(70'000, 'x'), "f:2:1: the line is longer than 65536 bytes"},
        {std::string(1'000'000, '7'), "f:1:1: the line is longer than 65536 bytes"},
        {head + "h1,h2,1,\"" + std::string(100, '\n') + std::string(60'000, '\n'), "the quote is not closed"},
        {"2\n0 1 3 100 1000 2\n", "f:1:1: the first line says 2 flows, and the file lists 1; do: write 1"},
        {"18446744073709551615\n0 1 3 100 1000 2\n", "says 18446744073709551615 flows, and the file lists 1"},
        {"99999999999999999999\n0 1 3 100 1000 2\n", "f:1:1: the first line is neither"},
        {"1\n0 1 3\n", "f:2:1: a flow has 6 values, and this line 3"},
        {"2\n0 1 3 100 1000 2\n0 1 3 1000 2\n", "f:3:1: the line has 5 values, and the first flow 6"},
        {"1\n0 1 8 100 1000 2\n", R"(f:2:5: class "8" is not from 0 to 7)"},
        {"1\n0 1 3 100 1000 2.0.0\n", R"(f:2:16: start "2.0.0" has the unknown unit ".0")"},
        {"1\n0 9 3 100 1000 2\n", R"(f:2:3: there is no host "9")"},
        {"0\n", "f: the file lists no flow"}};
    for (const Case& each : cases) {
        const auto list = parse(each.text);
        check_contains(errors_of(list), each.wanted, each.text);
        if (!list)
            for (const ConfigError& error : list.error()) CHECK(error.text().find('\n') == std::string::npos);
    }
}

TEST(FlowList, ReadsColumnsByTheirNames) {
    const std::vector<Case> cases{
        {head + "h1,h2,1000,0.5\n", "h1>h2 1000 @ 500000000000"},
        {"\xEF\xBB\xBFsrc,dst,size,start\r\nh1,h2,1,0\r\n", "h1>h2 1 @ 0"},
        {"start,size,dst,src\n0,1,h2,h1", "h1>h2 1 @ 0"},
        {"Source;Destination;Bytes;Start_Time\nh1;h2;1;1e-05\n", "h1>h2 1 @ 10000000"},
        {"from\tto\tflow_size\tarrival\nh1\th2\t2e3\t0\n", "h1>h2 2000 @ 0"},
        {"\n# a trace\n\nsrc,dst,size,start\n\n# flows\n h1 , h2 , 1 , 0 \t\n\n", "h1>h2 1 @ 0"},
        {"#src,dst,size,start\nh1,h2,1,0\n", "h1>h2 1 @ 0"},
        {"src_host,dst_host,size_kb,start_us\nh1,h2,1.5,2.5\n", "h1>h2 1500 @ 2500000"},
        {"src,dst,size (MiB),start [ns]\nh1,h2,1,3\n", "h1>h2 1048576 @ 3000"},
        {"src,dst,length,start(\xC2\xB5s)\nh1,h2,1,3\n", "h1>h2 1 @ 3000000"},
        {"srcId,dstId,flowSizeBytes,startMs\n0,3,9.0,3\n", "h1>h4 9 @ 3000000000"},
        {head + "h1,h2,1.5 MB,10us\n", "h1>h2 1500000 @ 10000000"},
        {head + "h1,h2,1KiB,2 ns\n", "h1>h2 1024 @ 2000"},
        {"src,dst,size_kb,start_us\nh1,h2,7B,1s\n", "h1>h2 7 @ 1000000000000"},
        {head + "h1,h2,1000000000000,0.10000000000000001\n", "h1>h2 1000000000000 @ 100000000000"},
        {head + "h1,h2,1,0.0000000000005\n", "h1>h2 1 @ 1"},
        {head + "h1,h2,1,0.00000000000000000000000000000000000000000000000049\n", "h1>h2 1 @ 0"},
        {head + "h1,h2,1,1e-400\n", "h1>h2 1 @ 0"},
        {head + "\"h1\",\"h2\",\"1\",\"0\"\n", "h1>h2 1 @ 0"},
        {"src,dst,size,start,note\nh1,h2,1,0,\"a, \"\"b\"\"\nc\"\nh2,h3,2,0,\n", "h1>h2 1 @ 0; h2>h3 2 @ 0"},
        {head + "h1,h2,1,0,,\n", "h1>h2 1 @ 0"},
        {"src,dst,size,start,priority,qp,id\nh1,h2,9,0,3,4,a b\nh1,h2,9,0,,,\n",
         "h1>h2 9 @ 0 tc 3 qps 4 name a b; h1>h2 9 @ 0"},
        {"src,dst,size,start,qps\nh1,h2,3,0,8\n", "h1>h2 3 @ 0 qps 3"},
        {"1\n0 1 3 100 1000 2\n", "h1>h2 1000 @ 2000000000000 tc 3"},
        {"1\r\n0\t1  3 100 1000 2.000000001 \r\n", "h1>h2 1000 @ 2000000001000 tc 3"},
        {"2 # flows\n\n0 1 3 1000 0\n# more\n1 2 0 5 0.1 # the last",
         "h1>h2 1000 @ 0 tc 3; h2>h3 5 @ 100000000000 tc 0"},
        {"1\n0 1 3 100 1000 2 9\n", "h1>h2 1000 @ 2000000000000 tc 3"},
        {"1\nh3 h4 3 100 1000 2\n", "h3>h4 1000 @ 2000000000000 tc 3"}};
    for (const Case& each : cases) STRCMP_EQUAL(each.wanted.c_str(), shown(list_of(each.text)).c_str());
}

TEST(FlowList, NotesSayHowTheFileIsRead) {
    const std::vector<Case> cases{
        {"src,dst,size_kb,start_us,color,shape\nh1,h2,1,0,,\n",
         R"(columns: source "src", destination "dst", size "size_kb" in 1KB, start "start_us" in 1us)"},
        {"src,dst,size,start,color,shape\nh1,h2,1,0,,\n", R"(columns left out: "color", "shape")"},
        {"1\n0 1 3 100 1000 2\n0 2 3 100 1000 2\n0 3 3 100 1000 2\n\nFirst line: # of flows\n",
         "the file lists 3 flows, and its first line says 1: 1 was read, as ns-3 does"},
        {"1\n0 1 3 1000 2\n", "5 values a flow: source, destination, class, bytes, start"},
        {"1\n0 1 3 100 1000 2 9\n", "values behind a flow's start are left out"},
        {"2\n0 1 3 100 1000 2\n0 1 3 100 1000 1\n",
         "the file's flows are not in order of their starts: sorted"}};
    for (const Case& each : cases)
        check_contains(fmt::format("{}", fmt::join(list_of(each.text).notes, "\n")), each.wanted, each.text);
    CHECK(list_of("2\n0 1 3 100 1000 1\n0 1 3 100 1000 1\n").notes.empty());
}

TEST(FlowList, IsSortedByStartAndKeepsTheOrderOfEqualOnes) {
    const FlowList list =
        list_of("name,src,dst,size,start\na,h1,h2,1,2\nb,h1,h2,1,1\nc,h1,h2,1,2\nd,h1,h2,1,1\ne,h1,h2,1,0\n");
    std::string names, numbers, lines;
    for (const ListedFlow& flow : list.flows) {
        names += list.name_of(flow);
        numbers += std::to_string(flow.number);
        lines += std::to_string(flow.line);
    }
    STRCMP_EQUAL("ebdac", names.c_str());
    STRCMP_EQUAL("52413", numbers.c_str());
    STRCMP_EQUAL("63524", lines.c_str());
    CHECK_EQUAL(5, list.timed);
    CHECK_EQUAL(5, list.bytes());
}

TEST(FlowList, DependenciesFollowTheSorting) {
    const FlowList list = list_of(
        "name,src,dst,size,start,after\nlast,h1,h2,1,,mid\nb,h1,h2,1,1,\nmid,h1,h2,1,5us,a\na,h1,h2,1,0,\n");
    STRCMP_EQUAL(
        "h1>h2 1 @ 0 name a; h1>h2 1 @ 1000000000000 name b; h1>h2 1 @ 0 name last after 3; h1>h2 1 @ "
        "5000000 name mid after 0",
        shown(list).c_str());
    CHECK_EQUAL(2, list.timed);
}

TEST(FlowList, TimesAndSizesAreScaled) {
    FlowListSettings settings;
    settings.scale_time = 0.001;
    settings.scale_bytes = 0.01;
    settings.start = microseconds(7);
    settings.traffic_class = 4;
    settings.qps = 2;
    const std::string columns = "name,src,dst,size,start,after,tc,qps\n";
    STRCMP_EQUAL("h1>h2 10 @ 1007000000 tc 4 qps 2 name a; h1>h2 1 @ 2000000000 tc 0 name b after 0",
                 shown(list_of(columns + "a,h1,h2,1000,1,,,\nb,h1,h2,7,2,a,0,9\n", settings)).c_str());
    settings.scale_bytes = 1e9;
    check_contains(errors_of(parse(head + "h1,h2,1MB,0\n", settings)), "is more than 1TiB", "scaled");
    settings.start = max_flow_start;
    check_contains(errors_of(parse(head + "h1,h2,1,1\n", settings)), "the flow starts later than 1000000s",
                   "start");
}

TEST(FlowList, HostsGoByTheirMapThenTheirNameThenTheirNumber) {
    FlowListSettings settings;
    settings.hosts = {{"node 7", "h4"}, {"h1", "h2"}, {"0", "h3"}};
    STRCMP_EQUAL("h4>h2 1 @ 0; h3>h2 1 @ 0",
                 shown(list_of(head + "node 7,h1,1,0\n0,1,1,0\n", settings)).c_str());
}

TEST(FlowList, TheFormatMayBeSaid) {
    FlowListSettings settings;
    settings.format = WorkloadFormat::csv;
    check_contains(errors_of(parse("1\n0 1 3 100 1000 2\n", settings)),
                   "the header has no column for the source", "csv");
    settings.format = WorkloadFormat::hpcc;
    check_contains(errors_of(parse(head, settings)), "f:1:1: the first line is not the number of flows",
                   "hpcc");
    CHECK(list_of(head + "h1,h2,1,0\n").format == WorkloadFormat::csv);
    CHECK(list_of("1\n0 1 3 100 1000 2\n").format == WorkloadFormat::hpcc);
}

TEST(FlowList, TenErrorsAreTold) {
    std::string text = head;
    for (int n = 0; n < 1000; ++n) text += "h1,h9,1,0\n";
    const auto list = parse(text);
    CHECK(!list);
    CHECK_EQUAL(11, list.error().size());
    STRCMP_EQUAL("f: reading stopped at the tenth error; do: correct these first",
                 list.error().back().text().c_str());
}

TEST(FlowList, ALongListIsReadAsItIsWritten) {
    constexpr std::size_t count = 100'000;
    std::string text = "src,dst,size,start_ns\n";
    for (std::size_t n = 0; n < count; ++n)
        text += fmt::format("h{},h{},{},{}\n", 1 + n % 3, 2 + n % 3, n + 1, n / 2);
    const FlowList list = list_of(text);
    CHECK_EQUAL(count, list.flows.size());
    bool same = true;
    for (std::size_t n = 0; n < count; ++n) {
        const ListedFlow& flow = list.flows[n];
        same &= flow.from == n % 3 && flow.to == 1 + n % 3 && flow.bytes == n + 1 &&
                flow.start == nanoseconds(static_cast<std::int64_t>(n / 2)) && flow.line == n + 2;
    }
    CHECK(same);
    CHECK(list.memory_bytes() <= 2 * count * sizeof(ListedFlow));
}

TEST(FlowList, OnlyRegularFilesAreRead) {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / fmt::format("flow-list-{}", getpid());
    fs::create_directory(folder);
    const auto read = [&](const std::string& name) {
        const auto contents = read_workload_file((folder / name).string(), hosts, {});
        return contents ? std::string("good") : contents.error().front().text();
    };
    std::ofstream(folder / "list.csv") << head << "h1,h2,1,0\n";
    STRCMP_EQUAL("good", read("list.csv").c_str());
    check_contains(read("none.csv"), "the file cannot be read: No such file or directory; do: name a file",
                   "none");
    check_contains(read("."), "it is not a regular file; do: name a regular file", "folder");
    CHECK_EQUAL(0, mkfifo((folder / "fifo").c_str(), S_IRUSR | S_IWUSR));
    check_contains(read("fifo"), "it is not a regular file", "fifo");
    fs::remove_all(folder);
}

}  // namespace sluice::flow_list_test

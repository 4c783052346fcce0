// [[workload]]: a list of flows becomes a part of the plan, and one flow of its name.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "control/fabric/plan/fabric_plan.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::workload_test {

using namespace sluice::fabric;
namespace fs = std::filesystem;

namespace {

const std::string star = "[topology]\nkind = \"star\"\nhosts = 4\n";  // three lines
const std::string list = "src,dst,size,start\nh1,h2,3MB,2\n3,0,5,1\n";

}  // namespace

TEST_GROUP(Workload) {
    fs::path folder = fs::temp_directory_path() / fmt::format("workload-{}", getpid());

    void setup() override {
        fs::create_directory(folder);
        write("trace.csv", list);
    }
    void teardown() override { fs::remove_all(folder); }

    void write(const std::string& name, const std::string& text) { std::ofstream(folder / name) << text; }

    tl::expected<FabricPlan, std::vector<ConfigError>> make(const std::string& text,
                                                            const std::vector<std::string>& sets = {}) {
        auto file = parse_fabric(star + text, (folder / "f.toml").string(), sets);
        if (!file) return tl::unexpected(file.error());
        return make_plan(std::move(*file));
    }
    // Without the folder; "good".
    std::string error_of(const std::string& text) {
        const auto plan = make(text);
        if (plan) return "good";
        std::string error = plan.error().front().text();
        for (const std::string prefix = folder.string() + "/"; error.find(prefix) != error.npos;)
            error.erase(error.find(prefix), prefix.size());
        return error;
    }
    FabricPlan plan_of(const std::string& text, const std::vector<std::string>& sets = {}) {
        auto plan = make(text, sets);
        if (!plan) FAIL(plan.error().front().text().c_str());
        return std::move(*plan);
    }
};

TEST(Workload, WhatIsWrongIsNamedWithItsPlaceAndTheRemedy) {
    const std::string section = "[[workload]]\nfile = \"trace.csv\"\n";
    write("bad.csv", "src,dst,size,start\nh1,h2,1,0\nh1,h7,1,0\n");
    const std::vector<std::pair<std::string, std::string>> cases{
        {"[[workload]]\n",
         "f.toml:4:1: workload[0].file: the workload has no file; do: write file, or text, one of them"},
        {"[[workload]]\nfile = \"none.csv\"\n",
         R"(f.toml:4:1: workload[0].file: "none.csv": the file cannot be read: No such file or directory; do: name a file that exists)"},
        {"[[workload]]\nfile = \".\"\nname = \"a\"\n", "it is not a regular file"},
        {"[[workload]]\nfile = \"bad.csv\"\n", R"(bad.csv:3:4: there is no host "h7"; do: write h1)"},
        {section + "format = \"xml\"\n", R"(f.toml:6:10: workload[0].format: "xml" is not a known word)"},
        {section + "format = \"hpcc\"\n", "trace.csv:1:1: the first line is not the number of flows"},
        {section + "scale_time = 0\n", "workload[0].scale_time: 0 is not from 1e-09 to 1000000000"},
        {section + "scale_bytes = \"2\"\n", "is not a number"},
        {section + "class = 8\n", "workload[0].class: 8 is too large"},
        {section + "qps = 0\n", "workload[0].qps: 0 is too small"},
        {section + "hosts = 5\n", "workload[0].hosts: 5 is not a table"},
        {section + "hosts = {a = 5}\n", "workload[0].hosts.a"},
        {section + "hosts = {a = \"h9\"}\n", R"(workload[0].hosts.a: there is no host "h9")"},
        {section + section, R"(workload[1].name: another flow, collective or workload is called "trace")"},
        {section + "[[flow]]\nname = \"trace\"\nfrom = \"h1\"\nto = \"h2\"\n", "is called \"trace\""}};
    std::string wrong;
    for (const auto& [text, wanted] : cases)
        if (const std::string error = error_of(text); error.find(wanted) == error.npos)
            wrong += fmt::format("{}\nlacks: {}\n", error, wanted);
    STRCMP_EQUAL("", wrong.c_str());
}

TEST(Workload, ItsFlowsAreInThePlanAndOneFlowStandsForThem) {
    const FabricPlan plan = plan_of(
        "[[flow]]\nfrom = \"h1\"\nto = \"h2\"\n[[collective]]\nkind = \"all-gather\"\nhosts = \"all\"\n"
        "[[workload]]\nfile = \"trace.csv\"\nclass = 3\nstart = \"5us\"\n");
    CHECK_EQUAL(1, plan.workloads.size());
    const WorkloadPlan& made = plan.workloads[0];
    CHECK_EQUAL(2, made.flow);
    CHECK_EQUAL(3, plan.file.flows.size());
    const FlowConfig& flow = plan.file.flows[2];
    STRCMP_EQUAL("trace", flow.name.c_str());
    CHECK(flow.from.empty() && flow.to.empty() && flow.messages == 1);
    CHECK_EQUAL(5, flow.message.min_bytes);
    CHECK_EQUAL(3'000'000, flow.message.max_bytes);
    CHECK(flow.start == seconds(1) + microseconds(5));
    const auto host = [&](std::uint32_t n) { return plan.topology.nodes[plan.hosts[n]].name; };
    STRCMP_EQUAL("h4", host(made.list.flows[0].from).c_str());
    STRCMP_EQUAL("h1", host(made.list.flows[0].to).c_str());
    STRCMP_EQUAL("h1", host(made.list.flows[1].from).c_str());
    CHECK_EQUAL(3, made.list.flows[1].tc);
}

TEST(Workload, EveryKeyIsSetOnTheCommandLineAndAsked) {
    const FabricPlan plan =
        plan_of("[[workload]]\nfile = \"other.csv\"\nname = \"w\"\n",
                {"workload.w.file=trace.csv", "workload.w.scale_time=0.5", "workload.0.scale_bytes=2",
                 "workload.w.hosts.h1=h3", "workload.w.qps=2", "workload.w.format=csv"});
    const FlowList& flows = plan.workloads[0].list;
    CHECK(flows.flows[0].start == milliseconds(500));
    CHECK_EQUAL(10, flows.flows[0].bytes);
    CHECK_EQUAL(2, flows.flows[0].qps);
    CHECK_EQUAL(2, flows.flows[1].from);
    const auto asked = [&](const std::string& path) {
        const auto found = std::ranges::find(plan.asked, path, &ConfigChange::path);
        return found == plan.asked.end() ? std::string() : found->to;
    };
    STRCMP_EQUAL("\"trace.csv\"", asked("workload.0.file").c_str());
    STRCMP_EQUAL("0.5", asked("workload.0.scale_time").c_str());
    STRCMP_EQUAL("\"csv\"", asked("workload.0.format").c_str());
    STRCMP_EQUAL("{\"h1\" = \"h3\"}", asked("workload.0.hosts").c_str());
    STRCMP_EQUAL("", asked("workload.0.class").c_str());
}

TEST(Workload, CheckSaysWhatIsInIt) {
    const std::string text = plan_text(plan_of("[[workload]]\nfile = \"trace.csv\"\n"));
    for (const std::string part :
         {"workload \"trace\": csv, 2 flows of 3000.0 KB between 3 of 4 hosts, starts from 1000.0 ms to "
          "2000.0 ms; with its hosts the list takes ",
          "  columns: source \"src\", destination \"dst\", size \"size\", start \"start\" in 1s\n"})
        if (text.find(part) == text.npos) FAIL((text + "\nlacks: " + part).c_str());
}

}  // namespace sluice::workload_test

// Any text as a fabric's file: it is refused with a reason, or planned and judged without a fault; commands
// of its events are read.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tools/fabric/plan/fabric_lint.hh"
#include "tools/fabric/report/drawing.hh"
#include "tools/fabric/run/commands.hh"

namespace {

void require(bool holds, const char* what, const std::string& text = {}) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n%s\n", what, text.c_str());
    std::abort();
}

bool is_one_line(const std::string& text) { return !text.empty() && text.find('\n') == std::string::npos; }

constexpr std::size_t small = 60;  // nodes of a fabric that is judged whole: it costs by switch

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const std::string text(reinterpret_cast<const char*>(data), size);
    auto file = fabric::parse_fabric(text, "fuzz.toml");
    if (!file) {
        require(!file.error().empty(), "a refusal says why");
        for (const ConfigError& error : file.error())
            require(is_one_line(error.text()), "an error is one line", error.text());
        return 0;
    }
    auto plan = fabric::make_plan(std::move(*file));
    if (!plan) {
        for (const ConfigError& error : plan.error())
            require(is_one_line(error.text()), "an error is one line", error.text());
        return 0;
    }
    for (const EventConfig& event : plan->file.events) fabric::check_command(*plan, event.command);
    if (plan->topology.nodes.size() > small) return 0;
    fabric::draw(plan->topology, {});
    for (const fabric::FabricFinding& finding : fabric::judge(*plan, false))
        require(is_one_line(finding.text("fuzz.toml")), "a finding is one line", finding.text("fuzz.toml"));
    return 0;
}

// Any bytes as what a client of the control socket sends, line by line: each line has one answer of one line
// of JSON or, being a notification, none; and what runs afterwards can be written down and loaded back equal.
// Every input meets the same switch.
#include <string>

#include "control/config/schema/schema.hh"
#include "tests/control/api_bench.hh"
#include "tests/fuzz/require.hh"

namespace {

using namespace sluice;

void check_answer(const std::string& answer) {
    require(answer.find('\n') == std::string::npos, "an answer is one line", answer);
    if (answer.empty()) return;
    const Json said = Json::parse(answer, nullptr, false);
    require(!said.is_discarded(), "an answer is JSON", answer);
    for (const Json& one : said.is_array() ? said : Json::array({said}))
        require(one.is_object() && one.value("jsonrpc", "") == "2.0" && one.contains("id") &&
                    one.contains("result") != one.contains("error"),
                "an answer has a result or an error", answer);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    ApiBench& bench = ApiBench::get();
    const auto api = bench.api();
    RpcClient client;
    std::string_view rest(reinterpret_cast<const char*>(data), size);
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        check_answer(answer_line(*api, client, rest.substr(0, end)));
        api->changes().tick();
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    const std::string written = to_toml(bench.running->config());
    const ConfigResult again = parse_config(written, "written.toml");
    require(again.has_value(), "what runs can be loaded", written);
    require(*again == bench.running->config(), "it loads back equal", written);
    bench.reset();
    return 0;
}

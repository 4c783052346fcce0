// Any text as a configuration: it is loaded or refused with a place, judged without a fault, and what loads
// is written down so that it loads back equal.
#include <string>

#include "control/config/lint/lint.hh"
#include "control/config/schema/config.hh"
#include "control/config/schema/schema.hh"
#include "tests/fuzz/require.hh"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    const std::string text(reinterpret_cast<const char*>(data), size);
    const ConfigResult loaded = parse_config(text, "fuzz.toml");
    if (!loaded) {
        require(!loaded.error().empty(), "a refusal says why");
        for (const ConfigError& error : loaded.error())
            require(is_one_line(error.text()), "an error is one line", error.text());
        return 0;
    }
    for (const Finding& finding : check_config(*loaded, Machine{4}))
        require(is_one_line(finding.text("fuzz.toml")), "a finding is one line", finding.text("fuzz.toml"));
    const std::string written = to_toml(*loaded);
    const ConfigResult again = parse_config(written, "written.toml");
    require(again.has_value(), "what was written loads", written);
    require(*again == *loaded, "it loads back equal", written);
    require(to_toml(*again) == written, "and is written alike", written);
    return 0;
}

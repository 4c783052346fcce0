// Any text as another switch's configuration: it is refused with a reason, or imported so that each line says
// something, the result loads back equal, and its tables of SONiC can be imported again. The first byte says
// by which reader.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "control/config/config.hh"
#include "control/config/schema.hh"
#include "control/text/json_text.hh"
#include "tools/import/import.hh"
#include "tools/import/to_sonic.hh"
#include "tools/import/verdict.hh"

namespace {

void require(bool holds, const char* what, const std::string& text = {}) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n%s\n", what, text.c_str());
    std::abort();
}

bool is_one_line(const std::string& text) { return !text.empty() && text.find('\n') == std::string::npos; }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice;
    using namespace sluice::import;
    if (size == 0) return 0;
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const Source source = data[0] % 2 == 0 ? Source::sonic : Source::cumulus;
    const auto imported = import_text(text, source, {});
    if (!imported) {
        require(is_one_line(imported.error().text("fuzz")), "a refusal is one line",
                imported.error().text("fuzz"));
        return 0;
    }
    for (const Line& line : imported->account.lines())
        require(!line.what.empty(), "a line says something", line.path);
    static_cast<void>(imported->account.summary("fuzz", {Fate::wrong, Fate::taken}));
    const std::string written = to_file(*imported, "fuzz", source);
    const ConfigResult loaded = parse_config(written, "fuzz.toml");
    require(loaded.has_value(), "it loads", loaded ? "" : loaded.error().front().text() + "\n" + written);
    require(to_toml(*loaded) == to_toml(imported->config), "it loads back equal", written);
    static_cast<void>(judge_import(*loaded, "fuzz.toml"));
    const auto again = import_text(json_text(to_sonic(*loaded)), Source::sonic, {});
    require(again.has_value(), "its tables are read", again ? "" : again.error().text("fuzz"));
    return 0;
}

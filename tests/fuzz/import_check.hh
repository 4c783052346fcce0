// What holds of any text as another switch's configuration: it is refused with a reason, or imported so that
// each line says something, the result loads back equal, what is exported of it to one maker can be imported
// again, and a patch without a change is none.
#pragma once

#include <optional>
#include <string>

#include "control/config/lint/lint.hh"
#include "control/config/schema/config.hh"
#include "control/config/schema/schema.hh"
#include "tests/fuzz/require.hh"
#include "tools/import/exporting.hh"
#include "tools/import/importing.hh"

namespace sluice::import {

inline void check_import(const std::string& text, std::optional<Source> source) {
    const auto imported = import_text(text, source, {});
    if (!imported) {
        require(is_one_line(imported.error().text("fuzz")), "a refusal is one line",
                imported.error().text("fuzz"));
        return;
    }
    for (const Line& line : imported->account.lines())
        require(!line.what.empty(), "a line says something", line.path);
    static_cast<void>(imported->account.summary("fuzz", {Fate::wrong, Fate::taken}));
    const std::string written = to_file(*imported, "fuzz");
    const ConfigResult loaded = parse_config(written, "fuzz.toml");
    require(loaded.has_value(), "it loads", loaded ? "" : loaded.error().front().text() + "\n" + written);
    require(to_toml(*loaded) == to_toml(imported->config), "it loads back equal", written);
    static_cast<void>(judge_import(*loaded, Machine{}, "fuzz.toml"));
    // An input is exported to one maker, by its size: that takes four times as long as all of the above.
    const auto formats = export_formats();
    const ExportFormat& format = formats[text.size() % formats.size()];
    const Item* document = imported->source == format.source ? imported->document.get() : nullptr;
    require(!format.write({imported->config, imported->config, document, true}).changes, "nothing changes",
            written);
    const Exported whole = format.write({*loaded, *loaded});
    if (whole.text.empty()) return;  // lines of nv set, where there is no port
    const auto again = import_text(whole.text, format.source, {});
    require(again.has_value(), "what is exported is read", again ? "" : again.error().text("fuzz"));
}

}  // namespace sluice::import

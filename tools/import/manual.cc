#include "tools/import/manual.hh"

#include <fmt/format.h>

#include "control/config/text/man_page.hh"
#include "tools/import/account.hh"
#include "tools/import/arguments.hh"

namespace sluice::import {

std::string man_page(std::string_view version) {
    ManPage page("sluice-import", '1', "make a configuration of sluiced from that of another switch",
                 version);
    page.heading("SYNOPSIS").lines(synopsis());
    page.heading("DESCRIPTION").paragraph(purpose());
    page.heading("OPTIONS");
    for (const OptionHelp& each : option_help())
        page.entry(fmt::format("--{}", each.name), each.argument, each.sentence);
    page.heading("THE ACCOUNT")
        .paragraph(
            "Every line of FILE is told with its place and what became of it, FILE:LINE:COLUMN: PATH: one "
            "of");
    for (const FateHelp& each : known_fates) page.entry(each.name, "", each.sentence);
    page.heading("EXIT STATUS").paragraph(exit_status());
    page.heading("EXAMPLE").lines(
        "sluice-import config_db.json -o sluice.toml\n"
        "sluice-import config_db.json -o sluice.toml --cable 100m --lossless\n"
        "sluiced --config sluice.toml --check");
    page.heading("SEE ALSO").paragraph("sluiced(8), sluice.toml(5)");
    return page.text();
}

}  // namespace sluice::import

#include "control/config/finding_id.hh"

#include <fmt/format.h>

namespace sluice {

std::string findings_reference() {
    std::string text =
        "What a check finds. An error that says `--force` may be run as a warning: the switch works and is "
        "not\n"
        "lossless. In the sentences: n ports, k lossless classes of a port in a pool, S its shared part.\n";
    for (const KnownFinding& known : known_findings)
        text += fmt::format("\n{}  {}{}\n    {}\n", known.name, known.severity,
                            known.may_be_forced ? ", --force" : "", known.when);
    return text;
}

}  // namespace sluice

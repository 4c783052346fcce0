#include "control/config/schema/finding_id.hh"

#include <fmt/format.h>

namespace sluice {

std::string_view findings_introduction() {
    return "What a check finds. An error that says `--force` may be run as a warning: the switch works and "
           "is not\n"
           "lossless. In the sentences: n ports, k lossless classes of a port in a pool, S its shared part.";
}

std::string findings_reference() {
    std::string text = fmt::format("{}\n", findings_introduction());
    for (const KnownFinding& known : known_findings)
        text += fmt::format("\n{}  {}{}\n    {}\n", known.name, known.severity,
                            known.may_be_forced ? ", --force" : "", known.when);
    return text;
}

}  // namespace sluice

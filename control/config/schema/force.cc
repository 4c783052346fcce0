#include "control/config/schema/force.hh"

#include <algorithm>

#include "control/config/schema/finding_id.hh"

namespace sluice {
namespace {

std::string reason_of(const Finding& finding) {
    return finding.path.empty() ? finding.message : finding.path + ": " + finding.message;
}

template <class Accepts>
void force_if(std::vector<Finding>& findings, Accepts accepts) {
    for (Finding& finding : findings) {
        if (finding.severity != Severity::error || !may_be_forced(finding.id) || !accepts(finding)) continue;
        finding.severity = Severity::warning;
        finding.forced = true;
    }
    std::stable_sort(findings.begin(), findings.end(),
                     [](const Finding& a, const Finding& b) { return a.severity < b.severity; });
}

}  // namespace

bool may_be_forced(std::string_view id) {
    const KnownFinding* known = find_known(id);
    return known != nullptr && known->may_be_forced;
}

bool force_helps(const std::vector<Finding>& findings) {
    return has_error(findings) && std::all_of(findings.begin(), findings.end(), [](const Finding& finding) {
               return finding.severity != Severity::error || may_be_forced(finding.id);
           });
}

void force(std::vector<Finding>& findings) {
    force_if(findings, [](const Finding&) { return true; });
}

void force_again(std::vector<Finding>& findings, const std::vector<std::string>& reasons) {
    force_if(findings, [&](const Finding& finding) {
        return std::find(reasons.begin(), reasons.end(), reason_of(finding)) != reasons.end();
    });
}

std::vector<std::string> forced_reasons(const std::vector<Finding>& findings) {
    std::vector<std::string> reasons;
    for (const Finding& finding : findings)
        if (finding.forced) reasons.push_back(reason_of(finding));
    return reasons;
}

}  // namespace sluice

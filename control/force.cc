#include "control/force.hh"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

// All other errors are of what cannot be. The table in README.md says the same, and a test compares them.
constexpr std::array<std::string_view, 6> of_judgement{
    "headroom-small",        // packets that still arrive after XOFF may be lost
    "headroom-pool",         // the same of a shared headroom that serves no group whole
    "lossless-without-pfc",  // nothing stops the sender
    "nic-pfc",               // a card that can neither be paused nor pause by our hand
    "pause-time",            // a pause may end before its refresh
    "workers-cpus",          // turns take longer than headroom reckons with
};

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
    return std::find(of_judgement.begin(), of_judgement.end(), id) != of_judgement.end();
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

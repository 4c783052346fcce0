#include "control/fabric/scenario/phases.hh"

namespace sluice::fabric {

Phases::Phases(Fabric& fabric, const std::vector<PhaseConfig>& phases) : fabric_(fabric), phases_(phases) {
    // In order of time: of two that meet, one ends before the other begins.
    for (const PhaseConfig& phase : phases_) {
        fabric_.loop().actions().at(Time{} + phase.from, [this] { begin(); });
        if (phase.to) fabric_.loop().actions().at(Time{} + *phase.to, [this, &phase] { end(phase); });
    }
}

void Phases::begin() {
    for (FabricSwitch& each : fabric_.switches()) each.running->clear_user_watermarks();
    began_ = moment_of(fabric_);
}

void Phases::end(const PhaseConfig& phase) {
    if (!began_) return;
    reports_[phase.name] = phase_report(fabric_, *began_, moment_of(fabric_));
    began_.reset();
}

nlohmann::ordered_json Phases::reports() {
    // One may go on until the end, or have been cut short.
    for (const PhaseConfig& phase : phases_)
        if (!reports_.contains(phase.name)) end(phase);
    return std::move(reports_);
}

}  // namespace sluice::fabric

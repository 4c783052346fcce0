// The curves by which lossless queues mark, as keys of a fabric's file.
//
// A profile of the file that lossless queues alone decide by is changed where it stands. A preset, or a
// profile that means several curves (linear at several speeds), becomes profiles of [switch.default]
// named "advised...", one for each curve, by sets that leave every queue's marks as they are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/compile/wred_profiles.hh"
#include "control/fabric/plan/fabric_plan.hh"

namespace sluice::fabric {

// A fabric's file without its flows and work: what its switches and hosts become with further sets.
class BareFile {
  public:
    BareFile(std::string_view text, const std::string& file, const std::vector<std::string>& sets)
        : text_(text), file_(file), sets_(sets) {}

    // An error's text.
    tl::expected<FabricPlan, std::string> plan(const std::vector<std::string>& more = {}) const;
    // The first error that check has for a switch of it, as a sentence with its remedy; empty: none.
    std::string error_of(const std::vector<std::string>& more) const;

  private:
    std::string_view text_;
    const std::string& file_;
    const std::vector<std::string>& sets_;
};

struct MarkedCurve {
    std::string prefix;  // of its keys: "switch.default.wred.advised.green_"
    CurveValues today;
    Rate speed;                    // of the slowest port that marks by it
    std::uint32_t mtu = 0;         // the largest of those ports
    std::uint32_t cell_bytes = 0;  // likewise, of their switches
    // The smallest of lint's bounds (control/config/lint/mark_bounds.hh) over those ports; 0: there is none.
    std::uint64_t limit_bytes = 0, first_mark_bytes = 0;
};

struct SwitchMarks {
    std::vector<MarkedCurve> curves;
    std::vector<std::string> base_sets;
};

// `today` is the plan of the bare file. An error is a sentence with its remedy: there is no curve to change.
tl::expected<SwitchMarks, std::string> switch_marks(const BareFile& file, const FabricPlan& today);

}  // namespace sluice::fabric

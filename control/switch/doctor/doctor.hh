// `sluiced doctor`: what a machine gives to a switch, what is wrong for a configuration, and the command that
// mends it.
#pragma once

#include <string>
#include <vector>

#include "control/config/schema/config.hh"
#include "control/switch/doctor/machine_facts.hh"

namespace sluice {

enum class Health : std::uint8_t { good, note, wrong };  // wrong: a port or the switch cannot run

struct Diagnosis {
    Health health = Health::good;
    std::string subject;  // "hugepages", "port p0"
    std::string what;     // a sentence
    std::string remedy;   // a command, or empty
};

// What the machine gives, in a fixed order of subjects. `root`: of the file system, for tests.
std::vector<Diagnosis> diagnose(const MachineFacts& facts);

// What the configuration wants and does not get; one `good` line for each port that has what it needs.
// `config` has no errors of its own (`judge_config`).
std::vector<Diagnosis> diagnose(const Config& config, const MachineFacts& facts,
                                const std::string& root = {});

// A line for each, and one below it with the command.
std::string doctor_text(const std::vector<Diagnosis>& found);

bool is_wrong(const std::vector<Diagnosis>& found);

}  // namespace sluice

// `sluiced doctor`: facts about the machine, problems for a configuration, and commands that fix them.
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

// Diagnoses the machine.
std::vector<Diagnosis> diagnose(const MachineFacts& facts);

// Diagnoses the machine for a configuration without errors. `root`: of the file system, for tests.
std::vector<Diagnosis> diagnose(const Config& config, const MachineFacts& facts,
                                const std::string& root = {});

// A line for each, and the command below it.
std::string doctor_text(const std::vector<Diagnosis>& found);

bool is_wrong(const std::vector<Diagnosis>& found);

}  // namespace sluice

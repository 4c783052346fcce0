// A configuration as statements of Cisco NX-OS, before they are text.
#pragma once

#include "tools/import/cli_text.hh"

namespace sluice::import {

inline constexpr std::string_view queuing_class_head = "class type queuing ";

// Bodies of one switch: statements of no section, and policies before they have a name.
struct NxosText {
    CliBody top, network;
    CliBodies links, qos, output, input;  // by port
    SharedBodies class_maps;              // of type qos
    PortNames names;
};

// `known`: class-maps that are there already. Tells of each key what becomes of it.
NxosText nxos_text(Exporting& out, SharedBodies known);
// The system's own class of a queue or of its ingress.
std::string output_class(unsigned queue);
std::string input_class(unsigned queue);

}  // namespace sluice::import

// Arista EOS: a running-config, or a part of one, to a configuration.
//
// EOS's words for ours: a traffic class is a class, a transmit queue (tx-queue, uc-tx-queue) is a queue, a
// PFC priority is the traffic class of its number. `service-profile` names a `qos profile`, below which
// stands what the interface says itself. Defaults are those known from use, told as assumed; headroom is the
// platform's own, so Sluice computes it. Grammar: aristanetworks/avd (eos_cli_config_gen).
#pragma once

#include <functional>
#include <string>

#include "tools/import/cli.hh"

namespace sluice::import {

struct Eos {
    Cli& cli;
    std::map<std::string, const Item*, std::less<>> profiles{};  // the first section of each name
    std::map<std::string, Settings, std::less<>> profile_settings{};

    Account& account() const { return cli.account(); }
    const Settings& settings_of(const std::string& port) const { return cli.ports.at(port).settings; }
};

// The body has statements of a switched port.
bool is_switched(const Settings& settings);
// tx-queue N and uc-tx-queue N: their bodies under "tx-queue N ". False: the statement is another.
bool take_eos_queue_body(Eos& in, const Item& section, Settings& into);

void take_eos_maps(Eos& in);      // qos map, qos trust, policies
void take_eos_queues(Eos& in);    // tx-queue, shape rate
void take_eos_pfc(Eos& in);       // priority-flow-control
void take_eos_watchdog(Eos& in);  // priority-flow-control pause watchdog

void import_eos(const Item& root, Importing& out);

}  // namespace sluice::import

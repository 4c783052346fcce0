// A KernelTables that the kernel's messages change, and its changes for the routes so far.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "tests/unit/control/switch/kernel_messages.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::kernel_messages {

// Interfaces 3 and 4 are ports, all others are not.
inline const KernelTables::Ports ports{{3, "p0"}, {4, "p1"}};

// Our tables after all changes, as text.
struct Given {
    std::map<std::string, std::string> what;

    void take(const RouteChanges& changes) {
        CHECK_TRUE(changes.origin == RouteOrigin::kernel);
        for (const auto& own : changes.addresses) put("address " + print_prefix(own.prefix), own.there, "");
        for (const auto& own : changes.subnets) put("subnet " + print_prefix(own.prefix), own.there, "");
        for (const auto& each : changes.neighbors)
            put("neighbor " + print_next_hop(each.at.address, each.at.port), each.now.has_value(),
                each.now ? print_mac(each.now->mac) + (each.is_host ? "" : " no host") : "");
        for (const auto& each : changes.routes) {
            std::string text = each.elsewhere ? "elsewhere" : "blackhole";
            if (each.now && !each.now->via.empty()) {
                text.clear();
                for (const NextHopConfig& hop : each.now->via)
                    text += fmt::format("{} {}*{} ", print_address(hop.address), hop.port, hop.weight);
            }
            put("route " + print_prefix(each.prefix), each.now.has_value(), text);
        }
    }
    void put(const std::string& key, bool there, const std::string& text) {
        what.erase(key);
        if (there) what[key] = text;
    }
    std::string at(const std::string& key) const {
        const auto found = what.find(key);
        return found != what.end() ? found->second : "none";
    }
};

struct Mirror {
    KernelTables tables{ports};
    Given given;
    void say(const KernelMessage& message) {
        tables.apply(message);
        given.take(tables.take_changes());
    }
    // All that there is, told anew.
    void told(const std::vector<KernelMessage>& all, const KernelTables::Ports& of = ports) {
        KernelTables fresh(of);
        for (const KernelMessage& message : all) fresh.apply(message);
        tables.replace(std::move(fresh));
        given.take(tables.take_changes());
    }
    // Addresses to be resolved, those to be kept with a '+'.
    std::string wanted() {
        std::string text;
        for (const auto& each : tables.take_wanted(100))
            text +=
                fmt::format("{}{}@{} ", each.keep ? "+" : "", print_address(each.address), each.interface);
        return text;
    }
};

}  // namespace sluice::kernel_messages

// Slowdown and completion time over the size of a message: the figure by which transports are compared.
//
// A class of sizes ends at 1, 2 or 5 times a power of ten bytes. Slowdown: completion time over that of the
// same message on an empty path (lib/roce/empty_path.hh), from 1. Quantiles are rounded up to 1/16 of their
// value; messages.csv has each message.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "control/fabric/plan/fabric_plan.hh"
#include "control/fabric/report/ended_messages.hh"
#include "lib/threads/histogram.hh"

namespace sluice::fabric {

// Shares of messages at which a distribution is drawn, in thousandths: close together where quantiles are.
std::span<const unsigned> drawn_shares();
// {messages, ns}: the durations at these shares.
nlohmann::ordered_json shares_json(const Histogram& durations);

class SizeReport {
  public:
    // The classes of sizes that flows and lists of the plan have are there from the start.
    explicit SizeReport(const FabricPlan& plan);

    // Those that were acknowledged.
    void add(std::span<const EndedMessage> messages);

    // By the longest size of the class ("20KB"), in ascending order.
    nlohmann::ordered_json json() const;
    // The distributions, of each class: bounds, {messages, ns} and {permille} of slowdowns.
    nlohmann::ordered_json shares() const;

    struct Class {
        std::uint64_t above = 0, to = 0;  // bytes
        Histogram took;
        Histogram slowdown;  // 1 ps stands for 1/1000
    };

  private:
    Class& class_of(std::uint64_t bytes);

    std::map<std::uint64_t, Class> classes_;  // by `to`
};

// A table of it for people; empty where fewer than two classes have messages.
std::string size_table(const nlohmann::ordered_json& sizes);

}  // namespace sluice::fabric

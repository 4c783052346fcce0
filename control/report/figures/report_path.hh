// Parts of the report by their path, such as "ports.p0.pfc" or "ports.p0.queues.3.tx_packets".
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sluice {

struct ReportPart {
    const nlohmann::ordered_json* value = nullptr;  // null: the report has no such part
    // Where the search ended: the path of the innermost part that is there, that part, and what it lacks.
    std::string within_path;
    const nlohmann::ordered_json* within = nullptr;
    std::string missing;

    // "there is no \"h9\" in ports, perhaps h1; known: h0, h1"
    std::string error() const;
};

// A name may hold dots. Drop reasons with no drops, which the report leaves out, are found, and are 0.
ReportPart find_part(const nlohmann::ordered_json& report, std::string_view path);

}  // namespace sluice

// Decision records: those that were made last. Which are made the command `decisions` says.
#include <algorithm>
#include <array>

#include "control/server/api.hh"
#include "control/server/methods.hh"

namespace sluice {
namespace {

Json list(Api& api, RpcClient&, RpcParameters& parameters) {
    constexpr std::uint64_t usual = 20;
    const std::uint64_t last =
        parameters.has("last") ? parameters.integer("last", 1, DecisionLog::most_latest) : usual;
    parameters.finish();
    const DecisionLog* log = api.running().observation().log();
    if (log == nullptr)
        throw RpcError{RpcCode::not_now,
                       "nothing is recorded",
                       {{"do",
                         "write record = \"ready\" under [decisions], start the switch, and say: "
                         "decisions on"}}};
    const auto& latest = log->latest();
    const CaptureTimeline* timeline = api.is_virtual() ? &api.running().timeline() : nullptr;
    const std::size_t count = std::min<std::size_t>(last, latest.size());
    Json records = Json::array();
    for (auto at = latest.end() - static_cast<std::ptrdiff_t>(count); at != latest.end(); ++at) {
        const PortNames& ports = api.running().port_names();
        Json record = Json::parse(json_line(*at, ports, timeline));
        record["sentence"] = explain(*at, ports, nullptr);
        records.push_back(std::move(record));
    }
    return {{"recorded", log->recorded()}, {"records", std::move(records)}};
}

}  // namespace

std::span<const RpcMethod> record_methods() {
    static constexpr std::array methods{
        RpcMethod{"decisions.list", "last?: NUMBER", "{recorded: NUMBER, records: [OBJECT]}",
                  "The last decision records, 20 or as many as wanted of 1000, as in their file.", reads,
                  false, list},
    };
    return methods;
}

}  // namespace sluice

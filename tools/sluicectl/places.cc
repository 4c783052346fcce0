#include "tools/sluicectl/places.hh"

#include <fmt/format.h>

#include <utility>

#include "control/config/schema/values.hh"
#include "tools/sluicectl/table.hh"

namespace sluice::ctl {

QueueName queue_name(const std::string& said, bool whole) {
    const auto dot = said.rfind('.');
    constexpr unsigned classes = 8;
    if (dot != std::string::npos) {
        const auto queue = parse_integer(said.substr(dot + 1));
        if (queue && *queue < classes) return {said.substr(0, dot), static_cast<unsigned>(*queue)};
    }
    if (whole) return {said, std::nullopt};
    throw Failure{exit_usage, sluice::in_quotes(said) + " is no queue; say PORT.N, N from 0 to 7"};
}

Look ports_at(Context& context, const Arguments& arguments, const std::string& name) {
    if (name.empty()) return look_at(context, arguments, "ports");
    Look look = look_at(context, arguments, "ports." + name);
    Json one = Json::object();
    one[name] = std::move(look.part);
    look.part = std::move(one);
    return look;
}

std::string configured_text(const Json& group) { return group["lossless"] == true ? "lossless" : "lossy"; }

std::string wait_text(const std::string& name, const Json& group) {
    if (!group.contains("changing_since_ns")) return {};
    const Json& queue = group["waiting_queue"];
    return fmt::format("class {} is changing since {}, waiting for {} cells{}\n", name,
                       ns_text(group["changing_since_ns"]), json_text(group["waiting_cells"]),
                       queue.is_null() ? std::string() : ", most of them in queue " + word_text(queue));
}

}  // namespace sluice::ctl

// Changes of values: set, unset, the modes of RoCE.
#include <fmt/format.h>

#include <array>
#include <utility>

#include "control/config/schema/values.hh"
#include "tools/sluicectl/commands.hh"
#include "tools/sluicectl/config_text.hh"
#include "tools/sluicectl/set_words.hh"
#include "tools/sluicectl/table.hh"
#include "tools/sluicectl/trial.hh"

namespace sluice::ctl {
namespace {

Answer set(Context& context, const Arguments& said) {
    Arguments arguments = said;
    Json changes = values_said(arguments);
    if (changes.empty()) throw Failure{exit_usage, "KEY=VALUE is missing; wanted: set KEY=VALUE..."};
    if (arguments.has("watch")) return try_changes(context, changes, arguments);
    if (arguments.has("keep"))
        throw Failure{exit_usage, "keep belongs to watch; do: set --watch 10s ... --keep"};
    return applied(context.call("config.change", with_options({{"changes", std::move(changes)}}, arguments)));
}

Answer unset(Context& context, const Arguments& arguments) {
    Json changes = Json::array();
    for (const std::string& key : arguments.rest) changes.push_back({{"path", key}});
    return applied(context.call("config.change", with_options({{"changes", std::move(changes)}}, arguments)));
}

// As `nv set qos roce mode` of Cumulus Linux and `roce` of Onyx have them.
Answer roce(Context& context, const Arguments& arguments) {
    const std::string mode = arguments.value("lossless|semi-lossless|lossy");
    const Json changes = Json::array({{{"path", "default.qos"}, {"value", mode}}});
    Answer answer = applied(context.call("config.change", with_options({{"changes", changes}}, arguments)));
    const Json qos = context.call("qos.show");
    std::string others;
    for (const auto& [name, port] : qos["ports"].items())
        if (port["preset"] != mode)
            append_item(others, ", ", fmt::format("{} ({})", name, word_text(port["preset"])));
    if (!others.empty())
        answer.text += fmt::format("ports that say otherwise: {}; do: unset port.NAME.qos\n", others);
    return answer;
}

}  // namespace

std::span<const Command> set_commands() {
    static constexpr std::array table{
        Command{"set KEY=VALUE... [confirm TIME] [force] [watch TIME] [keep]",
                "changes values, all of them or none: set wred.mine.green_min=20KB "
                "wred.mine.green_max=40KB; KEY VALUE says the same; with watch rates of as long a window "
                "before and "
                "behind it, and back again unless keep",
                set},
        Command{"unset KEY... [confirm TIME] [force]",
                "back to the default: a key, or a section with all of its keys: unset port.h1.queue.3",
                unset},
        Command{"qos roce lossless|semi-lossless|lossy [confirm TIME] [force]",
                "RoCE on every port that does not say otherwise; marked by ECN in each mode. lossless: PFC "
                "is sent and obeyed; semi-lossless: obeyed, not sent; lossy: neither",
                roce},
    };
    return table;
}

}  // namespace sluice::ctl

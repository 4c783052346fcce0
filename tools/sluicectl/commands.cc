#include "tools/sluicectl/commands.hh"

#include <vector>

#include "tools/sluicectl/complete.hh"

namespace sluice::ctl {

std::span<const Command> commands() {
    static const std::vector<Command> all = [] {
        std::vector<Command> list;
        for (const auto part : {look_commands(), config_commands(), set_commands(), route_commands(),
                                port_commands(), queue_commands(), host_commands(), record_commands(),
                                worker_commands(), script_commands(), help_commands()})
            list.insert(list.end(), part.begin(), part.end());
        return list;
    }();
    return all;
}

const Grammar& grammar() {
    static const Grammar made = [] {
        std::vector<std::string_view> patterns;
        for (const Command& command : commands()) patterns.push_back(command.pattern);
        return Grammar(patterns);
    }();
    return made;
}

}  // namespace sluice::ctl

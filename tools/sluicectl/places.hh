// Places that commands name: ports, queues, priority groups.
#pragma once

#include <optional>
#include <string>

#include "tools/sluicectl/look.hh"

namespace sluice::ctl {

// "p1.3", or with `whole` also "p1". Throws Failure.
struct QueueName {
    std::string port;
    std::optional<unsigned> queue;
};
QueueName queue_name(const std::string& said, bool whole);

// The ports that `name` chooses, all when it is empty: `part` of the look is an object of them.
Look ports_at(Context& context, const Arguments& arguments, const std::string& name);

// The configured state of a priority group: lossless or lossy.
std::string configured_text(const Json& group);
// "class h1.3 is changing since 170 us, waiting for 312 cells, most of them in queue h4.3"; empty otherwise.
std::string wait_text(const std::string& name, const Json& group);

}  // namespace sluice::ctl

// The command line of sluice-fabric.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "lib/values/units.hh"

namespace sluice::fabric {

enum : int {
    exit_done = 0,
    exit_failed = 1,
    exit_differ = 1,
    exit_configuration = 2,
    exit_false = 4,
    exit_signalled = 128
};

struct Arguments {
    std::string verb, host, out;
    std::vector<std::string> files;  // at least one, where the verb takes any
    std::vector<std::string> sets;
    std::string sockets, page;
    bool force = false, interactive = false, all = false;
    bool json = false, exit_code = false;  // of compare
    std::optional<Duration> duration;
    std::vector<std::string> asserts;  // expressions
    std::string junit, html;
    unsigned jobs = 1;
    unsigned threads = 1;
    unsigned shard = 1, shards = 1;
};

// An error's text; empty: help was asked for.
tl::expected<Arguments, std::string> parse_arguments(const std::vector<std::string>& words);

}  // namespace sluice::fabric

// sluice-import's command line: one table of options, from which parsing, the usage text and the man page are
// made.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "tools/import/importing.hh"

namespace sluice::import {

enum class Print : unsigned char { nothing, help, man, version };

struct Arguments {
    std::string file, out, account;
    std::string from;  // "sonic", "cumulus", "sluice"; empty: by the content
    bool to_sonic = false, lossless = false, force = false;
    Print print = Print::nothing;  // and end
    Wishes wishes;
};

// The options of the words, or one line that names their error.
tl::expected<Arguments, std::string> parse_arguments(int argc, char** argv);

std::string usage();

// For the man page.
struct OptionHelp {
    std::string_view name, argument;  // argument: empty where it takes none
    std::string_view sentence;
};
std::vector<OptionHelp> option_help();
std::string_view synopsis();
std::string_view purpose();
std::string_view exit_status();

}  // namespace sluice::import

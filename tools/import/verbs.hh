// Parts that the verbs of sluice-import share: exit statuses, files, and an account with its consequences.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/config/schema/command_line.hh"
#include "tools/import/account.hh"
#include "tools/import/importing.hh"
#include "tools/import/topology.hh"

namespace sluice::import {

constexpr int exit_done = 0;
constexpr int exit_part = 1;
constexpr int exit_failed = 1;
constexpr int exit_refused = 2;
constexpr int exit_false = 4;

struct FileArguments {
    std::string file, out, account;
    bool force = false;
    // Further files: one that is read (--apply), and one that an export may write beside --output.
    std::string apply, beside;
};

// --output, --account and --force.
std::vector<Option> file_options(FileArguments& out, std::string_view force_help);
// The text of the file, at most a byte more than max_file_bytes. Nothing: it cannot be read, and stderr says
// so.
std::optional<std::string> read_file(const std::string& path);
// False when a name has two roles, and stderr says so.
bool check_roles(const FileArguments& arguments);
// Writes --account, with `more` behind it; the exit status where nothing else may be written.
std::optional<int> settle_account(const FileArguments& arguments, const Account& account,
                                  const std::string& more = {});
// Writes a file whole or not at all. False: it cannot be written, and stderr says so.
bool write_file(const std::string& path, const std::string& text);
// Writes `text` to --output, or stdout, and `said` to stdout, or stderr. False: it cannot be written.
bool deliver(const FileArguments& arguments, const std::string& text, const std::string& said);
// What became of the lines of the file, those first that a person must know.
std::string whole_summary(const FileArguments& arguments, const Account& account);
// exit_done, or exit_part where a part of the file was not written.
int status_of(const Account& account);

// Many switches: whether the ends of each link agree (fleet.hh).
struct FleetArguments {
    std::string folder, links, json;
};
// --fleet, --links and --json.
std::vector<Option> fleet_options(FleetArguments& out);
// The exit status.
int compare_fleet(const FleetArguments& arguments, const Wishes& wishes);

struct TopologyArguments : FileArguments {
    std::optional<TopologyFormat> format;
};
ProgramVerb topology_verb(TopologyArguments& arguments);

}  // namespace sluice::import

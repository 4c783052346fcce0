// --to, --apply and --patch: a configuration on its way to another switch, as files.
#pragma once

#include <optional>
#include <string>

#include "tools/import/exporting.hh"
#include "tools/import/verbs.hh"

namespace sluice::import {

// What TODAY is, once it is read.
struct Today {
    Config config;
    Account account;                       // of its lines; without any where it is Sluice's own
    std::shared_ptr<const Item> document;  // null: of no other maker
    std::optional<Source> source;
    SharedNames names;  // of the document
};

// The keys of --apply over today's configuration; without --apply today's. Nothing: they cannot be, and
// stderr says why.
std::optional<Applied> apply_file(const FileArguments& arguments, const Config& today);
// The exit status. `said` comes before the account: the judgment of the configuration.
int export_file(const FileArguments& arguments, const ExportFormat& format, bool patch, const Today& today,
                const Applied& applied, const std::string& said);
// The name of the second file of an export; empty: there is none, or no --output to be beside of.
std::string beside_name(const ExportFormat& format, const std::string& out);

}  // namespace sluice::import

// sluice-import --fleet: many configurations, compared.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "control/config/text/json_text.hh"
#include "control/config/text/say.hh"
#include "dataplane/base/file_roles.hh"
#include "dataplane/base/output_file.hh"
#include "tools/import/fleet.hh"
#include "tools/import/verbs.hh"

namespace sluice::import {
namespace {

// The files of the folder, but for hidden ones and the list of links, in order. Nothing: it cannot be read.
std::optional<std::vector<std::string>> files_in(const FleetArguments& arguments) {
    std::error_code error;
    std::vector<std::string> files;
    for (std::filesystem::directory_iterator at(arguments.folder, error), end; !error && at != end;
         at.increment(error)) {
        std::error_code of_file;
        const std::string name = at->path().filename().string();
        const bool is_list =
            !arguments.links.empty() && std::filesystem::equivalent(at->path(), arguments.links, of_file);
        if (!name.starts_with('.') && !is_list && at->is_regular_file(of_file))
            files.push_back(at->path().string());
    }
    if (error) {
        complain("sluice-import: {} cannot be read: {}\n", in_quotes(arguments.folder), error.message());
        return std::nullopt;
    }
    std::ranges::sort(files);
    return files;
}

bool write_json(const std::string& path, const Fleet& fleet) {
    auto file = OutputFile::create(path);
    std::string error = file ? std::string() : file.error();
    if (file) {
        (*file)->write(json_text(fleet_json(fleet), 2) + "\n");
        error = (*file)->close();
    }
    if (!error.empty()) complain("sluice-import: {}\n", error);
    return error.empty();
}

}  // namespace

std::vector<Option> fleet_options(FleetArguments& out) {
    return {
        {"fleet", "DIR",
         "compare the configurations in DIR, of whatever makers: a device has the name of its file without "
         "the ending, and what the two ends of a link disagree about is told with both places and the "
         "consequence",
         keep(out.folder)},
        {"links",
         "FILE",
         "with --fleet: a CSV of the links, with columns device, port, device, port and as it may be cable; "
         "ports that it does not name go by DEVICE_NEIGHBOR, or by their description",
         keep(out.links),
         {},
         "fleet"},
        {"json",
         "FILE",
         "with --fleet: write devices, links and findings there as JSON",
         keep(out.json),
         {},
         "fleet"},
    };
}

int compare_fleet(const FleetArguments& arguments, const Wishes& wishes) {
    const auto files = files_in(arguments);
    if (!files) return exit_refused;
    FileRoles roles;
    for (const std::string& file : *files) roles.reads("a configuration", file);
    roles.reads("--links", arguments.links);
    roles.writes("--json", arguments.json);
    if (const std::string clash = roles.clash_text(); !clash.empty()) {
        complain("sluice-import: {}\n", clash);
        return exit_refused;
    }
    Fleet fleet;
    for (const std::string& file : *files) {
        if (fleet.devices.size() >= max_fleet_devices) {
            fleet.unread.push_back({file, {}, fmt::format("more than {} devices", max_fleet_devices)});
            continue;
        }
        if (const auto text = read_file(file))
            add_device(fleet, file, *text, wishes);
        else
            fleet.unread.push_back({file, {}, "it cannot be read"});
    }
    std::vector<ListedLink> listed;
    if (!arguments.links.empty()) {
        const auto text = read_file(arguments.links);
        if (!text) return exit_refused;
        try {
            listed = read_listed_links(*text);
        } catch (const ReadError& error) {
            complain("{}\n", error.text(arguments.links));
            return exit_refused;
        }
    }
    pair_ports(fleet, listed, arguments.links);
    compare_links(fleet);
    compare_alike(fleet);
    std::ranges::stable_sort(fleet.findings, std::greater{}, &FleetFinding::is_error);
    say("{}", fleet_text(fleet));
    if (!arguments.json.empty() && !write_json(arguments.json, fleet)) return exit_failed;
    if (fleet.devices.empty()) return exit_refused;
    const bool has_error = std::ranges::any_of(fleet.findings, &FleetFinding::is_error);
    if (has_error) return exit_false;
    return fleet.unread.empty() ? exit_done : exit_part;
}

}  // namespace sluice::import

// The scenarios of a folder, each with its question.
#include <fmt/format.h>

#include <algorithm>

#include "control/config/text/say.hh"
#include "tools/fabric/cli/verbs.hh"

namespace sluice::fabric {
namespace {

// Those of the sources that one stands in, else those that are installed.
std::string shipped_scenarios() {
    constexpr const char* of_sources = "conf/scenarios";
    std::error_code none;
    return std::filesystem::is_directory(of_sources, none) ? of_sources : SLUICE_CONF "/scenarios";
}

}  // namespace

int list_verb(const Arguments& arguments) {
    const std::string folder = arguments.files.empty() ? shipped_scenarios() : arguments.files[0];
    std::error_code error;
    std::vector<std::filesystem::path> files;
    for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
         entry.increment(error))
        if (entry->path().extension() == ".toml") files.push_back(entry->path());
    if (error) {
        complain("sluice-fabric: {}: {}; do: name the folder of scenarios\n", folder, error.message());
        return exit_failed;
    }
    std::sort(files.begin(), files.end());
    for (const auto& path : files) {
        const auto file = load_fabric(path.string());
        say("{:<40} {}\n", path.string(),
            !file                             ? "cannot be read: " + file.error().front().text()
            : file->scenario.question.empty() ? "(asks nothing)"
                                              : file->scenario.question);
    }
    return exit_done;
}

}  // namespace sluice::fabric

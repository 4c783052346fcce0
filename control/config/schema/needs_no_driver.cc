#include "control/config/schema/needs_no_driver.hh"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "control/config/schema/config.hh"
#include "control/config/schema/toml_text.hh"

namespace sluice {

bool needs_no_driver(const std::string& path) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none)) return false;
    const auto text = read_config_file(path);
    if (!text || text->size() > max_config_bytes) return false;
    const auto file = parse_toml(*text, path);
    constexpr std::string_view clock = "virtual";
    return file && (*file)["clock"].value_or(clock) == clock && !file->contains("eal");
}

}  // namespace sluice

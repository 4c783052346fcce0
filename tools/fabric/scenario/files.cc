#include "tools/fabric/scenario/files.hh"

#include <filesystem>
#include <system_error>

#include "dataplane/base/output_file.hh"

namespace sluice::fabric {

std::string write_text(const std::string& path, const std::string& text) {
    auto file = OutputFile::create(path);
    if (!file) return file.error();
    (*file)->write(text);
    return (*file)->close();
}

std::string make_folder(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (!error && !std::filesystem::is_directory(path))
        error = std::make_error_code(std::errc::not_a_directory);
    return error ? path + ": " + error.message() : std::string();
}

}  // namespace sluice::fabric

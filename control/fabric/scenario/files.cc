#include "control/fabric/scenario/files.hh"

#include <filesystem>
#include <system_error>
#include <utility>

#include "control/report/page/report_page.hh"

namespace sluice::fabric {

tl::expected<std::unique_ptr<OutputFile>, std::string> open_output(const std::string& path) {
    if (path.empty()) return nullptr;
    return OutputFile::create(path);
}

std::string write_text(std::unique_ptr<OutputFile>& file, const std::string& text) {
    file->write(text);
    return file->close();
}

std::string write_text(const std::string& path, const std::string& text) {
    auto file = OutputFile::create(path);
    return file ? write_text(*file, text) : file.error();
}

tl::expected<PageOutput, std::string> open_page(const std::string& path) {
    if (path.empty()) return PageOutput{};
    auto charts = read_charts();
    if (!charts) return tl::unexpected(charts.error());
    auto file = open_output(path);
    if (!file) return tl::unexpected(file.error());
    return PageOutput{std::move(*file), std::move(*charts)};
}

std::string make_folder(const std::string& path) {
    std::error_code error;
    std::filesystem::create_directories(path, error);
    if (!error && !std::filesystem::is_directory(path))
        error = std::make_error_code(std::errc::not_a_directory);
    return error ? path + ": " + error.message() : std::string();
}

}  // namespace sluice::fabric

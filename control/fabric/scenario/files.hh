// Files that the commands write after long work, open before it. Errors are sentences.
#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "control/report/page/report_page.hh"
#include "dataplane/base/output_file.hh"

namespace sluice::fabric {

// An empty path: null.
inline tl::expected<std::unique_ptr<OutputFile>, std::string> open_output(const std::string& path) {
    if (path.empty()) return nullptr;
    return OutputFile::create(path);
}
// Into one of those; an error's text, or empty.
inline std::string write_text(const std::unique_ptr<OutputFile>& file, const std::string& text) {
    file->write(text);
    return file->close();
}

inline std::string write_text(const std::string& path, const std::string& text) {
    const auto file = OutputFile::create(path);
    return file ? write_text(*file, text) : file.error();
}

// A page, and the charts that it is made with.
struct PageOutput {
    std::unique_ptr<OutputFile> file;  // null: none is wanted
    std::string charts;
};
inline tl::expected<PageOutput, std::string> open_page(const std::string& path) {
    if (path.empty()) return PageOutput{};
    auto charts = read_charts();
    if (!charts) return tl::unexpected(charts.error());
    auto file = open_output(path);
    if (!file) return tl::unexpected(file.error());
    return PageOutput{std::move(*file), std::move(*charts)};
}

}  // namespace sluice::fabric

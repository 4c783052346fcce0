// Files and folders that the commands write. Errors are sentences.
#pragma once

#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "dataplane/base/output_file.hh"

namespace sluice::fabric {

// A file that is written after long work, open before it; an empty path: null.
tl::expected<std::unique_ptr<OutputFile>, std::string> open_output(const std::string& path);
// Into one of those; an error's text, or empty.
std::string write_text(std::unique_ptr<OutputFile>& file, const std::string& text);
std::string write_text(const std::string& path, const std::string& text);
// A page, and the charts that it is made with.
struct PageOutput {
    std::unique_ptr<OutputFile> file;  // null: none is wanted
    std::string charts;
};
tl::expected<PageOutput, std::string> open_page(const std::string& path);
// With those above it; one that is there already is good.
std::string make_folder(const std::string& path);

}  // namespace sluice::fabric

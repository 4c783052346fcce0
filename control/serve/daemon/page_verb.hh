// `sluiced page`: a report after the end as a page for a browser, one file.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace sluice {

constexpr std::string_view page_synopsis = "sluiced page REPORT.json [--output FILE.html]";

struct PageWords {
    std::string report, output;
    bool is_named = false;  // the output was said
};
// Of the words behind `sluiced page`, or one line that names their error. The output is, unless said, the
// report's name with .html.
tl::expected<PageWords, std::string> page_words(const std::vector<std::string>& words);

// Writes the page; over another file only where its name was said. An error's text that names the file, or
// empty.
std::string write_page(const PageWords& words);

}  // namespace sluice

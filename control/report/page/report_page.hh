// The page of a report after the end, of a switch or of a fabric by switch, as one file: one_file.hh.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace sluice {

constexpr std::size_t max_report_bytes = 256U << 20;

// `text`: of a report, which may be anything. `title`: of the page; a fabric has its own. The error says what
// is wrong, and where in the text.
tl::expected<std::string, std::string> report_page(std::string_view text, std::string_view title);

}  // namespace sluice

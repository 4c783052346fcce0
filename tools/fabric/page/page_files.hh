// What the page is made of: files of this folder, which tools/embed.py puts into the binary.
#pragma once

#include <string_view>

namespace sluice::fabric::page_files {

extern const std::string_view page_html, page_css;
extern const std::string_view dom_js, chart_js, run_js, run_charts_js, sweep_js, main_js;
extern const std::string_view charts_min_js;  // vendor/

}  // namespace sluice::fabric::page_files

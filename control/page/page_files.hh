// What pages are made of, those of a running switch (server/live_page) and of sluice-fabric: files of this
// folder, which tools/embed.py puts into the binary.
#pragma once

#include <string_view>

namespace sluice::page_files {

extern const std::string_view page_css, dom_js, chart_js;  // of all pages
extern const std::string_view live_html, live_js;          // of a running switch
extern const std::string_view charts_min_js;               // vendor/

}  // namespace sluice::page_files

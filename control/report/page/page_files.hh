// What pages are made of, those of a switch (server/live_page, report_page) and of sluice-fabric: files of
// this folder, which tools/workshop/embed.py puts into the binary.
#pragma once

#include <string_view>

namespace sluice::page_files {

extern const std::string_view page_css, dom_js, chart_js;  // of all pages
extern const std::string_view live_html;                   // that a server serves
extern const std::string_view one_file_html;               // of those that are one file
extern const std::string_view live_table_js, switch_js, fabric_js,
    live_js;                                  // of a switch, or a fabric by switch
extern const std::string_view charts_min_js;  // vendor/

}  // namespace sluice::page_files

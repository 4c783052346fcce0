// What of the page is this tool's own: files of this folder, which tools/workshop/embed.py puts into the
// binary. The rest is in control/report/page.
#pragma once

#include <string_view>

namespace sluice::fabric::page_files {

extern const std::string_view run_js, run_charts_js, sweep_js, main_js;

}  // namespace sluice::fabric::page_files

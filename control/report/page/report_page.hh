// Pages of what has ended, each as one HTML file that needs neither a server nor the network: style, scripts,
// charts and data stand in it. Names in the data are nothing but text; the same data give the same bytes.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace sluice {

constexpr std::size_t max_report_bytes = 256U << 20;

// The library of charts: a file beside the program, or in the data folder. The error names both.
tl::expected<std::string, std::string> read_charts();
// The scripts of all pages, which call that library.
std::string page_scripts();
// A file of control/report/page.
std::string_view page_file(std::string_view name);

// A run as runs_page wants it. `shown`: of report_for_page; null: there was no run. `series`: of
// sluice-fabric's series.json, or null. `errors`: what went wrong beside it.
nlohmann::ordered_json page_run(std::string_view name, nlohmann::ordered_json shown,
                                nlohmann::ordered_json series = nullptr,
                                const std::vector<std::string>& errors = {});
// At least one run.
std::string runs_page(const std::vector<nlohmann::ordered_json>& runs, std::string_view charts);
// `sweep`: of sluice-fabric's sweep.json. `rows`: control/fabric/scenario/rows.hh.
std::string sweep_page(const nlohmann::ordered_json& sweep, const std::vector<nlohmann::ordered_json>& rows,
                       std::string_view charts);
// `data`: control/fabric/advise/answer_page.hh. `text`: the whole answer, for browsers that run no scripts.
std::string advice_page(const nlohmann::ordered_json& data, std::string_view text, std::string_view charts);

// The page of a report's text, which may be anything. `title`: of the page; a fabric has its own. The error
// says what is wrong, and where in the text.
tl::expected<std::string, std::string> report_page(std::string_view text, std::string_view title,
                                                   std::string_view charts);

// True when a file that begins so is such a page.
bool begins_page(std::string_view text);

}  // namespace sluice

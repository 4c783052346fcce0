#include "control/serve/daemon/page_verb.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "control/config/schema/values.hh"
#include "control/report/page/report_page.hh"
#include "dataplane/base/file_descriptor.hh"
#include "dataplane/base/file_roles.hh"
#include "dataplane/base/output_file.hh"

namespace sluice {
namespace {

tl::expected<std::string, std::string> read_report(const std::string& path) {
    const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const auto failed = [] {
        return tl::unexpected(fmt::format("the report cannot be read: {}", std::strerror(errno)));
    };
    if (file.get() < 0) return failed();
    std::string text;
    std::vector<char> block(1U << 20);
    while (true) {
        const ssize_t got = read(file.get(), block.data(), block.size());
        if (got < 0) return failed();
        if (got == 0) return text;
        text.append(block.data(), static_cast<std::size_t>(got));
        if (text.size() > max_report_bytes)
            return tl::unexpected(
                fmt::format("it is longer than {} MB, more than a browser shows", max_report_bytes >> 20));
    }
}

}  // namespace

tl::expected<PageWords, std::string> page_words(const std::vector<std::string>& words) {
    PageWords said;
    for (std::size_t n = 0; n < words.size(); ++n) {
        if (words[n] == "--output") {
            if (++n == words.size()) return tl::unexpected(std::string("--output wants a file"));
            said.output = words[n];
            said.is_named = true;
        } else if (words[n].starts_with("--")) {
            return tl::unexpected(in_quotes(words[n]) + " is no option");
        } else if (!said.report.empty()) {
            return tl::unexpected(std::string("it wants one report"));
        } else {
            said.report = words[n];
        }
    }
    if (said.report.empty()) return tl::unexpected(std::string("it wants a report"));
    if (said.output.empty())
        said.output = std::filesystem::path(said.report).replace_extension(".html").string();
    if (said.output == said.report)
        return tl::unexpected(in_quotes(said.output) + " is the report itself; do: write --output FILE.html");
    return said;
}

std::string write_page(const PageWords& words) {
    FileRoles roles;
    roles.reads("the report", words.report);
    roles.writes("--output", words.output);
    if (std::string clash = roles.clash_text(); !clash.empty()) return clash;
    if (!words.is_named && std::filesystem::exists(words.output)) {
        const auto there = read_report(words.output);
        if (!there || !begins_page(*there))
            return words.output + ": is there, and is no such page; do: write --output FILE.html";
    }
    const auto text = read_report(words.report);
    if (!text) return fmt::format("{}: {}", words.report, text.error());
    const auto charts = read_charts();
    if (!charts) return charts.error();
    const auto page = report_page(*text, std::filesystem::path(words.report).filename().string(), *charts);
    if (!page) return fmt::format("{}: {}", words.report, page.error());
    auto file = OutputFile::create(words.output);
    if (!file) return file.error();
    (*file)->write(*page);
    return (*file)->close();
}

}  // namespace sluice

#include "control/fabric/schedule/workload_file.hh"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

#include "control/fabric/schedule/schedule_readers.hh"
#include "control/fabric/workload/flow_values.hh"
#include "control/fabric/workload/list_maker.hh"
#include "dataplane/base/file_descriptor.hh"

namespace sluice::fabric {
namespace {

constexpr std::string_view rank_mark = "%d";

tl::unexpected<std::vector<ConfigError>> refused(const std::string& file, std::string wrong,
                                                 std::string remedy) {
    return tl::unexpected(std::vector{ConfigError{file, {}, {}, std::move(wrong), {}, std::move(remedy)}});
}

// A FIFO must not block.
FileDescriptor open_file(const std::string& file) {
    return FileDescriptor(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
}

bool is_regular(const FileDescriptor& file) {
    struct stat status {};
    return fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode);
}

std::ptrdiff_t read_block(const FileDescriptor& file, std::span<char> block) {
    std::ptrdiff_t got = 0;
    do got = ::read(file.get(), block.data(), block.size());
    while (got < 0 && errno == EINTR);
    return got;
}

// Reads the file, which is opened when its first byte is asked for, so that thousands of them may wait.
TextLines::Source source_of_file(const std::string& file) {
    return [file, open = std::shared_ptr<FileDescriptor>()](std::span<char> block) mutable -> std::ptrdiff_t {
        if (!open) open = std::make_shared<FileDescriptor>(open_file(file));
        return *open ? read_block(*open, block) : -1;
    };
}

// What has been read of a file, and then the rest of it.
TextLines::Source source_behind(std::string beginning, std::shared_ptr<FileDescriptor> open) {
    return [beginning = std::move(beginning), open = std::move(open),
            done = std::size_t{0}](std::span<char> block) mutable -> std::ptrdiff_t {
        if (done == beginning.size()) return read_block(*open, block);
        const std::size_t count = std::min(block.size(), beginning.size() - done);
        std::memcpy(block.data(), beginning.data() + done, count);
        done += count;
        return static_cast<std::ptrdiff_t>(count);
    };
}

std::string with_rank(const std::string& file, std::size_t rank) {
    std::string name = file;
    return name.replace(name.find(rank_mark), rank_mark.size(), fmt::format("{}", rank));
}

bool exists(const std::string& file) { return ::access(file.c_str(), F_OK) == 0; }

ScheduleSettings schedule_settings(const FlowListSettings& settings, std::span<const std::string> hosts) {
    return {settings.scale_time, settings.scale_bytes, static_cast<std::uint32_t>(hosts.size())};
}

WorkloadResult contents_of(ScheduleResult result, WorkloadFormat format) {
    if (!result) return tl::unexpected(std::move(result.error()));
    result->format = format;
    result->place_word = format == WorkloadFormat::chakra ? "node" : "line";
    return WorkloadContents(std::move(*result));
}

WorkloadResult chakra_contents(std::vector<ChakraFile> files, std::span<const std::string> hosts,
                               const FlowListSettings& settings, const std::string& groups) {
    std::optional<ChakraFile> of_groups;
    if (!groups.empty()) {
        if (const FileDescriptor open = open_file(groups); !open || !is_regular(open))
            return refused(groups, "the file of groups cannot be read", "name a regular file");
        of_groups = ChakraFile{groups, source_of_file(groups)};
    }
    return contents_of(read_chakra(files, std::move(of_groups), schedule_settings(settings, hosts)),
                       WorkloadFormat::chakra);
}

// A file for each rank, from rank 0 on; `pattern` has the mark.
WorkloadResult read_ranks(const std::string& pattern, std::span<const std::string> hosts,
                          const FlowListSettings& settings, const std::string& groups) {
    std::vector<ChakraFile> files;
    while (files.size() <= max_schedule_ranks) {
        const std::string file = with_rank(pattern, files.size());
        if (!exists(file)) break;
        files.push_back({file, source_of_file(file)});
    }
    if (files.empty())
        return refused(pattern, fmt::format("there is no {}", in_quotes(with_rank(pattern, 0))),
                       "name traces that exist, counted from 0");
    return chakra_contents(std::move(files), hosts, settings, groups);
}

// `found`: the format that its beginning shows.
WorkloadResult read_source(TextLines::Source source, WorkloadFormat found, const std::string& file,
                           std::span<const std::string> hosts, const FlowListSettings& settings,
                           const std::string& groups) {
    FlowListSettings own = settings;
    if (own.format == WorkloadFormat::automatic) own.format = found;
    switch (own.format) {
        case WorkloadFormat::goal:
            return contents_of(read_goal(std::move(source), file, schedule_settings(own, hosts)), own.format);
        case WorkloadFormat::simai:
            return contents_of(read_simai(std::move(source), file, schedule_settings(own, hosts)),
                               own.format);
        case WorkloadFormat::chakra: {
            std::vector<ChakraFile> one;
            one.push_back({file, std::move(source)});
            return chakra_contents(std::move(one), hosts, own, groups);
        }
        default: {
            auto list = read_flow_list(std::move(source), file, hosts, own);
            if (!list) return tl::unexpected(std::move(list.error()));
            return WorkloadContents(std::move(*list));
        }
    }
}

}  // namespace

WorkloadFormat format_of(std::string_view beginning) {
    if (is_chakra_start(beginning)) return WorkloadFormat::chakra;
    TextLines lines(TextLines::source_of(beginning));
    while (lines.next()) {
        const std::string_view line = trimmed(lines.text());
        if (is_blank(line) && !is_csv_header(line)) continue;
        if (is_goal_header(line)) return WorkloadFormat::goal;
        if (is_simai_header(line)) return WorkloadFormat::simai;
        return list_format(line);
    }
    return WorkloadFormat::automatic;
}

WorkloadResult read_workload_file(const std::string& file, std::span<const std::string> hosts,
                                  const FlowListSettings& settings, const std::string& groups) try {
    if (file.find(rank_mark) != file.npos) return read_ranks(file, hosts, settings, groups);
    if (const std::string prefixed = file + ".%d.et"; !exists(file) && exists(with_rank(prefixed, 0)))
        return read_ranks(prefixed, hosts, settings, groups);
    auto open = std::make_shared<FileDescriptor>(open_file(file));
    if (!*open)
        return refused(file, std::string("the file cannot be read: ") + std::strerror(errno),
                       "name a file that exists and may be read");
    if (!is_regular(*open)) return refused(file, "it is not a regular file", "name a regular file");
    std::string beginning(max_line_bytes, '\0');
    const std::ptrdiff_t got = read_block(*open, beginning);
    if (got < 0)
        return refused(file, std::string("the file cannot be read: ") + std::strerror(errno),
                       "name a file that may be read");
    beginning.resize(static_cast<std::size_t>(got));
    if (beginning.starts_with("\x1F\x8B"))
        return refused(file, "it is compressed", "gunzip it, and name the result");
    const WorkloadFormat format = format_of(beginning);
    return read_source(source_behind(std::move(beginning), std::move(open)), format, file, hosts, settings,
                       groups);
} catch (const std::bad_alloc&) {
    return refused(file, "there is not enough memory for what it holds", "divide it");
}

WorkloadResult read_workload_text(const std::string& text, const std::string& file,
                                  std::span<const std::string> hosts, const FlowListSettings& settings,
                                  const std::string& groups) {
    return read_source(TextLines::source_of(text), format_of(text), file, hosts, settings, groups);
}

}  // namespace sluice::fabric

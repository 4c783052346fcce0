// The traces of all ranks become a schedule.
#include <fmt/format.h>

#include "control/fabric/schedule/chakra_program.hh"
#include "control/fabric/schedule/schedule_readers.hh"
#include "control/fabric/schedule/unmatched_messages.hh"

namespace sluice::fabric {
namespace chakra {
namespace {

class TraceReader {
  public:
    TraceReader(std::span<ChakraFile> files, const ScheduleSettings& settings)
        : files_(files),
          settings_(settings),
          communications_(ranks()),
          errors_(files.empty() ? "traces" : files.front().name) {}

    ScheduleResult read(std::optional<ChakraFile>& groups) {
        if (files_.empty()) {
            errors_.refuse({}, "there is no trace", "name a trace for each rank");
        } else if (files_.size() > settings_.ranks) {
            errors_.refuse({},
                           fmt::format("there are {} traces, and {} ranks", files_.size(), settings_.ranks),
                           "name a trace for each rank");
        } else {
            if (groups) read_group_file(*groups);
            read_traces();
        }
        if (!errors_.any()) check();
        if (errors_.any()) return tl::unexpected(errors_.take());
        return std::move(schedule_);
    }

  private:
    bool is_shared() const { return files_.size() == 1; }
    std::uint32_t ranks() const {
        return is_shared() ? settings_.ranks : static_cast<std::uint32_t>(files_.size());
    }

    void read_group_file(ChakraFile& file) {
        errors_.file(file.name);
        ByteStream stream(std::move(file.source));
        GroupMap groups;
        read_groups(stream, groups, errors_);
        communications_.set_groups(std::move(groups));
    }

    void read_traces() {
        for (std::uint32_t rank = 0; rank < files_.size() && !errors_.is_full(); ++rank) {
            errors_.file(files_[rank].name);
            ByteStream stream(std::move(files_[rank].source));
            TraceProgram program(is_shared() ? std::nullopt : std::optional(rank), settings_, communications_,
                                 counts_, errors_);
            read_nodes(stream, [&](const Node& node) { return program.add(node); });
            if (!errors_.any()) schedule_.programs.push_back(program.finish());
        }
        if (is_shared() && !errors_.any()) schedule_.programs.resize(ranks(), schedule_.programs.front());
    }

    void read_nodes(ByteStream& stream, const TakeNode& take) {
        constexpr std::string_view gzip = "\x1F\x8B";
        const std::string_view start = stream.ahead(ByteStream::most_ahead / 16);
        if (start.starts_with(gzip))
            errors_.refuse({}, "it is compressed", "gunzip it");
        else if (is_json(start))
            read_json(stream, take, errors_);
        else if (start.empty() && stream.wrong().empty())
            errors_.refuse({}, "the file is empty", "name an execution trace of Chakra");
        else if (is_text(start) && !start.empty())
            errors_.refuse({}, "it is a text, and no JSON", "name an execution trace of Chakra");
        else
            read_protobuf(stream, take, errors_);
    }

    void check() {
        schedule_.communications = communications_.take();
        schedule_.notes = counts_.notes();
        if (!is_shared()) errors_.file(fmt::format("{} and {} more", files_.front().name, files_.size() - 1));
        if (schedule_.operations() == 0)
            errors_.refuse({}, "no trace has a node", "name an execution trace of Chakra");
        else
            check_schedule(schedule_, "node", errors_);
        if (!errors_.any()) note_unmatched(schedule_, "node");
    }

    std::span<ChakraFile> files_;
    const ScheduleSettings& settings_;
    Communications communications_;
    ScheduleErrors errors_;
    Counts counts_;
    Schedule schedule_;
};

}  // namespace
}  // namespace chakra

ScheduleResult read_chakra(std::span<ChakraFile> files, std::optional<ChakraFile> groups,
                           const ScheduleSettings& settings) {
    return chakra::TraceReader(files, settings).read(groups);
}

}  // namespace sluice::fabric

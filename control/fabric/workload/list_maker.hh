// The readers of all formats share this: hosts by name, errors with their places, and the list that flows
// become in the end. Private to the readers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "control/fabric/workload/flow_list.hh"
#include "control/fabric/workload/flow_values.hh"
#include "control/fabric/workload/text_lines.hh"

namespace sluice::fabric {

class ListMaker {
  public:
    // A value of the file, without blanks at its ends.
    struct Cell {
        std::string_view text;
        SourcePlace place;
    };

    ListMaker(const std::string& file, std::span<const std::string> hosts, const FlowListSettings& settings);

    // Readers go on behind an error until there are enough of them.
    void refuse(SourcePlace place, std::string wrong, std::string remedy);
    void refuse(const Cell& cell, std::string_view what, const ValueError& error);
    bool is_full() const { return errors_.size() >= max_errors; }
    void note(std::string text) { list_.notes.push_back(std::move(text)); }
    void set_format(WorkloadFormat format) { list_.format = format; }
    const FlowListSettings& settings() const { return settings_; }
    const std::vector<ListedFlow>& flows() const { return list_.flows; }
    std::size_t hosts() const { return hosts_.size(); }

    // A flow with the settings' values, to fill; all but add() return false with an error.
    ListedFlow begin(std::uint32_t line) const;
    bool read_ends(const Cell& from, const Cell& to, ListedFlow& flow);
    bool read_bytes(const Cell& cell, std::uint64_t unit, ListedFlow& flow);
    bool read_start(const Cell& cell, std::uint64_t unit, ListedFlow& flow);
    bool read_class(const Cell& cell, ListedFlow& flow);
    bool read_qps(const Cell& cell, ListedFlow& flow);
    bool read_name(const Cell& cell, ListedFlow& flow);
    // The flow is to start at the end of the one of that name. Called right before add().
    bool read_after(const Cell& cell);
    // `waits`: it starts at the end of another.
    void add(ListedFlow flow, bool waits);
    // A flow that has been added starts when the other has ended, too. `place` is for errors.
    void wait_for(std::uint32_t flow, std::uint32_t before, SourcePlace place);

    // The sorted list, or the errors; `lines` may have one that ended the reading.
    FlowListResult finish(const TextLines& lines);

  private:
    static constexpr std::size_t max_errors = 10;
    struct Wait {
        std::uint32_t flow;                // index
        std::string_view::size_type name;  // offset into waits_for_
        SourcePlace place;
    };

    bool read_host(const Cell& cell, std::string_view end, std::uint32_t& host);
    bool keep_name(const Cell& cell, std::string& pool, std::size_t& offset);
    void join_waits();
    void refuse_circles();
    std::uint32_t before_of(std::uint32_t flow, std::size_t n) const;
    std::string title_of(const ListedFlow& flow) const;

    std::string file_;
    std::span<const std::string> hosts_;
    const FlowListSettings& settings_;
    std::unordered_map<std::string_view, std::uint32_t> by_name_;
    FlowList list_;
    std::vector<Wait> waits_;
    std::string waits_for_;  // names, each ended by a NUL
    std::vector<ConfigError> errors_;
};

// The readers begin at the line where `lines` stands, the first that is neither blank nor a comment.
void read_csv(TextLines& lines, ListMaker& maker);
void read_hpcc(TextLines& lines, ListMaker& maker);
void read_htsim(TextLines& lines, ListMaker& maker);
// The line is the header of a CSV: it has columns for the two ends and the size.
bool is_csv_header(std::string_view line);
// The format of a list whose first line this is; automatic: of none.
WorkloadFormat list_format(std::string_view line);
// It is one of the first lines of a connection matrix: Nodes 16.
bool is_htsim_header(std::string_view line);

// The words of a line up to a comment, as far as there is room.
struct LineWords {
    std::array<ListMaker::Cell, 32> words;
    std::size_t count = 0;
};
LineWords words_of(std::string_view line, std::uint32_t number);

}  // namespace sluice::fabric

// Events as JSON lines, written at once, so that a reader can follow them. A line that cannot be written is
// lost and counted, and leaves no part of itself; lines that come when there is room again are written.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dataplane/base/file_descriptor.hh"
#include "dataplane/base/output_file.hh"

namespace sluice {

class EventFile {
  public:
    std::string open(const std::string& path);  // an error's text, or empty
    bool is_open() const { return static_cast<bool>(file_); }
    // `line` with its end. False: it is lost.
    bool write(std::string_view line);
    // A line that there is no text of any more.
    void lose(std::string_view why);
    std::uint64_t lost() const { return lost_; }
    // The reason why events were lost, or empty.
    std::string complaint() const;

  private:
    std::string path_;
    std::optional<OutputClaim> claim_;  // nobody else writes it meanwhile
    FileDescriptor file_;
    std::uint64_t written_bytes_ = 0;
    bool torn_ = false;  // part of a line stands at the end of a pipe
    std::uint64_t lines_ = 0;
    std::uint64_t lost_ = 0;
    std::string why_;  // the last one was lost
};

}  // namespace sluice

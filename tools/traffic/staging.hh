// A folder that is filled wholly or not at all: files are made in a hidden folder inside it and moved to
// their places at the end. Files that have those names are replaced only if a program of Sluice wrote them
// (dataplane/base/output_folder.hh). Destroyed without `publish`, it leaves nothing behind, not even a folder
// that it had to make.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/base/output_folder.hh"

namespace sluice::traffic {

class StagedFolder {
  public:
    // `inputs`: files that are read, of which none may be replaced. Throws Failure, as all that follows.
    StagedFolder(const std::filesystem::path& out, const std::vector<std::string>& inputs);
    StagedFolder(const StagedFolder&) = delete;
    StagedFolder& operator=(const StagedFolder&) = delete;
    ~StagedFolder();

    const std::filesystem::path& path() const { return staging_; }
    // Before the work, where names are known: those that may not be replaced fail.
    void check(const std::vector<std::string>& names) const;
    // Moves `names` (files made under `path()`, "h0.pcap" or "in/h0.pcap") into the folder; all or none.
    // Files of an earlier run that are beside them in a folder below go away.
    void publish(const std::vector<std::string>& names);

  private:
    void withdraw_from(const std::string& name);
    void withdraw();

    std::filesystem::path out_;
    std::vector<std::string> inputs_;
    std::optional<OutputFolder> folder_;
    std::filesystem::path staging_;
    std::filesystem::path backup_;
    std::vector<std::filesystem::path> made_;  // folders that were not there, outermost first
    std::vector<std::string> taken_;           // names whose place is theirs now, or nobody's
    bool done_ = false;
};

// From here SIGINT, SIGTERM and SIGHUP only take note, and `stop_if_interrupted` throws Failure after one.
void note_interrupts();
void stop_if_interrupted();
constexpr std::uint64_t frames_between_checks = 65'536;  // for it

}  // namespace sluice::traffic

// A folder that is filled wholly or not at all: files are made in a hidden folder inside it and moved to
// their places at the end; files that have those names are replaced. Destroyed without `publish`, it leaves
// nothing behind, not even a folder that it had to make.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sluice::traffic {

class StagedFolder {
  public:
    explicit StagedFolder(const std::filesystem::path& out);  // throws Failure
    StagedFolder(const StagedFolder&) = delete;
    StagedFolder& operator=(const StagedFolder&) = delete;
    ~StagedFolder();

    const std::filesystem::path& path() const { return staging_; }
    // Moves `names` (files or folders made under `path()`) into the folder; all or none.
    void publish(const std::vector<std::string>& names);

  private:
    void withdraw();

    std::filesystem::path out_;
    std::filesystem::path staging_;
    std::filesystem::path backup_;
    std::vector<std::filesystem::path> made_;  // folders that were not there, outermost first
    std::vector<std::string> published_;
    bool done_ = false;
};

// From here SIGINT, SIGTERM and SIGHUP only take note, and `stop_if_interrupted` throws Failure after one.
void note_interrupts();
void stop_if_interrupted();
constexpr std::uint64_t frames_between_checks = 65'536;  // for it

}  // namespace sluice::traffic

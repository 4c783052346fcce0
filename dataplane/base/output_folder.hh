// A folder into which a program writes files that it names itself.
//
// It replaces only files that a program of Sluice wrote there and nobody changed since:
// FOLDER/.sluice-outputs lists them with size and hash, so equal runs leave equal lists. Any other file of
// such a name is refused, and so is a link that leads out of the folder. One process has a folder at a time.
// Errors are sentences that name the file. A folder without such files has no list.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "dataplane/base/file_descriptor.hh"

namespace sluice {

class OutputFolder {
  public:
    // Makes the folders above it, too. The lock lasts until destruction, and holds for children of this
    // process.
    static tl::expected<OutputFolder, std::string> open(const std::string& path);
    OutputFolder(OutputFolder&&) = default;
    OutputFolder& operator=(OutputFolder&&) = delete;
    ~OutputFolder();

    const std::string& path() const { return path_; }
    std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
    // Why `name` ("in/h0.pcap") cannot be written; empty: it can. The first looks at its folder only.
    std::string no_way_to(const std::string& name) const;
    std::string refusal(const std::string& name) const;
    // Likewise, and makes its folder. Called before long work, so that `write` succeeds after it.
    std::string prepare(const std::string& name) const;
    std::string write(const std::string& name, std::string_view text);
    // Lists `name`, before the complete file `made` is renamed to it.
    std::string own(const std::string& name, const std::string& made);
    // Files below its `folder` ("in") that nobody has changed.
    std::vector<std::string> own_files(const std::string& folder) const;

  private:
    OutputFolder() = default;
    struct Content {
        std::uint64_t bytes, hash;
        bool operator==(const Content&) const = default;
    };
    // The content of the file at `path`; nothing: there is no regular one.
    static std::optional<Content> content_of(const std::string& path);
    bool is_as_left(const std::string& name) const;
    bool owns(const std::string& name, const Content& content) const;
    static std::string line_of(const std::string& name, const Content& content);
    std::string add(const std::string& lines);
    std::string remember();
    std::string rewrite();

    std::string path_;
    pid_t owner_ = getpid();  // a child that ends leaves the list to it
    FileDescriptor list_;
    // By name; twice after a crash between the list and the file.
    std::multimap<std::string, Content> entries_;
};

}  // namespace sluice

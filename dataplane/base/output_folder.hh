// A folder into which a program writes files that it names itself.
//
// It replaces only files that a program of Sluice wrote there and that are as it left them: FOLDER/
// .sluice-outputs lists those with their size and a hash, so that equal runs leave equal lists, and a copy of
// the folder is as good. Whatever else has such a name is refused, and so is a way out of the folder by a
// link. One process has a folder at a time. Errors are sentences that name the file. A folder with no such
// file has no list.
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
    // With the folders above it. It is locked until it is destroyed, and for the children of this process.
    static tl::expected<OutputFolder, std::string> open(const std::string& path);
    OutputFolder(OutputFolder&&) = default;
    OutputFolder& operator=(OutputFolder&&) = delete;
    ~OutputFolder();

    const std::string& path() const { return path_; }
    std::string file(std::string_view name) const { return path_ + "/" + std::string(name); }
    // Why `name` ("in/h0.pcap") cannot be written; empty: it can. The first: as far as its folder tells.
    std::string no_way_to(const std::string& name) const;
    std::string refusal(const std::string& name) const;
    // Likewise, and makes its folder: called before long work, so that `write` succeeds after it.
    std::string prepare(const std::string& name) const;
    std::string write(const std::string& name, std::string_view text);
    // `name` will be `made`, a file that is complete: before it is renamed.
    std::string own(const std::string& name, const std::string& made);
    // Files below `folder` of it ("in") that are as a program of Sluice left them.
    std::vector<std::string> own_files(const std::string& folder) const;

  private:
    OutputFolder() = default;
    struct Content {
        std::uint64_t bytes, hash;
        bool operator==(const Content&) const = default;
    };
    // Of the file at `path`; nothing: there is no regular one.
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
    // By name; two of one that an end came between.
    std::multimap<std::string, Content> entries_;
};

}  // namespace sluice

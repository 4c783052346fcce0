// A file that appears whole or not at all: it is written as PATH.sluice-part, which `close` renames to PATH.
// Mode and owner of an earlier PATH stay, and so does a link: the file that it names is replaced.
//
// PATH.sluice-part is locked while its writer lives, so a second writer of PATH is refused, in this process
// or another. A PATH that is not a regular file (a pipe, /dev/null) is written in place, without a lock. The
// first error stays: later bytes are not written, and `close` returns it. Errors are one line that names
// PATH. Nothing throws, but for want of memory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "dataplane/base/file_descriptor.hh"

namespace sluice {

// The right to write PATH: PATH.sluice-part, open and locked, removed with its owner.
class OutputClaim {
  public:
    // False for a file that is written in place, and for no name.
    static bool is_for(const std::string& path);
    static tl::expected<OutputClaim, std::string> take(const std::string& path);
    OutputClaim(OutputClaim&&) = default;
    OutputClaim& operator=(OutputClaim&&) = delete;
    ~OutputClaim();

    int file() const { return file_.get(); }
    // The part becomes PATH, with the mode and owner of the PATH before. An error's text, or empty.
    std::string publish();
    std::string part() const { return path_ + ".sluice-part"; }

  private:
    OutputClaim(FileDescriptor file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

    FileDescriptor file_;  // none: published, or moved away
    std::string path_;
};

class OutputFile {
  public:
    static tl::expected<std::unique_ptr<OutputFile>, std::string> create(const std::string& path);
    OutputFile(const OutputFile&) = delete;
    OutputFile& operator=(const OutputFile&) = delete;
    ~OutputFile() = default;  // without `close`: nothing is left

    void write(std::string_view bytes);
    // `durable`: it is on the disk before it replaces a file that somebody needs.
    std::string close(bool durable = false) {
        return close([](const std::string&) { return std::string(); }, durable);
    }
    // `complete` is called with the part's path before that becomes PATH; it returns an error's text, or
    // empty.
    std::string close(const std::function<std::string(const std::string& part)>& complete,
                      bool durable = false);

  private:
    explicit OutputFile(std::string path) : path_(std::move(path)) {}
    int file() const { return claim_ ? claim_->file() : in_place_.get(); }
    void flush();
    void write_through(std::string_view bytes);

    std::string path_;
    std::unique_ptr<OutputClaim> claim_;  // null: written in place
    FileDescriptor in_place_;
    std::vector<char> buffer_;
    int error_ = 0;  // errno of the first write that failed
    bool closed_ = false;
};

}  // namespace sluice

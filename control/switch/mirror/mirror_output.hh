// Where a mirror's frames go: a stream of pcapng, to a file or to a FIFO that has a reader now and then
// (MirrorStream), or a collector (mirror_collector.hh). Nothing here waits for a reader or throws; frames
// that cannot be written are lost and counted, and leave no part of themselves.
//
// A file is written at once, so that a program can follow it. An existing one is replaced, but only one that
// is empty or pcapng itself: a name that was meant for something else destroys nothing. A writer has it
// locked. When the next block does not fit `max_bytes`, FILE becomes FILE.1 and a new FILE begins with a
// header of its own. A device (/dev/null) is written in place.
//
// A FIFO is opened when a reader has, and gets the header first. Blocks go out in pieces of PIPE_BUF at most,
// which the kernel takes whole or not at all (POSIX write()): a full FIFO loses whole blocks. When the reader
// goes the FIFO waits for the next one.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "dataplane/base/file_descriptor.hh"
#include "lib/record/mirror.hh"

namespace sluice {

// Of a file's section: it says that the file is a mirror's.
inline constexpr std::string_view mirror_application = "sluiced";

// A frame as an output gets it.
struct MirroredFrame {
    const MirrorHead& head;
    std::span<const std::uint8_t> bytes;  // its first
    std::uint64_t stamp_ns;               // since 1970
    std::string_view comment;
};

class MirrorOutput {
  public:
    using Clock = std::chrono::steady_clock;
    MirrorOutput() = default;
    virtual ~MirrorOutput() = default;
    MirrorOutput(const MirrorOutput&) = delete;
    MirrorOutput& operator=(const MirrorOutput&) = delete;

    // Errors are one line that names PATH and says what to do.
    static tl::expected<std::unique_ptr<MirrorOutput>, std::string> open_file(const std::string& path,
                                                                              std::uint64_t max_bytes);
    static tl::expected<std::unique_ptr<MirrorOutput>, std::string> open_fifo(const std::string& path);

    // `header`: of the file, and of each new one.
    virtual void begin(std::string) {}
    virtual void set_max_bytes(std::uint64_t) {}
    // It goes out at the next flush at the latest.
    virtual void write(const MirroredFrame& frame) = 0;
    virtual void flush() {}
    // A FIFO's reader may have come or gone; at most once in a while.
    virtual void check_reader(Clock::time_point) {}
    // For people: "written", "read", "has no reader", "cannot be written: No space left on device".
    virtual std::string state() const = 0;
    // An error's text while the last frames could not be written, though nobody was waited for; else empty.
    virtual std::string fault() const { return {}; }
    // After the last frame: an error's text, or empty.
    virtual std::string close() = 0;

    std::uint64_t written() const { return written_; }  // frames
    std::uint64_t lost() const { return lost_; }

  protected:
    std::uint64_t written_ = 0, lost_ = 0;
};

// Blocks of pcapng, in batches.
class MirrorStream : public MirrorOutput {
  public:
    void write(const MirroredFrame& frame) final;
    void flush() final;

  protected:
    MirrorStream(std::string path, std::size_t batch_bytes)
        : path_(std::move(path)), batch_bytes_(batch_bytes) {}
    // All of it, or nothing and false.
    virtual bool write(std::string_view blocks) = 0;
    const std::string& path() const { return path_; }
    std::string cannot_be_written(std::string_view why, std::string_view remedy) const;

  private:
    std::string path_;
    std::size_t batch_bytes_;
    std::string block_;
    std::string batch_;
    std::uint64_t in_batch_ = 0;
};

}  // namespace sluice

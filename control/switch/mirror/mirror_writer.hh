// The outputs of a mirror: a file or a FIFO of pcapng (mirror_stream.cc), and a collector in the network
// (mirror_collector.cc). The mirror (mirrors.hh) chooses the frames, keeps those that wait, and counts. A
// writer does not block or throw, and never writes part of a frame.
//
// A file is unbuffered, so that a program can follow it, and locked. It replaces only an empty file or a
// mirror's. When the next block exceeds the file's size, FILE becomes FILE.1 and a new FILE begins with a
// header. A device
// (/dev/null) is written in place.
//
// A FIFO opens when a reader does, and gets the header first. Blocks go out in pieces of PIPE_BUF at most,
// which the kernel takes whole or not at all (POSIX write()), so a full FIFO loses whole blocks.
//
// A collector gets frames as ERSPAN (lib/record/erspan.hh). Control hands them to the worker of the port that
// the routes name, which admits them in a lossy class, so that they pause nobody. Frames wait for room in
// that hand-off; without a route they are lost.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "control/config/schema/mirror_config.hh"

namespace sluice {

struct ServedSwitch;

struct MirroredFrame {
    MirrorHead head;
    std::uint64_t stamp_ns;           // since 1970
    std::vector<std::uint8_t> bytes;  // its first
};

class MirrorWriter {
  public:
    MirrorWriter() = default;
    virtual ~MirrorWriter() = default;
    MirrorWriter(const MirrorWriter&) = delete;
    MirrorWriter& operator=(const MirrorWriter&) = delete;

    // At the start, and after each change. `mirror`: its number among all since the start.
    virtual void configure(const MirrorConfig&, std::uint32_t /*mirror*/) {}
    // Its change is done: frames may come.
    virtual void begin() {}
    // Periodically: looks for the reader of a FIFO or the route to a collector, and returns the route's port.
    virtual PortId look(const ServedSwitch&) { return no_port; }
    // Takes frames from the front; the rest waits. A collector's go by the route that `look` found.
    struct Taken {
        std::uint64_t written = 0, lost = 0;
    };
    virtual Taken write(std::deque<MirroredFrame>& waiting, const ServedSwitch& of) = 0;
    // For people: "written", "read", "has no reader", "cannot be written: No space left on device".
    virtual std::string state() const = 0;
    // An error's text while frames cannot be written, else empty. A missing reader counts as none.
    virtual std::string fault() const { return {}; }
    // The destination whose neighbor is to be resolved.
    virtual std::optional<IpAddress> unresolved() const { return std::nullopt; }
    // After the last frame: an error's text, or empty. A missing reader or collector counts as none.
    virtual std::string close() { return {}; }
};

struct MirrorInterface {
    std::string port;
    std::uint64_t bits_per_second;
};

// Opens a mirror's file or FIFO. `ports`: all in order; they outlive it. An error names path and remedy.
tl::expected<std::unique_ptr<MirrorWriter>, std::string> open_mirror_stream(
    const MirrorConfig& config, const std::vector<MirrorInterface>& ports);
std::unique_ptr<MirrorWriter> make_mirror_collector();

}  // namespace sluice

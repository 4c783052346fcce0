// The ways out for a mirror's frames: a file or a FIFO of pcapng (mirror_stream.cc), and a collector
// somewhere in the network (mirror_collector.cc). The mirror (mirrors.hh) chooses the frames, keeps those
// that wait, and counts. A writer waits for nobody and does not throw; a frame that it cannot write leaves no
// part of itself.
//
// A file is written at once, so that a program can follow it. An existing one is replaced, but only one that
// is empty or a mirror's: a name that was meant for something else destroys nothing. A writer has it locked.
// When the next block does not fit the file's size, FILE becomes FILE.1 and a new FILE begins with a header
// of its own. A device (/dev/null) is written in place.
//
// A FIFO is opened when a reader has, and gets the header first. Blocks go out in pieces of PIPE_BUF at most,
// which the kernel takes whole or not at all (POSIX write()): a full FIFO loses whole blocks. When the reader
// goes the FIFO waits for the next one.
//
// A collector gets frames as ERSPAN (lib/record/erspan.hh) by the port that the switch's routes give for it.
// Control hands them to the worker of that port as it hands over its other frames. They are admitted there as
// any frame, in a lossy class: they have a place in the buffer while others leave them one, and pause nobody.
// Frames wait for room in that hand-off; without a way to the collector they are lost.
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

    // At the beginning, and after each change. `mirror`: its number among all that there have been.
    virtual void configure(const MirrorConfig&, std::uint32_t /*mirror*/) {}
    // The change that it was opened for has been made: frames may come.
    virtual void begin() {}
    // Now and then: readers of FIFOs come and go, and so do ways to collectors. The port of a way.
    virtual PortId look(const ServedSwitch&) { return no_port; }
    // Takes frames from the front; those that are left wait. A collector's go by the way that was found last.
    struct Taken {
        std::uint64_t written = 0, lost = 0;
    };
    virtual Taken write(std::deque<MirroredFrame>& waiting, const ServedSwitch& of) = 0;
    // For people: "written", "read", "has no reader", "cannot be written: No space left on device".
    virtual std::string state() const = 0;
    // An error's text while the last frames could not be written, though nobody was waited for; else empty.
    virtual std::string fault() const { return {}; }
    // The neighbor on the way that is to be found out.
    virtual std::optional<IpAddress> unresolved() const { return std::nullopt; }
    // After the last frame: an error's text, or empty. A reader or a collector that is not there is none.
    virtual std::string close() { return {}; }
};

struct MirrorInterface {
    std::string port;
    std::uint64_t bits_per_second;
};

// For the mirror's file or FIFO. `ports`: all in their order; they outlive it. An error is one line that
// names the path and says what to do.
tl::expected<std::unique_ptr<MirrorWriter>, std::string> open_mirror_stream(
    const MirrorConfig& config, const std::vector<MirrorInterface>& ports);
std::unique_ptr<MirrorWriter> make_mirror_collector();

}  // namespace sluice

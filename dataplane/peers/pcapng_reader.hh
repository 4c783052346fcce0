// The Ethernet frames of a pcapng file (draft-ietf-opsawg-pcapng): sections of either byte order, interfaces
// of any snapshot length, time resolution and offset, enhanced, simple and old packet blocks. libpcap takes
// files of one kind of interface only.
//
// Frames of interfaces that are not Ethernet, and a last block that is cut, are left out and told by `notes`.
// A simple packet has no timestamp and takes that of the packet before it. A block that cannot be ends the
// reading with an error: where the next one begins is not known.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dataplane/peers/pcap_reader.hh"

namespace sluice {

// "LINUX_SLL", or a number without a name. `link`: as a capture file has it.
std::string link_layer_name(std::uint32_t link);
// Why a file without Ethernet is refused, and what to do.
std::string no_ethernet(std::uint32_t link);
constexpr const char* cut_note = "the file is cut in its last record, which is left out";

class PcapngReader {
  public:
    using Frame = PcapReader::Frame;

    // Of a file that stays open; nothing: it is no pcapng.
    static std::optional<PcapngReader> open(int file);

    // False at the end, or at a block that cannot be: `error` then says so.
    bool next(Frame& frame);
    const std::string& error() const { return error_; }
    // What was left out so far, a sentence each.
    std::vector<std::string> notes() const;

  private:
    struct Interface {
        std::uint16_t link = 0;
        std::uint32_t snap_length = 0;  // 0: none
        std::uint8_t resolution = 6;    // 10^-n s; with the highest bit 2^-n s
        std::int64_t offset_seconds = 0;
    };
    struct Packet {
        std::uint32_t interface = 0;
        std::optional<std::uint64_t> ticks;  // nothing: a simple packet
        std::uint32_t wire_length = 0;
        std::span<const std::uint8_t> bytes;
    };
    using Body = std::span<const std::uint8_t>;

    explicit PcapngReader(int file) : file_(file), bytes_(piece_bytes) {}
    bool has(std::size_t bytes);
    bool fail(const std::string& why);
    bool end();
    bool begin_section(Body body);
    void add_interface(Body body);
    std::optional<Packet> packet_of(std::uint32_t type, Body body) const;
    bool take(const Packet& packet, Frame& frame);

    template <class Integer>
    Integer get(Body body, std::size_t at) const;

    static constexpr std::size_t piece_bytes = 262'144;

    int file_;
    bool swapped_ = false;
    std::vector<std::uint8_t> bytes_;  // grows with a block that is longer
    std::uint64_t begin_ = 0;          // of bytes_, in the file
    std::size_t at_ = 0;               // in [0, filled_]
    std::size_t filled_ = 0;
    std::vector<Interface> interfaces_;  // of the section
    std::uint64_t last_ns_ = 0;
    std::uint64_t given_ = 0;
    std::map<std::uint32_t, std::uint64_t> of_other_links_;  // frames
    std::uint64_t of_no_interface_ = 0;
    std::uint64_t without_time_ = 0;
    bool cut_ = false;  // in the last block
    std::string error_;
};

}  // namespace sluice

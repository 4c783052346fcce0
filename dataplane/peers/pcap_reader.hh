// The records of a plain capture file (pcap 2.4 of either byte order, microseconds or nanoseconds), read in
// large pieces: through libpcap a frame takes ten calls.
//
// Takes files of every usual writer only. Seconds are unsigned: 1970 to 2106. At the end of the file, and at
// a record that is cut, too long or of a wrong fraction, it stops, and libpcap goes on from `offset`: so
// libpcap alone says which files are refused, and why.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

// A file read in large pieces and by position, so that other readers of the descriptor keep theirs.
class FilePieces {
  protected:
    static constexpr std::size_t piece_bytes = 262'144;

    FilePieces(int file, std::uint64_t begin) : file_(file), bytes_(piece_bytes), begin_(begin) {}
    // True when so many bytes of the file follow.
    bool has(std::size_t bytes) { return filled_ - at_ >= bytes || fill(bytes); }

    int file_;
    std::vector<std::uint8_t> bytes_;  // grows with a record that is longer
    std::uint64_t begin_;              // of bytes_, in the file
    std::size_t at_ = 0;               // in [0, filled_]
    std::size_t filled_ = 0;           // in [0, bytes_.size()]

  private:
    bool fill(std::size_t wanted);
};

class PcapReader : private FilePieces {
  public:
    struct Frame {
        std::uint64_t timestamp_ns = 0;
        std::uint32_t wire_length = 0;        // as it was on the wire, without FCS
        std::span<const std::uint8_t> bytes;  // the captured part; valid until the next read
    };

    // By `snap_length` of the file's header.
    static std::optional<PcapReader> open(int file, std::uint32_t snap_length);

    bool next(Frame& frame) {
        if (!has(header_bytes)) return false;
        std::array<std::uint32_t, 4> header;
        std::memcpy(header.data(), bytes_.data() + at_, header_bytes);
        if (swapped_)
            for (std::uint32_t& word : header) word = __builtin_bswap32(word);
        const auto [seconds, fraction, captured, wire] = header;
        if (fraction >> 31 != 0 || captured > longest_ || !has(header_bytes + captured)) return false;
        frame.timestamp_ns = std::uint64_t{seconds} * 1'000'000'000 + std::uint64_t{fraction} * fraction_ns_;
        frame.wire_length = wire > captured ? wire : captured;
        frame.bytes = {bytes_.data() + at_ + header_bytes, captured};
        at_ += header_bytes + captured;
        fetch(frame.bytes);
        return true;
    }

    // In the file: behind the last record that `next` gave.
    std::uint64_t offset() const { return begin_ + at_; }

  private:
    static constexpr std::size_t header_bytes = 16;
    static constexpr std::uint32_t max_frame = 65'536;
    static_assert(header_bytes + max_frame <= piece_bytes);

    PcapReader(int file, bool swapped, std::uint32_t fraction_ns, std::uint32_t longest);
    // Prefetches the frame and the header behind it, which are read after all other ports' turns: many ports'
    // pieces exceed the cache, and are too many streams for the hardware prefetcher. The rest of a long frame
    // follows by itself.
    void fetch(std::span<const std::uint8_t> frame) const {
        constexpr std::size_t line = 64, start = 4 * line;
        __builtin_prefetch(bytes_.data() + at_);
        for (std::size_t from = 0; from < std::min(frame.size(), start); from += line)
            __builtin_prefetch(frame.data() + from);
    }

    bool swapped_;
    std::uint32_t fraction_ns_;  // of the fraction's unit: 1 or 1000
    std::uint32_t longest_;      // bytes that a record may hold
};

// The refusal of a file without Ethernet, with the remedy. `link`: as a capture file has it.
std::string no_ethernet(std::uint32_t link);
std::string frames_text(std::uint64_t count);  // "1 frame", "2 frames"
constexpr const char* cut_note = "the file is cut in its last record, which is left out";

// The Ethernet frames of a pcapng file (draft-ietf-opsawg-pcapng): sections of either byte order, interfaces
// of any snapshot length, time resolution and offset, enhanced, simple and old packet blocks. libpcap takes
// files of one kind of interface only.
//
// Frames of interfaces that are not Ethernet, and a last block that is cut, are left out, which `notes`
// tells. A simple packet has no timestamp and takes that of the packet before it. An invalid block ends the
// reading with an error.
class PcapngReader : private FilePieces {
  public:
    using Frame = PcapReader::Frame;

    // Nothing: it is not pcapng.
    static std::optional<PcapngReader> open(int file);

    // False at the end, or with `error` set at an invalid block.
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

    explicit PcapngReader(int file) : FilePieces(file, 0) {}
    bool fail(const std::string& why);
    bool end();
    bool begin_section(Body body);
    void add_interface(Body body);
    std::optional<Packet> packet_of(std::uint32_t type, Body body) const;
    bool take(const Packet& packet, Frame& frame);

    template <class Integer>
    Integer get(Body body, std::size_t at) const;

    bool swapped_ = false;
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

// The records of a plain capture file (pcap 2.4 of either byte order, microseconds or nanoseconds), read in
// large pieces: through libpcap a frame takes ten calls.
//
// Takes files of every usual writer and nothing else. Seconds are unsigned: 1970 to 2106. At the end of the
// file, and at a record that is cut or too long, or whose fraction is no second's, it stops, and libpcap goes
// on from `offset`: one place says which files are refused, and why. Kinds of files that it does not know it
// never begins.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

class PcapReader {
  public:
    struct Frame {
        std::uint64_t timestamp_ns = 0;
        std::uint32_t wire_length = 0;        // as it was on the wire, without FCS
        std::span<const std::uint8_t> bytes;  // the captured part; valid until the next read
    };

    // Of a file that stays open, by `snap_length` of its header. Reads by position: whoever else reads the
    // file is where he was.
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
    static constexpr std::size_t piece_bytes = 262'144;
    static constexpr std::uint32_t max_frame = 65'536;
    static_assert(header_bytes + max_frame <= piece_bytes);

    PcapReader(int file, bool swapped, std::uint32_t fraction_ns, std::uint32_t longest);
    // The frame and the header behind it, which are wanted when all other ports have had their turn: of many
    // ports the pieces are more than a cache holds, and too many streams for the core to see one. The rest of
    // a long frame follows by itself.
    void fetch(std::span<const std::uint8_t> frame) const {
        constexpr std::size_t line = 64, start = 4 * line;
        __builtin_prefetch(bytes_.data() + at_);
        for (std::size_t from = 0; from < std::min(frame.size(), start); from += line)
            __builtin_prefetch(frame.data() + from);
    }
    bool has(std::size_t bytes) { return filled_ - at_ >= bytes || fill(bytes); }
    bool fill(std::size_t wanted);

    int file_;
    bool swapped_;
    std::uint32_t fraction_ns_;  // of the fraction's unit: 1 or 1000
    std::uint32_t longest_;      // bytes that a record may hold
    std::vector<std::uint8_t> bytes_;
    std::uint64_t begin_;     // of bytes_, in the file
    std::size_t at_ = 0;      // in [0, filled_]
    std::size_t filled_ = 0;  // in [0, bytes_.size()]
};

}  // namespace sluice

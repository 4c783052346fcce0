#include "dataplane/peers/pcap_reader.hh"

#include <unistd.h>

#include <algorithm>

#include "lib/values/endian.hh"

namespace sluice {
namespace {

constexpr std::size_t file_header_bytes = 24;
constexpr std::uint32_t magic_microseconds = 0xA1B2C3D4;
constexpr std::uint32_t magic_nanoseconds = 0xA1B23C4D;
constexpr std::uint32_t version_2_4 = 2U | 4U << 16;  // two numbers of 16 bits, in the file's byte order

}  // namespace

PcapReader::PcapReader(int file, bool swapped, std::uint32_t fraction_ns, std::uint32_t longest)
    : file_(file),
      swapped_(swapped),
      fraction_ns_(fraction_ns),
      longest_(longest),
      bytes_(piece_bytes),
      begin_(file_header_bytes) {}

std::optional<PcapReader> PcapReader::open(int file, std::uint32_t snap_length) {
    std::array<std::uint8_t, file_header_bytes> header;
    if (pread(file, header.data(), header.size(), 0) != static_cast<ssize_t>(header.size()))
        return std::nullopt;
    std::uint32_t magic = 0;
    std::uint32_t version = 0;
    std::memcpy(&magic, header.data(), sizeof magic);
    std::memcpy(&version, header.data() + 4, sizeof version);
    const bool swapped =
        magic == __builtin_bswap32(magic_microseconds) || magic == __builtin_bswap32(magic_nanoseconds);
    if (swapped) {
        magic = __builtin_bswap32(magic);
        version = __builtin_bswap16(version & 0xFFFF) | std::uint32_t{__builtin_bswap16(version >> 16)} << 16;
    }
    if ((magic != magic_microseconds && magic != magic_nanoseconds) || version != version_2_4)
        return std::nullopt;
    return PcapReader(file, swapped, magic == magic_microseconds ? 1000 : 1,
                      std::min(snap_length, max_frame));
}

// Makes room and reads on, until `wanted` bytes of the next record are there; false when they never will be.
bool PcapReader::fill(std::size_t wanted) {
    std::copy(bytes_.begin() + static_cast<std::ptrdiff_t>(at_),
              bytes_.begin() + static_cast<std::ptrdiff_t>(filled_), bytes_.begin());
    begin_ += at_;
    filled_ -= at_;
    at_ = 0;
    while (filled_ < wanted) {
        const ssize_t count = pread(file_, bytes_.data() + filled_, bytes_.size() - filled_,
                                    static_cast<off_t>(begin_ + filled_));
        if (count <= 0) return false;  // libpcap finds the error again, and names it
        filled_ += static_cast<std::size_t>(count);
    }
    return true;
}

}  // namespace sluice

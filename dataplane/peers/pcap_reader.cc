#include "dataplane/peers/pcap_reader.hh"

#include <pcap/pcap.h>
#include <unistd.h>

#include "lib/record/pcapng.hh"
#include "lib/values/endian.hh"

namespace sluice {
namespace {

constexpr std::size_t file_header_bytes = 24;
constexpr std::uint32_t magic_microseconds = 0xA1B2C3D4;
constexpr std::uint32_t magic_nanoseconds = 0xA1B23C4D;
constexpr std::uint32_t version_2_4 = 2U | 4U << 16;  // two numbers of 16 bits, in the file's byte order
constexpr std::uint32_t max_block = 16U << 20;        // of pcapng

constexpr std::uint32_t old_packet_block = 2, simple_packet_block = 3;
constexpr std::uint16_t if_tsoffset = 14;
constexpr std::size_t block_head_bytes = 12;  // type, length, and the length again at its end
constexpr std::uint64_t ns_a_second = 1'000'000'000;

__extension__ using Wide = __int128;

// Nanoseconds of ticks since 1970; nothing: before that, or after 2106.
std::optional<std::uint64_t> nanoseconds_of(std::uint64_t ticks, std::uint8_t resolution,
                                            std::int64_t offset_seconds) {
    const unsigned power = resolution & 0x7FU;
    Wide ns = ticks;
    if ((resolution & 0x80U) != 0) {
        ns = ns * Wide{ns_a_second} >> std::min(power, 126U);
    } else {
        for (unsigned n = power; n < 9; ++n) ns *= 10;
        for (unsigned n = 9; n < power && ns != 0; ++n) ns /= 10;
    }
    ns += Wide{offset_seconds} * Wide{ns_a_second};
    if (ns < 0 || ns >= (Wide{1} << 32) * Wide{ns_a_second}) return std::nullopt;
    return static_cast<std::uint64_t>(ns);
}

// "LINUX_SLL", or a number without a name.
std::string link_layer_name(std::uint32_t link) {
    const char* name = pcap_datalink_val_to_name(static_cast<int>(link));
    return name != nullptr ? name : "number " + std::to_string(link);
}

}  // namespace

std::string frames_text(std::uint64_t count) {
    return std::to_string(count) + (count == 1 ? " frame" : " frames");
}

// Reads on until `wanted` bytes are there; false when they never will be: libpcap finds the error of a plain
// file again, and names it.
bool FilePieces::fill(std::size_t wanted) {
    std::copy(bytes_.begin() + static_cast<std::ptrdiff_t>(at_),
              bytes_.begin() + static_cast<std::ptrdiff_t>(filled_), bytes_.begin());
    begin_ += at_;
    filled_ -= at_;
    at_ = 0;
    while (filled_ < wanted) {
        // A block says how long it is: no more is taken for it than the file has.
        if (filled_ == bytes_.size()) bytes_.resize(std::min<std::size_t>(2 * bytes_.size(), 2 * max_block));
        const ssize_t count = pread(file_, bytes_.data() + filled_, bytes_.size() - filled_,
                                    static_cast<off_t>(begin_ + filled_));
        if (count <= 0) return false;
        filled_ += static_cast<std::size_t>(count);
    }
    return true;
}

PcapReader::PcapReader(int file, bool swapped, std::uint32_t fraction_ns, std::uint32_t longest)
    : FilePieces(file, file_header_bytes), swapped_(swapped), fraction_ns_(fraction_ns), longest_(longest) {}

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

std::string no_ethernet(std::uint32_t link) {
    const std::string name = link_layer_name(link);
    return "link layer is " + name + ", not Ethernet (EN10MB); do: capture on " +
           (name.starts_with("LINUX_SLL") ? "one interface (tcpdump -i eth0), not on any"
                                          : "an Ethernet interface");
}

std::optional<PcapngReader> PcapngReader::open(int file) {
    std::uint32_t type = 0;
    if (pread(file, &type, sizeof type, 0) != sizeof type || type != pcapng::section_block)
        return std::nullopt;
    return PcapngReader(file);
}

template <class Integer>
Integer PcapngReader::get(Body body, std::size_t at) const {
    Integer value;
    std::memcpy(&value, body.data() + at, sizeof value);
    if (!swapped_) return value;
    if constexpr (sizeof value == 2) return static_cast<Integer>(__builtin_bswap16(value));
    if constexpr (sizeof value == 4) return static_cast<Integer>(__builtin_bswap32(value));
    return static_cast<Integer>(__builtin_bswap64(static_cast<std::uint64_t>(value)));
}

bool PcapngReader::fail(const std::string& why) {
    error_ = "at byte " + std::to_string(begin_ + at_) + ": " + why;
    return false;
}

bool PcapngReader::end() {
    cut_ = filled_ != at_;
    if (given_ == 0 && !of_other_links_.empty()) error_ = no_ethernet(of_other_links_.begin()->first);
    return false;
}

bool PcapngReader::begin_section(Body body) {
    if (body.size() < 16 || get<std::uint16_t>(body, 4) != 1)
        return fail("a section of no version that is known");
    interfaces_.clear();
    return true;
}

void PcapngReader::add_interface(Body body) {
    Interface made;
    if (body.size() >= 8) {
        made.link = get<std::uint16_t>(body, 0);
        made.snap_length = get<std::uint32_t>(body, 4);
    }
    for (std::size_t at = 8; at + 4 <= body.size();) {
        const auto code = get<std::uint16_t>(body, at);
        const std::size_t length = get<std::uint16_t>(body, at + 2);
        at += 4;
        if (code == pcapng::end_of_options || length > body.size() - at) break;
        if (code == pcapng::if_tsresol && length == 1) made.resolution = body[at];
        if (code == if_tsoffset && length == 8) made.offset_seconds = get<std::int64_t>(body, at);
        at += (length + 3) / 4 * 4;
    }
    interfaces_.push_back(made);
}

// Nothing: the block is too short for what it says.
std::optional<PcapngReader::Packet> PcapngReader::packet_of(std::uint32_t type, Body body) const {
    Packet packet;
    std::size_t begin = 20;
    std::uint32_t captured = 0;
    if (type == simple_packet_block) {
        begin = 4;
        if (body.size() < begin) return std::nullopt;
        packet.wire_length = get<std::uint32_t>(body, 0);
        const std::uint32_t snap_length = interfaces_.empty() ? 0 : interfaces_.front().snap_length;
        captured = snap_length == 0 ? packet.wire_length : std::min(packet.wire_length, snap_length);
    } else {
        if (body.size() < begin) return std::nullopt;
        packet.interface =
            type == pcapng::packet_block ? get<std::uint32_t>(body, 0) : get<std::uint16_t>(body, 0);
        packet.ticks = std::uint64_t{get<std::uint32_t>(body, 4)} << 32 | get<std::uint32_t>(body, 8);
        captured = get<std::uint32_t>(body, 12);
        packet.wire_length = get<std::uint32_t>(body, 16);
    }
    if (captured > body.size() - begin) return std::nullopt;
    packet.bytes = body.subspan(begin, captured);
    return packet;
}

// False: it is left out, or its time is invalid, which is an error.
bool PcapngReader::take(const Packet& packet, Frame& frame) {
    if (packet.interface >= interfaces_.size()) {
        ++of_no_interface_;
        return false;
    }
    const Interface& from = interfaces_[packet.interface];
    if (from.link != pcapng::ethernet) {
        ++of_other_links_[from.link];
        return false;
    }
    if (packet.ticks) {
        const auto ns = nanoseconds_of(*packet.ticks, from.resolution, from.offset_seconds);
        if (!ns)
            return fail(
                "a frame's timestamp is not within 1970 to 2106; do: shift it with editcap -t SECONDS");
        last_ns_ = *ns;
    } else {
        ++without_time_;
    }
    ++given_;
    frame.timestamp_ns = last_ns_;
    frame.wire_length = std::max(packet.wire_length, static_cast<std::uint32_t>(packet.bytes.size()));
    frame.bytes = packet.bytes;
    return true;
}

bool PcapngReader::next(Frame& frame) {
    while (error_.empty()) {
        if (!has(block_head_bytes)) return end();
        const Body head{bytes_.data() + at_, block_head_bytes};
        if (get<std::uint32_t>(head, 0) == pcapng::section_block) {  // the same in either byte order
            swapped_ = false;
            const auto magic = get<std::uint32_t>(head, 8);
            swapped_ = magic == __builtin_bswap32(pcapng::byte_order_magic);
            if (!swapped_ && magic != pcapng::byte_order_magic) return fail("a section of no byte order");
        }
        const auto type = get<std::uint32_t>(head, 0);
        const auto length = get<std::uint32_t>(head, 4);
        if (length < block_head_bytes || length % 4 != 0 || length > max_block)
            return fail("a block of " + std::to_string(length) + " bytes cannot be");
        if (!has(length)) return end();
        const Body block{bytes_.data() + at_, length};
        if (get<std::uint32_t>(block, length - 4) != length) return fail("a block has two lengths");
        const Body body = block.subspan(8, length - block_head_bytes);
        if (type == pcapng::section_block && !begin_section(body)) return false;
        if (type == pcapng::interface_block) add_interface(body);
        if (type == pcapng::packet_block || type == simple_packet_block || type == old_packet_block) {
            const auto packet = packet_of(type, body);
            if (!packet) return fail("a frame is longer than its block");
            if (take(*packet, frame)) {
                at_ += length;
                return true;
            }
        }
        at_ += length;
    }
    return false;
}

std::vector<std::string> PcapngReader::notes() const {
    std::vector<std::string> notes;
    for (const auto& [link, frames] : of_other_links_)
        notes.push_back(frames_text(frames) + " of link layer " + link_layer_name(link) +
                        " left out: not Ethernet");
    if (of_no_interface_ != 0)
        notes.push_back(frames_text(of_no_interface_) + " of an interface that is not described left out");
    if (without_time_ != 0)
        notes.push_back(frames_text(without_time_) + " without a timestamp: at that of the frame before");
    if (cut_) notes.emplace_back(cut_note);
    return notes;
}

}  // namespace sluice

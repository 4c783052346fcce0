#include "lib/record/pcapng.hh"

#include <algorithm>
#include <cstring>

namespace sluice::pcapng {
namespace {

// Options of any block, of a section, an interface, a packet.
constexpr std::uint16_t comment = 1, user_application = 4, if_name = 2, if_speed = 8, epb_flags = 2;
constexpr std::size_t max_option_bytes = 65'535;

template <class Integer>
void add(std::string& out, Integer value) {
    char bytes[sizeof value];  // NOLINT(modernize-avoid-c-arrays)
    std::memcpy(bytes, &value, sizeof value);
    out.append(bytes, sizeof value);
}

void pad(std::string& out, std::size_t bytes) { out.append((4 - bytes % 4) % 4, '\0'); }

// Cuts to an option's length, not within a character.
std::string_view cut(std::string_view text) {
    if (text.size() <= max_option_bytes) return text;
    std::size_t end = max_option_bytes;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) --end;
    return text.substr(0, end);
}

void add_option(std::string& out, std::uint16_t code, std::string_view value) {
    add(out, code);
    add(out, static_cast<std::uint16_t>(value.size()));
    out += value;
    pad(out, value.size());
}

template <class Integer>
void add_number(std::string& out, std::uint16_t code, Integer value) {
    std::string bytes;
    add(bytes, value);
    add_option(out, code, bytes);
}

void end_options(std::string& out) { add_option(out, end_of_options, {}); }

// A block has its length in front of the body and behind it.
template <class Body>
void add_block(std::string& out, std::uint32_t type, Body body) {
    const std::size_t begin = out.size();
    add(out, type);
    add(out, std::uint32_t{0});
    body();
    const auto length = static_cast<std::uint32_t>(out.size() - begin + sizeof(std::uint32_t));
    std::memcpy(out.data() + begin + sizeof type, &length, sizeof length);
    add(out, length);
}

}  // namespace

void add_section(std::string& out, std::string_view application) {
    add_block(out, section_block, [&] {
        constexpr std::uint16_t major = 1, minor = 0;
        constexpr std::uint64_t unknown_length = ~std::uint64_t{0};
        add(out, byte_order_magic);
        add(out, major);
        add(out, minor);
        add(out, unknown_length);
        add_option(out, user_application, cut(application));
        end_options(out);
    });
}

void add_interface(std::string& out, std::string_view name, std::uint32_t snap_length,
                   std::uint64_t bits_per_second) {
    add_block(out, interface_block, [&] {
        constexpr std::uint16_t reserved = 0;
        constexpr std::uint8_t nanoseconds = 9;  // 10^-9 s
        add(out, ethernet);
        add(out, reserved);
        add(out, snap_length);
        add_option(out, if_name, cut(name));
        add_number(out, if_speed, bits_per_second);
        add_number(out, if_tsresol, nanoseconds);
        end_options(out);
    });
}

void add_packet(std::string& out, const PacketBlock& packet) {
    add_block(out, packet_block, [&] {
        add(out, packet.interface);
        add(out, static_cast<std::uint32_t>(packet.timestamp_ns >> 32));
        add(out, static_cast<std::uint32_t>(packet.timestamp_ns));
        add(out, static_cast<std::uint32_t>(packet.bytes.size()));
        add(out, std::max(packet.wire_bytes, static_cast<std::uint32_t>(packet.bytes.size())));
        out.append(reinterpret_cast<const char*>(packet.bytes.data()), packet.bytes.size());
        pad(out, packet.bytes.size());
        if (!packet.comment.empty()) add_option(out, comment, cut(packet.comment));
        if (packet.direction != Direction::unknown)
            add_number(out, epb_flags, static_cast<std::uint32_t>(packet.direction));
        end_options(out);
    });
}

}  // namespace sluice::pcapng

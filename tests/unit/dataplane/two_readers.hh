// The result of our reader for a capture file, and that of libpcap alone, as text: a line a frame, then the
// error. They are to be the same for any bytes.
#pragma once

#include <pcap/pcap.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "dataplane/peers/capture_file.hh"
#include "lib/values/rng.hh"

namespace sluice {

inline void tell(std::string& out, std::uint64_t timestamp_ns, std::uint64_t wire_length,
                 std::span<const std::uint8_t> bytes) {
    std::uint64_t digest = bytes.size();
    for (const std::uint8_t byte : bytes) digest = scramble(digest ^ byte);
    out += std::to_string(timestamp_ns) + " " + std::to_string(wire_length) + " " + std::to_string(digest) +
           "\n";
}

inline std::string by_reader(const std::string& path) {
    auto reader = CaptureReader::open(path);
    if (!reader) return "refused";
    std::string out;
    for (CaptureReader::Frame frame; reader->read(frame);)
        tell(out, frame.timestamp_ns, frame.wire_length, frame.bytes);
    return out + reader->error();
}

inline std::string by_libpcap(const std::string& path) {
    std::array<char, PCAP_ERRBUF_SIZE> error{};
    pcap* handle =
        pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, error.data());
    if (handle == nullptr) return "refused";
    std::string out;
    if (pcap_datalink(handle) != DLT_EN10MB) {
        out = "refused";
    } else {
        pcap_pkthdr* header = nullptr;
        const std::uint8_t* bytes = nullptr;
        int result = 0;
        while ((result = pcap_next_ex(handle, &header, &bytes)) == 1) {
            // libpcap takes the 32 bits of a plain capture's seconds for a signed number.
            const std::int64_t seconds = pcap_major_version(handle) == 2
                                             ? std::int64_t{static_cast<std::uint32_t>(header->ts.tv_sec)}
                                             : std::int64_t{header->ts.tv_sec};
            if (seconds < 0 || seconds > UINT32_MAX || header->ts.tv_usec < 0) {
                out += path + ": a frame's timestamp is not within 1970 to 2106";
                break;
            }
            tell(out,
                 static_cast<std::uint64_t>(seconds) * 1'000'000'000 +
                     static_cast<std::uint64_t>(header->ts.tv_usec),
                 std::max(header->len, header->caplen), {bytes, header->caplen});
        }
        // A file that is cut in its last record ends before it.
        const std::string error_text = pcap_geterr(handle);
        if (result == PCAP_ERROR && !error_text.starts_with("truncated dump file"))
            out += path + ": " + error_text;
    }
    pcap_close(handle);
    return out;
}

}  // namespace sluice

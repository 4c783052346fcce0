#include "control/fabric/schedule/protobuf_wire.hh"

#include <cstddef>

namespace sluice::fabric {
namespace {

// Takes a number of so many bytes, the lowest first.
WireError take_fixed(std::string_view& bytes, std::size_t size, std::uint64_t& value) {
    if (bytes.size() < size) return WireError::cut_short;
    value = 0;
    for (std::size_t n = 0; n < size; ++n)
        value |= std::uint64_t{static_cast<unsigned char>(bytes[n])} << (8 * n);
    bytes.remove_prefix(size);
    return WireError::none;
}

}  // namespace

std::string_view wire_error_words(WireError error) {
    switch (error) {
        case WireError::none:
            return "nothing is wrong";
        case WireError::cut_short:
            return "a field is longer than its message";
        case WireError::long_varint:
            return "a varint has more than 64 bits";
        case WireError::bad_tag:
            break;
    }
    return "a field has no number or type of protobuf, or not those of its schema";
}

WireError take_varint(std::string_view& bytes, std::uint64_t& value) {
    constexpr std::size_t longest = 10;
    value = 0;
    for (std::size_t n = 0; n < longest; ++n) {
        if (n == bytes.size()) return WireError::cut_short;
        const auto byte = static_cast<unsigned char>(bytes[n]);
        if (n == longest - 1 && byte > 1) break;  // bits beyond the 64th
        value |= std::uint64_t{byte & 0x7FU} << (7 * n);
        if (byte >= 0x80) continue;
        bytes.remove_prefix(n + 1);
        return WireError::none;
    }
    return WireError::long_varint;
}

bool WireReader::next(WireField& field) {
    if (left_.empty() || error_ != WireError::none) return false;
    std::uint64_t tag = 0;
    error_ = take_varint(left_, tag);
    if (error_ != WireError::none) return false;
    field = {};
    field.number = static_cast<std::uint32_t>(tag >> 3U);
    field.type = static_cast<WireField::Type>(tag & 7U);
    if (tag < 8 || tag > 0xFFFF'FFFF) {
        error_ = WireError::bad_tag;
        return false;
    }
    switch (field.type) {
        case WireField::Type::varint:
            error_ = take_varint(left_, field.value);
            break;
        case WireField::Type::fixed64:
            error_ = take_fixed(left_, 8, field.value);
            break;
        case WireField::Type::fixed32:
            error_ = take_fixed(left_, 4, field.value);
            break;
        case WireField::Type::bytes: {
            std::uint64_t size = 0;
            error_ = take_varint(left_, size);
            if (error_ != WireError::none) break;
            if (size > left_.size()) {
                error_ = WireError::cut_short;
                break;
            }
            field.bytes = left_.substr(0, size);
            left_.remove_prefix(size);
            break;
        }
        default:
            error_ = WireError::bad_tag;  // groups, which proto3 lacks
    }
    return error_ == WireError::none;
}

}  // namespace sluice::fabric

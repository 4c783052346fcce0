// The wire format of protobuf (protobuf.dev/programming-guides/encoding): the fields of one message.
//
// Knows no schema: the reader of a message picks fields by their numbers and skips the others. Everything is
// a view into the message; nothing is allocated.
#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::fabric {

enum class WireError : std::uint8_t { none, cut_short, long_varint, bad_tag };
std::string_view wire_error_words(WireError error);

// Takes a varint of at most ten bytes off the front.
WireError take_varint(std::string_view& bytes, std::uint64_t& value);

struct WireField {
    enum class Type : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

    std::uint32_t number = 0;  // >= 1
    Type type = Type::varint;
    std::uint64_t value = 0;  // of all types but bytes
    std::string_view bytes;

    bool is_varint() const { return type == Type::varint; }
    bool is_bytes() const { return type == Type::bytes; }
};

class WireReader {
  public:
    explicit WireReader(std::string_view message) : left_(message) {}
    // False: the message is over, or error() says what is wrong with the field.
    bool next(WireField& field);
    WireError error() const { return error_; }

  private:
    std::string_view left_;
    WireError error_ = WireError::none;
};

// Calls visit with each value of a repeated field of varints, packed or not.
template <class Visit>
WireError for_each_varint(const WireField& field, const Visit& visit) {
    if (field.is_varint()) return visit(field.value), WireError::none;
    if (!field.is_bytes()) return WireError::bad_tag;
    for (std::string_view left = field.bytes; !left.empty();) {
        std::uint64_t value = 0;
        if (const WireError error = take_varint(left, value); error != WireError::none) return error;
        visit(value);
    }
    return WireError::none;
}

// The signed number that sint32 and sint64 write as an unsigned one: 0, -1, 1, -2 as 0, 1, 2, 3.
constexpr std::int64_t zigzag(std::uint64_t value) {
    return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
}

}  // namespace sluice::fabric

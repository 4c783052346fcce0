// The wire format of protobuf: fields of each type, and what is not a field.
#include "control/fabric/schedule/protobuf_wire.hh"

#include <fmt/format.h>

#include <limits>
#include <string>
#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::protobuf_wire_test {
namespace {

using namespace sluice::fabric;

// "1=150 2='abc'", or the error.
std::string shown(std::string_view message) {
    WireReader fields(message);
    std::string text;
    for (WireField field; fields.next(field);)
        text += field.is_bytes()
                    ? fmt::format("{}='{}' ", field.number, field.bytes)
                    : fmt::format("{}={}:{} ", field.number, field.value, static_cast<int>(field.type));
    return text + (fields.error() == WireError::none ? "" : std::string(wire_error_words(fields.error())));
}

std::string bytes(std::initializer_list<unsigned> all) {
    std::string text;
    for (const unsigned each : all) text += static_cast<char>(each);
    return text;
}

}  // namespace

TEST_GROUP(ProtobufWire){};

TEST(ProtobufWire, FieldsOfEachTypeAreReadAndOthersRefused) {
    struct Case {
        std::string message, wanted;
    };
    const std::string nine(9, '\xFF');
    const std::vector<Case> cases{
        {"", ""},
        {bytes({0x08, 0x96, 0x01}), "1=150:0 "},
        {bytes({0x12, 3, 'a', 'b', 'c', 0x08, 0}), "2='abc' 1=0:0 "},
        {bytes({0x12, 0}), "2='' "},
        {bytes({0x09, 1, 2, 0, 0, 0, 0, 0, 0x80}), "1=9223372036854776321:1 "},
        {bytes({0x0D, 1, 2, 0, 0x80}), "1=2147484161:5 "},
        {"\x08" + nine + "\x01", "1=18446744073709551615:0 "},
        {"\x08" + std::string(9, '\x80') + bytes({0}), "1=0:0 "},
        {bytes({0xF8, 0xFF, 0xFF, 0xFF, 0x0F, 1}), "536870911=1:0 "},
        {"\x08" + nine + "\x02", "a varint has more than 64 bits"},
        {"\x08" + nine + nine, "a varint has more than 64 bits"},
        {"\x08", "a field is longer than its message"},
        {bytes({0x08, 0x80}), "a field is longer than its message"},
        {bytes({0x80}), "a field is longer than its message"},
        {bytes({0x12, 4, 'a', 'b', 'c'}), "a field is longer than its message"},
        {"\x12" + nine + "\x01", "a field is longer than its message"},
        {bytes({0x09, 1, 2, 0, 0, 0, 0, 0}), "a field is longer than its message"},
        {bytes({0x0D, 1, 2, 0}), "a field is longer than its message"},
        {bytes({0x00, 1}), "a field has no number or type of protobuf, or not those of its schema"},
        {bytes({0x0B}), "a field has no number or type of protobuf, or not those of its schema"},
        {bytes({0x0C}), "a field has no number or type of protobuf, or not those of its schema"},
        {bytes({0x0E, 1}), "a field has no number or type of protobuf, or not those of its schema"},
        {bytes({0x88, 0x80, 0x80, 0x80, 0x10, 1}),
         "a field has no number or type of protobuf, or not those of its schema"},
        {bytes({0x08, 1, 0x0B, 0x08, 1}),
         "1=1:0 a field has no number or type of protobuf, or not those of its schema"}};
    for (const Case& each : cases) STRCMP_EQUAL(each.wanted.c_str(), shown(each.message).c_str());
}

TEST(ProtobufWire, RepeatedVarintsArePackedOrNot) {
    const auto values_of = [](const WireField& field) {
        std::string text;
        const WireError error =
            for_each_varint(field, [&](std::uint64_t value) { text += fmt::format("{} ", value); });
        return text + (error == WireError::none ? "" : std::string(wire_error_words(error)));
    };
    const std::string list = bytes({1, 0x96, 0x01, 0}), cut = bytes({1, 0x96});
    STRCMP_EQUAL("1 150 0 ", values_of({4, WireField::Type::bytes, 0, list}).c_str());
    STRCMP_EQUAL("", values_of({4, WireField::Type::bytes, 0, ""}).c_str());
    STRCMP_EQUAL("7 ", values_of({4, WireField::Type::varint, 7, ""}).c_str());
    STRCMP_EQUAL("1 a field is longer than its message",
                 values_of({4, WireField::Type::bytes, 0, cut}).c_str());
    STRCMP_CONTAINS("a field has no number", values_of({4, WireField::Type::fixed32, 7, ""}).c_str());
}

TEST(ProtobufWire, ZigzagTurnsUnsignedIntoSigned) {
    CHECK(zigzag(0) == 0 && zigzag(1) == -1 && zigzag(2) == 1 && zigzag(3) == -2);
    CHECK(zigzag(std::numeric_limits<std::uint64_t>::max()) == std::numeric_limits<std::int64_t>::min());
}

}  // namespace sluice::protobuf_wire_test

#include "control/config/schema/values.hh"
#include "control/config/text/controls.hh"

#include <string>
#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::values_test {
namespace {

template <class T>
void refuses(const ParsedValue<T>& value, const char* wrong) {
    CHECK_FALSE(value.has_value());
    if (!value) STRCMP_EQUAL(wrong, value.error().wrong.c_str());
}

void is_size(std::uint64_t bytes, const char* text) {
    const auto value = parse_size(text);
    CHECK_TRUE(value.has_value());
    if (value) UNSIGNED_LONGLONGS_EQUAL(bytes, *value);
}

void is_time(std::int64_t ps, const char* text) {
    const auto value = parse_time(text);
    CHECK_TRUE(value.has_value());
    if (value) LONGLONGS_EQUAL(ps, value->ps);
}

}  // namespace

TEST_GROUP(Values){};

TEST(Values, refusesSizesThatAreNotPlainDecimals) {
    refuses(parse_size(""), "is empty");
    refuses(parse_size("-1KB"), "is negative");
    refuses(parse_size("+1KB"), "does not start with a number");
    refuses(parse_size("nan"), "does not start with a number");
    refuses(parse_size("inf"), "does not start with a number");
    refuses(parse_size(" 1KB"), "does not start with a number");
    refuses(parse_size("KB"), "does not start with a number");
    refuses(parse_size("1."), "has no digit after the decimal point");
    refuses(parse_size("0x10"), "has the unknown unit \"x10\"");
    refuses(parse_size("1e9"), "has the unknown unit \"e9\"");
    refuses(parse_size("1,5KB"), "has the unknown unit \",5KB\"");
    refuses(parse_size("150Kb"), "has the unknown unit \"Kb\"");  // bits, not bytes
    refuses(parse_size("1 K B"), "has the unknown unit \"K B\"");
    refuses(parse_size("1MB "), "has the unknown unit \"MB \"");
    refuses(parse_size("0.1B"), "is not a whole number of bytes");
    refuses(parse_size("1.0005KB"), "is not a whole number of bytes");
    refuses(parse_size("1.5KB\n"), "has the unknown unit \"KB\\u000A\"");
}

TEST(Values, refusesWhatDoesNotFitIn64Bits) {
    refuses(parse_size("18446744073709551616"), "is too large");
    refuses(parse_size("18446745TB"), "is too large");
    refuses(parse_size("16777216TiB"), "is too large");
    refuses(parse_rate("99999999999G"), "is too large");
    refuses(parse_rate("99999999999999999999999999999999"), "is too large");
    refuses(parse_time("9223373s"), "is too large");
    refuses(parse_time("9223372036854775808ps"), "is too large");
    refuses(parse_length("4294967296m"), "is too large");
    refuses(parse_size("0.1234567890123456789TB"), "has too many digits");
    refuses(parse_integer("18446744073709551616"), "is too large");
    refuses(parse_integer("1.5"), "is not a whole number");
}

TEST(Values, refusesTimesWithoutUnit) {
    refuses(parse_time("200"), "has no unit");
    refuses(parse_time("200 "), "has no unit");
    refuses(parse_time("200m"), "has the unknown unit \"m\"");
    refuses(parse_time("0.5ps"), "is not a whole number of picoseconds");
}

TEST(Values, refusesBadAddresses) {
    refuses(parse_mac("02:00:00:00:00"), "is not a MAC address");
    refuses(parse_mac("02:00:00:00:00:0g"), "is not a MAC address");
    refuses(parse_mac("02-00-00-00-00-01"), "is not a MAC address");
    refuses(parse_mac("02:00:00:00:00:01:"), "is not a MAC address");
    refuses(parse_address("10.0.0"), "is not an IP address");
    refuses(parse_address("10.0.0.256"), "is not an IP address");
    refuses(parse_address("fe80::1%eth0"), "is not an IP address");
    refuses(parse_address(std::string_view("10.0.0.1\0x", 10)), "is not an IP address");
    refuses(parse_prefix("10.0.0.1/33"), "has a prefix length that is not a number from 0 to 32");
    refuses(parse_prefix("2001:db8::/129"), "has a prefix length that is not a number from 0 to 128");
    refuses(parse_prefix("10.0.0.1/"), "has a prefix length that is not a number from 0 to 32");
    refuses(parse_prefix("10.0.0.1/24/8"), "has a prefix length that is not a number from 0 to 32");
    refuses(parse_prefix("10.0.0.1"), "has no prefix length");
    refuses(parse_network("10.0.0.1/24"), "has host bits set");
    STRCMP_EQUAL("write 10.0.0.0/24", parse_network("10.0.0.1/24").error().remedy.c_str());
    STRCMP_EQUAL("write 2001:db8:8000::/33", parse_network("2001:db8:ffff::1/33").error().remedy.c_str());
}

TEST(Values, readsSizes) {
    is_size(150'000, "150KB");
    is_size(150'000, "150 KB");
    is_size(1'500, "1.5KB");
    is_size(1'536, "1.5KiB");
    is_size(9'216, "9216");
    is_size(9'216, "9216B");
    is_size(2'097'152, "2MiB");
    is_size(1, "0.000000000001TB");
    is_size(100'000'000, "0.10000000000000000000000000GB");
    is_size(18'446'744'073'709'551'615ULL, "18446744073709551615");
    is_size(16'777'215ULL << 40, "16777215TiB");
}

TEST(Values, readsRates) {
    for (const char* text : {"100G", "100Gbps", "100Gb/s", "100 Gbit/s", "100000000000", "0.1T", "100000M"}) {
        const auto rate = parse_rate(text);
        CHECK_TRUE_TEXT(rate.has_value() && *rate == gigabits(100), text);
    }
    UNSIGNED_LONGLONGS_EQUAL(2'500'000'000, parse_rate("2.5G")->bits_per_second);
}

TEST(Values, readsTimes) {
    is_time(0, "0");
    is_time(0, "0ns");
    is_time(500'000, "500ns");
    is_time(5'000'000, "5us");
    is_time(200'000'000'000, "200ms");
    is_time(1'500'000'000'000, "1.5s");
    is_time(100, "0.1ns");
    is_time(9'223'372'036'854'775'807, "9223372036854775807ps");
}

TEST(Values, printsWhatItReads) {
    for (const char* text : {"0B", "1B", "1KB", "64KiB", "16MB", "1536B", "18446744073709551615B"})
        STRCMP_EQUAL(text, print_size(*parse_size(text)).c_str());
    for (const char* text : {"0bps", "1bps", "100G", "2500M", "1T", "1K"})
        STRCMP_EQUAL(text, print_rate(*parse_rate(text)).c_str());
    for (const char* text : {"0ns", "1ps", "1500ns", "200ms", "3s", "9223372036854775807ps"})
        STRCMP_EQUAL(text, print_time(*parse_time(text)).c_str());
    for (const char* text : {"0.0.0.0/0", "10.0.0.1/24", "::/0", "2001:db8::1/64", "::ffff:10.0.0.1/128"})
        STRCMP_EQUAL(text, print_prefix(*parse_prefix(text)).c_str());
    STRCMP_EQUAL("02:00:00:00:00:ff", print_mac(*parse_mac("02:00:00:00:00:FF")).c_str());
    UNSIGNED_LONGS_EQUAL(2'000, *parse_length("2km"));
}

TEST(Values, prefixContainsItsOwnAddressesAndNoOthers) {
    const IpPrefix subnet = *parse_prefix("10.0.1.1/23");
    CHECK_TRUE(contains(subnet, *parse_address("10.0.0.0")));
    CHECK_TRUE(contains(subnet, *parse_address("10.0.1.255")));
    CHECK_FALSE(contains(subnet, *parse_address("10.0.2.0")));
    CHECK_FALSE(contains(subnet, *parse_address("::10.0.1.1")));
    CHECK_TRUE(contains(*parse_prefix("::/0"), *parse_address("2001:db8::1")));
    CHECK_FALSE(contains(*parse_prefix("2001:db8::1/128"), *parse_address("2001:db8::2")));
}

TEST(Values, quotesForOneLineOfAMessage) {
    STRCMP_EQUAL(R"("a\"b\\c\u000A\u0000d\u007F")",
                 in_quotes(std::string_view("a\"b\\c\n\0d\x7f", 9)).c_str());
    STRCMP_EQUAL(R"("\u009Bx\u0080\u009F")",
                 in_quotes("\xC2\x9Bx\xC2\x80\xC2\x9F").c_str());  // C1: a terminal obeys them
    STRCMP_EQUAL("\"\xC2\xA0\xC3\x9B\"", in_quotes("\xC2\xA0\xC3\x9B").c_str());
    STRCMP_EQUAL("a?b?c", without_controls("a\xC2\x9B"
                                           "b\x1B"
                                           "c")
                              .c_str());
    // A byte alone is one where the terminal knows no UTF-8; within a character it is none.
    STRCMP_EQUAL(R"("\u009Bx")", in_quotes("\x9Bx").c_str());
    STRCMP_EQUAL("?x", without_controls("\x9Bx").c_str());
    CHECK_TRUE(has_controls("x\x9B"));
    STRCMP_EQUAL("\"\xE2\x80\x9C\"", in_quotes("\xE2\x80\x9C").c_str());
    STRCMP_EQUAL("\xE2\x80\x9C", without_controls("\xE2\x80\x9C").c_str());
    CHECK_FALSE(has_controls("\xE2\x80\x9C"));
    STRCMP_EQUAL("\"abc...\"", in_quotes("abcdef", 3).c_str());
    STRCMP_EQUAL("\"a...\"", in_quotes("a\xC3\xA9z", 2).c_str());  // not half an e acute
}

}  // namespace sluice::values_test

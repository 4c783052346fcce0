#include "dataplane/ports/physical.hh"

#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::module_eeprom_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes module_of(std::uint8_t kind, std::size_t size) {
    Bytes bytes(size, 0);
    bytes[0] = kind;
    return bytes;
}

void set_word(Bytes& bytes, std::size_t at, unsigned word) {
    bytes[at] = static_cast<std::uint8_t>(word >> 8);
    bytes[at + 1] = static_cast<std::uint8_t>(word);
}

Bytes sfp(unsigned word, std::uint8_t monitoring = 0x60) {
    Bytes bytes = module_of(0x03, 512);
    bytes[92] = monitoring;
    set_word(bytes, 256 + 96, word);
    return bytes;
}

Bytes qsfp(std::uint8_t kind, std::size_t at, unsigned word) {
    Bytes bytes = module_of(kind, 256);
    set_word(bytes, at, word);
    return bytes;
}

void none(const Bytes& bytes) { CHECK_FALSE(module_temperature(bytes).has_value()); }
void is(std::int32_t thousandths, const Bytes& bytes) {
    const auto found = module_temperature(bytes);
    CHECK_TRUE(found.has_value());
    LONGS_EQUAL(thousandths, *found);
}

}  // namespace

TEST_GROUP(ModuleEeprom){};

TEST(ModuleEeprom, saysNothingOfWhatItDoesNotKnow) {
    none({});
    none(module_of(0x00, 512));
    none(module_of(0x0B, 512));  // DWDM-SFP, not used
    none(module_of(0xFF, 512));
}

TEST(ModuleEeprom, saysNothingOfAnSfpWithoutMonitoring) { none(sfp(0x2000, 0x00)); }

TEST(ModuleEeprom, saysNothingOfTooFewBytesWhateverTheyAre) {
    for (const std::uint8_t kind : {0x03, 0x0C, 0x0D, 0x11, 0x18, 0x19, 0x1E, 0x1F, 0x20}) {
        const std::size_t needed = kind == 0x03 ? 256 + 98 : kind < 0x18 ? 24 : 16;
        for (std::size_t size = 1; size < needed; ++size) {
            Bytes bytes(size, 0x7F);
            bytes[0] = kind;
            none(bytes);
        }
        Bytes bytes(needed, 0x40);
        bytes[0] = kind;
        CHECK_TRUE(module_temperature(bytes).has_value());
    }
}

TEST(ModuleEeprom, saysNothingOfACopperCable) {
    none(qsfp(0x11, 22, 0));
    none(qsfp(0x18, 14, 0));
}

TEST(ModuleEeprom, readsAnSfp) {
    is(0, sfp(0x0000));
    is(32'000, sfp(0x2000));
    is(41'500, sfp(0x2980));
    is(-1'000, sfp(0xFF00));
    is(-128'000, sfp(0x8000));
    is(127'996, sfp(0x7FFF));
}

TEST(ModuleEeprom, calibratesAnSfpThatWantsIt) {
    Bytes bytes = sfp(0x2000, 0x50);
    set_word(bytes, 256 + 84, 0x0180);  // 1.5
    set_word(bytes, 256 + 86, 0xFE00);  // -2 degrees
    is(46'000, bytes);
    bytes[92] = 0x60;  // calibrated inside: the same bytes mean nothing
    is(32'000, bytes);
    bytes[92] = 0x50;
    set_word(bytes, 256 + 84, 0xFFFF);
    is(128'000, bytes);
    set_word(bytes, 256 + 96, 0x8000);
    is(-128'000, bytes);
}

TEST(ModuleEeprom, readsEveryKindAtItsPlace) {
    for (const std::uint8_t kind : {0x0C, 0x0D, 0x11}) is(45'250, qsfp(kind, 22, 0x2D40));
    for (const std::uint8_t kind : {0x18, 0x19, 0x1E, 0x1F, 0x20}) is(-10'500, qsfp(kind, 14, 0xF580));
}

}  // namespace sluice::module_eeprom_test

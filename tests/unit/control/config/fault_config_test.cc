// [port.NAME.fault] and the command that sets the same keys: refused with a reason, or read back equal.
#include <string>
#include <vector>

#include "control/config/lint/lint.hh"
#include "control/config/schema/config.hh"
#include "control/config/schema/schema.hh"
#include "control/config/schema/values.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::fault_config_test {
namespace {

void refused(const std::string& key, const std::string& value, const std::string& because) {
    FaultSettings fault;
    const std::string error = set_fault(fault, key, value);
    CHECK_TRUE_TEXT(error.find(because) != std::string::npos, (key + " " + value + ": " + error).c_str());
    CHECK_TRUE(fault == FaultSettings{});
}

FaultSettings set(const std::vector<std::pair<std::string, std::string>>& settings) {
    FaultSettings fault;
    for (const auto& [key, value] : settings) STRCMP_EQUAL("", set_fault(fault, key, value).c_str());
    return fault;
}

}  // namespace

TEST_GROUP(FaultConfig){};

TEST(FaultConfig, refusesWithAReason) {
    refused("drop_evry", "1", "is not a fault; known: drop_every");
    refused("drop_every = 1 #", "1", "is not a fault");
    refused("drop_every", "-1", "is negative");
    refused("drop_every", "often", "is not an integer");
    refused("drop_every", "", "is not an integer");
    refused("drop_every", "1\nseed = 3", "is not an integer");
    refused("drop_chance", "101%", "is more than 100%");
    refused("drop_chance", "1", "is not a string");
    refused("drop_chance", "0.00000001%", "is not a whole number of parts per billion");
    refused("delay", "5", "has no unit");
    refused("delay", "2s", "is too long");
    refused("storm_classes", "[8]", "is too large");
    refused("storm_classes", "[3, 3]", "is in the list twice");
    refused("storm_classes", "3", "is not a list");
    refused("storm_every", "0s", "is too short");
    refused("pfc_quanta", "65536", "is too large");
    refused("ber", "0.01", "is not from 0 to 0.001");
    refused("tx_ber", "-1e-9", "is not from 0 to 0.001");
    refused("ber", "often", "is not a number");
    refused("slow_receiver", "0", "is too small");
    refused("overshoot", "10X", "unknown unit");
}

TEST(FaultConfig, commandAndFileReadTheSame) {
    const FaultSettings fault = set({{"drop_every", "100"},
                                     {"drop_chance", "0.1%"},
                                     {"corrupt_chance", "50ppm"},
                                     {"duplicate_chance", "1ppb"},
                                     {"delay", "5us"},
                                     {"ber", "1e-9"},
                                     {"tx_drop_every", "7"},
                                     {"tx_drop_chance", "1%"},
                                     {"tx_corrupt_chance", "2ppm"},
                                     {"tx_duplicate_chance", "3%"},
                                     {"tx_delay", "1us"},
                                     {"tx_ber", "2.5e-7"},
                                     {"pfc_lose_every", "2"},
                                     {"pfc_lose_chance", "100%"},
                                     {"pfc_duplicate_chance", "2.5%"},
                                     {"pfc_delay", "\"1ms\""},
                                     {"pfc_class_vector", "0x10"},
                                     {"pfc_quanta", "0"},
                                     {"storm_classes", "[3, 5]"},
                                     {"storm_every", "20us"},
                                     {"storm_for", "3s"},
                                     {"stuck_xoff", "[0]"},
                                     {"overshoot", "10KB"},
                                     {"slow_receiver", "10G"},
                                     {"slow_buffer", "1MB"}});
    CHECK_EQUAL(1'000'000u, fault.received.drop_chance.parts_per_billion);
    CHECK_EQUAL(0x28, fault.storm_classes);
    CHECK_TRUE(fault.pfc_class_vector == std::uint16_t{0x10});
    Config config;
    config.ports["p1"].fault = fault;
    config.ports["p2"];
    const std::string text = to_toml(config);
    const ConfigResult back = parse_config(text, "f");
    CHECK_TRUE_TEXT(back.has_value(), text.c_str());
    CHECK_TRUE_TEXT(*back == config, text.c_str());
    for (const KeyInfo& key : schema_keys())  // none was forgotten above
        if (key.section == "port.NAME.fault")
            CHECK_TRUE_TEXT(text.find("\n" + key.name + " = ") != std::string::npos, key.name.c_str());
}

TEST(FaultConfig, offAndEmptyTakeThemBack) {
    FaultSettings fault =
        set({{"pfc_quanta", "1"}, {"slow_receiver", "1G"}, {"stuck_xoff", "[3]"}, {"drop_chance", "1%"}});
    for (const auto& [key, value] : std::vector<std::pair<std::string, std::string>>{
             {"pfc_quanta", "off"}, {"slow_receiver", "off"}, {"stuck_xoff", "[]"}, {"drop_chance", "0%"}})
        STRCMP_EQUAL("", set_fault(fault, key, value).c_str());
    CHECK_TRUE(fault == FaultSettings{});
}

TEST(FaultConfig, portsStartFromTheDefault) {
    const ConfigResult config = parse_config(
        "[default.fault]\ndrop_every = 5\ndelay = \"1us\"\n[port.p1.fault]\ndrop_every = 7\n[port.p2]\n",
        "f");
    CHECK_TRUE(config.has_value());
    CHECK_EQUAL(7u, config->ports.at("p1").fault.received.drop_every);
    CHECK_TRUE(config->ports.at("p1").fault.received.delay == microseconds(1));
    CHECK_EQUAL(5u, config->ports.at("p2").fault.received.drop_every);
    const ConfigResult back = parse_config(to_toml(*config), "f");
    CHECK_TRUE(back.has_value() && *back == *config);
}

TEST(FaultConfig, lintNamesWhatCannotBe) {
    Config config;
    config.clock = ClockKind::real_time;
    config.ports["p1"].fault.received.drop_every = 2;
    bool found = false;
    for (const Finding& finding : check_config(config, Machine{8})) found |= finding.id == "fault-real-clock";
    CHECK_TRUE(found);
}

TEST(FaultConfig, chancesPrintAsTheyRead) {
    for (const char* text : {"0%", "100%", "1%", "1ppm", "1ppb", "250ppm"}) {
        const auto chance = parse_chance(text);
        CHECK_TRUE(chance.has_value());
        STRCMP_EQUAL(text, print_chance(*chance).c_str());
    }
    STRCMP_EQUAL("1000ppm", print_chance(*parse_chance("0.1%")).c_str());
}

}  // namespace sluice::fault_config_test

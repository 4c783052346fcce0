#include "control/config/text/json_writer.hh"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "control/config/text/json_text.hh"
#include "lib/values/rng.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::json_writer_test {
namespace {

using Json = nlohmann::ordered_json;

std::string written(auto write) {
    std::string all;
    JsonWriter json([&](std::string_view text) { all += text; });
    write(json);
    json.flush();
    return all;
}

void same(const std::string& expected, const std::string& got) {
    STRCMP_EQUAL(expected.c_str(), got.c_str());
}

void write_tree(JsonWriter& json, const Json& tree) {
    if (tree.is_object())
        json.object([&] {
            for (const auto& [name, value] : tree.items()) {
                json.key(name);
                write_tree(json, value);
            }
        });
    else if (tree.is_array())
        json.list([&] {
            for (const Json& value : tree) write_tree(json, value);
        });
    else if (tree.is_string())
        json.value(tree.get_ref<const std::string&>());
    else if (tree.is_boolean())
        json.value(tree.get<bool>());
    else if (tree.is_number_unsigned())
        json.value(tree.get<std::uint64_t>());
    else if (tree.is_number_integer())
        json.value(tree.get<std::int64_t>());
    else if (tree.is_null())
        json.value(nullptr);
    else
        json.tree(tree);
}

// `drawn` chooses all of it.
Json random_tree(std::uint64_t seed, std::uint64_t& count, unsigned levels) {
    const std::uint64_t drawn = draw({seed, 0, 0, count++});
    const std::uint64_t entries = (drawn >> 8) % 6;
    Json made;
    switch (drawn % (levels == 0 ? 6 : 8)) {
        case 0:
            return nullptr;
        case 1:
            return (drawn >> 8 & 1U) != 0;
        case 2:
            return drawn >> (drawn >> 8) % 60;
        case 3:
            return -static_cast<std::int64_t>(drawn >> (1 + (drawn >> 8) % 60));
        case 4:
            return static_cast<double>(drawn >> 16) / 1000.0;
        case 5:
            return std::string((drawn >> 8) % 40, static_cast<char>(drawn >> 16));
        case 6:
            made = Json::array();
            for (std::uint64_t n = 0; n < entries; ++n) made.push_back(random_tree(seed, count, levels - 1));
            return made;
        default:
            made = Json::object();
            for (std::uint64_t n = 0; n < entries; ++n)
                made[std::string(n, '"') + "k"] = random_tree(seed, count, levels - 1);
            return made;
    }
}

}  // namespace

TEST_GROUP(JsonWriter){};

TEST(JsonWriter, aNumberOfEachLength) {
    for (std::uint64_t power = 1;; power *= 10) {
        for (const std::uint64_t number : {power - 1, power, power + 1}) {
            same(std::to_string(number), written([&](JsonWriter& json) { json.value(number); }));
            const auto negative = -static_cast<std::int64_t>(number / 2);
            same(std::to_string(negative), written([&](JsonWriter& json) { json.value(negative); }));
        }
        if (power > std::numeric_limits<std::uint64_t>::max() / 10) break;
    }
    const auto least = std::numeric_limits<std::int64_t>::min();
    const auto most = std::numeric_limits<std::uint64_t>::max();
    same("[-9223372036854775808,18446744073709551615,255]",
         written([&](JsonWriter& json) { json.row(least, most, std::uint8_t{255}); }));
}

TEST(JsonWriter, commasStandBetween) {
    same(R"({"a":[],"b":{},"c":[[1,2],true,null,"x"],"d":{"e":1.5},"f":false})",
         written([](JsonWriter& json) {
             json.object([&] {
                 json.key("a").list([] {});
                 json.key("b").object([] {});
                 json.key("c").list([&] {
                     json.row(1, 2);
                     json.value(true);
                     json.value(nullptr);
                     json.value("x");
                 });
                 json.key("d").tree({{"e", 1.5}});
                 json.key("f").value(false);
             });
         }));
}

TEST(JsonWriter, textIsAsJsonTextHasIt) {
    for (const std::string& text :
         {std::string(), std::string("a\"b\\c/"), std::string("\n\x01\x7f"), std::string("\0x", 2),
          std::string("gr\xc3\xbc\xc3\x9f"), std::string("bad \xff\xc3"), std::string(5000, 'x')})
        same(json_text(Json(text)), written([&](JsonWriter& json) { json.value(text); }));
}

TEST(JsonWriter, isTheTextOfTheTree) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        std::uint64_t count = 0;
        const Json tree = random_tree(seed, count, 5);
        same(json_text(tree), written([&](JsonWriter& json) { write_tree(json, tree); }));
    }
}

TEST(JsonWriter, holdsAtMost4Kb) {
    std::size_t passed_on = 0, largest = 0;
    std::string all;
    JsonWriter json([&](std::string_view text) {
        ++passed_on;
        largest = std::max(largest, text.size());
        all += text;
    });
    Json tree = Json::array();
    json.list([&] {
        for (std::uint64_t n = 0; n < 10'000; ++n) {
            json.row(n * n, n);
            tree.push_back({n * n, n});
        }
    });
    CHECK_TRUE(largest <= 4096);
    CHECK_TRUE(all.size() + 4096 >= json_text(tree).size());
    json.flush();
    CHECK_TRUE(passed_on >= all.size() / 4096);
    same(json_text(tree), all);
}

}  // namespace sluice::json_writer_test

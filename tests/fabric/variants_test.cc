// [[variant]] of a fabric's file: what is refused, and what a chosen one puts over the file.
#include <string>
#include <vector>

#include "control/fabric/goal/asserts.hh"
#include "control/fabric/plan/fabric_config.hh"
#include "control/fabric/scenario/points.hh"
#include "control/fabric/scenario/sweep_folder.hh"
#include "tests/fabric/small_fabric.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::variants_test {

using namespace sluice::fabric;

TEST_GROUP(Variants){};

namespace {

const std::string two_variants = R"(
[[variant]]
name = "small"
set = {"flow.a.message" = "10KB", "switch.leaf*.buffer.size" = "2MB"}
[[variant]]
name = "large"
set.flow.a.message = "40KB"
)";

// The first error of the small fabric with `text` behind it.
std::string variant_error(const std::string& text, const std::vector<std::string>& sets = {}) {
    const auto file = parse_fabric(small_fabric + text, "f.toml", sets);
    CHECK(!file);
    return file ? std::string() : file.error().front().text();
}
std::string set_refused(const std::string& set) {
    return variant_error("[[variant]]\nname = \"x\"\nset = {" + set + "}\n");
}
std::uint64_t message_of(const FabricConfig& file) { return file.flows[0].message.max_bytes; }

}  // namespace

TEST(Variants, WhatIsNoneIsRefusedWithItsPlace) {
    CHECK(says(variant_error("[[variant]]\nset = {}\n"),
               "f.toml:13:1: variant[0]: the key \"name\" is missing"));
    CHECK(says(variant_error("[[variant]]\nname = \"x\"\nkeys = {}\n"), "keys"));
    CHECK(says(variant_error("[[variant]]\nname = \"x\"\nset = [1]\n"), "is not a table of paths"));
    CHECK(says(variant_error("[[variant]]\nname = \"x\"\n[[variant]]\nname = \"x\"\n"),
               "two variants are called x; do: rename one"));
    CHECK(says(set_refused("seed = 2"), "f.toml:15:15: variant[0].set.seed: \"seed\" is the same for all"));
    for (const char* section : {"vary", "find", "goal", "advise", "variant"})
        CHECK(says(set_refused(std::string(section) + ".a = 2"), "says nothing of a run"));
    CHECK(says(set_refused("\"flow.a.qps\" = 1, flow.a.qps = 2"), "is there twice"));
    CHECK(says(set_refused("\"a=b\" = 1"), "is not a path"));
}

TEST(Variants, OneThatIsNotThereIsRefusedAndTheOthersNamed) {
    CHECK(says(variant_error(two_variants, {"variant=smal"}),
               "there is no variant \"smal\"; do: choose one of: small, large"));
    CHECK(says(variant_error("", {"variant=small"}), "do: write a [[variant]] of that name"));
    CHECK(says(variant_error(two_variants, {"variant=small", "variant=large"}), "small, large"));
    CHECK(says(variant_error(two_variants + "[[assert]]\nthat = \"verdict.lossless\"\nvariant = \"smal\"\n"),
               "f.toml:20:1: assert: there is no variant \"smal\""));
}

TEST(Variants, AValueThatIsWrongIsToldWithThePlaceInTheVariant) {
    const auto chosen = [](const std::string& set, const std::vector<std::string>& more = {}) {
        std::vector<std::string> sets{"variant=x"};
        sets.insert(sets.end(), more.begin(), more.end());
        return variant_error("[[variant]]\nname = \"x\"\nset = {" + set + "}\n", sets);
    };
    CHECK(says(chosen("\"flow.a.mesage\" = 1"), "f.toml:15:26"));
    CHECK(says(chosen("\"flow.a.mesage\" = 1"), "mesage"));
    CHECK(says(chosen("\"flow.a.mesage\" = 1"), "(set by variant x)"));
    CHECK(says(chosen("\"flow.b.message\" = 1"), "f.toml:15:27: variant.x.set: flow.b.message=1"));
    CHECK(says(chosen("\"switch.tor*.buffer.size\" = \"1MB\""), "no switch matches \"tor*\""));
    // Not where the command line says it.
    const std::string own = chosen("", {"flow.a.mesage=1"});
    CHECK(says(own, "mesage"));
    CHECK(!says(own, "variant"));
}

TEST(Variants, NoneIsTheFileAsItIs) {
    const FabricConfig file = parsed(two_variants);
    LONGS_EQUAL(20'000, message_of(file));
    STRCMP_EQUAL("", file.scenario.variant.c_str());
    LONGS_EQUAL(2, file.scenario.variants.size());
    CHECK(keys_asked(file).size() == keys_asked(parsed("")).size());
}

TEST(Variants, AChosenOneGoesOverTheFileAndOtherSetsOverIt) {
    const FabricConfig small = parsed(two_variants, {"variant=small"});
    LONGS_EQUAL(10'000, message_of(small));
    LONGS_EQUAL(2'000'000, small.switch_config("leaf2").buffer_size_bytes);
    CHECK(small.switch_default.buffer_size_bytes == FabricConfig{}.switch_default.buffer_size_bytes);
    STRCMP_EQUAL("small", small.scenario.variant.c_str());
    LONGS_EQUAL(40'000, message_of(parsed(two_variants, {"variant=\"large\""})));
    for (const auto& sets : {std::vector<std::string>{"variant=large", "flow.a.message=5KB"},
                             std::vector<std::string>{"flow.a.message=5KB", "variant=large"}})
        LONGS_EQUAL(5'000, message_of(parsed(two_variants, sets)));
}

TEST(Variants, AssertionsOfOthersAreLeftOut) {
    const std::string text = two_variants + R"(
[[assert]]
that = "verdict.lossless"
[[assert]]
that = "end_ns ge 1"
variant = "small"
[[assert]]
that = "end_ns ge 2"
variant = "large"
)";
    const auto kept = [&](const std::vector<std::string>& sets) {
        const auto asserts = Asserts::of(parsed(text, sets).scenario, "f.toml", {"end_ns ge 3"});
        CHECK(asserts.has_value());
        return std::pair(asserts->list().size(), asserts->left_out());
    };
    CHECK(kept({}) == std::pair(std::size_t{2}, std::size_t{2}));
    CHECK(kept({"variant=small"}) == std::pair(std::size_t{3}, std::size_t{1}));
    // The expressions of all variants are read.
    const FabricConfig bad =
        parsed(two_variants + "[[assert]]\nthat = \"verdict..lossless\"\nvariant = \"small\"\n");
    CHECK(!Asserts::of(bad.scenario, "f.toml", {}));
}

TEST(Variants, AreAnAxisOfASweep) {
    const auto axis_of = [](const std::string& value) {
        return parsed(two_variants + "[vary]\nvariant = " + value + "\n").scenario.vary.axes[0];
    };
    CHECK(axis_of("\"all\"") == (VaryConfig::Axis{"variant", {"\"small\"", "\"large\""}}));
    CHECK(axis_of("[\"large\"]") == (VaryConfig::Axis{"variant", {"\"large\""}}));
    const FabricConfig file =
        parsed(two_variants + "[vary]\nvariant = \"all\"\n\"flow.a.qps\" = [1, 2]\nseeds = 2\n");
    const auto points = sweep_points(file);
    LONGS_EQUAL(8, points->size());
    LONGS_EQUAL(10'000, message_of(parsed(two_variants, (*points)[0].sets(file.scenario.vary))));
    LONGS_EQUAL(40'000, message_of(parsed(two_variants, (*points)[4].sets(file.scenario.vary))));
    STRCMP_EQUAL("large", (*points)[4].row_values(file.scenario.vary)["variant"].get<std::string>().c_str());

    const auto refused = [](const std::string& value, const std::string& variants = two_variants) {
        return variant_error(variants + "[vary]\nvariant = " + value + "\n");
    };
    CHECK(says(refused("\"all\"", ""), "there is no [[variant]]"));
    CHECK(says(refused("\"some\""), "is not a list of names"));
    CHECK(says(refused("3"), "is not a list of names"));
    CHECK(says(refused("[]"), "is empty"));
    CHECK(says(refused("[\"smal\"]"), "has \"smal\", and the variants are: small, large"));
    CHECK(says(refused("[\"small\", \"small\"]"), "has \"small\" twice"));
    CHECK(says(refused("\"all\"\n\"flow.a.message\" = [1, 2]"),
               "\"flow.a.message\" is an axis, and variant small sets it, too"));
    CHECK(says(variant_error(two_variants + "[vary]\n\"variant.small.name\" = [\"a\"]\n"),
               "says nothing of a run"));
}

TEST(Variants, OneThatChangesNothingIsToday) {
    const std::string text = small_fabric + two_variants +
                             "[[variant]]\nname = \"as-it-is\"\nset = {\"flow.a.message\" = \"20KB\"}\n"
                             "[vary]\nvariant = \"all\"\n";
    const auto file = parse_fabric(text, "f.toml");
    if (!file) FAIL(file.error().front().text().c_str());
    const auto today = values_of_today(text, "f.toml", {}, file->scenario.vary, sweep_points(*file).value());
    STRCMP_EQUAL(R"({"variant":["as-it-is"]})", today.dump().c_str());
}

TEST(Variants, ATableHasTheAssertionsOfAll) {
    const auto row = [](const char* variant, const char* that) {
        return nlohmann::ordered_json{
            {"run", 0},
            {"seed", 1},
            {"values", {{"variant", variant}}},
            {"met", true},
            {"figures", {{"end_ns", 5}}},
            {"asserts", {{{"that", that}, {"phase", nullptr}, {"value", 7}, {"met", true}}}},
            {"error", nullptr}};
    };
    STRCMP_EQUAL(
        "run,variant,seed,met,end_ns,holds: a,figure: a,holds: b,figure: b,error\n"
        "0,x,1,true,5,true,7,,,\n"
        "0,y,1,true,5,,,true,7,\n",
        csv_text({row("x", "a"), row("y", "b")}).c_str());
}

}  // namespace sluice::variants_test

#include "control/report/figures/shaped_json.hh"

#include <array>
#include <filesystem>
#include <fstream>
#include <string>

#include "control/config/text/json_text.hh"

#include "CppUTest/TestHarness.h"

namespace sluice::shaped_json_test {
namespace {

const JsonShape& shape() {
    static const JsonShape made{{"name", part::text},
                                {"met?", part::flag | part::null},
                                {"ports.*.bytes", part::count},
                                {"ports.*.load?", part::number},
                                {"chains?.#.nodes.+", part::text},
                                {"seen?.*", part::present},
                                {"kept?", part::any}};
    return made;
}

std::string said(const std::string& text, const JsonBounds& bounds = {}) {
    const auto read = read_shaped(text, shape(), bounds);
    return read ? json_text(*read) : read.error();
}

std::string whole(const std::string& more = {}) {
    return R"({"name":"a","ports":{"h1":{"bytes":7}})" + more + "}";
}

std::string repeated(const std::string& what, std::size_t times) {
    std::string text;
    for (std::size_t n = 0; n < times; ++n) text += what;
    return text;
}

}  // namespace

TEST_GROUP(ShapedJson){};

TEST(ShapedJson, keepsTheNamedPartsAlone) {
    STRCMP_EQUAL(whole().c_str(), said(whole()).c_str());
    STRCMP_EQUAL(whole().c_str(), said(whole(R"(,"other":[{"a":[1,{}]},-1e3],"more":"x")")).c_str());
    for (const char* more :
         {R"(,"met":null)", R"(,"met":true)", R"(,"chains":[])", R"(,"chains":[{"nodes":["a","b"]}])",
          R"(,"kept":{"a":[{"b":[[]],"c":-1.5}]})", R"(,"kept":7)"})
        STRCMP_EQUAL(whole(more).c_str(), said(whole(more)).c_str());
    STRCMP_EQUAL(whole(R"(,"seen":{"h1":null,"h2":null})").c_str(),
                 said(whole(R"(,"seen":{"h1":{"a":[1]},"h2":3})")).c_str());
}

TEST(ShapedJson, namesThePartThatIsWrong) {
    const std::array cases{
        std::pair(R"({"ports":{}})", R"("name" is missing)"),
        std::pair(R"([])", "it is a list, not an object"),
        std::pair(R"({"name":7,"ports":{}})", R"("name" is 7, not a text)"),
        std::pair(R"({"name":"a","ports":[]})", R"("ports" is a list, not an object)"),
        std::pair(R"({"name":"a","ports":{"h1":{}}})", R"("ports.h1.bytes" is missing)"),
        std::pair(R"({"name":"a","ports":{"h1":{"bytes":-1}}})",
                  R"("ports.h1.bytes" is -1, not a whole number from 0)"),
        std::pair(R"({"name":"a","ports":{"h1":{"bytes":1e18}}})",
                  R"("ports.h1.bytes" is 1e+18, not a whole number from 0)"),
        std::pair(R"({"name":"a","ports":{"h1":{"bytes":1,"load":null}}})",
                  R"("ports.h1.load" is null, not a number)"),
        std::pair(R"({"name":"a","met":"x","ports":{}})", R"("met" is a text, not true or false or null)"),
        std::pair(R"({"name":"a","ports":{},"chains":[{"nodes":["x"]},{"nodes":[]}]})",
                  R"("chains.1.nodes" is empty)"),
        std::pair(R"({"name":"a","ports":{},"chains":[{"nodes":["x",{}]}]})",
                  R"("chains.0.nodes.1" is an object, not a text)"),
        std::pair(R"({"name":"a","name":"b","ports":{}})", R"("name" is there twice)"),
        std::pair(R"({"name":"a","ports":{"b":{"bytes":1},"a":{"bytes":1},"b":{"bytes":2}}})",
                  R"("ports.b" is there twice)"),
        std::pair(R"({"name":"a","ports":{"\u001b":[]}})", R"("ports.\u001B" is a list, not an object)")};
    for (const auto& [text, wrong] : cases) STRCMP_EQUAL(wrong, said(text).c_str());
}

TEST(ShapedJson, saysWhereItIsNoJsonAndWhetherItIsTruncated) {
    for (std::size_t length = 1; length < whole().size(); ++length)
        STRCMP_EQUAL("it is truncated: it ends in line 1", said(whole().substr(0, length)).c_str());
    STRCMP_EQUAL("it is empty", said("").c_str());
    STRCMP_EQUAL("it is truncated: it ends in line 3", said("{\"name\":\n\"a\",\n\"").c_str());
    STRCMP_EQUAL("it is not valid JSON from line 2, column 3", said("{\"ports\":\n  x}").c_str());
    STRCMP_EQUAL("it is not valid JSON from line 1, column 1", said("\xff\xfe").c_str());
    STRCMP_EQUAL("it is not valid JSON from line 2, column 1", said(whole() + "\n}").c_str());
    STRCMP_EQUAL("one of its numbers is too large", said(whole(R"(,"x":1e999)")).c_str());
}

TEST(ShapedJson, isBounded) {
    for (const char* open : {R"({"name":)", R"({"other":)", R"({"kept":)"}) {
        const std::string deep = open + repeated("[", 2'000'000);
        const std::string wrong = said(deep);
        CHECK_TRUE_TEXT(wrong == "it has more than 32 levels" || wrong == "\"name\" is a list, not a text",
                        wrong.c_str());
    }
    STRCMP_EQUAL("it is longer than 1 MB",
                 said(whole(std::string(2U << 20, ' ')), {1U << 20, 1U << 30}).c_str());
    STRCMP_EQUAL("line 1: it is not text of ours: a word has more than 1048576 bytes",
                 said(whole(R"(,"other":")" + std::string(2U << 20, 'x') + "\"")).c_str());
    // What is not kept costs nothing.
    const std::string numbers = "[0" + repeated(",0", 10'000) + "]";
    STRCMP_EQUAL(whole().c_str(), said(whole(R"(,"other":)" + numbers), {1U << 30, 10'000}).c_str());
    STRCMP_EQUAL("it is too much: what is used of it does not fit the memory for it",
                 said(whole(R"(,"kept":)" + numbers), {1U << 30, 10'000}).c_str());
}

TEST(ShapedJson, valuesOfAFileComeOneByOneAndShareTheBounds) {
    const std::string path = "shaped_json_test.jsonl";
    std::string taken;
    const auto read = [&](const std::string& text, const JsonBounds& bounds = {}) {
        std::ofstream(path) << text;
        taken.clear();
        std::string error = read_shaped_lines(
            path, shape(),
            [&](const nlohmann::ordered_json& value) {
                taken += value["name"].get<std::string>();
                return std::string(value["name"] == "no" ? "no more" : "");
            },
            bounds);
        std::filesystem::remove(path);
        return error;
    };
    const std::string row = R"({"name":"a","ports":{}})", no = R"({"name":"no","ports":{}})";
    STRCMP_EQUAL("", read("").c_str());
    STRCMP_EQUAL("", read(row + "\n" + row + "\n\n" + row).c_str());
    STRCMP_EQUAL("aaa", taken.c_str());
    STRCMP_EQUAL("line 2: no more", read(row + "\n" + no + "\n" + row).c_str());
    STRCMP_EQUAL("ano", taken.c_str());
    STRCMP_EQUAL(R"(line 3: "name" is missing)", read(row + "\n" + row + "\n{}").c_str());
    STRCMP_EQUAL("line 2: it is truncated: it ends in line 2", read(row + "\n{").c_str());
    STRCMP_EQUAL("line 1: it is not valid JSON from line 1, column 1", read("x").c_str());
    STRCMP_EQUAL("line 3: it is too much: what is used of it does not fit the memory for it",
                 read(row + "\n" + row + "\n" + row, {1U << 20, 350}).c_str());
    STRCMP_EQUAL("cannot be read: No such file or directory",
                 read_shaped_lines("no/file", shape(), {}).c_str());
}

TEST(ShapedJson, aFileThatCannotBeReadIsNamedByItsReason) {
    STRCMP_EQUAL("cannot be read: No such file or directory",
                 read_shaped_file("no/file", shape()).error().c_str());
    STRCMP_EQUAL("cannot be read: Is a directory", read_shaped_file("/", shape()).error().c_str());
}

}  // namespace sluice::shaped_json_test

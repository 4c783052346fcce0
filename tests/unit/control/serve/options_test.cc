#include "control/serve/daemon/options.hh"

#include <getopt.h>

#include <string>
#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::options_test {
namespace {

tl::expected<Arguments, std::string> parsed(std::vector<std::string> words) {
    words.insert(words.begin(), "sluiced");
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    optind = 0;  // getopt starts anew
    return parse_arguments(static_cast<int>(words.size()), pointers.data());
}

}  // namespace

TEST_GROUP(Options){};

TEST(Options, wrongOnesAreRefusedByName) {
    const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
        {{}, "--config is missing"},
        {{"--config"}, "\"--config\" wants an argument"},
        {{"--colour", "blue"}, "\"--colour\" is no option"},
        {{"--config", "a", "b"}, "unexpected argument \"b\""},
        {{"--config", "a", "--seed", "x"}, "--seed \"x\""},
        {{"--config", "a", "--duration", "5"}, "--duration \"5\""},
        {{"--config", "a", "--log", "loud"}, "--log \"loud\" is none of error"},
        {{"--config", "a", "--interactive"}, "--interactive needs --socket"},
    };
    for (const auto& [words, wrong] : cases) {
        const auto arguments = parsed(words);
        CHECK_FALSE(arguments.has_value());
        if (arguments.error().find(wrong) == std::string::npos) FAIL(arguments.error().c_str());
    }
}

TEST(Options, rightOnesAreTaken) {
    const auto arguments =
        parsed({"--config", "a.toml", "--seed", "7", "--duration", "5ms", "--log", "notice", "--socket", "s",
                "--interactive", "--metrics", "9464", "--events", "e"});
    CHECK(arguments.has_value());
    CHECK(arguments->config == "a.toml" && arguments->overrides.seed == 7 &&
          arguments->duration == milliseconds(5));
    CHECK(arguments->log == LogLevel::notice && arguments->interactive && arguments->metrics == "9464");
    CHECK(parsed({"--config", "a", "--duration", "0"})->duration == Duration{});
}

TEST(Options, helpHasThemAll) {
    for (const char* word :
         {"--help", "--reference", "--figures", "--metrics-reference", "--man", "--man-config"})
        CHECK(!parsed({word})->print.empty());
    CHECK(parsed({"--man"})->print == "man" && parsed({"--metrics-reference"})->print == "metrics");
    for (const char* name :
         {"config", "check", "report", "decisions", "events", "log", "socket", "metrics"}) {
        CHECK(usage_text().find("  --" + std::string(name)) != std::string::npos);
    }
}

}  // namespace sluice::options_test

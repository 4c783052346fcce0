#include "control/serve/daemon/options.hh"

#include <string>
#include <vector>

#include "CppUTest/TestHarness.h"

namespace sluice::options_test {
namespace {

struct Parsed {
    Arguments arguments;
    tl::expected<CommandLine, std::string> line;
};

Parsed parsed(const Words& words) {
    Parsed made;
    made.line = parse(sluiced_program(made.arguments, nullptr, nullptr), words);
    return made;
}

// Two verbs share their options.
std::string shared(const Words& words, Words& sets) {
    std::string file;
    const auto work = [](const Words&) { return 0; };
    const Program program{
        .name = "p",
        .section = '1',
        .title = "t",
        .about = "a",
        .verbs = {{"run", "FILE... [--set KEY=VALUE]...\n[--out DIR [--page [A:]PORT]]", "", work},
                  {"merge", "A [B] --out DIR", "", work}},
        .options = {{"set", "KEY=VALUE", "", keep(sets)},
                    {"out", "DIR", "", keep(file), {}, {}, 'o'},
                    {"page", "[A:]PORT", "", keep(file), {}, "out"}},
        .exit_status = "0",
        .sections = nullptr,
        .see_also = "s"};
    const auto line = parse(program, words);
    return line ? fmt::format("{} {}", line->verb->name, joined(line->operands, " ")) : line.error();
}

}  // namespace

TEST_GROUP(Options){};

TEST(Options, wrongOnesAreRefusedByName) {
    const std::vector<std::pair<Words, std::string>> cases{
        {{}, "sluiced: --config is missing; see: sluiced --help"},
        {{"--config"}, "--config wants a value: FILE"},
        {{"--colour", "blue"}, "\"--colour\" is not an option"},
        {{"--re", "x"}, "\"--re\" is not an option"},  // --report, --reference
        {{"-x"}, "\"-x\" is not an option"},
        {{"--check=yes"}, "--check takes no value"},
        {{"--config", "a", "b"}, "unexpected argument \"b\""},
        {{"--config", "a", "doctor"}, "unexpected argument \"doctor\""},
        {{"--config", "a", "--seed", "x"}, "--seed \"x\""},
        {{"--config", "a", "--duration", "5"}, "--duration \"5\""},
        {{"--config", "a", "--log", "loud"}, "--log \"loud\" is none of: error"},
        {{"--config", "a", "--interactive"}, "--interactive needs --socket"},
        {{"page"}, "sluiced page: REPORT.json is missing; see: sluiced page --help"},
        {{"headroom", "--config", "a"}, "sluiced headroom: \"--config\" is not an option"},
    };
    for (const auto& [words, wrong] : cases) {
        const auto line = parsed(words).line;
        CHECK_FALSE(line.has_value());
        if (line.error().find(wrong) == std::string::npos) FAIL(line.error().c_str());
    }
}

TEST(Options, rightOnesAreTaken) {
    const auto [arguments, line] =
        parsed({"--config", "a.toml", "--seed=7", "--dur", "5ms", "--log", "notice", "--socket", "s",
                "--interactive", "--metrics", "9464", "--events", "e"});
    CHECK(line.has_value());
    CHECK(arguments.config == "a.toml" && arguments.overrides.seed == 7 &&
          arguments.duration == milliseconds(5));
    CHECK(arguments.log == LogLevel::notice && arguments.interactive && arguments.metrics == "9464");
    CHECK(parsed({"--config", "a", "--duration", "0"}).arguments.duration == Duration{});
    CHECK(parsed({"doctor", "--config", "a"}).arguments.config == "a");
    CHECK(parsed({"page", "--output", "o", "--", "--r"}).line->operands == Words{"--r"});
}

TEST(Options, helpHasThemAll) {
    for (const char* word : {"--help", "-h", "--reference", "--figures", "--metrics-reference", "--man",
                             "--man-config", "--version"})
        CHECK(parsed({word}).line->print != nullptr);
    Arguments arguments;
    const Program program = sluiced_program(arguments, nullptr, nullptr);
    const std::string help = help_text(program), page = man_page(program);
    for (const char* name :
         {"config", "check", "report", "decisions", "events", "log", "socket", "metrics"}) {
        CHECK(help.find("  --" + std::string(name)) != std::string::npos);
        CHECK(page.find("\\fB\\-\\-" + std::string(name) + "\\fR") != std::string::npos);
    }
    CHECK(completions(program, Words{"--met"}) == (Words{"--metrics", "--metrics-reference"}));
    CHECK(completions(program, Words{"headroom", "--c"}) == (Words{"--cable", "--classes", "--cell"}));
    CHECK(completions(program, Words{""}) == (Words{"headroom", "doctor", "page"}));
}

TEST(Options, aVerbTakesWhatItsSynopsisNames) {
    const std::vector<std::pair<Words, std::string>> cases{
        {{}, "p: a command is missing; see: p --help"},
        {{"fly"}, "p: there is no command \"fly\"; known: run, merge; see: p --help"},
        {{"run"}, "p: FILE... is missing; see: p --help"},
        {{"run", "a", "b", "c"}, "run a b c"},
        {{"--set", "x=1", "run", "--set=y=2", "a"}, "run a"},
        {{"run", "a", "--page", "1"}, "p: --page needs --out; see: p --help"},
        {{"run", "a", "--page", "1", "-od"}, "run a"},
        {{"merge", "a"}, "p: --out is missing; see: p --help"},
        {{"merge", "a", "-o", "d"}, "merge a"},
        {{"merge", "a", "b", "c", "--out", "d"}, "p: unexpected argument \"c\"; see: p --help"},
        {{"merge", "a", "--out", "d", "--set", "x=1"}, "p: merge takes no --set; see: p --help"},
    };
    for (const auto& [words, wanted] : cases) {
        Words sets;
        STRCMP_EQUAL(wanted.c_str(), shared(words, sets).c_str());
    }
    Words sets;
    shared({"--set", "x=1", "run", "--set=y=2", "a"}, sets);
    CHECK(sets == (Words{"x=1", "y=2"}));
}

}  // namespace sluice::options_test

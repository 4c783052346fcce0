#include "tools/fabric/cli/arguments.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "control/config/schema/values.hh"
#include "control/report/figures/expression.hh"

namespace sluice::fabric {
namespace {

constexpr std::uint64_t max_jobs = 1024;
constexpr std::uint64_t max_threads = 64;
constexpr std::uint64_t max_shards = 1'000'000;

}  // namespace

tl::expected<Arguments, std::string> parse_arguments(const std::vector<std::string>& all) {
    Arguments arguments;
    std::vector<std::string> words;
    for (std::size_t n = 0; n < all.size(); ++n) {
        const std::string& word = all[n];
        if (!word.starts_with("--")) {
            words.push_back(word);
            continue;
        }
        if (word == "--help") return tl::unexpected(std::string());
        const std::array flags{std::pair("--force", &Arguments::force), std::pair("--all", &Arguments::all),
                               std::pair("--interactive", &Arguments::interactive),
                               std::pair("--json", &Arguments::json),
                               std::pair("--exit-code", &Arguments::exit_code)};
        const auto* const flag =
            std::find_if(flags.begin(), flags.end(), [&](const auto& each) { return word == each.first; });
        if (flag != flags.end()) {
            arguments.*flag->second = true;
            continue;
        }
        if (n + 1 == all.size()) return tl::unexpected(word + " wants a value");
        const std::string& value = all[++n];
        if (word == "--out") {
            arguments.out = value;
        } else if (word == "--socket") {
            arguments.sockets = value;
        } else if (word == "--page") {
            arguments.page = value;
        } else if (word == "--set") {
            arguments.sets.push_back(value);
        } else if (word == "--seed") {
            if (!parse_integer(value)) return tl::unexpected(fmt::format("--seed {}: is no number", value));
            arguments.sets.push_back("seed=" + value);
        } else if (word == "--duration") {
            const auto duration = parse_time(value);
            if (!duration)
                return tl::unexpected(fmt::format("--duration {}: {}", value, duration.error().wrong));
            arguments.duration = *duration;
        } else if (word == "--assert") {
            if (const auto expression = Expression::parse(value); !expression)
                return tl::unexpected(fmt::format("--assert {}: {}", value, expression.error()));
            arguments.asserts.push_back(value);
        } else if (word == "--junit") {
            arguments.junit = value;
        } else if (word == "--html") {
            arguments.html = value;
        } else if (word == "--jobs") {
            const auto jobs = parse_integer(value);
            if (!jobs || *jobs == 0 || *jobs > max_jobs)
                return tl::unexpected(fmt::format("--jobs {}: is no number from 1 to {}", value, max_jobs));
            arguments.jobs = static_cast<unsigned>(*jobs);
        } else if (word == "--threads") {
            const auto threads = parse_integer(value);
            if (!threads || *threads == 0 || *threads > max_threads)
                return tl::unexpected(
                    fmt::format("--threads {}: is no number from 1 to {}", value, max_threads));
            arguments.threads = static_cast<unsigned>(*threads);
        } else if (word == "--shard") {
            const std::size_t slash = value.find('/');
            const auto shard = parse_integer(value.substr(0, slash));
            const auto shards = parse_integer(slash == value.npos ? "" : value.substr(slash + 1));
            if (!shard || !shards || *shard == 0 || *shard > *shards || *shards > max_shards)
                return tl::unexpected(fmt::format("--shard {}: wants I/N, from 1/N to N/N", value));
            arguments.shard = static_cast<unsigned>(*shard);
            arguments.shards = static_cast<unsigned>(*shards);
        } else {
            return tl::unexpected(fmt::format("unknown option {}", word));
        }
    }
    if (words.empty()) return tl::unexpected(std::string("no command"));
    if (arguments.interactive && arguments.sockets.empty())
        return tl::unexpected(std::string("--interactive needs --socket"));
    arguments.verb = words[0];
    if (arguments.verb == "reference" || arguments.verb == "figures" || arguments.verb == "man")
        return arguments;
    if (arguments.threads != 1 && words[0] != "run")
        return tl::unexpected(
            fmt::format("--threads is of run; do: {}", words[0] == "sweep" ? "use --jobs" : "leave it out"));
    if (!arguments.page.empty() && words[0] != "run")
        return tl::unexpected(std::string("--page is of run; do: write --html FILE for a page of a file"));
    if ((arguments.json || arguments.exit_code) && words[0] != "compare")
        return tl::unexpected(std::string("--json and --exit-code are of compare; do: leave them out"));
    if (words[0] == "compare" && words.size() != 3)
        return tl::unexpected(std::string("compare wants two folders or reports"));
    const bool names_host = words[0] == "why" && words.size() == 3;
    if (names_host) arguments.host = words[2], words.pop_back();
    if (words[0] == "list" && words.size() == 1) return arguments;
    if (words.size() < 2) return tl::unexpected(fmt::format("{} wants a file", words[0]));
    const bool takes_several = words[0] == "run" || words[0] == "merge" || words[0] == "compare";
    if (words.size() > 2 && !takes_several) return tl::unexpected(fmt::format("{} wants one file", words[0]));
    arguments.files.assign(words.begin() + 1, words.end());
    if (words.size() > 2 && !arguments.sockets.empty())
        return tl::unexpected(std::string("--socket wants one file"));
    if (words.size() > 2 && !arguments.page.empty())
        return tl::unexpected(std::string("--page wants one file"));
    return arguments;
}

}  // namespace sluice::fabric

// Random requests, good and bad, to the methods of the control socket: never a crash, never half a change.
// A refused request has changed nothing; the running configuration can always be saved, loaded back equal,
// and used again.
//
// A request is a method with parameters made for their names, some spoilt, some lines broken.
#include <fmt/format.h>

#include <array>
#include <cstdio>

#include "control/config/lint/judge.hh"
#include "control/config/schema/config_paths.hh"
#include "control/config/schema/finding.hh"
#include "control/config/schema/schema.hh"
#include "lib/values/rng.hh"
#include "tests/control/api_bench.hh"
#include "tests/tries.hh"

#include "CppUTest/TestHarness.h"

using namespace sluice;

namespace {

class Random {
  public:
    explicit Random(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t below(std::uint64_t end) { return draw({seed_, 0, 0, drawn_++}) % end; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }
    template <class List>
    auto one_of(const List& list) {
        return *(std::begin(list) + static_cast<std::ptrdiff_t>(below(std::size(list))));
    }

  private:
    std::uint64_t seed_;
    std::uint64_t drawn_ = 0;
};

constexpr std::array ports{"p0", "p1", "p0", "p1", "p9", "", "p0.1", "default"};
constexpr std::array times{"1us", "10us", "1ms", "100ns", "0", "-1us", "soon", "1", "200ms", "off", "10ms"};
constexpr std::array prefixes{"10.7.0.0/16", "10.7.1.0/24", "0.0.0.0/0", "2001:db8:7::/48", "10.7.0.1/16",
                              "10.0.1.0/24", "10.7.0.0/33", "::/0",      "nonsense"};
constexpr std::array addresses{"10.0.1.2", "10.0.1.3", "10.0.0.9", "2001:db8::9",
                               "10.0.9.9", "10.0.0.1", "x"};
constexpr std::array words{"port p0 down",
                           "port p1 up",
                           "queue p0.3 hold",
                           "queue p1.3 release",
                           "decisions on",
                           "decisions off",
                           "watchdog stop p0",
                           "watchdog start p0",
                           "fault p0 clear",
                           "fault p0 drop_every 3",
                           "watchdog big-red-switch on",
                           "nonsense",
                           "queue p0.9 hold",
                           "route add 10.7.0.0/16 via 10.0.1.2",
                           "fault p0 delay 1us"};
constexpr std::array values{"lossless",
                            "lossy",
                            "semi-lossless",
                            "sonic-t0",
                            "steep",
                            "linear",
                            "none",
                            "mine",
                            "default",
                            "obey",
                            "10KB",
                            "150KB",
                            "1.5MB",
                            "900KB",
                            "0",
                            "1",
                            "3",
                            "7",
                            "50",
                            "-1",
                            "9100",
                            "1500",
                            "200ms",
                            "500ms",
                            "10us",
                            "10G",
                            "100G",
                            "5m",
                            "dscp",
                            "pcp",
                            "strict",
                            "dwrr",
                            "drop",
                            "alert",
                            "off",
                            "dequeue",
                            "sojourn",
                            "symmetric",
                            "true",
                            "false",
                            "[3]",
                            "[3, 4]",
                            "[]",
                            "1e3",
                            "nan",
                            "'''",
                            "{",
                            "5\nseed = 2",
                            "[[[",
                            "\"",
                            "99999999999999999999",
                            "[\"10.0.0.1/24\"]",
                            "[\"p0\"]",
                            "a.b",
                            "x = 3",
                            "\xc3\xa9",
                            "1KB"};
constexpr std::array paths{
    "", "ports", "ports.p0.queues.3", "ledger", "ports.p0.pfc.rx_xoff", "nowhere", "ports.", "."};

Json any_value(Random& random, unsigned depth = 0) {
    switch (random.below(depth > 3 ? 6 : 8)) {
        case 0:
            return random.one_of(values);
        case 1:
            return random.below(10);
        case 2:
            return -static_cast<std::int64_t>(random.below(1000));
        case 3:
            return random.one_in(2);
        case 4:
            return nullptr;
        case 5:
            return 1.5;
        case 6:
            return Json::array({any_value(random, depth + 1), any_value(random, depth + 1)});
        default:
            return {{random.one_of(values), any_value(random, depth + 1)}};
    }
}

std::string key_path(Random& random) {
    const std::vector<KeyInfo>& keys = schema_keys();
    std::size_t key = random.below(keys.size());
    while (keys[key].restart && !random.one_in(10)) key = random.below(keys.size());
    std::string path = keys[key].path();
    const auto put = [&](std::string_view place, const std::string& name) {
        if (const auto at = path.find(place); at != std::string::npos) path.replace(at, place.size(), name);
    };
    put("NAME", random.one_in(4) ? random.one_of(std::array{"mine", "default", "new", "a.b", ""})
                                 : random.one_of(std::array{"p0", "p1"}));
    put(".N", fmt::format(".{}", random.below(9)));
    if (path.starts_with("port.p") && random.one_in(5)) path.replace(0, 7, "default");
    if (random.one_in(30))
        path.insert(random.below(path.size() + 1), random.one_of(std::array{".", "\n", "\"", "]", "="}));
    return path;
}

// The running one, a little different: lines gone, twice, from elsewhere, or with another value.
std::string configuration(Random& random, const Config& config) {
    std::vector<std::string> lines;
    const std::string text = to_toml(config);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        lines.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    for (std::uint64_t edits = random.below(4); edits != 0 && !lines.empty(); --edits) {
        const auto at = lines.begin() + static_cast<std::ptrdiff_t>(random.below(lines.size()));
        const std::size_t equals = at->find('=');
        switch (random.below(5)) {
            case 0:
                lines.erase(at);
                break;
            case 1:
                lines.insert(at, *at);
                break;
            case 2:
                if (equals != std::string::npos)
                    *at = at->substr(0, equals + 1) + fmt::format(" \"{}\"", random.one_of(values));
                break;
            case 3:
                lines.insert(at, fmt::format("[port.p{}.queue.{}]\nsize = \"{}\"", random.below(2),
                                             random.below(8), random.one_of(values)));
                break;
            default:
                lines.push_back(fmt::format("[[route]]\nprefix = \"{}\"\nvia = [\"{}\"]",
                                            random.one_of(prefixes), random.one_of(addresses)));
        }
    }
    std::string out;
    for (const std::string& line : lines) out += line + "\n";
    return out;
}

Json hop(Random& random) {
    if (random.one_in(2)) return random.one_of(addresses);
    return {{"address", random.one_of(addresses)}, {"weight", random.below(300)}};
}

Json entries(Random& random, bool neighbors) {
    Json list = Json::array();
    for (std::uint64_t count = random.below(4); count != 0; --count) {
        if (random.one_in(4)) {
            list.push_back(neighbors ? random.one_of(addresses) : random.one_of(prefixes));
        } else if (neighbors) {
            list.push_back({{"address", random.one_of(addresses)},
                            {"port", random.one_of(ports)},
                            {"mac", "02:00:00:00:00:0a"}});
        } else {
            Json via = Json::array({hop(random)});
            if (random.one_in(3)) via.push_back(hop(random));
            list.push_back({{"prefix", random.one_of(prefixes)},
                            {"via", random.one_in(5) ? Json("blackhole") : std::move(via)}});
        }
    }
    return list;
}

Json value_changes(Random& random) {
    Json list = Json::array();
    for (std::uint64_t count = random.below(3); count != 0; --count) {
        Json change = {{"path", key_path(random)}};
        if (!random.one_in(3))
            change["value"] = random.one_in(5) ? any_value(random) : Json(random.one_of(values));
        if (random.one_in(30)) change["more"] = any_value(random);
        list.push_back(random.one_in(30) ? any_value(random) : std::move(change));
    }
    return list;
}

// A value for a parameter of this name, mostly of its kind.
Json parameter(Random& random, std::string_view method, std::string_view name, const Config& config) {
    if (random.one_in(20)) return any_value(random);
    if (name == "toml") return configuration(random, config);
    if (name == "path")
        return method.starts_with("stats") ? Json(random.one_of(paths)) : Json(key_path(random));
    if (name == "value") return random.one_in(5) ? any_value(random) : Json(random.one_of(values));
    if (name == "confirm" || name == "for" || name == "every") return random.one_of(times);
    if (name == "command") return random.one_of(words);
    if (name == "port") return random.one_of(ports);
    if (name == "from" && method == "stats.since")
        return random.one_of(std::array{"clear", "start", "clear", "soon"});
    if (name == "queue" || name == "from" || name == "protocol" || name == "last") return random.below(10);
    if (name == "sport" || name == "dport" || name == "qp") return random.below(70'000);
    if (name == "destination" || name == "source") return random.one_of(addresses);
    if (name == "trial") return random.one_in(5);
    if (name == "changes") return value_changes(random);
    if (name == "routes" || name == "neighbors") return entries(random, name == "neighbors");
    if (name == "file") return random.one_of(std::array{"saved.toml", "../x", "", ".hidden", "a/b"});
    return random.one_in(2);
}

// The names in "path: PATH, value?: VALUE" and "destination, source".
std::vector<std::string> names_in(std::string_view parameters) {
    std::vector<std::string> names;
    unsigned depth = 0;
    bool in_name = true;
    std::string name;
    for (const char c : parameters) {
        if (c == '[' || c == '{') ++depth;
        if (c == ']' || c == '}') --depth;
        if (c == ',' && depth == 0) {
            if (!name.empty()) names.push_back(std::exchange(name, {}));
            in_name = true;
        } else if (c == ':' && depth == 0) {
            in_name = false;
        } else if (in_name && c != ' ' && c != '?' && depth == 0) {
            name += c;
        }
    }
    if (!name.empty()) names.push_back(name);
    return names;
}

Json request(Random& random, const RpcMethod& method, const Config& config) {
    Json parameters = Json::object();
    for (const std::string& name : names_in(method.parameters))
        if (!random.one_in(name == "confirm" || name == "force" ? 2 : 10))
            parameters[name] = parameter(random, method.name, name, config);
    if (random.one_in(50)) parameters["more"] = any_value(random);
    return {{"jsonrpc", "2.0"}, {"id", 1}, {"method", method.name}, {"params", std::move(parameters)}};
}

// Chance seldom finds what needs force and nothing else.
Json forced_request(Random& random) {
    return {{"jsonrpc", "2.0"},
            {"id", 1},
            {"method", "config.set"},
            {"params",
             {{"path", "port.p0.priority_group.3.xoff"},
              {"value", random.one_in(2) ? "1KB" : "preset"},
              {"force", random.one_in(2)}}}};
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

void spoil(Random& random, std::string& line) {
    for (std::uint64_t edits = 1 + random.below(3); edits != 0 && !line.empty(); --edits) {
        const std::size_t at = random.below(line.size());
        switch (random.below(3)) {
            case 0:
                line.erase(at, 1 + random.below(5));
                break;
            case 1:
                line[at] = static_cast<char>(random.below(256));
                break;
            default:
                line.insert(at, 1, random.one_of(std::string_view("{}[]\",:\\0n")));
        }
    }
    std::erase(line, '\n');  // the socket would have cut there
}

struct Tally {
    std::uint64_t done = 0, refused = 0, changed = 0, forced = 0;
};

class Requests {
  public:
    explicit Requests(std::uint64_t seed) : random_(seed), api_(bench_.api()) {}

    void ask() {
        const auto methods = rpc_methods();
        const bool configures = random_.one_in(2);  // where the most may go wrong
        std::string_view wanted = random_.one_of(std::array{"config.set", "config.set", "config.set",
                                                            "config.change", "config.apply", "config.apply"});
        const RpcMethod* method = &methods[random_.below(methods.size())];
        for (const RpcMethod& one : methods)
            if (configures && one.name == wanted) method = &one;
        const bool forces = random_.one_in(20);
        std::string line =
            text_of(forces ? forced_request(random_) : request(random_, *method, bench_.running->config()));
        const bool spoilt = random_.one_in(20);
        if (spoilt) spoil(random_, line);

        const Config before = bench_.running->config();
        const std::uint64_t generation = bench_.running->generation();
        const std::string answer = answer_line(*api_, client_, line);
        check(line, answer, before, generation, !spoilt && !forces && !method->has_changes());
        api_->changes().tick();
    }

    // The running configuration is one that a file could have.
    void check_running() {
        const Config& config = bench_.running->config();
        const std::string text = to_toml(config);
        const ConfigResult again = parse_config(text, "written");
        CHECK_TRUE_TEXT(again.has_value(), text.c_str());
        CHECK_TRUE_TEXT(*again == config, text.c_str());
        CHECK_TRUE_TEXT(config_changes(config, *again).empty(), text.c_str());
        auto findings = judge_config(*again, Machine{64});
        force_again(findings, bench_.running->forced());
        for (const Finding& finding : findings)
            CHECK_TRUE_TEXT(finding.severity != Severity::error,
                            (finding.text("written") + "\n" + text).c_str());
        LONGS_EQUAL(bench_.running->forced().size(), forced_reasons(findings).size());
        tally_.forced += bench_.running->forced().empty() ? 0 : 1;
    }

    void start_anew() {
        bench_.reset();
        api_ = bench_.api();
        client_ = {};
    }

    const Tally& tally() const { return tally_; }

  private:
    void check(const std::string& line, const std::string& answer, const Config& before,
               std::uint64_t generation, bool only_reads) {
        CHECK_TRUE_TEXT(answer.find('\n') == std::string::npos, answer.c_str());
        const Json said = answer.empty() ? Json::object() : Json::parse(answer, nullptr, false);
        CHECK_FALSE_TEXT(said.is_discarded(), answer.c_str());
        const bool refused = said.is_object() && said.contains("error");
        const bool same = bench_.running->config() == before;
        if (refused || only_reads) {
            CHECK_TRUE_TEXT(same, ("half done: " + line + "\n" + answer).c_str());
            LONGS_EQUAL_TEXT(generation, bench_.running->generation(), line.c_str());
        }
        if (refused)
            CHECK_FALSE_TEXT(said["error"]["message"].get_ref<const std::string&>().empty(), line.c_str());
        ++(refused ? tally_.refused : tally_.done);
        tally_.changed += same ? 0 : 1;
    }

    ApiBench& bench_ = ApiBench::get();
    Random random_;
    std::unique_ptr<Api> api_;
    RpcClient client_;
    Tally tally_;
};

}  // namespace

TEST_GROUP(Requests){};

TEST(Requests, NeverCrashAndNeverDoHalf) {
    constexpr std::uint64_t seed = 25;
    const std::uint64_t count = tries({.in_long = 150'000, .usual = 20'000, .sanitized = 8'000});
    std::printf("seed %llu: ", static_cast<unsigned long long>(seed));
    Requests requests(seed);
    for (std::uint64_t n = 0; n < count; ++n) {
        if (n % 2000 == 0) requests.start_anew();  // else it may stay where hardly anything can change
        requests.ask();
        if (n % 20 == 0) requests.check_running();
    }
    requests.start_anew();
    const Tally& tally = requests.tally();
    std::printf("%llu done, %llu refused, %llu configurations, %llu looks at a forced one\n",
                static_cast<unsigned long long>(tally.done), static_cast<unsigned long long>(tally.refused),
                static_cast<unsigned long long>(tally.changed),
                static_cast<unsigned long long>(tally.forced));
    CHECK_TRUE(tally.done > count / 5);
    CHECK_TRUE(tally.refused > count / 5);
    CHECK_TRUE(tally.changed > count / 40);
    CHECK_TRUE(tally.forced > count / 1000);
}

// sluice-traffic: makes captures from a recipe, makes a loopback from captures, checks the ICRCs of captures.
// Exit codes: 0 done, 1 refused or failed, 2 usage or recipe.
#include <fmt/format.h>
#include <getopt.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "control/config/schema/values.hh"
#include "control/config/text/say.hh"
#include "control/serve/server/program.hh"
#include "tools/traffic/capture.hh"
#include "tools/traffic/failure.hh"
#include "tools/traffic/generate.hh"
#include "tools/traffic/manual.hh"
#include "tools/traffic/recipe.hh"
#include "tools/traffic/split.hh"
#include "tools/traffic/staging.hh"
#include "tools/traffic/verify.hh"

namespace sluice::traffic {
namespace {

constexpr int exit_done = 0;
constexpr int exit_refused = 1;
constexpr int exit_usage = 2;

struct Arguments {
    std::vector<std::string> names;  // words that are not options
    std::string out;
    std::optional<std::uint64_t> seed;
    std::string speed = "100G";
    bool json = false;
};

int refuse_usage(std::string_view message) { return complain_of_usage("sluice-traffic", message); }

int run_generate(const Arguments& arguments) {
    if (arguments.names.size() != 1) return refuse_usage("generate takes one recipe");
    if (arguments.out.empty()) return refuse_usage("generate needs --out FOLDER");
    LoadedRecipe loaded = load_recipe_file(arguments.names[0]);
    for (const std::string& error : loaded.errors) complain("{}\n", error);
    if (!loaded.errors.empty()) return exit_usage;
    if (arguments.seed) loaded.recipe.seed = *arguments.seed;
    for (const HostSummary& host : generate(loaded.recipe, arguments.out, arguments.names)) {
        say("{:<10} {:>10} frames {:>13} bytes, the last ends at {:.3f} us\n", host.host, host.frames,
            host.bytes, static_cast<double>(host.end.ps) / 1e6);
    }
    return exit_done;
}

int run_split(const Arguments& arguments) {
    if (arguments.names.empty()) return refuse_usage("split takes at least one capture");
    if (arguments.out.empty()) return refuse_usage("split needs --out FOLDER");
    const auto speed = parse_rate(arguments.speed);
    if (!speed || !speed->valid_port_speed())
        return refuse_usage("--speed must be from 1G to 800G, such as 25G or 100G");
    const SplitSummary summary =
        split(arguments.names, {arguments.out, arguments.speed, arguments.seed.value_or(1)});
    for (const SplitPort& port : summary.ports) {
        constexpr std::size_t max_shown = 4;
        std::string addresses;
        for (std::size_t i = 0; i < port.addresses.size() && i < max_shown; ++i)
            addresses += " " + print_address(port.addresses[i]);
        if (port.addresses.size() > max_shown)
            addresses += fmt::format(" and {} more", port.addresses.size() - max_shown);
        say("{:<5} {} {:>9} frames {:>12} bytes {}\n", port.name,
            port.mac ? print_mac(*port.mac) : "no MAC           ", port.frames, port.bytes,
            addresses.empty() ? " no address" : addresses);
    }
    for (const std::string& note : summary.notes) say("note: {}\n", note);
    return exit_done;
}

int run_verify(const Arguments& arguments) {
    if (arguments.names.empty()) return refuse_usage("verify takes at least one capture");
    Verification verification;
    for (const std::string& name : arguments.names) {
        CaptureReader reader{name};
        CapturedFrame frame;
        while (reader.next(frame)) verification.add(frame.bytes, frame.wire_length);
        for (const std::string& note : reader.notes()) complain("note: {}: {}\n", name, note);
    }
    say("{}{}", arguments.json ? verification.json() : verification.text(), arguments.json ? "\n" : "");
    return verification.icrc_bad == 0 ? exit_done : exit_refused;
}

int run(int argc, char** argv) {
    enum { help_recipe = 256, man, version, out, seed, speed, json };
    const option options[] = {{"help", no_argument, nullptr, 'h'},
                              {"help-recipe", no_argument, nullptr, help_recipe},
                              {"man", no_argument, nullptr, man},
                              {"version", no_argument, nullptr, version},
                              {"out", required_argument, nullptr, out},
                              {"seed", required_argument, nullptr, seed},
                              {"speed", required_argument, nullptr, speed},
                              {"json", no_argument, nullptr, json},
                              {nullptr, 0, nullptr, 0}};
    Arguments arguments;
    int given = 0;
    while ((given = getopt_long(argc, argv, "h", options, nullptr)) != -1) {
        switch (given) {
            case 'h':
                say("{}", usage());
                return exit_done;
            case help_recipe:
                say("{}", recipe_help());
                return exit_done;
            case man:
                say("{}", man_page(SLUICE_VERSION));
                return exit_done;
            case version:
                say("sluice-traffic {}\n", SLUICE_VERSION);
                return exit_done;
            case out:
                arguments.out = optarg;
                break;
            case seed:
                if (const auto number = parse_integer(optarg); number && *number <= INT64_MAX)
                    arguments.seed = *number;
                else
                    return refuse_usage("--seed takes a whole number");
                break;
            case speed:
                arguments.speed = optarg;
                break;
            case json:
                arguments.json = true;
                break;
            default:
                return refuse_usage("unknown option");
        }
    }
    arguments.names.assign(argv + optind, argv + argc);
    if (arguments.names.empty()) return refuse_usage("no command");
    const std::string command = arguments.names[0];
    arguments.names.erase(arguments.names.begin());
    note_interrupts();
    if (command == "generate") return run_generate(arguments);
    if (command == "split") return run_split(arguments);
    if (command == "verify") return run_verify(arguments);
    return refuse_usage(fmt::format("no command '{}'", command));
}

}  // namespace
}  // namespace sluice::traffic

int main(int argc, char** argv) {
    using namespace sluice;
    return run_program("sluice-traffic", traffic::exit_refused, [&] {
        try {
            return traffic::run(argc, argv);
        } catch (const traffic::Failure& failure) {
            complain("sluice-traffic: {}\n", failure.what());
            return traffic::exit_refused;
        }
    });
}

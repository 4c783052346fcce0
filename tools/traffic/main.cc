// sluice-traffic: makes captures from a recipe, makes a loopback from captures, checks the ICRCs of captures.
// Exit codes: 0 done, 1 refused or failed, 2 usage or recipe.
#include <fmt/format.h>
#include <getopt.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "control/server/boundary.hh"
#include "control/text/say.hh"
#include "tools/traffic/capture.hh"
#include "tools/traffic/failure.hh"
#include "tools/traffic/generate.hh"
#include "tools/traffic/recipe.hh"
#include "tools/traffic/split.hh"
#include "tools/traffic/staging.hh"
#include "tools/traffic/text.hh"
#include "tools/traffic/verify.hh"

namespace sluice::traffic {
namespace {

constexpr int exit_done = 0;
constexpr int exit_refused = 1;
constexpr int exit_usage = 2;

constexpr std::string_view usage = R"(usage: sluice-traffic COMMAND ...

  generate RECIPE.toml --out FOLDER [--seed N]
        write FOLDER/<host>.pcap (nanoseconds) for every host of the recipe; same recipe and seed, same bytes
  split CAPTURE... --out FOLDER [--speed 100G] [--seed N]
        make a loopback of your own captures: FOLDER/in/<port>.pcap for every MAC address, and FOLDER/sluice.toml
        with a port for each and a neighbor for every IP address; then run: sluiced --config FOLDER/sluice.toml
  verify CAPTURE... [--json]
        recompute every RoCEv2 ICRC, count CNP, ECN, PFC; exits with 1 if an ICRC is bad

  --help     this text      --help-recipe     how to write a recipe

Exit codes: 0 done, 1 refused or failed, 2 wrong usage or recipe.
)";

constexpr std::string_view recipe_help =
    R"(A recipe is TOML: [host.NAME] tables and [[flow]] tables. tools/traffic/README.md has it in full.

  origin = "0s"                      # timestamp of the first moment
  seed = 1                           # --seed goes before it

  [host.h0]
  mac = "02:00:00:00:00:01"
  gateway_mac = "02:00:00:00:ff:01"  # where its frames go; without it to the other host's MAC
  ip = ["10.0.0.1", "2001:db8::1"]
  speed = "100G"
  vlan = [{vid = 10, pcp = 3}]       # tags of its frames, outermost first; none without it

  [[flow]]
  from = "h0"                        # or a list: one flow for each
  to = "h1"                          # a host, or an IP address;  ip_version = 4 | 6  chooses
  kind = "roce"                      # roce cnp pfc pause udp tcp malformed

every kind:      count | duration (default: one frame), start, rate = "10G" | gap = "1us" (default: line rate),
                 burst = {frames = 32, every = "10us"}, to_mac
with IP:         dscp, ecn = "not-ect" | "ect0" | "ect1" | "ce", ttl, id, vlan
roce:            size = 1082 | [64, 1500] | "random 60..1500" (frame bytes), or payload (likewise);
                 opcodes = ["write_first", "write_middle x6", "write_last"], transport = "rc" | "uc" | "ud"
roce, cnp:       qp, qps, psn, sport = 4000 | "4000..4999" (default: from the QP), flows
udp, tcp:        size, sport, dport (a port or a range), flows
pfc:             pfc = {3 = 65535}            pause:   quanta = 65535
malformed:       variant = "NAME" | [...] | "all", and what roce has

)";

struct Arguments {
    std::vector<std::string> names;  // words that are not options
    std::string out;
    std::optional<std::uint64_t> seed;
    std::string speed = "100G";
    bool json = false;
};

int refuse_usage(std::string_view message) {
    complain("sluice-traffic: {}; see sluice-traffic --help\n", message);
    return exit_usage;
}

int run_generate(const Arguments& arguments) {
    if (arguments.names.size() != 1) return refuse_usage("generate takes one recipe");
    if (arguments.out.empty()) return refuse_usage("generate needs --out FOLDER");
    LoadedRecipe loaded = load_recipe_file(arguments.names[0]);
    for (const std::string& error : loaded.errors) complain("{}\n", error);
    if (!loaded.errors.empty()) return exit_usage;
    if (arguments.seed) loaded.recipe.seed = *arguments.seed;
    for (const HostSummary& host : generate(loaded.recipe, arguments.out)) {
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
        constexpr std::size_t most_shown = 4;
        std::string addresses;
        for (std::size_t i = 0; i < port.addresses.size() && i < most_shown; ++i)
            addresses += " " + to_text(port.addresses[i]);
        if (port.addresses.size() > most_shown)
            addresses += fmt::format(" and {} more", port.addresses.size() - most_shown);
        say("{:<5} {} {:>9} frames {:>12} bytes {}\n", port.name,
            port.mac ? to_text(*port.mac) : "no MAC           ", port.frames, port.bytes,
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
        while (reader.next(frame)) verification.add(frame.bytes, frame.length);
    }
    say("{}{}", arguments.json ? verification.json() : verification.text(), arguments.json ? "\n" : "");
    return verification.icrc_bad == 0 ? exit_done : exit_refused;
}

void print_recipe_help() {
    say("{}variants of malformed:\n", recipe_help);
    for (const MalformationInfo& info : malformations()) {
        say("  {:<20} {}{}\n", info.name, info.what,
            info.v4 && info.v6 ? ""
            : info.v4          ? " (IPv4)"
                               : " (IPv6)");
    }
    say("\nopcodes:\n ");
    std::size_t column = 1;
    for (const roce::Operation& operation : roce::operations()) {
        if (column + operation.name.size() + 1 > 100) {
            say("\n ");
            column = 1;
        }
        say(" {}", operation.name);
        column += operation.name.size() + 1;
    }
    say("\n");
}

int run(int argc, char** argv) {
    enum { help_recipe = 256, out, seed, speed, json };
    const option options[] = {{"help", no_argument, nullptr, 'h'},
                              {"help-recipe", no_argument, nullptr, help_recipe},
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
                say("{}", usage);
                return exit_done;
            case help_recipe:
                print_recipe_help();
                return exit_done;
            case out:
                arguments.out = optarg;
                break;
            case seed:
                arguments.seed = parse_number(optarg);
                if (!arguments.seed || *arguments.seed > INT64_MAX) {
                    return refuse_usage("--seed takes a whole number");
                }
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
    hold_standard_streams();
    int status = traffic::exit_refused;
    boundary([&] { status = traffic::run(argc, argv); },
             [](const char* what) { complain("sluice-traffic: {}\n", what); });
    return all_said("sluice-traffic") || status != traffic::exit_done ? status : traffic::exit_refused;
}

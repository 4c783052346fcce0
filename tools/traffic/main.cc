// sluice-traffic: makes captures from a recipe, makes a loopback from captures, checks the ICRCs of captures.
// Exit codes: 0 done, 1 refused or failed, 2 usage or recipe.
#include <fmt/format.h>

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "control/config/schema/command_line.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/say.hh"
#include "control/config/text/wrapped.hh"
#include "control/serve/server/program.hh"
#include "tools/traffic/capture.hh"
#include "tools/traffic/failure.hh"
#include "tools/traffic/generate.hh"
#include "tools/traffic/malformation.hh"
#include "tools/traffic/recipe.hh"
#include "tools/traffic/split.hh"
#include "tools/traffic/staging.hh"
#include "tools/traffic/verify.hh"

namespace sluice::traffic {
namespace {

constexpr int exit_done = 0;
constexpr int exit_refused = 1;
constexpr int exit_usage = 2;

constexpr std::string_view recipe_text =
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

std::string recipe_help() {
    std::string text(recipe_text);
    text += "variants of malformed:\n";
    for (const MalformationInfo& info : malformations) {
        const char* only = info.v4 && info.v6 ? "" : info.v4 ? " (IPv4)" : " (IPv6)";
        text += fmt::format("  {:<20} {}{}\n", info.name, info.what, only);
    }
    std::string opcodes;
    for (const roce::Operation& operation : roce::operations()) append_item(opcodes, " ", operation.name);
    return text + "\nopcodes:\n  " + wrapped(opcodes, 2, 100) + "\n";
}

struct Arguments {
    std::string out;
    std::optional<std::uint64_t> seed;
    std::string speed = "100G";
    bool json = false;
};

int run_generate(const Arguments& arguments, const Words& names) {
    LoadedRecipe loaded = load_recipe_file(names[0]);
    for (const std::string& error : loaded.errors) complain("{}\n", error);
    if (!loaded.errors.empty()) return exit_usage;
    if (arguments.seed) loaded.recipe.seed = *arguments.seed;
    for (const HostSummary& host : generate(loaded.recipe, arguments.out, names)) {
        say("{:<10} {:>10} frames {:>13} bytes, the last ends at {:.3f} us\n", host.host, host.frames,
            host.bytes, static_cast<double>(host.end.ps) / 1e6);
    }
    return exit_done;
}

int run_split(const Arguments& arguments, const Words& names) {
    const SplitSummary summary = split(names, {arguments.out, arguments.speed, arguments.seed.value_or(1)});
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

int run_verify(const Arguments& arguments, const Words& names) {
    Verification verification;
    for (const std::string& name : names) {
        CaptureReader reader{name};
        CapturedFrame frame;
        while (reader.next(frame)) verification.add(frame.bytes, frame.wire_length);
        for (const std::string& note : reader.notes()) complain("note: {}: {}\n", name, note);
    }
    say("{}{}", arguments.json ? verification.json() : verification.text(), arguments.json ? "\n" : "");
    return verification.icrc_bad == 0 ? exit_done : exit_refused;
}

int run_main(int argc, char** argv) {
    Arguments arguments;
    const auto verb = [&](std::string_view name, int (*work)(const Arguments&, const Words&),
                          std::string_view synopsis, std::string_view help) {
        return ProgramVerb{name, synopsis, help, [&arguments, work](const Words& names) {
                               note_interrupts();
                               return work(arguments, names);
                           }};
    };
    const Program program{
        .name = "sluice-traffic",
        .section = '1',
        .title = "make captures of RoCE traffic, and check them",
        .about =
            "sluice-traffic writes the captures that a switch of sluiced(8) takes at its ports, from a "
            "recipe or from captures of your own, and reads captures with an ICRC of its own.",
        .verbs = {verb("generate", run_generate, "RECIPE.toml --out FOLDER [--seed N]",
                       "write FOLDER/<host>.pcap (nanoseconds) for every host of the recipe; same recipe and "
                       "seed, same bytes"),
                  verb("split", run_split, "CAPTURE... --out FOLDER [--speed 100G] [--seed N]",
                       "make a loopback of your own captures: FOLDER/in/<port>.pcap for every MAC address, "
                       "and FOLDER/sluice.toml with a port for each and a neighbor for every IP address; "
                       "then run: sluiced --config FOLDER/sluice.toml"),
                  verb("verify", run_verify, "CAPTURE... [--json]",
                       "recompute every RoCEv2 ICRC, count CNP, ECN, PFC; exits with 1 if an ICRC is bad")},
        .options = {{"out", "FOLDER", "where generate and split write", keep(arguments.out)},
                    {"seed", "N", "instead of the recipe's; of split, of the switch's configuration",
                     keep_number(0, INT64_MAX, arguments.seed)},
                    {"speed", "RATE", "of every port that split makes, from 1G to 800G; default: 100G",
                     [&](const std::string& text) {
                         const auto speed = sluice::parse_rate(text);
                         if (!speed || !speed->valid_port_speed())
                             return std::string("must be from 1G to 800G, such as 25G or 100G");
                         return arguments.speed = text, std::string();
                     }},
                    {"json", "", "the counts of verify as JSON", keep(arguments.json)},
                    {"help-recipe", "", "how to write a recipe", {}, recipe_help}},
        .exit_status = "0 done, 1 refused or failed, 2 wrong usage or recipe",
        .sections = [](ManPage& page) { page.heading("RECIPES").lines(recipe_help()); },
        .see_also = "sluiced(8), sluice.toml(5), sluice-fabric(1)"};
    return sluice::run(program, argc, argv);
}

}  // namespace
}  // namespace sluice::traffic

int main(int argc, char** argv) {
    using namespace sluice;
    return run_program("sluice-traffic", traffic::exit_refused, [&] {
        try {
            return traffic::run_main(argc, argv);
        } catch (const traffic::Failure& failure) {
            complain("sluice-traffic: {}\n", failure.what());
            return traffic::exit_refused;
        }
    });
}

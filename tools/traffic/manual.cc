#include "tools/traffic/manual.hh"

#include <fmt/format.h>

#include <array>

#include "control/config/text/man_page.hh"
#include "tools/traffic/malformation.hh"
#include "tools/traffic/recipe.hh"

namespace sluice::traffic {
namespace {

struct CommandHelp {
    std::string_view name, arguments, sentence;  // lines, without a period at the end
};
constexpr std::array commands{
    CommandHelp{
        "generate", "RECIPE.toml --out FOLDER [--seed N]",
        "write FOLDER/<host>.pcap (nanoseconds) for every host of the recipe; same recipe and seed, same "
        "bytes"},
    CommandHelp{
        "split", "CAPTURE... --out FOLDER [--speed 100G] [--seed N]",
        "make a loopback of your own captures: FOLDER/in/<port>.pcap for every MAC address, and "
        "FOLDER/sluice.toml\nwith a port for each and a neighbor for every IP address; then run: sluiced "
        "--config FOLDER/sluice.toml"},
    CommandHelp{"verify", "CAPTURE... [--json]",
                "recompute every RoCEv2 ICRC, count CNP, ECN, PFC; exits with 1 if an ICRC is bad"},
};

struct OptionHelp {
    std::string_view option, argument, sentence;
};
constexpr std::array option_helps{
    OptionHelp{"--out", "FOLDER", "where generate and split write"},
    OptionHelp{"--seed", "N", "instead of the recipe's; of split, of the switch's configuration"},
    OptionHelp{"--speed", "RATE", "of every port that split makes, from 1G to 800G; default: 100G"},
    OptionHelp{"--json", "", "the counts of verify as JSON"},
    OptionHelp{"--help", "", "this text"},
    OptionHelp{"--help-recipe", "", "how to write a recipe"},
    OptionHelp{"--man", "", "print the man page in troff"},
    OptionHelp{"--version", "", "print the version"},
};

constexpr std::string_view exit_codes = "0 done, 1 refused or failed, 2 wrong usage or recipe.";

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

std::string with_argument(const OptionHelp& each) {
    return fmt::format("{}{}{}", each.option, each.argument.empty() ? "" : " ", each.argument);
}

}  // namespace

std::string usage() {
    std::string text = "usage: sluice-traffic COMMAND ...\n\n";
    for (const CommandHelp& each : commands) {
        text += fmt::format("  {} {}\n        ", each.name, each.arguments);
        for (const char c : each.sentence) text += c == '\n' ? "\n        " : std::string(1, c);
        text += '\n';
    }
    text += '\n';
    for (const OptionHelp& each : option_helps)
        text += fmt::format("  {:<16}{}\n", with_argument(each), each.sentence);
    return text + fmt::format("\nExit codes: {}\n", exit_codes);
}

std::string recipe_help() {
    std::string text(recipe_text);
    text += "variants of malformed:\n";
    for (const MalformationInfo& info : malformations) {
        text += fmt::format("  {:<20} {}{}\n", info.name, info.what,
                            info.v4 && info.v6 ? ""
                            : info.v4          ? " (IPv4)"
                                               : " (IPv6)");
    }
    text += "\nopcodes:\n ";
    std::size_t column = 1;
    for (const roce::Operation& operation : roce::operations()) {
        if (column + operation.name.size() + 1 > 100) {
            text += "\n ";
            column = 1;
        }
        text += fmt::format(" {}", operation.name);
        column += operation.name.size() + 1;
    }
    return text + "\n";
}

std::string man_page(std::string_view version) {
    ManPage page("sluice-traffic", '1', "make captures of RoCE traffic, and check them", version);
    page.heading("SYNOPSIS");
    std::string synopsis;
    for (const CommandHelp& each : commands)
        synopsis += fmt::format("sluice-traffic {} {}\n", each.name, each.arguments);
    page.lines(synopsis);
    page.heading("DESCRIPTION")
        .paragraph(
            "sluice-traffic writes the captures that a switch of sluiced(8) takes at its ports, from a "
            "recipe "
            "or from captures of your own, and reads captures with an ICRC of its own.");
    page.heading("COMMANDS");
    for (const CommandHelp& each : commands) page.entry(each.name, each.arguments, each.sentence);
    page.heading("OPTIONS");
    for (const OptionHelp& each : option_helps) page.entry(each.option, each.argument, each.sentence);
    page.heading("EXIT STATUS").paragraph(exit_codes);
    page.heading("RECIPES").lines(recipe_help());
    page.heading("SEE ALSO").paragraph("sluiced(8), sluice.toml(5), sluice-fabric(1)");
    return page.text();
}

}  // namespace sluice::traffic

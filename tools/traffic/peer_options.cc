#include "tools/traffic/peer_options.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/text/man_page.hh"
#include "tools/traffic/failure.hh"
#include "tools/traffic/host_options.hh"
#include "tools/traffic/text.hh"

namespace sluice::traffic {
namespace {

constexpr std::string_view synopsis = R"(sluice-peer --interface NAME [OPTION...]
sluice-peer host --interface NAME --hosts IP,... --address IP --gateway MAC [OPTION...]
)";
constexpr std::string_view about =
    "Sends RoCEv2 when told where to, holds it while PFC says so, and counts what comes to the interface.";
constexpr std::string_view input =
    "Standard input: `start`, `stop` (sending), `show` (prints an account as a line of JSON); its end ends "
    "all.";
constexpr std::string_view about_host =
    R"(With the word `host` it is a RoCE host: queue pairs with messages, retransmission, DCQCN and CNPs. Its times are
scaled: a line of 100M, a thousand times slower, is one of 100G to the NIC, with the times of one. Lines of JSON say
what happens; standard input takes `stop` and `show`, and prints the account once more when it ends.
)";
constexpr std::string_view about_numbers =
    R"(Queue pairs have numbers by one rule: with --qps Q, queue pair k for the host in place p of --hosts (both from 0) is
0x100 + 2pQ + k where it requests, and 0x100 + (2p + 1)Q + k where it responds. So --hosts and --qps are the same at
all hosts. The class of a DSCP is that of the switch's preset `lossless`: 26 and 3 have class 3, 48 has 6.
)";
constexpr std::string_view exit_codes = "0 done, 1 failed, 2 wrong usage.";

std::uint64_t number(std::string_view text, std::uint64_t low, std::uint64_t high) {
    const auto value = parse_number(text);
    if (!value || *value < low || *value > high)
        throw Failure(fmt::format("{}: not a number from {} to {}", text, low, high));
    return *value;
}

std::uint32_t small(std::string_view text, std::uint64_t low, std::uint64_t high) {
    return static_cast<std::uint32_t>(number(text, low, high));
}

template <class Value>
Value parsed(const std::optional<Value>& value, std::string_view text, std::string_view what) {
    if (!value) throw Failure(fmt::format("{}: {}", text, what));
    return *value;
}

struct Row {
    std::string_view word;
    std::string_view value;  // empty: it takes none
    std::string_view help;
    void (*take)(PeerOptions& options, std::string_view text);
};

constexpr std::uint64_t most = 1'000'000;
using Options = PeerOptions;
using Text = std::string_view;
constexpr Row rows[] = {
    {"interface", "NAME", "Interface of the kernel.", [](Options& o, Text t) { o.interface = t; }},
    {"to", "IP", "Where to; without it, it only counts.",
     [](Options& o, Text t) { o.to = o.shape.destination = parsed(parse_ip(t), t, "not an IP address"); }},
    {"from", "IP", "Its own address.",
     [](Options& o, Text t) { o.shape.source = parsed(parse_ip(t), t, "not an IP address"); }},
    {"gateway", "MAC", "Where its frames go.",
     [](Options& o, Text t) { o.shape.destination_mac = parsed(parse_mac(t), t, "not a MAC address"); }},
    {"flows", "N", "Queue pairs that take turns (1).",
     [](Options& o, Text t) { o.shape.flows = small(t, 1, most); }},
    {"qp", "N", "The first of them (256).",
     [](Options& o, Text t) { o.shape.first_qp = small(t, 2, 0xFF'FFFF - most); }},
    {"size", "BYTES", "Of a frame without FCS (1082).",
     [](Options& o, Text t) { o.shape.frame_bytes = small(t, 74, 9216); }},
    {"dscp", "N", "Of its frames (26).",
     [](Options& o, Text t) { o.shape.dscp = static_cast<std::uint8_t>(number(t, 0, 63)); }},
    {"pps", "N", "Frames a second (1000).", [](Options& o, Text t) { o.per_second = number(t, 1, most); }},
    {"count", "N", "So many frames; without it, until it is told to stop.",
     [](Options& o, Text t) { o.count = number(t, 1, UINT64_MAX); }},
    {"priority", "N", "The class of PFC that it obeys (3).",
     [](Options& o, Text t) { o.priority = small(t, 0, 7); }},
    {"speed", "BITS", "A second, by which pauses are timed (1000000000).",
     [](Options& o, Text t) { o.speed = number(t, 1'000'000, 1'000'000'000'000); }},
    {"deaf", "", "It obeys no PFC.", [](Options& o, Text) { o.deaf = true; }},
    {"wait", "", "It waits for `start` before it sends.", [](Options& o, Text) { o.wait = true; }},
};

struct Note {
    std::string_view word, help;
};
constexpr Note notes[] = {
    {"help", "This text."}, {"man", "Print the man page in troff."}, {"version", "Print the version."}};

}  // namespace

PeerOptions parse_peer_options(std::span<char* const> words) {
    PeerOptions options;
    for (std::size_t n = 0; n < words.size(); ++n) {
        const std::string_view word = words[n];
        const auto row = std::ranges::find_if(
            rows, [&](const Row& each) { return word.starts_with("--") && word.substr(2) == each.word; });
        if (row == std::end(rows)) throw Failure(fmt::format("\"{}\" is no option; see --help", word));
        const bool has_value = !row->value.empty();
        if (has_value && n + 1 == words.size())
            throw Failure(fmt::format("{} needs a value: {}", word, row->value));
        row->take(options, has_value ? words[++n] : "");
    }
    if (options.interface.empty()) throw Failure("needs --interface; see --help");
    if (options.to && options.shape.source.is_v6 != options.to->is_v6)
        throw Failure("--from and --to are not of one family");
    return options;
}

std::string peer_usage() {
    std::string text = fmt::format("usage:\n{}\n{}\n\n", synopsis, about);
    for (const Row& row : rows)
        text += fmt::format("  {:<18} {}\n", fmt::format("--{} {}", row.word, row.value), row.help);
    for (const Note& note : notes) text += fmt::format("  --{:<16} {}\n", note.word, note.help);
    return text + fmt::format("\n{}\n\n{}\n{}\n{}\nexit status: {}\n", input, about_host, host_usage(),
                              about_numbers, exit_codes);
}

std::string peer_man_page(std::string_view version) {
    ManPage page("sluice-peer", '1', "a RoCEv2 host on an interface of the kernel", version);
    page.heading("SYNOPSIS").lines(synopsis);
    page.heading("DESCRIPTION").paragraph(about).paragraph(input);
    page.heading("OPTIONS");
    for (const Row& row : rows) page.entry("--" + std::string(row.word), row.value, row.help);
    for (const Note& note : notes) page.entry("--" + std::string(note.word), "", note.help);
    page.heading("HOST").paragraph(about_host);
    for (const HostOptionHelp& each : host_option_help())
        page.entry("--" + std::string(each.word), each.value, each.help);
    page.paragraph(about_numbers);
    page.heading("EXIT STATUS").paragraph(exit_codes);
    page.heading("SEE ALSO").paragraph("sluiced(8), sluice-traffic(1)");
    return page.text();
}

}  // namespace sluice::traffic

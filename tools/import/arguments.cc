#include "tools/import/arguments.hh"

#include <fmt/format.h>
#include <getopt.h>

#include <array>
#include <optional>

#include "control/config/schema/values.hh"
#include "control/config/text/say.hh"
#include "control/config/text/wrapped.hh"
#include "lib/pfc/headroom.hh"

namespace sluice::import {
namespace {

constexpr std::string_view words = "sluice-import FILE [OPTION...]";
constexpr std::string_view what_it_does =
    "Makes a configuration of Sluice from that of a switch, says of every line what has become of it, and "
    "judges whether the switch "
    "loses packets. FILE is SONiC's config_db.json, or Cumulus Linux's configuration as nv config show -o "
    "yaml or -o commands prints "
    "it.";
constexpr std::string_view statuses =
    "0 written, and sluiced --check takes it; 1 written in part, and each part that is left out is named, or "
    "anything else; 2 usage, or nothing is written and the line to mend is named; 4 not lossless";

constexpr std::uint64_t min_cell_bytes = 64;
constexpr std::uint64_t max_cell_bytes = 2048;
constexpr std::uint64_t max_buffer_bytes = std::uint64_t{1} << 40;

struct Option {
    const char* name;
    const char* argument;  // null: none
    std::string_view sentence;
    std::string (*take)(Arguments&, const std::string&);  // the argument's error, or empty
};

template <auto member>
std::string text(Arguments& out, const std::string& value) {
    out.*member = value;
    return {};
}
template <auto member>
std::string flag(Arguments& out, const std::string&) {
    out.*member = true;
    return {};
}
template <Print which>
std::string print(Arguments& out, const std::string&) {
    out.print = which;
    return {};
}

template <class Value>
std::string take(const ParsedValue<Value>& value, std::optional<Value>& out) {
    if (!value) return value.error().wrong;
    out = *value;
    return {};
}

std::string set_source(Arguments& out, const std::string& value) {
    out.from = value;
    return value == "sonic" || value == "cumulus" || value == "sluice" ? ""
                                                                       : "is none of sonic, cumulus, sluice";
}

std::string set_target(Arguments& out, const std::string& value) {
    out.to_sonic = value == "sonic";
    return value == "sonic" || value == "sluice" ? "" : "is none of sonic, sluice";
}

std::string set_cell(Arguments& out, const std::string& value) {
    const auto bytes = parse_size(value);
    if (!bytes) return bytes.error().wrong;
    if (*bytes < min_cell_bytes || *bytes > max_cell_bytes)
        return fmt::format("is no size from {} to {} bytes", min_cell_bytes, max_cell_bytes);
    out.wishes.cell_bytes = static_cast<std::uint32_t>(*bytes);
    return {};
}

std::string set_cable(Arguments& out, const std::string& value) {
    const auto length = parse_length(value);
    if (length && *length > HeadroomInputs::max_cable_m)
        return fmt::format("is longer than {}", print_length(HeadroomInputs::max_cable_m));
    return take(length, out.wishes.cable_m);
}

std::string set_buffer(Arguments& out, const std::string& value) {
    const auto bytes = parse_size(value);
    if (bytes && (*bytes == 0 || *bytes > max_buffer_bytes))
        return fmt::format("is no size from 1 byte to {}", print_size(max_buffer_bytes));
    return take(bytes, out.wishes.buffer_bytes);
}

std::string set_device(Arguments& out, const std::string& value) {
    out.wishes.device = value;
    return {};
}

constexpr std::array all_options{
    Option{"output", "FILE",
           "or -o FILE: write the configuration there; without it stdout has it, and stderr the rest",
           text<&Arguments::out>},
    Option{
        "from", "SOURCE",
        "sonic, cumulus or sluice; default: by the file's content, and sluice by a name that ends in .toml",
        set_source},
    Option{
        "to", "TARGET",
        "sluice, or sonic: PORT, CABLE_LENGTH, PFC_WD, the maps, BUFFER_*, QUEUE, SCHEDULER and WRED_PROFILE "
        "as JSON; default: sluice",
        set_target},
    Option{"account", "FILE",
           "write what became of each line, one by one; the summary has those that are alike as one, and "
           "counts those "
           "taken as they are",
           text<&Arguments::account>},
    Option{"cable", "LENGTH", "of every port, instead of the file's: \"100m\"", set_cable},
    Option{"buffer", "SIZE", "packet memory, where the file does not say it: \"42MB\"", set_buffer},
    Option{"cell", "SIZE", "of the buffer; default: 256", set_cell},
    Option{
        "device", "TEMPLATE",
        "of each port, with {port} and {n} for its name and number: \"xdp:{port}\", "
        "\"net_pcap{n},rx_pcap={port}.pcap\"; default: a simulated host behind each port, under the virtual "
        "clock",
        set_device},
    Option{"lossless", nullptr, "exit with 4 when a port would lose packets of a lossless class",
           flag<&Arguments::lossless>},
    Option{"force", nullptr,
           "write what could be read although some could not, or although sluiced --check would refuse it",
           flag<&Arguments::force>},
    Option{"man", nullptr, "print the man page in troff and end", print<Print::man>},
    Option{"version", nullptr, "print the version and end", print<Print::version>},
    Option{"help", nullptr, "print this and end", print<Print::help>},
};

// What getopt_long returns for a word of the table: its index behind every character.
constexpr int first_option = 256;

// -o and -h are the only ones with a letter.
const Option* option_of(int found) {
    const std::string_view name = found == 'o' ? "output" : found == 'h' ? "help" : "";
    for (const Option& option : all_options)
        if (name == option.name) return &option;
    return &all_options[static_cast<std::size_t>(found - first_option)];
}

}  // namespace

tl::expected<Arguments, std::string> parse_arguments(int argc, char** argv) {
    std::vector<option> known;
    for (const Option& option : all_options)
        known.push_back({option.name, option.argument == nullptr ? no_argument : required_argument, nullptr,
                         first_option + static_cast<int>(known.size())});
    known.push_back({nullptr, 0, nullptr, 0});
    Arguments out;
    opterr = 0;
    for (int found = 0; (found = getopt_long(argc, argv, ":o:h", known.data(), nullptr)) != -1;) {
        const std::string word = argv[optind - 1];
        if (found == '?') return tl::unexpected(in_quotes(word) + " is no option");
        if (found == ':') return tl::unexpected(in_quotes(word) + " wants an argument");
        const std::string value = optarg == nullptr ? "" : optarg;
        if (const std::string wrong = option_of(found)->take(out, value); !wrong.empty())
            return tl::unexpected(fmt::format("{} {}", in_quotes(value), wrong));
    }
    if (out.print != Print::nothing) return out;
    if (optind + 1 != argc)
        return tl::unexpected<std::string>(optind == argc ? "FILE is missing" : "more than one FILE");
    out.file = argv[optind];
    if (out.from.empty() && out.file.ends_with(".toml")) out.from = "sluice";
    return out;
}

std::string usage() {
    constexpr std::size_t indent = 22;
    constexpr std::size_t width = 100;
    std::string out = fmt::format("usage: {}\n\n{}\n\n", words, wrapped(what_it_does, 0, width));
    for (const Option& each : all_options)
        out += fmt::format("  {:<{}}{}\n",
                           fmt::format("--{} {}", each.name, each.argument == nullptr ? "" : each.argument),
                           indent - 2, wrapped(each.sentence, indent, width));
    return out + fmt::format("\nexit status: {}\n", statuses);
}

std::vector<OptionHelp> option_help() {
    std::vector<OptionHelp> all;
    for (const Option& each : all_options)
        all.push_back({each.name, each.argument == nullptr ? "" : each.argument, each.sentence});
    return all;
}

std::string_view synopsis() { return words; }
std::string_view purpose() { return what_it_does; }
std::string_view exit_status() { return statuses; }

}  // namespace sluice::import

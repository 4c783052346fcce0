#include "control/serve/daemon/headroom_verb.hh"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "control/config/compile/qos.hh"
#include "control/config/schema/values.hh"
#include "control/config/text/wrapped.hh"

namespace sluice {
namespace {

constexpr unsigned first_lossless = 3;  // class and group, as in the preset

struct Question {
    Config config;
    bool has_speed = false;
    std::uint64_t lossless_classes = 1;
};

template <class Value, class Member>
std::string put(const ParsedValue<Value>& value, Member& member) {
    if (!value) return value.error().wrong;
    member = *value;
    return {};
}

template <class Member>
std::string put_between(const ParsedValue<std::uint64_t>& value, std::uint64_t least, std::uint64_t most,
                        Member& member) {
    if (!value) return value.error().wrong;
    if (*value < least || *value > most) return fmt::format("is no number from {} to {}", least, most);
    member = static_cast<Member>(*value);
    return {};
}

struct HeadroomOption {
    OptionHelp help;
    std::string (*take)(Question&, const std::string&);  // the argument's error, or empty
};

PortConfig& port_of(Question& question) { return question.config.port_defaults; }

constexpr std::array headroom_options{
    HeadroomOption{{"speed", "RATE", "of the port: 400G"},
                   [](Question& question, const std::string& text) {
                       question.has_speed = true;
                       const auto rate = parse_rate(text);
                       if (rate && !rate->valid_port_speed())
                           return std::string("is no speed of a port from 1G to 800G, such as 25G");
                       return put(rate, port_of(question).speed);
                   }},
    HeadroomOption{{"cable", "LENGTH", "one way: 100m; default: 5m"},
                   [](Question& question, const std::string& text) {
                       const auto length = parse_length(text);
                       if (length && *length > HeadroomInputs::max_cable_m)
                           return fmt::format("is longer than {}", print_length(HeadroomInputs::max_cable_m));
                       return put(length, port_of(question).cable_m);
                   }},
    HeadroomOption{{"mtu", "BYTES", "IP MTU, of us and of the peer; default: 9100"},
                   [](Question& question, const std::string& text) {
                       return put_between(parse_integer(text), min_mtu, max_mtu, port_of(question).mtu);
                   }},
    HeadroomOption{
        {"reaction", "TIME", "of the peer to PFC, with both interfaces; default: the published figures"},
        [](Question& question, const std::string& text) {
            const auto time = parse_time(text);
            if (time && *time > milliseconds(1)) return std::string("is longer than 1ms");
            return put(time, port_of(question).reaction);
        }},
    HeadroomOption{
        {"turn", "TIME",
         "longest turn of a worker: a switch in real time; default: the virtual clock, which has none"},
        [](Question& question, const std::string& text) {
            const auto time = parse_time(text);
            if (time && (*time < microseconds(1) || *time > milliseconds(10)))
                return std::string("is no time from 1us to 10ms");
            question.config.clock = ClockKind::real_time;
            return put(time, question.config.turn_max);
        }},
    HeadroomOption{{"classes", "N", "lossless classes of each port; default: 1"},
                   [](Question& question, const std::string& text) {
                       return put_between(parse_integer(text), 1, classes, question.lossless_classes);
                   }},
    HeadroomOption{{"buffer", "SIZE", "packet memory of the switch; default: 16MB"},
                   [](Question& question, const std::string& text) {
                       return put_between(parse_size(text), 1, std::uint64_t{1} << 40,
                                          question.config.buffer_size_bytes);
                   }},
    HeadroomOption{{"cell", "SIZE", "of the buffer; default: 256"},
                   [](Question& question, const std::string& text) {
                       return put_between(parse_size(text), 64, 2048, question.config.cell_bytes);
                   }},
};

std::string read_words(const std::vector<std::string>& words, Question& question) {
    for (std::size_t n = 0; n < words.size(); n += 2) {
        const std::string& word = words[n];
        const auto* option =
            std::find_if(headroom_options.begin(), headroom_options.end(), [&](const HeadroomOption& each) {
                return word.starts_with("--") && word.substr(2) == each.help.name;
            });
        if (option == headroom_options.end()) return in_quotes(word) + " is no option";
        if (n + 1 == words.size()) return word + " wants a value";
        if (const std::string wrong = option->take(question, words[n + 1]); !wrong.empty())
            return fmt::format("{} {} {}", word, in_quotes(words[n + 1]), wrong);
    }
    return question.has_speed ? "" : "--speed is missing";
}

// The buffer with so many ports, all alike.
EffectiveQos qos_with(const Question& question, unsigned ports) {
    Config config = question.config;
    for (unsigned n = 0; n < ports; ++n) config.ports[fmt::format("p{}", n)] = config.port_defaults;
    return effective_qos(config);
}

bool fits(const Question& question, unsigned ports) { return qos_with(question, ports).problems.empty(); }

unsigned ports_that_fit(const Question& question) {
    unsigned fitting = 0, too_many = max_ports + 1;
    while (too_many - fitting > 1) {
        const unsigned middle = fitting + (too_many - fitting) / 2;
        (fits(question, middle) ? fitting : too_many) = middle;
    }
    return fitting;
}

// Of the pool of the lossless classes, with this number of ports.
std::string shares_line(const Question& question, unsigned ports) {
    const EffectiveQos qos = qos_with(question, ports);
    const EffectivePool& pool =
        *qos.pool(PoolDirection::ingress, qos.ports.begin()->second.group[first_lossless].pool);
    const std::uint64_t cell = qos.cell.bytes();
    return fmt::format("{:>8}{:>14}{:>14}{:>14}{:>14}\n", ports, pool.size_cells * cell,
                       pool.reserved_cells * cell, pool.headroom_cells * cell,
                       static_cast<std::uint64_t>(pool.shared_cells) * cell);
}

std::string buffer_table(const Question& question) {
    const unsigned most = ports_that_fit(question);
    std::string text = fmt::format("\na buffer of {}, where each port has {} lossless {}",
                                   print_size(question.config.buffer_size_bytes), question.lossless_classes,
                                   question.lossless_classes == 1 ? "class" : "classes");
    if (most == 0) return text + ": takes no such port\n";
    text += fmt::format(": the pool of those (bytes)\n{:>8}{:>14}{:>14}{:>14}{:>14}\n", "ports", "size",
                        "reserved", "headroom", "shared");
    for (unsigned ports = 2; ports < most; ports *= 2) text += shares_line(question, ports);
    return text + shares_line(question, most) +
           (most == max_ports ? "as many ports as a switch may have\n" : "more ports do not fit\n");
}

}  // namespace

tl::expected<std::string, std::string> headroom_answer(const std::vector<std::string>& words) {
    Question question;
    if (std::string wrong = read_words(words, question); !wrong.empty())
        return tl::unexpected(std::move(wrong));
    PortConfig& port = port_of(question);
    port.pfc.emplace();
    for (unsigned n = 0; n < question.lossless_classes; ++n)
        port.pfc->push_back(static_cast<ClassId>((first_lossless + n) % classes));
    const Headroom needed = qos_with(question, 1).ports.begin()->second.headroom;
    HeadroomInputs theirs = needed.inputs;
    theirs.flavour = HeadroomFlavour::sonic;
    return fmt::format("headroom of a lossless class at {}, {}, MTU {} (bytes)\n{}", print_rate(port.speed),
                       print_length(port.cable_m), port.mtu, headroom_table(needed)) +
           fmt::format("\nby SONiC's formula, which knows no software: {}\n", headroom(theirs).xoff_bytes) +
           buffer_table(question);
}

std::string headroom_usage() {
    constexpr std::size_t indent = 20;
    constexpr std::size_t width = 100;
    std::string text = fmt::format("usage: {}\n\n", headroom_synopsis);
    for (const HeadroomOption& option : headroom_options)
        text += fmt::format("  {:<{}}{}\n", fmt::format("--{} {}", option.help.name, option.help.argument),
                            indent - 2, wrapped(option.help.sentence, indent, width));
    return text;
}

std::vector<OptionHelp> headroom_option_help() {
    std::vector<OptionHelp> all;
    for (const HeadroomOption& option : headroom_options) all.push_back(option.help);
    return all;
}

}  // namespace sluice

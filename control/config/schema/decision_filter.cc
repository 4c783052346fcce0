#include "control/config/schema/decision_filter.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "lib/values/class_mask.hh"

namespace sluice {
namespace {

constexpr std::size_t min_ring = 65'536;
constexpr std::size_t max_ring = std::size_t{1} << 24;

bool may_be_switched_on(const Config& config) {
    return std::any_of(config.events.begin(), config.events.end(), [](const EventConfig& event) {
        const std::size_t start = event.command.find_first_not_of(" \t");
        return start != std::string::npos && event.command.compare(start, 9, "decisions") == 0;
    });
}

// Appends `word` to a list unless it is there.
template <class T>
void add(std::vector<T>& list, T value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(std::move(value));
}

template <class T>
std::string read_number(std::optional<T>& out, const std::string& key, const std::string& word, T most) {
    const auto number = parse_integer(word);
    if (!number || *number > most) return fmt::format("{} {}: allowed: 0 to {}", key, in_quotes(word), most);
    out = static_cast<T>(*number);
    return {};
}

std::string read_prefix(std::optional<IpPrefix>& out, const std::string& key, const std::string& word) {
    const auto network = parse_network(word);
    if (!network) return fmt::format("{} {} {}", key, in_quotes(word), network.error().wrong);
    out = *network;
    return {};
}

// Reads a pair of words; an error's text, or empty.
std::string read_pair(DecisionsConfig& out, const std::string& key, const std::string& word) {
    FlowFilter& flow = out.flow;
    if (key == "source") return read_prefix(flow.source, key, word);
    if (key == "destination") return read_prefix(flow.destination, key, word);
    if (key == "source_port") return read_number<std::uint16_t>(flow.source_port, key, word, 65535);
    if (key == "destination_port") return read_number<std::uint16_t>(flow.destination_port, key, word, 65535);
    if (key == "qp") return read_number<std::uint32_t>(flow.destination_qp, key, word, 0xFF'FFFF);
    if (key == "port" || key == "egress") {
        add(key == "port" ? out.ports : out.egress, word);
        return {};
    }
    if (key == "class") {
        std::optional<ClassId> number;
        std::string error = read_number<ClassId>(number, key, word, classes - 1);
        if (number) add(out.classes, *number);
        return error;
    }
    if (key == "verdict") {
        const auto* const name = std::find(verdict_names.begin(), verdict_names.end(), word);
        if (name == verdict_names.end())
            return fmt::format("verdict {}: allowed: dropped, marked, paused, punted, sent, unfinished",
                               in_quotes(word));
        add(out.verdicts, static_cast<Verdict>(name - verdict_names.begin()));
        return {};
    }
    return fmt::format(
        "{} chooses nothing; known: port, egress, class, verdict, source, destination, source_port, "
        "destination_port, qp",
        in_quotes(key));
}

}  // namespace

PortMask port_mask(const Config& config, const std::vector<std::string>& names) {
    if (names.empty()) return PortMask::all();
    PortMask mask;
    unsigned id = 0;
    for (const auto& [name, port] : config.ports) {
        if (std::find(names.begin(), names.end(), name) != names.end()) mask.add(static_cast<PortId>(id));
        ++id;
    }
    return mask;
}

RecordMode record_mode(const Config& config) {
    if (config.decisions.record) return *config.decisions.record;
    if (!config.decisions.file.empty()) return RecordMode::on;
    return may_be_switched_on(config) ? RecordMode::ready : RecordMode::off;
}

std::size_t decision_ring(const Config& config) {
    if (record_mode(config) == RecordMode::off) return 0;
    if (config.decisions.ring) return *config.decisions.ring;
    // A link that goes down discards all that waits for it at one instant.
    return std::clamp<std::size_t>(2 * config.buffer_size_bytes / config.cell_bytes, min_ring, max_ring);
}

DecisionFilter decision_filter(const Config& config, const DecisionsConfig& wanted) {
    DecisionFilter filter;
    filter.enabled = wanted.record.value_or(record_mode(config)) == RecordMode::on &&
                     record_mode(config) != RecordMode::off;
    filter.ingress = port_mask(config, wanted.ports);
    filter.egress = port_mask(config, wanted.egress);
    filter.any_egress = wanted.egress.empty();
    if (!wanted.classes.empty()) filter.traffic_classes = mask_of(wanted.classes);
    if (!wanted.verdicts.empty()) filter.verdicts = 0;
    for (const Verdict verdict : wanted.verdicts)
        filter.verdicts = static_cast<std::uint8_t>(filter.verdicts | bit_of(verdict));
    filter.any_flow = wanted.flow == FlowFilter{};
    filter.flow = wanted.flow;
    return filter;
}

tl::expected<DecisionsConfig, std::string> parse_decisions(std::span<const std::string> words) {
    DecisionsConfig out;
    if (words.size() == 1 && words[0] == "off") {
        out.record = RecordMode::ready;
        return out;
    }
    if (words.empty() || words[0] != "on" || words.size() % 2 == 0)
        return tl::unexpected<std::string>("wanted: decisions on [KEY VALUE]..., or decisions off");
    out.record = RecordMode::on;
    for (std::size_t i = 1; i < words.size(); i += 2)
        if (std::string error = read_pair(out, words[i], words[i + 1]); !error.empty())
            return tl::unexpected(std::move(error));
    return out;
}

std::string check_decisions(const Config& config, const DecisionsConfig& wanted) {
    if (record_mode(config) == RecordMode::off)
        return "the switch was made without decision records; do: write record = \"ready\" under [decisions]";
    for (const auto* names : {&wanted.ports, &wanted.egress})
        for (const std::string& name : *names)
            if (!config.ports.contains(name)) return "no port " + in_quotes(name);
    return {};
}

}  // namespace sluice

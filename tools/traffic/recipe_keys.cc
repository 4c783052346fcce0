#include "tools/traffic/recipe_keys.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"

namespace sluice::traffic {
namespace {

constexpr std::uint32_t max_24_bit = 0xFF'FFFF;
constexpr std::uint64_t max_connections = 1'048'576;
constexpr std::uint64_t max_frames = 1'000'000'000'000;
constexpr std::size_t max_list_entries = 65'536;
constexpr Duration max_time = seconds(86'400);

void limit_time(TableReader& reader, std::string_view key, const std::optional<Duration>& time) {
    if (time && *time > max_time) reader.refuse(key, "must not be more than a day (86400s)");
}

struct Range {
    std::uint64_t low = 0, high = 0;
};

// "60..1500".
std::optional<Range> parse_range(std::string_view text) {
    const std::size_t dots = text.find("..");
    if (dots == text.npos) return std::nullopt;
    const auto low = parse_integer(text.substr(0, dots));
    const auto high = parse_integer(text.substr(dots + 2));
    if (!low || !high || *low > *high) return std::nullopt;
    return Range{*low, *high};
}

// 1000 or "1000..1999".
std::optional<PortRange> read_ports(TableReader& reader, std::string_view key) {
    const toml::node* node = reader.node(key);
    if (node == nullptr) return std::nullopt;
    std::optional<Range> range;
    if (const auto number = node->value_exact<std::int64_t>(); number && *number >= 0)
        range = {static_cast<std::uint64_t>(*number), static_cast<std::uint64_t>(*number)};
    else if (const auto text = node->value_exact<std::string>())
        range = parse_range(*text);
    if (range && range->high <= UINT16_MAX) {
        return PortRange{static_cast<std::uint16_t>(range->low),
                         static_cast<std::uint32_t>(range->high - range->low + 1)};
    }
    reader.refuse(*node, key,
                  fmt::format("{} is not a port (0 to 65535) or a range \"1000..1999\"", shown(*node)));
    return std::nullopt;
}

// "random 60..1500"; nothing if the text is anything else.
std::optional<SizeRule> parse_random(std::string_view text) {
    constexpr std::string_view word = "random ";
    if (!text.starts_with(word)) return std::nullopt;
    const auto range = parse_range(text.substr(word.size()));
    if (!range || range->high > max_recipe_frame_bytes) return std::nullopt;
    return SizeRule{{}, static_cast<std::uint32_t>(range->low), static_cast<std::uint32_t>(range->high)};
}

std::optional<SizeRule> read_size(TableReader& reader, std::string_view key, std::uint32_t least) {
    const auto nodes = reader.one_or_more(key);
    if (nodes.empty()) return std::nullopt;
    if (nodes.size() == 1) {
        if (const auto text = nodes[0]->value_exact<std::string>()) {
            if (const auto random = parse_random(*text); random && random->low >= least) return random;
        }
    }
    SizeRule rule;
    for (const toml::node* node : nodes) {
        const auto value = node->value_exact<std::int64_t>();
        if (value && *value >= least && *value <= max_recipe_frame_bytes) {
            rule.list.push_back(static_cast<std::uint32_t>(*value));
            continue;
        }
        reader.refuse(*node, key,
                      fmt::format("{} is not bytes from {} to {}, a list of such, or \"random 60..1500\"",
                                  shown(*node), least, max_recipe_frame_bytes));
    }
    return rule;
}

void read_tos(TableReader& reader, Flow& flow) {
    const bool is_data = is_roce_data(flow.kind);
    const bool is_cnp = flow.kind == Kind::cnp;
    const auto dscp = reader.integer("dscp", 0, 63).value_or(is_data ? 26 : is_cnp ? 48 : 0);
    Ecn ecn = is_data || is_cnp ? Ecn::ect0 : Ecn::not_ect;
    reader.choice(
        "ecn", {{"not-ect", Ecn::not_ect}, {"ect0", Ecn::ect0}, {"ect1", Ecn::ect1}, {"ce", Ecn::ce}}, ecn);
    flow.tos = static_cast<std::uint8_t>(dscp << 2 | static_cast<unsigned>(ecn));
    if (const auto ttl = reader.integer("ttl", 0, 255)) flow.ttl = static_cast<std::uint8_t>(*ttl);
    if (const auto id = reader.integer("id", 0, UINT16_MAX)) flow.id = static_cast<std::uint16_t>(*id);
}

// Each entry is a name, or "name xN" for N of them.
void read_operations(TableReader& reader, Flow& flow) {
    flow.operations = {roce::find_operation("send_only")};
    reader.choice("transport", {{"rc", Transport::rc}, {"uc", Transport::uc}, {"ud", Transport::ud}},
                  flow.transport);
    const auto nodes = reader.one_or_more("opcodes");
    if (!nodes.empty()) flow.operations.clear();
    for (const toml::node* node : nodes) {
        std::string name = node->value_exact<std::string>().value_or("");
        ParsedValue<std::uint64_t> repeat = 1;
        if (const std::size_t space = name.find(" x"); space != std::string::npos) {
            repeat = parse_integer(std::string_view{name}.substr(space + 2));
            name.resize(space);
        }
        const Operation* operation = roce::find_operation(name);
        if (operation == nullptr || !allowed(flow.transport, *operation)) {
            reader.refuse(*node, "opcodes",
                          fmt::format("{} is not an opcode of this transport such as \"send_only\" "
                                      "or \"write_middle x6\"",
                                      shown(*node)));
        } else if (!repeat || *repeat == 0 || flow.operations.size() + *repeat > max_list_entries) {
            reader.refuse(*node, "opcodes",
                          fmt::format("{}: the repetition must be from 1 to {} in all", shown(*node),
                                      max_list_entries));
        } else {
            flow.operations.insert(flow.operations.end(), *repeat, operation);
        }
    }
}

void read_queue_pairs(TableReader& reader, Flow& flow) {
    flow.qp = static_cast<std::uint32_t>(reader.integer("qp", 0, max_24_bit).value_or(0x100));
    flow.qps = static_cast<std::uint32_t>(reader.integer("qps", 1, max_connections).value_or(1));
    flow.psn = static_cast<std::uint32_t>(reader.integer("psn", 0, max_24_bit).value_or(0));
    if (flow.qp + (flow.qps - 1) > max_24_bit) reader.refuse("qps", "the last QP would not fit into 24 bits");
    flow.destination_ports = {roce_udp_port, 1};
    const auto ports = read_ports(reader, "sport");
    flow.source_port_from_qp = !reader.has("sport");
    const auto flows = reader.integer("flows", 1, max_connections);
    if (ports) flow.source_ports = *ports;
    const std::uint64_t widest = flow.source_port_from_qp    ? 0x4000
                                 : ports && ports->count > 1 ? ports->count
                                                             : 0x10000U - flow.source_ports.first;
    if (flows && *flows > widest * flow.qps) {
        reader.refuse("flows", fmt::format("there are only {} source ports x {} QPs", widest, flow.qps));
    }
    if (flows && ports && ports->count == 1)
        flow.source_ports.count =
            static_cast<std::uint32_t>(std::min(widest, (*flows + flow.qps - 1) / flow.qps));
    flow.flows = static_cast<std::uint32_t>(flows.value_or(
        std::min<std::uint64_t>(max_connections, std::uint64_t{flow.qps} * flow.source_ports.count)));
}

void read_ports_of_flow(TableReader& reader, Flow& flow) {
    const auto source = read_ports(reader, "sport");
    const auto destination = read_ports(reader, "dport");
    const auto flows = reader.integer("flows", 1, max_connections);
    flow.source_ports = source.value_or(PortRange{10'000, 1});
    flow.destination_ports =
        destination.value_or(PortRange{static_cast<std::uint16_t>(flow.kind == Kind::tcp ? 80 : 9), 1});
    if (flows && flow.source_ports.count == 1) {
        const std::uint64_t needed =
            (*flows + flow.destination_ports.count - 1) / flow.destination_ports.count;
        flow.source_ports.count =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(needed, 0x10000U - flow.source_ports.first));
    }
    const std::uint64_t pairs = std::uint64_t{flow.source_ports.count} * flow.destination_ports.count;
    if (flows && *flows > pairs)
        reader.refuse("flows", fmt::format("there are only {} pairs of ports", pairs));
    flow.flows = static_cast<std::uint32_t>(flows.value_or(std::min(pairs, max_connections)));
}

}  // namespace

void read_pacing(TableReader& reader, Flow& flow) {
    if (const auto start = reader.duration("start")) flow.start = *start;
    flow.duration = reader.duration("duration");
    flow.pacing.rate = reader.rate("rate");
    flow.pacing.gap = reader.duration("gap");
    limit_time(reader, "start", flow.start);
    limit_time(reader, "duration", flow.duration);
    limit_time(reader, "gap", flow.pacing.gap);
    if (flow.pacing.rate && flow.pacing.gap) reader.refuse("gap", "give rate or gap, not both");
    const auto count = reader.integer("count", 1, max_frames);
    if (count)
        flow.count = *count;
    else if (!reader.has("duration"))
        flow.count = 1;

    const toml::table* burst = reader.table("burst");
    if (burst == nullptr) return;
    TableReader inner{*burst, reader.path() + ".burst", reader.errors()};
    const auto frames = inner.integer("frames", 1, 1'000'000'000);
    const auto every = inner.duration("every");
    limit_time(inner, "every", every);
    inner.finish();
    if (!inner.has("frames") || !inner.has("every")) inner.refuse_whole("needs frames and every");
    flow.pacing.burst_frames = static_cast<std::uint32_t>(frames.value_or(0));
    flow.pacing.burst_every = every.value_or(Duration{});
}

void read_pfc(TableReader& reader, Flow& flow) {
    const toml::table* quanta = reader.table("pfc");
    if (quanta == nullptr || quanta->empty()) {
        reader.refuse("pfc", "is needed: the classes and their quanta, such as {3 = 65535}");
        return;
    }
    TableReader inner{*quanta, reader.path() + ".pfc", reader.errors()};
    for (std::size_t i = 0; i < flow.pfc_quanta.size(); ++i) {
        if (const auto value = inner.integer(std::to_string(i), 0, UINT16_MAX))
            flow.pfc_quanta[i] = static_cast<std::uint16_t>(*value);
    }
    inner.finish("classes are 0 to 7");
}

void read_malformations(TableReader& reader, Flow& flow, bool is_v6) {
    const auto fits = [is_v6](const MalformationInfo& info) { return is_v6 ? info.v6 : info.v4; };
    const auto nodes = reader.one_or_more("variant");
    if (nodes.empty())
        reader.refuse("variant", "is needed: a name, a list of names, or \"all\" (see --help)");
    for (const toml::node* node : nodes) {
        const std::string name = node->value_exact<std::string>().value_or("");
        const auto info = std::ranges::find(malformations, name, &MalformationInfo::name);
        if (name == "all") {
            for (const MalformationInfo& each : malformations) {
                if (fits(each)) flow.malformations.push_back(each.which);
            }
        } else if (info == std::end(malformations)) {
            reader.refuse(*node, "variant",
                          fmt::format("{} is not a known variant (see --help)", shown(*node)));
        } else if (!fits(*info)) {
            reader.refuse(*node, "variant",
                          fmt::format("{} does not exist in IPv{}", shown(*node), is_v6 ? 6 : 4));
        } else {
            flow.malformations.push_back(info->which);
        }
    }
}

void read_addressed(TableReader& reader, Flow& flow) {
    read_tos(reader, flow);
    if (flow.kind == Kind::udp || flow.kind == Kind::tcp)
        read_ports_of_flow(reader, flow);
    else
        read_queue_pairs(reader, flow);
    if (is_roce_data(flow.kind)) read_operations(reader, flow);
    flow.size = SizeRule{{is_roce_data(flow.kind) ? 1082U : 64U}, 0, 0};
    if (flow.kind == Kind::cnp) return;
    const auto size = read_size(reader, "size", min_recipe_frame_bytes);
    if (size) flow.size = *size;
    if (flow.kind != Kind::roce) return;
    const auto payload = read_size(reader, "payload", 0);
    if (payload && reader.has("size")) reader.refuse("payload", "give size or payload, not both");
    if (payload) flow.size = *payload;
    flow.size_is_payload = payload.has_value();
}

std::vector<Tag> read_tags(TableReader& reader) {
    std::vector<Tag> tags;
    const toml::node* whole = reader.node("vlan");
    if (whole != nullptr && whole->is_array() && whole->as_array()->empty()) return tags;
    for (const toml::node* node : reader.one_or_more("vlan")) {
        if (const auto vid = node->value_exact<std::int64_t>(); vid && *vid >= 0 && *vid <= 4095) {
            tags.push_back({ether_type::vlan, static_cast<std::uint16_t>(*vid)});
            continue;
        }
        const toml::table* table = node->as_table();
        if (table == nullptr) {
            reader.refuse(*node, "vlan",
                          fmt::format("{} is not a VLAN (0 to 4095) or {{vid = 10, pcp = 3}}", shown(*node)));
            continue;
        }
        TableReader inner{*table, reader.path() + ".vlan", reader.errors()};
        const auto vid = inner.integer("vid", 0, 4095).value_or(0);
        const auto pcp = inner.integer("pcp", 0, 7).value_or(0);
        const auto dei = inner.integer("dei", 0, 1).value_or(0);
        std::uint16_t type = ether_type::vlan;
        inner.choice("type", {{"802.1q", ether_type::vlan}, {"802.1ad", ether_type::qinq}}, type);
        inner.finish();
        tags.push_back({type, static_cast<std::uint16_t>(pcp << 13 | dei << 12 | vid)});
    }
    if (tags.size() > 8) reader.refuse("vlan", "at most 8 tags");
    return tags;
}

}  // namespace sluice::traffic

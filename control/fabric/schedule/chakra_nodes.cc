#include "control/fabric/schedule/chakra_nodes.hh"

#include <fmt/format.h>

#include <algorithm>

#include "control/config/schema/values.hh"
#include "control/fabric/schedule/protobuf_wire.hh"
#include "control/fabric/schedule/schedule_readers.hh"

namespace sluice::fabric {
namespace chakra {
namespace {

constexpr std::array<std::string_view, node_types> type_keys{"invalidnode",  "metadatanode", "memloadnode",
                                                             "memstorenode", "compnode",     "commsendnode",
                                                             "commrecvnode", "commcollnode"};
constexpr std::array<std::string_view, 10> collective_keys{
    "allreduce", "reduce",        "allgather",          "gather", "scatter", "broadcast",
    "alltoall",  "reducescatter", "reducescatterblock", "barrier"};

// A number of an enum, or its word.
template <std::size_t N>
std::optional<std::uint64_t> number_or_word(const Value& value,
                                            const std::array<std::string_view, N>& words) {
    if (const auto whole = whole_of(value)) return whole;
    if (value.kind != Value::Kind::text) return {};
    const auto found = std::ranges::find(words, PlainKey(value.text).view());
    if (found == words.end()) return {};
    return static_cast<std::uint64_t>(found - words.begin());
}

std::string shown(const Value& value) {
    switch (value.kind) {
        case Value::Kind::none:
            return "a list or nothing";
        case Value::Kind::whole:
            return fmt::to_string(value.whole);
        case Value::Kind::real:
            return fmt::to_string(value.real);
        case Value::Kind::text:
            break;
    }
    return in_quotes(value.text, 32);
}

MaybeWrong set_whole(std::optional<std::uint64_t>& place, const Value& value) {
    place = whole_of(value);
    return place ? std::nullopt : MaybeWrong("not a whole number from 0");
}

MaybeWrong set_flag(bool& place, const Value& value) {
    const auto whole = whole_of(value);
    place = whole == 1;
    return whole && *whole <= 1 ? std::nullopt : MaybeWrong("not true or false");
}

MaybeWrong set_duration(double& place, const Value& value) {
    const auto whole = whole_of(value);
    if (!whole && !(value.kind == Value::Kind::real && value.real >= 0)) return "not a time in microseconds";
    place = whole ? static_cast<double>(*whole) : value.real;
    return {};
}

MaybeWrong set_collective(std::optional<std::uint64_t>& place, const Value& value) {
    place = number_or_word(value, collective_keys);
    return place ? std::nullopt : MaybeWrong("not a type of collectives");
}

MaybeWrong set_group(std::string& place, const Value& value) {
    const auto whole = whole_of(value);
    if (!whole && value.kind != Value::Kind::text) return "not the name of a group";
    place = whole ? fmt::to_string(*whole) : std::string(value.text);
    return {};
}

MaybeWrong set_known(Node& node, const PlainKey& key, const Value& value) {
    if (key == "runtime" || key == "durationmicros") return set_duration(node.microseconds, value);
    if (key == "iscpuop") return set_flag(node.is_cpu_op, value);
    if (key == "commtype") return set_collective(node.collective, value);
    if (key == "commsize") return set_whole(node.bytes, value);
    if (key == "commsrc") return set_whole(node.source, value);
    if (key == "commdst") return set_whole(node.destination, value);
    if (key == "commtag") return set_whole(node.tag, value);
    if (key == "rootrank") return set_whole(node.root, value);
    if (key == "pgname" || key == "commgroup") return set_group(node.group, value);
    node.has_operations |= key == "numops";
    node.has_dimensions |= key == "involveddim";
    node.has_priority |= key == "commpriority" && whole_of(value) != 0;
    return {};
}

std::string_view without_blanks(std::string_view bytes) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (bytes.starts_with(byte_order_mark)) bytes.remove_prefix(byte_order_mark.size());
    return bytes.substr(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
}

// The first message begins with one of the fields that metadata and nodes begin with, and has room for it.
bool is_first_message(std::string_view bytes) {
    std::uint64_t size = 0, tag = 0, inner = 0;
    if (bytes.starts_with('\0')) bytes.remove_prefix(1);  // metadata without a value
    if (take_varint(bytes, size) != WireError::none || size == 0) return false;
    if (size > max_message_bytes || take_varint(bytes, tag) != WireError::none) return false;
    constexpr std::uint64_t id = 1U << 3U, name = 2U << 3U | 2U, version = 1U << 3U | 2U, type = 3U << 3U;
    if (tag == id || tag == type) return true;
    return (tag == name || tag == version) && take_varint(bytes, inner) == WireError::none && inner < size;
}

}  // namespace

Value Value::of_signed(std::int64_t number) {
    return number >= 0 ? of(static_cast<std::uint64_t>(number)) : of_real(static_cast<double>(number));
}

std::optional<std::uint64_t> whole_of(const Value& value) {
    constexpr double most = 9007199254740992.0;  // 2^53: beyond it, a double is not exact
    switch (value.kind) {
        case Value::Kind::none:
            break;
        case Value::Kind::whole:
            return value.whole;
        case Value::Kind::real: {
            if (!(value.real >= 0 && value.real <= most)) break;
            const auto whole = static_cast<std::uint64_t>(value.real);
            if (static_cast<double>(whole) == value.real) return whole;
            break;
        }
        case Value::Kind::text:
            if (const auto number = parse_integer(value.text)) return *number;
    }
    return {};
}

void Node::set_inputs(std::string_view text) {
    constexpr std::string_view first = "[{", last = "}]";
    const std::size_t begin = text.find(first), end = text.rfind(last);
    if (begin == text.npos || end == text.npos || end < begin || text.find("pg_name", begin) == text.npos)
        return;
    process_groups = text.substr(begin, end + last.size() - begin);
}

PlainKey::PlainKey(std::string_view key) {
    if (key.size() > letters_.size()) return;
    for (const char each : key) {
        if (each == '_') continue;
        letters_[size_++] = each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
    }
}

MaybeWrong set_type(Node& node, const Value& value) {
    const auto type = number_or_word(value, type_keys);
    if (!type || *type >= node_types)
        return fmt::format("its type is {}, and there are {}: from 0 (INVALID_NODE) to 7 (COMM_COLL_NODE)",
                           shown(value), node_types);
    node.type = static_cast<NodeType>(*type);
    return {};
}

MaybeWrong set_attribute(Node& node, std::string_view key, const Value& value) {
    MaybeWrong wrong = set_known(node, PlainKey(key), value);
    if (wrong) wrong = fmt::format("{} is {}, {}", key, shown(value), *wrong);
    return wrong;
}

void refuse_value(const Node& node, std::string_view wrong, ScheduleErrors& errors) {
    errors.refuse(node.place, fmt::format("node {}: {}", node.id, wrong), "correct the node");
}

bool is_text(std::string_view bytes) {
    return std::ranges::none_of(bytes.substr(0, 64), [](char each) {
        return static_cast<unsigned char>(each) < ' ' && each != '\t' && each != '\n' && each != '\r';
    });
}

bool is_json(std::string_view bytes) { return is_text(bytes) && without_blanks(bytes).starts_with('{'); }

}  // namespace chakra

bool is_chakra_start(std::string_view bytes) {
    return chakra::is_json(bytes) || (!chakra::is_text(bytes) && chakra::is_first_message(bytes));
}

}  // namespace sluice::fabric

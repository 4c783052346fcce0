// Chakra as protobuf: messages with their lengths before them, first GlobalMetadata, then a Node each.
#include <fmt/format.h>

#include <bit>

#include "control/fabric/schedule/chakra_nodes.hh"
#include "control/fabric/schedule/protobuf_wire.hh"

namespace sluice::fabric::chakra {
namespace {

class ProtobufReader {
  public:
    ProtobufReader(ByteStream& stream, const TakeNode& take, ScheduleErrors& errors)
        : stream_(stream), take_(take), errors_(errors) {}

    void read() {
        for (bool is_first = true; next_message(); is_first = false) {
            if (is_first && is_metadata()) continue;
            node_.clear();
            const WireError error = read_node();
            if (error != WireError::none)
                return refuse(fmt::format("this is not a node: {}", wire_error_words(error)));
            if (!take_(node_)) return;
        }
    }

  private:
    static constexpr const char* remedy = "name an execution trace of Chakra that is complete";

    // False: the file is over, or wrong.
    bool next_message() {
        at_ = stream_.used();
        std::string_view ahead = stream_.ahead(10);
        if (ahead.empty()) {
            if (!stream_.wrong().empty()) refuse_file();
            return false;
        }
        const std::size_t there = ahead.size();
        std::uint64_t size = 0;
        if (const WireError error = take_varint(ahead, size); error != WireError::none)
            return refuse(error == WireError::cut_short ? "the file ends within the length of a message"
                                                        : "the length of a message has more than 64 bits"),
                   false;
        if (size > max_message_bytes)
            return refuse(fmt::format("a message has {} bytes, more than {}", size, max_message_bytes)),
                   false;
        if (size == 0 && at_ != 0) return refuse("a message is empty"), false;
        stream_.skip(there - ahead.size());
        message_.clear();
        while (message_.size() < size && !stream_.at_end()) {  // room only for bytes that are there
            const std::string_view part = stream_.ahead().substr(0, size - message_.size());
            message_ += part;
            stream_.skip(part.size());
        }
        if (message_.size() == size) return true;
        if (!stream_.wrong().empty()) return refuse_file(), false;
        return refuse(
                   fmt::format("a message has {} bytes, and the file ends after {}", size, message_.size())),
               false;
    }

    // A version and attributes; of nodes, an id and a type are numbers.
    bool is_metadata() const {
        WireReader fields(message_);
        for (WireField field; fields.next(field);)
            if (field.number > 2 || !field.is_bytes()) return false;
        return fields.error() == WireError::none;
    }

    WireError read_node() {
        WireReader fields(message_);
        for (WireField field; fields.next(field);)
            if (const WireError error = read_field(field); error != WireError::none) return error;
        return fields.error();
    }

    WireError read_field(const WireField& field) {
        enum Number : std::uint8_t {
            id = 1,
            name,
            type,
            ctrl_deps,
            data_deps,
            duration = 7,
            inputs,
            attr = 10
        };
        switch (field.number) {
            case id:
                node_.id = field.value;
                return field.is_varint() ? WireError::none : WireError::bad_tag;
            case name:
                return field.is_bytes() ? WireError::none : WireError::bad_tag;
            case type:
                report(set_type(node_, Value::of(field.value)));
                return field.is_varint() ? WireError::none : WireError::bad_tag;
            case ctrl_deps:
                return read_waits(field, node_.control_waits);
            case data_deps:
                return read_waits(field, node_.data_waits);
            case duration:
                report(set_attribute(node_, "duration_micros", Value::of(field.value)));
                return field.is_varint() ? WireError::none : WireError::bad_tag;
            case inputs:
                return field.is_bytes() ? read_inputs(field.bytes) : WireError::bad_tag;
            case attr:
                return field.is_bytes() ? read_attribute(field.bytes) : WireError::bad_tag;
            default:
                return WireError::none;
        }
    }

    static WireError read_waits(const WireField& field, std::vector<std::uint64_t>& waits) {
        return for_each_varint(field, [&](std::uint64_t id) { waits.push_back(id); });
    }

    WireError read_inputs(std::string_view message) {
        WireReader fields(message);
        for (WireField field; fields.next(field);)
            if (field.number == 1) node_.set_inputs(field.bytes);
        return fields.error();
    }

    WireError read_attribute(std::string_view message) {
        WireReader fields(message);
        std::string_view name;
        Value value;
        for (WireField field; fields.next(field);) {
            if (field.number == 1)
                name = field.bytes;
            else if (field.number != 2)  // a comment
                value = value_of(field);
        }
        if (fields.error() == WireError::none) report(set_attribute(node_, name, value));
        return fields.error();
    }

    // The fields of AttributeProto: each scalar type has one, and a list of it has the next one.
    static Value value_of(const WireField& field) {
        switch (field.number) {
            case 3:
                return Value::of_real(std::bit_cast<double>(field.value));
            case 5:
                return Value::of_real(std::bit_cast<float>(static_cast<std::uint32_t>(field.value)));
            case 7:
            case 9:
            case 25:
                return Value::of_signed(static_cast<std::int64_t>(field.value));
            case 11:
            case 13:
            case 19:
            case 21:
            case 27:
                return Value::of(field.value);
            case 15:
            case 17:
                return Value::of_signed(zigzag(field.value));
            case 23:
                return Value::of_signed(static_cast<std::int32_t>(field.value));
            case 29:
            case 31:
                return Value::of_text(field.bytes);
            default:
                return Value::none();
        }
    }

    void report(const MaybeWrong& wrong) {
        if (wrong) refuse_value(node_, *wrong, errors_);
    }
    void refuse(const std::string& wrong) {
        errors_.refuse({}, fmt::format("byte {}: {}", at_, wrong), remedy);
    }
    void refuse_file() { errors_.refuse({}, stream_.wrong(), "name a file that may be read"); }

    ByteStream& stream_;
    const TakeNode& take_;
    ScheduleErrors& errors_;
    std::string message_;
    std::uint64_t at_ = 0;  // where the message begins
    Node node_;
};

}  // namespace

void read_protobuf(ByteStream& stream, const TakeNode& take, ScheduleErrors& errors) {
    ProtobufReader(stream, take, errors).read();
}

}  // namespace sluice::fabric::chakra

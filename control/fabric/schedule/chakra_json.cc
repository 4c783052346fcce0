// Chakra as JSON: an object with a list of nodes (workload_graph, nodes), or an object for each message as
// chakra_jsonizer writes them. Attributes are members of the node, or of its attrs: a list or a map.
#include <fmt/format.h>

#include "control/fabric/schedule/chakra_json_events.hh"

namespace sluice::fabric::chakra {
namespace {

class JsonNodes final : public JsonEvents {
  public:
    JsonNodes(const TakeNode& take, ScheduleErrors& errors) : take_(take), errors_(errors) {}

    bool begin_object(SourcePlace place) override {
        switch (at()) {
            case Where::outside:
                return open_node(Where::root, place);
            case Where::nodes:
                return open_node(Where::node, place);
            case Where::root:
            case Where::node:
                if (is_key(attributes)) return open(Where::attribute_map);
                if (is_key(inputs)) return open(Where::inputs);
                break;
            case Where::attribute_list:
                attribute_.clear();
                text_.clear();
                attribute_value_ = {};
                return open(Where::attribute);
            case Where::waits:
                return refuse(place, "a dependency is not the number of a node");
            default:
                break;
        }
        return open_other();
    }

    bool begin_array(SourcePlace place) override {
        switch (at()) {
            case Where::outside:
                return refuse(place, "the trace is not an object of JSON");
            case Where::nodes:
                return refuse(place, "a node is not an object");
            case Where::root:
                if (is_key(lists_of_nodes)) {
                    has_list_ = true;
                    return open(Where::nodes);
                }
                [[fallthrough]];
            case Where::node:
                if (is_key(lists_of_waits)) return open(Where::waits);
                if (is_key(attributes)) return open(Where::attribute_list);
                break;
            case Where::inputs:
                if (is_key(values)) return open(Where::input_values);
                break;
            case Where::waits:
                return refuse(place, "a dependency is not the number of a node");
            default:
                break;
        }
        return open_other();
    }

    bool end_object() override {
        const Where where = close();
        if (where == Where::attribute) {
            if (attribute_value_.kind == Value::Kind::text) attribute_value_.text = text_;
            report(set_attribute(node_, attribute_, attribute_value_));
        }
        if (where == Where::node) return take_(node_);
        if (where != Where::root) return !errors_.is_full();
        const bool is_message = !has_list_ && (has_id_or_type_ || !is_first_);  // else metadata
        is_first_ = false;
        return is_message ? take_(node_) : !errors_.is_full();
    }

    bool end_array() override {
        close();
        return true;
    }

    bool key(std::string_view text) override {
        key_ = PlainKey(text);
        if (at() != Where::other) key_text_ = text.substr(0, 64);
        return true;
    }

    bool value(const Value& value, SourcePlace place) override {
        switch (at()) {
            case Where::outside:
                return refuse(place, "the trace is not an object of JSON");
            case Where::nodes:
                return refuse(place, "a node is not an object");
            case Where::root:
            case Where::node:
                return set_member(value, place);
            case Where::waits:
                return add_wait(value, place);
            case Where::attribute:
                set_attribute_part(value);
                break;
            case Where::attribute_map:
                report(set_attribute(node_, key_text_, value));
                break;
            case Where::inputs:
                if (!is_key(values)) break;
                [[fallthrough]];
            case Where::input_values:
                if (value.kind == Value::Kind::text) node_.set_inputs(value.text);
                break;
            default:
                break;
        }
        return !errors_.is_full();
    }

  private:
    enum class Where : std::uint8_t {
        outside,
        root,   // an object that is a message, or that has lists of nodes
        nodes,  // such a list
        node,
        waits,
        attribute_list,
        attribute,
        attribute_map,
        inputs,
        input_values,
        other
    };
    // Keys as PlainKey has them.
    static constexpr std::array<std::string_view, 2> lists_of_nodes{"workloadgraph", "nodes"};
    static constexpr std::string_view data_waits = "datadeps";
    static constexpr std::array<std::string_view, 2> lists_of_waits{data_waits, "ctrldeps"};
    static constexpr std::array<std::string_view, 2> attributes{"attr", "attrs"};
    static constexpr std::array<std::string_view, 1> inputs{"inputs"}, values{"values"};

    template <std::size_t N>
    bool is_key(const std::array<std::string_view, N>& keys) const {
        return std::ranges::find(keys, key_.view()) != keys.end();
    }

    Where at() const { return others_ != 0 ? Where::other : open_.empty() ? Where::outside : open_.back(); }
    bool open(Where where) {
        open_.push_back(where);
        return true;
    }
    // Something that does not count, with all that is in it.
    bool open_other() {
        ++others_;
        return true;
    }
    Where close() {
        const Where where = at();
        if (where == Where::other)
            --others_;
        else
            open_.pop_back();
        return where;
    }
    bool open_node(Where where, SourcePlace place) {
        node_.clear();
        node_.place = place;
        if (where == Where::root) has_list_ = has_id_or_type_ = false;
        return open(where);
    }

    bool set_member(const Value& value, SourcePlace place) {
        if (key_ == "id") {
            const auto id = whole_of(value);
            if (!id) return refuse(place, "the id of a node is not a whole number from 0");
            node_.id = *id;
            has_id_or_type_ = true;
        } else if (key_ == "nodetype" || key_ == "type") {
            report(set_type(node_, value));
            has_id_or_type_ = true;
        } else if (is_key(lists_of_waits)) {  // PyTorch's traces have one parent
            if (value.kind != Value::Kind::none) return add_wait(value, place);
        } else {
            report(set_attribute(node_, key_text_, value));
        }
        return !errors_.is_full();
    }

    bool add_wait(const Value& value, SourcePlace place) {
        const auto id = whole_of(value);
        if (!id) return refuse(place, "a dependency is not the number of a node");
        std::vector<std::uint64_t>& waits = key_ == data_waits ? node_.data_waits : node_.control_waits;
        if (waits.size() == max_message_bytes)
            return refuse(place, fmt::format("a node has more than {} dependencies", max_message_bytes));
        waits.push_back(*id);
        return true;
    }

    // {"name": "comm_size", "int64Val": "8"}, or {"name": "tid", "type": "uint64", "value": 1}
    void set_attribute_part(const Value& value) {
        if (key_ == "name") {
            if (value.kind == Value::Kind::text) attribute_ = value.text.substr(0, 64);
        } else if (key_ != "type" && key_ != "docstring") {
            attribute_value_ = value;
            if (value.kind == Value::Kind::text) text_ = value.text;
        }
    }

    void report(const MaybeWrong& wrong) {
        if (wrong) refuse_value(node_, *wrong, errors_);
    }
    bool refuse(SourcePlace place, std::string wrong) {
        errors_.refuse(place, std::move(wrong), "name an execution trace of Chakra");
        return false;
    }

    const TakeNode& take_;
    ScheduleErrors& errors_;
    std::vector<Where> open_;
    std::size_t others_ = 0;  // that are open
    PlainKey key_{""};
    std::string key_text_;
    Node node_;
    bool has_list_ = false, has_id_or_type_ = false;  // of the root
    bool is_first_ = true;                            // no root has ended yet
    std::string attribute_, text_;                    // of an attribute: its name, its text
    Value attribute_value_;
};

}  // namespace

void read_json(ByteStream& stream, const TakeNode& take, ScheduleErrors& errors) {
    JsonNodes nodes(take, errors);
    read_json_values(stream, nodes, errors);
}

}  // namespace sluice::fabric::chakra

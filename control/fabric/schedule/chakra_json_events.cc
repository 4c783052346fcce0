#include "control/fabric/schedule/chakra_json_events.hh"

#include <fmt/format.h>

#include <cstddef>
#include <iterator>
#include <nlohmann/json.hpp>

namespace sluice::fabric::chakra {
namespace {

// Characters with their places, until a value is too long.
struct JsonText {
    ByteStream& stream;
    SourcePlace place{1, 0};      // of the character that was read last
    SourcePlace previous{1, 0};   // of the one before
    std::size_t since_event = 0;  // characters
    bool is_over = false;         // the parser has asked for more than there is

    bool is_too_long() const { return since_event > max_message_bytes; }
    bool at_end() { return is_over = is_too_long() || stream.at_end(); }
    void step() {
        const bool is_newline = stream.ahead().front() == '\n';
        previous = place;
        place = is_newline ? SourcePlace{place.line + 1, 0} : SourcePlace{place.line, place.column + 1};
        stream.skip(1);
        ++since_event;
    }
    void skip_blanks() {
        while (!at_end() &&
               std::string_view(" \t\r\n").find(stream.ahead().front()) != std::string_view::npos) {
            step();
            since_event = 0;
        }
    }
};

// All iterators of a text share its position; a text without an iterator: the end.
class JsonCharacters {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = char;

    explicit JsonCharacters(JsonText* text = nullptr) : text_(text) {}
    char operator*() const { return text_->stream.ahead().front(); }
    JsonCharacters& operator++() { return text_->step(), *this; }
    bool operator==(const JsonCharacters&) const { return text_ == nullptr || text_->at_end(); }

  private:
    JsonText* text_;
};

// What nlohmann-json calls.
class JsonAdapter {
  public:
    using Json = nlohmann::json;

    JsonAdapter(JsonText& text, JsonEvents& events) : text_(text), events_(events) {}

    bool null() { return value(Value::none()); }
    bool boolean(bool is) { return value(Value::of(is ? 1 : 0)); }
    bool number_integer(Json::number_integer_t number) { return this->number(Value::of_signed(number)); }
    bool number_unsigned(Json::number_unsigned_t number) { return this->number(Value::of(number)); }
    bool number_float(Json::number_float_t number, const Json::string_t&) {
        return this->number(Value::of_real(number));
    }
    bool string(Json::string_t& text) { return value(Value::of_text(text)); }
    bool binary(Json::binary_t&) { return false; }  // there is none in text
    bool key(Json::string_t& text) { return events_.key((begin(), text)); }
    bool start_object(std::size_t) { return events_.begin_object(begin()); }
    bool start_array(std::size_t) { return events_.begin_array(begin()); }
    bool end_object() { return begin(), events_.end_object(); }
    bool end_array() { return begin(), events_.end_array(); }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) {
        is_wrong = true;
        return false;
    }

    bool is_wrong = false;

  private:
    SourcePlace begin() {
        text_.since_event = 0;
        return text_.place;
    }
    bool value(const Value& value) { return events_.value(value, begin()); }
    // The parser has read the character behind it, too, if there is one.
    bool number(const Value& value) {
        begin();
        return events_.value(value, text_.is_over ? text_.place : text_.previous);
    }

    JsonText& text_;
    JsonEvents& events_;
};

void refuse_json(JsonText& text, ScheduleErrors& errors) {
    if (!text.stream.wrong().empty())
        errors.refuse({}, text.stream.wrong(), "name a file that may be read");
    else if (text.is_too_long())
        errors.refuse(text.place, fmt::format("a value has more than {} bytes", max_message_bytes),
                      "leave it out of the file");
    else if (text.is_over)
        errors.refuse(text.place, "the file ends before its last object does",
                      "name a file that is complete");
    else
        errors.refuse(text.place, "the file is not valid JSON from here on", "correct it");
}

}  // namespace

bool read_json_values(ByteStream& stream, JsonEvents& events, ScheduleErrors& errors) {
    constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
    if (stream.ahead(byte_order_mark.size()).starts_with(byte_order_mark))
        stream.skip(byte_order_mark.size());
    JsonText text{stream};
    for (text.skip_blanks(); !text.at_end(); text.skip_blanks()) {
        JsonAdapter adapter(text, events);
        if (nlohmann::json::sax_parse(JsonCharacters(&text), JsonCharacters(), &adapter,
                                      nlohmann::json::input_format_t::json, false))
            continue;
        if (adapter.is_wrong) refuse_json(text, errors);
        return false;
    }
    if (stream.wrong().empty()) return true;
    refuse_json(text, errors);
    return false;
}

}  // namespace sluice::fabric::chakra

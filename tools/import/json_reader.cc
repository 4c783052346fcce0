// JSON by nlohmann-json's events. They have no places: a token begins behind the blanks, commas and colons
// that follow the token before, so the number of bytes read says where.
#include <iterator>
#include <nlohmann/json.hpp>

#include "tools/import/document.hh"

namespace sluice::import {
namespace {

// Counts the bytes that the parser has taken.
class Counted {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    Counted(const char* at, const char* begin, std::size_t* taken) : at_(at), begin_(begin), taken_(taken) {}
    reference operator*() const { return *at_; }
    Counted& operator++() {
        ++at_;
        *taken_ = static_cast<std::size_t>(at_ - begin_);
        return *this;
    }
    Counted operator++(int) {
        const Counted before = *this;
        ++*this;
        return before;
    }
    bool operator==(const Counted& other) const { return at_ == other.at_; }
    bool operator!=(const Counted& other) const { return at_ != other.at_; }

  private:
    const char* at_;
    const char* begin_;
    std::size_t* taken_;
};

class JsonEvents {
  public:
    using number_integer_t = nlohmann::json::number_integer_t;
    using number_unsigned_t = nlohmann::json::number_unsigned_t;
    using number_float_t = nlohmann::json::number_float_t;
    using string_t = nlohmann::json::string_t;
    using binary_t = nlohmann::json::binary_t;

    JsonEvents(std::string_view text, const std::size_t& taken) : text_(text), taken_(taken) {}

    bool null() {
        return with([&](SourcePlace place) { built.null(place); });
    }
    bool boolean(bool value) { return word(value ? "true" : "false"); }
    bool number_integer(number_integer_t value) { return word(std::to_string(value)); }
    bool number_unsigned(number_unsigned_t value) { return word(std::to_string(value)); }
    bool number_float(number_float_t, const string_t& text) { return word(text); }
    bool string(string_t& text) { return word(text); }
    bool binary(binary_t&) { return false; }  // there is none in text
    bool key(string_t& name) {
        return with([&](SourcePlace place) { built.key(name, place); });
    }
    bool start_object(std::size_t) { return open(Item::Kind::map); }
    bool start_array(std::size_t) { return open(Item::Kind::list); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& error) {
        // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error while ..."
        std::string why = error.what();
        if (const auto colon = why.find(": "); colon != why.npos) why.erase(0, colon + 2);
        throw ReadError{place_at(text_, position == 0 ? 0 : position - 1), {}, "is not JSON: " + why, {}};
    }

    Builder built;

  private:
    template <class Act>
    bool with(Act act) {
        while (at_ < text_.size() && std::string_view(" \t\r\n,:").find(text_[at_]) != std::string_view::npos)
            step();
        const SourcePlace place{line_, static_cast<unsigned>(at_ - line_start_ + 1)};
        while (at_ < taken_) step();
        act(place);
        return true;
    }
    void step() {
        if (text_[at_++] != '\n') return;
        ++line_;
        line_start_ = at_;
    }
    bool word(std::string text) {
        return with([&](SourcePlace place) { built.word(std::move(text), place); });
    }
    bool open(Item::Kind kind) {
        return with([&](SourcePlace place) { built.open(kind, place); });
    }
    bool close() {
        return with([&](SourcePlace) { built.close(); });
    }

    std::string_view text_;
    const std::size_t& taken_;
    std::size_t at_ = 0;  // behind the last token
    std::size_t line_start_ = 0;
    unsigned line_ = 1;
};

}  // namespace

Document read_json(const std::string& text) {
    std::size_t taken = 0;
    JsonEvents events(text, taken);
    const char* begin = text.data();
    const char* end = begin + text.size();
    try {
        if (!nlohmann::json::sax_parse(Counted(begin, begin, &taken), Counted(end, begin, &taken), &events))
            return tl::unexpected(ReadError{place_at(text, taken), {}, "is not JSON", {}});
    } catch (ReadError& error) {
        return tl::unexpected(std::move(error));
    }
    return events.built.take();
}

}  // namespace sluice::import
